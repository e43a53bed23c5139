// How people write kinds on a command line: `pod/llama-0`, `InferencePool.inference.networking.k8s.io/team-a/llama`.
import { qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import { SUBJECTS } from '@kleym/shared/kube/resources.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError } from '../io/errors.ts'

/** Further names of a kind, beside its plural and its singular: those that kubectl takes, and the words of our own answers. */
const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  InferenceIdentityBinding: ['iib', 'binding'],
  InferencePool: ['infpool', 'pool'],
  InferenceObjective: ['infobj', 'objective'],
  Namespace: ['ns'],
  Node: ['no'],
  Pod: ['po'],
  Endpoints: ['ep'],
  ConfigMap: ['cm'],
  Deployment: ['deploy'],
  ReplicaSet: ['rs'],
  StatefulSet: ['sts'],
  DaemonSet: ['ds'],
  CronJob: ['cj'],
  LeaderWorkerSet: ['lws'],
  CustomResourceDefinition: ['crd'],
}

/** The kinds of answers, by the names that kubectl takes for them. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  SUBJECTS.map(({ kind, plural }) => [kind, [kind.toLowerCase(), plural, ...(SHORT_NAMES[kind] ?? [])]]),
)

/** Whether objects of a kind that has a name here stand in no namespace. */
export function isClusterScoped(kind: string): boolean {
  return SUBJECTS.some((one) => one.kind === kind && !one.namespaced)
}

/** The kinds that have pods, or a template of them. */
export const POD_KINDS: readonly string[] = ['Pod', ...WORKLOAD_KINDS.map(({ kind }) => kind)]

/** The kinds, qualified, that a name may mean. */
export function kindsOfName({ kind, group }: Pick<ObjectName, 'kind' | 'group'>): readonly string[] {
  const known = SUBJECTS.filter((one) => one.kind === kind && (group === undefined || one.group === group))
  return known.length > 0 ? known.map(qualifiedKind) : [qualifiedKind({ kind, group: group ?? '' })]
}

/** The kind of a service account, whose pods are those that run under it. */
export const ACCOUNT_KIND = 'ServiceAccount'

/** The canonical kind for a written one, in any case and by any of its names; undefined for others. */
export function kindNamed(written: string): string | undefined {
  const word = written.toLowerCase()
  return [...NAMES].find(([, names]) => names.includes(word))?.[0]
}

/** kubectl takes the kind as a word of its own: `pool llama chat` is `pool/llama pool/chat`. */
export function withKindWord(words: readonly string[]): readonly string[] {
  const [kind, ...names] = words
  if (kind === undefined || names.length === 0 || kind.includes('/')) return words
  return kindNamed(withoutGroup(kind)) === undefined ? words : names.map((name) => `${kind}/${name}`)
}

/** The kind of a written `KIND.GROUP`. */
export function withoutGroup(written: string): string {
  const dot = written.indexOf('.')
  return dot === -1 ? written : written.slice(0, dot)
}

/** An object that the command line names. */
export interface ObjectName {
  /** The canonical kind. */
  readonly kind: string
  /** Undefined: any group. */
  readonly group: string | undefined
  /** Undefined: not said; the namespace in force, or none for a cluster-scoped kind. */
  readonly namespace: string | undefined
  readonly name: string
}

/** Parses `KIND[.GROUP]/[NAMESPACE/]NAME` of a flag or argument; throws a usage error that says what is wrong. */
export function parseObjectName(text: string, source: string): ObjectName {
  const refuse = (why: string, fix: string): KleymError =>
    new KleymError('usage', { what: `cannot tell which object ${source} means`, where: text, why, fix })
  const [type = '', ...path] = text.split('/')
  if (path.length === 0 || path.length > 2 || path.includes('') || type === '')
    throw refuse(
      'it is not KIND[.GROUP]/[NAMESPACE/]NAME',
      'write it like pod/team-a/llama-0 or clusterspiffeid/default',
    )
  const [written = '', ...group] = type.split('.')
  const kind = kindNamed(written)
  if (kind === undefined) {
    const known = [...NAMES.keys()].map((name) => name.toLowerCase())
    throw refuse(
      `kleym reads no kind ${written}`,
      didYouMean(written, known) ?? `name one of ${known.join(', ')}`,
    )
  }
  const [first = '', second] = path
  return {
    kind,
    group: group.length === 0 ? undefined : group.join('.').toLowerCase(),
    namespace: second === undefined ? undefined : first,
    name: second ?? first,
  }
}
