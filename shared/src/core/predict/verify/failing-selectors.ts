// Why a process does not match an entry: each selector of the entry that the process has not, what it has of that kind, and the
// objects and fields that the two come from.
import { isRecord, listAt, own } from '../../base/json.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { judgeSelector } from '../spire/attestor.ts'
import { splitSelector, type EntryOutcome } from '../spire/prediction.ts'
import type { AttestedSelectors } from './agent-log.ts'

/** A field of an object. */
export interface FieldOfObject {
  /** `InferenceIdentityBinding/team-a/chat`, `ClusterSPIFFEID/default`, `Pod/team-a/llama-0`. */
  readonly object: string
  /** `.spec.containerName`. */
  readonly field: string
}

/** A selector of an entry that a process has not. */
export interface FailingSelector {
  readonly selector: string
  /** What the process has of the same kind. */
  readonly has: readonly string[]
  /** The field that asks for it; undefined: nothing but SCM does. */
  readonly askedBy: FieldOfObject | undefined
  /** The field of the pod that decides what its processes have; undefined where there is none. */
  readonly decidedBy: FieldOfObject | undefined
  /** The pod shows it: the process is of another pod or container than is asked about, or the pod was another one then. */
  readonly isShownByPod: boolean
}

/** `.spec.containerName of InferenceIdentityBinding/team-a/chat`. */
export function fieldOfText({ object, field }: FieldOfObject): string {
  return `${field} of ${object}`
}

/** The fields that such a selector comes from, on both sides. */
export function fieldsBehind(one: FailingSelector): readonly string[] {
  return [one.askedBy, one.decidedBy].flatMap((field) => (field === undefined ? [] : fieldOfText(field)))
}

/** Who asks for the selectors of an output of kleym's: a field of the binding, or of its pool. */
export type OriginsOf = (clusterSpiffeId: string) => ReadonlyMap<string, FieldOfObject> | undefined

/** The selectors of an entry that fail, in its order, and those that an incomplete log does not show. */
export function failingSelectors(
  selectors: readonly string[],
  { selectors: attested, isWhole }: AttestedSelectors,
  of: {
    readonly pod: Pod
    readonly container: Container
    readonly outcome: EntryOutcome
    readonly originsOf: OriginsOf
  },
): { readonly failing: readonly FailingSelector[]; readonly untold: readonly string[] } {
  const has = new Set(attested)
  const open = selectors.filter((one) => !has.has(one))
  const sameKind = (one: string): readonly string[] =>
    attested.filter((other) => kindOf(other) === kindOf(one))
  const failing = open.filter((one) => isWhole || sameKind(one).length > 0)
  return {
    failing: failing.map((selector) => ({
      selector,
      has: sameKind(selector),
      askedBy: askedBy(selector, of),
      decidedBy: decidedBy(selector, of),
      isShownByPod: judgeSelector(of.pod, of.container, splitSelector(selector)).match === 'yes',
    })),
    untold: open.filter((one) => !failing.includes(one)),
  }
}

/** `k8s:container-name`; of a label, its key too. */
function kindOf(selector: string): string {
  const [type = '', kind = '', key = ''] = selector.split(':')
  return kind.endsWith('-label') ? `${type}:${kind}:${key}` : `${type}:${kind}`
}

function askedBy(
  selector: string,
  {
    outcome: { source, entry },
    originsOf,
  }: { readonly outcome: EntryOutcome; readonly originsOf: OriginsOf },
): FieldOfObject | undefined {
  const origin = source.kind === 'ClusterSPIFFEID' ? originsOf(source.name)?.get(selector) : undefined
  if (origin !== undefined) return origin
  const at = entry?.selectors.findIndex(({ type, value }) => `${type}:${value}` === selector) ?? -1
  if (at < 0) return undefined
  const object = `${source.kind}/${source.name}`
  if (source.kind === 'ClusterStaticEntry') return { object, field: `.spec.selectors[${at}]` }
  // SCM puts the UID of the pod before what the templates render.
  return at === 0 ? undefined : { object, field: `.spec.workloadSelectorTemplates[${at - 1}]` }
}

const POD_FIELDS: Readonly<Record<string, string>> = {
  ns: '.metadata.namespace',
  sa: '.spec.serviceAccountName',
  'node-name': '.spec.nodeName',
  'pod-name': '.metadata.name',
  'pod-uid': '.metadata.uid',
  'pod-owner': '.metadata.ownerReferences',
  'pod-owner-uid': '.metadata.ownerReferences',
}

function decidedBy(
  selector: string,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
): FieldOfObject | undefined {
  const [type, kind = '', key = ''] = selector.split(':')
  if (type !== 'k8s') return undefined
  const object = `${pod.ref.kind}/${pod.namespace}/${pod.ref.name}`
  if (kind === 'pod-label') return { object, field: `.metadata.labels[${JSON.stringify(key)}]` }
  const place = kind === 'container-name' || kind === 'container-image' ? placeOf(pod, container) : undefined
  if (place !== undefined)
    return { object, field: `${place}.${kind === 'container-name' ? 'name' : 'image'}` }
  const field = POD_FIELDS[kind]
  return field === undefined ? undefined : { object, field }
}

/** `.spec.containers[0]`. */
function placeOf({ spec }: Pod, { name }: Container): string | undefined {
  for (const list of ['containers', 'initContainers']) {
    const at = listAt(spec, list).findIndex((one) => isRecord(one) && own(one, 'name') === name)
    if (at >= 0) return `.spec.${list}[${at}]`
  }
  return undefined
}
