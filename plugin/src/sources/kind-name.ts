// How people write kinds on a command line: `pod/llama-0`, `InferencePool.inference.networking.k8s.io/team-a/llama`.
import {
  BINDING,
  type Kind,
  NAMING_KINDS,
  OBJECTIVE_KINDS,
  POOL_KINDS,
  qualifiedKind,
  REGISTRATIONS,
} from '@kleym/shared/core/model/kinds.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError } from '../io/errors.ts'

/** The kinds that kleym reads, by the names that kubectl takes for them: plural, singular, short names. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  InferenceIdentityBinding: ['inferenceidentitybindings', 'iib'],
  InferencePool: ['inferencepools', 'infpool', 'pool'],
  InferenceObjective: ['inferenceobjectives', 'infobj', 'objective'],
  ClusterSPIFFEID: ['clusterspiffeids'],
  ClusterStaticEntry: ['clusterstaticentries'],
  Namespace: ['namespaces', 'ns'],
  Node: ['nodes', 'no'],
  Pod: ['pods', 'po'],
  Endpoints: ['ep'],
  ConfigMap: ['configmaps', 'cm'],
  Deployment: ['deployments', 'deploy'],
  ReplicaSet: ['replicasets', 'rs'],
  StatefulSet: ['statefulsets', 'sts'],
  DaemonSet: ['daemonsets', 'ds'],
  Job: ['jobs'],
  CronJob: ['cronjobs', 'cj'],
  LeaderWorkerSet: ['leaderworkersets', 'lws'],
  XAccessPolicy: ['xaccesspolicies'],
  ...Object.fromEntries(NAMING_KINDS.map(({ kind, plural }) => [kind, [plural]])),
}

/** The kinds that have pods, or a template of them. */
export const POD_KINDS: readonly string[] = ['Pod', ...WORKLOAD_KINDS.map(({ kind }) => kind)]

/** The kinds, qualified, that a name may mean. */
export function kindsOfName({ kind, group }: Pick<ObjectName, 'kind' | 'group'>): readonly string[] {
  const known = READ.filter((one) => one.kind === kind && (group === undefined || one.group === group))
  return known.length > 0 ? known.map(qualifiedKind) : [qualifiedKind({ kind, group: group ?? '' })]
}

/** Those of the kinds that kleym reads which are in a group. */
const READ: readonly Pick<Kind, 'kind' | 'group'>[] = [
  BINDING,
  ...POOL_KINDS,
  ...OBJECTIVE_KINDS,
  ...REGISTRATIONS,
  ...WORKLOAD_KINDS,
]

/** The kind of a service account, whose pods are those that run under it. */
export const ACCOUNT_KIND = 'ServiceAccount'

/** The canonical kind for a written one, in any case and by any of its names; undefined for others. */
export function kindNamed(written: string): string | undefined {
  const word = written.toLowerCase()
  return Object.keys(NAMES).find(
    (kind) => kind.toLowerCase() === word || NAMES[kind]?.includes(word) === true,
  )
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
    new KleymError({ code: 'usage', what: `cannot tell which object ${source} means`, where: text, why, fix })
  const [type = '', ...path] = text.split('/')
  if (path.length === 0 || path.length > 2 || path.includes('') || type === '')
    throw refuse(
      'it is not KIND[.GROUP]/[NAMESPACE/]NAME',
      'write it like pod/team-a/llama-0 or clusterspiffeid/default',
    )
  const dot = type.indexOf('.')
  const written = withoutGroup(type)
  const kind = kindNamed(written)
  if (kind === undefined) {
    const known = Object.keys(NAMES).map((name) => name.toLowerCase())
    throw refuse(
      `kleym reads no kind ${written}`,
      didYouMean(written, known) ?? `name one of ${known.join(', ')}`,
    )
  }
  const [first = '', second] = path
  return {
    kind,
    group: dot === -1 ? undefined : type.slice(dot + 1).toLowerCase(),
    namespace: second === undefined ? undefined : first,
    name: second ?? first,
  }
}

/** The object that `--without` takes away. */
export function parseWithout(text: string): ObjectName {
  return parseObjectName(text, '--without')
}
