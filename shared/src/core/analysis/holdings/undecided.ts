// Bindings that could not be decided although their pool is known: each may get an output on some pods, which then hold one
// identity more, and a fallback on them gives way (docs/assumptions.md). Where the pool itself could not be read there is a gap,
// which says as much.
import { valueOf } from '../../model/objects/binding.ts'
import {
  podLabelsOf,
  declaredBoundary,
  identityPath,
  type Compiled,
  modeOf,
  trustDomainText,
  type LiveOutput,
} from '../../decide/index.ts'
import { namespaceWritten, type NamespacedName } from '../../model/namespaced-name.ts'
import { UNKNOWN_CONTAINER } from '../../model/objects/pod.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { NO } from '../../model/truth/truth.ts'
import { labelsOfPod, matchSelector } from '../../model/objects/label-match.ts'
import { unknownReasonText, type UnknownReason } from '../../model/unknown-reason.ts'

/** The pods and containers that a binding is for, by its own fields and its pool. */
export interface MeantContainers {
  /** The labels that its pods carry, as far as they are known. */
  readonly labels: PoolLabels
  /** Undefined where the field is malformed: a later check refuses that, unless it is corrected before. */
  readonly serviceAccountName: string | undefined
  /** Undefined: any container. */
  readonly containerName: string | undefined
}

/** A binding that could not be decided, and the pods that its output would be on. */
export interface UndecidedBinding extends MeantContainers {
  readonly binding: NamespacedName
  readonly why: UnknownReason
  /** The ID that it would get; undefined where its fields give none. */
  readonly spiffeId: string | undefined
}

/** The undecided bindings of each namespace, without those whose output is in force: that output stays as it is. */
export type UndecidedBindings = ReadonlyMap<string, readonly UndecidedBinding[]>

/** Where every binding is decided, or nothing is asked of those that are not. */
export const NONE_UNDECIDED: UndecidedBindings = new Map()

/** `binding team-a/prefill is undetermined: missing --variant-label-key`. */
export function undecidedText({ binding, why }: UndecidedBinding): string {
  return `binding ${binding} is undetermined: ${unknownReasonText(why)}`
}

/** The undecided bindings among these, in their order; `others` are undecided by something beside themselves. */
export function undecidedBindings(
  compiled: readonly Compiled[],
  outputs: readonly LiveOutput[],
  others: ReadonlyMap<string, UnknownReason>,
): UndecidedBindings {
  const whyOpen = ({ binding: { key, meta }, result }: Compiled): UnknownReason | undefined =>
    meta.deletedAt === undefined && result.kind === 'undetermined' ? result.why : others.get(key)
  const open = compiled.flatMap((one) => {
    const why = whyOpen(one)
    return why === undefined ? [] : [{ one, why }]
  })
  if (open.length === 0) return NONE_UNDECIDED
  const inForce = new Set<string>(
    outputs.flatMap(({ ownership }) => (ownership.kind === 'ours' ? ownership.binding : [])),
  )
  const undecided = open.flatMap(({ one, why }) =>
    inForce.has(one.binding.key) ? [] : (undecidedOf(one, why) ?? []),
  )
  return new Map(Map.groupBy(undecided, ({ namespace }) => namespace))
}

function undecidedOf(
  one: Compiled,
  why: UnknownReason,
): (UndecidedBinding & { readonly namespace: string }) | undefined {
  // Which pods a pool selects that is not known, is not known.
  const meant = one.input.pool?.state === 'unknown' ? { labels: new Map(), ...fieldsOf(one) } : meantBy(one)
  if (meant === undefined) return undefined
  const { binding } = one
  return {
    ...meant,
    namespace: binding.meta.namespace,
    binding: binding.key,
    why,
    spiffeId: declaredId(one),
  }
}

/** The ID that a binding asks for, however it is judged; undefined where its fields give none. */
export function declaredId({ binding, input }: Compiled): string | undefined {
  const boundary = declaredBoundary(binding)
  return boundary === undefined
    ? undefined
    : `spiffe://${trustDomainText(input.config)}${identityPath(boundary)}`
}

function meantBy(compiled: Compiled): MeantContainers | undefined {
  const { pool, parts } = compiled.input
  if (pool?.state !== 'found' || !pool.selector.ok) return undefined
  return { labels: parts === undefined ? pool.selector.labels : podLabelsOf(parts), ...fieldsOf(compiled) }
}

function fieldsOf({ binding }: Compiled): Omit<MeantContainers, 'labels'> {
  const { serviceAccountName, containerName } = binding
  return {
    serviceAccountName: valueOf(serviceAccountName),
    containerName:
      modeOf(binding) === 'PerObjective' && containerName.ok && containerName.value !== ''
        ? containerName.value
        : undefined,
  }
}

/** Whether a binding, however it is judged, is for a container of a pod, or may be. */
export function isMeant(compiled: Compiled, pod: Pod, container: string): boolean {
  const meant = compiled.binding.meta.namespace === pod.namespace ? meantBy(compiled) : undefined
  return meant !== undefined && isOnPod(meant, pod) && isForContainer(meant, pod, [container])
}

/** Whether a binding may be for a container of a pod: its fields fit, and which pods its pool selects is not known. */
export function mayBeMeant(compiled: Compiled, pod: Pod, container: string): boolean {
  return (
    compiled.binding.meta.namespace === pod.namespace &&
    meantBy(compiled) === undefined &&
    isForContainer(fieldsOf(compiled), pod, [container])
  )
}

function isOnPod({ labels }: MeantContainers, pod: Pod): boolean {
  return matchSelector({ matchLabels: labels, matchExpressions: [] }, labelsOfPod(pod)) !== NO
}

function isForContainer(
  { serviceAccountName, containerName }: Omit<MeantContainers, 'labels'>,
  { serviceAccountName: account, perhaps }: Pod,
  names: readonly string[],
): boolean {
  return (
    (perhaps?.knowsAccount === false || serviceAccountName === undefined || serviceAccountName === account) &&
    (containerName === undefined ||
      names.some((name) => name === containerName || name === UNKNOWN_CONTAINER))
  )
}

/** The undecided bindings whose output would be on a pod, whatever its service account: a fallback gives way to it. */
export function undecidedOn(undecided: UndecidedBindings, pod: Pod): readonly UndecidedBinding[] {
  return (undecided.get(pod.namespace) ?? []).filter((one) => isOnPod(one, pod))
}

/** The undecided bindings that may give a container of a pod an identity; all of its containers where none is named. */
export function undecidedFor(
  undecided: UndecidedBindings,
  pod: Pod,
  container?: string,
): readonly UndecidedBinding[] {
  if (undecided.size === 0) return []
  const names = container === undefined ? pod.containers.map(({ name }) => name) : [container]
  return undecidedOn(undecided, pod).filter((one) => isForContainer(one, pod, names))
}

/** Whether an output with this SPIFFE ID may be that of an undecided binding, which would then have it still. */
export function mayBeOfUndecided(
  undecided: UndecidedBindings,
  { binding, spiffeId }: { readonly binding: string; readonly spiffeId: string },
): boolean {
  return (undecided.get(namespaceWritten(binding)) ?? []).some(
    (one) => one.binding === binding && (one.spiffeId === undefined || one.spiffeId === spiffeId),
  )
}
