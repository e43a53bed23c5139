// The pods of a map. Pods of one workload that look the same are one box, with their containers in it.
import { groupsBy, onceBy, type Group } from '@kleym/shared/core/base/groups.ts'
import { NOTHING_DONE, type HolderEffect } from '@kleym/shared/core/answers/index.ts'
import { listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'
import type { Pod, PodRef } from '@kleym/shared/core/model/objects/pod.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { sourceText } from '@kleym/shared/core/predict/index.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import {
  mayHold,
  type ContainerAnswer,
  type PodAnswer,
  type ShownRegistration,
} from '../parts/pod-answers.ts'
import type { MapDifference } from './compare.ts'
import { fateOf, type ContainerFate } from './containers.ts'
import type { ContainerNode, HoldsEdge, MapChange, MapNode, RegistrationEdge } from './graph.ts'
import { bindingId, containerId, identityId, namespaceId, podsId, registrationId, workloadId } from './ids.ts'

/** What the boxes of pods are made with. */
export interface PodContext {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, string>
  /** What kleym must still do about an output, by its name. */
  readonly pending: ReadonlyMap<string, string>
  /** Why settings that were not given leave every absence open. */
  readonly unsettled: string | undefined
  readonly difference: MapDifference | undefined
}

/** The boxes of some pods, and what leads to and from their containers. */
export interface PodParts {
  readonly nodes: readonly MapNode[]
  readonly registrations: readonly RegistrationEdge[]
  readonly holds: readonly HoldsEdge[]
}

/** A container with its answer worked out. */
interface JudgedContainer {
  readonly answer: ContainerAnswer
  readonly fate: ContainerFate
  readonly change: HolderEffect
}

interface JudgedPod {
  readonly pod: Pod
  readonly text: string
  readonly workload: PodRef | undefined
  readonly containers: readonly JudgedContainer[]
  readonly change: MapChange | null
}

/** Makes the boxes; `answers` are those of `who-selects`. */
export function podParts(answers: readonly PodAnswer[], context: PodContext): PodParts {
  const pods = answers.map((answer) => judged(answer, context))
  const parts = groupsBy(pods, signature).map((group) => partsOf(group, context))
  const workloads = new Map(
    parts.flatMap(({ workload }) => (workload === undefined ? [] : [[workload.id, workload] as const])),
  )
  return {
    nodes: [...workloads.values(), ...parts.flatMap(({ nodes }) => nodes)],
    registrations: parts.flatMap(({ registrations }) => registrations),
    holds: parts.flatMap(({ holds }) => holds),
  }
}

function judged({ pod, containers }: PodAnswer, { bindings, unsettled, difference }: PodContext): JudgedPod {
  const text = podText(pod)
  return {
    pod,
    text,
    workload: workloadOf(pod),
    change: difference?.pods.get(text) ?? null,
    containers: containers.map((answer) => ({
      answer,
      fate: fateOf(answer, bindings, unsettled),
      change: difference?.effectOn({ pod: text, container: answer.container.name }) ?? NOTHING_DONE,
    })),
  }
}

/** The workload that a pod is of: a Deployment where its ReplicaSet carries the hash that the pod is labelled with. */
export function workloadOf(pod: Pod): PodRef | undefined {
  if (pod.ref.kind !== 'Pod') return { ...pod.ref }
  const owner = listAt(pod.metadata, 'ownerReferences').find((one) => own(one, 'controller') === true)
  const [kind, name] = [stringAt(owner, 'kind'), stringAt(owner, 'name')]
  if (kind === undefined || name === undefined || kind === '' || name === '') return undefined
  const hash = pod.labels.get('pod-template-hash')
  const { namespace } = pod
  return kind === 'ReplicaSet' && hash !== undefined && hash !== '' && name.endsWith(`-${hash}`)
    ? { kind: 'Deployment', namespace, name: name.slice(0, -hash.length - 1) }
    : { kind, namespace, name }
}

/** Equal for pods that the map shows as one box. */
function signature({ pod, text, workload, containers, change }: JudgedPod): string {
  return JSON.stringify([
    pod.namespace,
    // Pods that no workload makes are alike only by accident.
    workload === undefined ? text : [workload.kind, workload.name, pod.ref.kind, pod.part],
    pod.exists,
    pod.serviceAccountName,
    pod.perhaps?.why,
    change,
    containers.map(({ answer: { container, registrations }, fate, change: { gained, lost, why } }) => [
      container.name,
      container.role,
      fate.state,
      fate.open,
      [gained, lost, why.length > 0],
      registrations.map(registrationText).toSorted(compareBytes),
    ]),
  ])
}

/** An ID that is not given may hold the name of the pod, and tells no replicas apart. */
function registrationText(one: ShownRegistration): string {
  const { source, verdict, spiffeId, hint, sharesHint, why, selector, by } = one
  const decider = by === undefined ? undefined : sourceText(by)
  const id = mayHold(one) ? spiffeId : undefined
  return JSON.stringify([sourceText(source), verdict, id, hint, sharesHint, why, selector, decider])
}

/** The ID of a registration; null where the pods of a box have different ones, which none of them holds. */
function commonId(one: ShownRegistration, group: readonly JudgedPod[], at: number): string | null {
  const { spiffeId } = one
  if (spiffeId === undefined) return null
  if (mayHold(one) || group.length === 1) return spiffeId
  const isSame = group.every(({ containers }) =>
    containers[at]?.answer.registrations.some(
      ({ source, spiffeId: other }) => sourceText(source) === sourceText(one.source) && other === spiffeId,
    ),
  )
  return isSame ? spiffeId : null
}

function partsOf(
  group: Group<JudgedPod>,
  context: PodContext,
): PodParts & { readonly workload: MapNode | undefined } {
  const [first] = group
  const { pod, workload, text } = first
  const id = podsId(text)
  const boxes = first.containers.map((one, at) => containerParts(one, { at, id, group, context }))
  const base = { namespace: pod.namespace, findings: [], change: null }
  return {
    workload:
      workload === undefined
        ? undefined
        : {
            ...base,
            kind: 'workload',
            id: workloadId(workload),
            label: `${workload.kind} ${workload.name}`,
            parent: namespaceId(pod.namespace),
            workload: workload.kind,
          },
    nodes: [
      {
        ...base,
        kind: 'pods',
        id,
        label: podsLabel(group),
        parent: workload === undefined ? namespaceId(pod.namespace) : workloadId(workload),
        change: first.change,
        pods: group.map((one) => one.text),
        exists: pod.exists,
        serviceAccount: pod.perhaps?.knowsAccount === false ? null : pod.serviceAccountName,
        nodes: [...new Set(group.flatMap((one) => one.pod.nodeName ?? []))],
        perhaps: pod.perhaps?.why ?? null,
      },
      ...boxes.map(({ node }) => node),
    ],
    registrations: boxes.flatMap(({ registrations }) => registrations),
    holds: boxes.flatMap(({ holds }) => holds),
  }
}

/** `llama-0`, `llama-0 and 2 alike`, `pods of llama` for a template. */
function podsLabel(group: Group<JudgedPod>): string {
  const [{ pod }] = group
  const part = pod.part === '' ? '' : ` (${pod.part})`
  if (pod.ref.kind !== 'Pod') return `pods of ${pod.ref.name}${part}`
  const others = group.length - 1
  return `${pod.ref.name}${part}${others === 0 ? '' : ` and ${others} alike`}`
}

function containerParts(
  { answer, fate, change }: JudgedContainer,
  {
    at,
    id: pods,
    group,
    context,
  }: {
    readonly at: number
    readonly id: string
    readonly group: readonly JudgedPod[]
    readonly context: PodContext
  },
): Pick<PodParts, 'registrations' | 'holds'> & { readonly node: ContainerNode } {
  const { container, registrations } = answer
  const id = containerId(pods, container.name, at)
  const { bindings, pending } = context
  return {
    node: {
      kind: 'container',
      id,
      label: container.name,
      namespace: group[0]?.pod.namespace ?? '',
      parent: pods,
      findings: [],
      change: changeOf(change, group[0]?.change ?? null),
      name: container.name,
      role: container.role,
      state: fate.state,
      count: group.length,
      identities: fate.identities,
      open: fate.open ?? null,
    },
    registrations: registrations.map((one) => {
      const binding = one.source.kind === 'ClusterSPIFFEID' ? bindings.get(one.source.name) : undefined
      return {
        kind: 'registration',
        from: binding === undefined ? registrationId(one.source) : bindingId(binding),
        to: id,
        verdict: one.verdict,
        spiffeID: commonId(one, group, at),
        source: sourceText(one.source),
        hint: one.hint,
        sharesHint: one.sharesHint,
        why: one.why ?? null,
        selector: one.selector ?? null,
        by: one.by === undefined ? null : sourceText(one.by),
        pending: pending.get(one.source.name) ?? null,
      }
    }),
    holds: holdings(registrations, change, group[0]?.change === 'removed').map(({ spiffeId, ...one }) => ({
      kind: 'holds',
      from: id,
      to: identityId(spiffeId),
      ...one,
    })),
  }
}

type Holding = Pick<HoldsEdge, 'certain' | 'change'> & { readonly spiffeId: string }

/**
 * The identities of a container, each once. If there are several registrations of an ID, a lost one counts first, then a
 * certain one, then an uncertain one.
 */
function holdings(
  registrations: ContainerAnswer['registrations'],
  { gained, lost, why }: HolderEffect,
  isGone: boolean,
): readonly Holding[] {
  const held = registrations.filter(mayHold).flatMap(({ spiffeId, verdict }): readonly Holding[] => {
    if (spiffeId === undefined) return []
    if (isGone) return [{ spiffeId, certain: false, change: 'removed' }]
    const change = gained.includes(spiffeId) ? 'added' : why.length > 0 ? 'uncertain' : null
    return [{ spiffeId, certain: verdict === 'issued', change }]
  })
  const all = [
    ...lost.map((spiffeId): Holding => ({ spiffeId, certain: false, change: 'removed' })),
    ...held.toSorted((left, right) => Number(left.certain) - Number(right.certain)),
  ]
  return onceBy(all, ({ spiffeId }) => spiffeId)
}

function changeOf({ gained, lost, why }: HolderEffect, ofPod: MapChange | null): MapChange | null {
  if (ofPod === 'removed' || ofPod === 'added') return ofPod
  if (gained.length > 0 || lost.length > 0) return 'changed'
  return why.length > 0 ? 'uncertain' : null
}
