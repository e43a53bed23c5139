// Finds the ClusterStaticEntries that may match a container of a pod, by one selector of each that few pods have.
import { getOrCreate } from '../../base/get-or-create.ts'
import { listAt, stringAt } from '../../base/json.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { answerOf } from '../../model/objects/pods-alike.ts'
import { isMirrorPod, judgeContainer } from './attestor.ts'
import type { PodFactsResult } from './pod-facts.ts'
import { NO, open, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { parseSpiffeId } from '../../model/spiffe-id.ts'
import type { EntrySelector } from './prediction.ts'
import type { PreparedStatic } from './prepared-static.ts'

/** A static entry that may match, and why its parent may be another than the agent on the pod's node; undefined where it is. */
export interface StaticCandidate {
  readonly object: PreparedStatic
  readonly uncertainParent: string | undefined
}

const PSAT_AGENTS = '/spire/agent/k8s_psat/'
/** Kinds of selectors that distinguish pods, the most selective first. */
const DISTINGUISHING_KINDS = ['pod-uid', 'pod-name', 'pod-owner', 'pod-label', 'sa', 'ns', 'node-name']

/** An index of static entries by their most selective selector. */
export class StaticIndex {
  /** By the text of the distinguishing selector. */
  readonly #byText = new Map<string, PreparedStatic[]>()
  /** By the kind of the distinguishing selector, for pods if that fact is unknown. */
  readonly #byKind = new Map<string, PreparedStatic[]>()
  readonly #anywhere: PreparedStatic[] = []
  /** Those that give agents another ID, by that ID. */
  readonly #aliases: ReadonlyMap<string, readonly PreparedStatic[]>

  constructor(objects: readonly PreparedStatic[]) {
    this.#aliases = Map.groupBy(objects.filter(isAlias), ({ entry }) => entry?.spiffeId ?? '')
    for (const object of objects) {
      const distinguishing = distinguishingSelector(object)
      if (distinguishing === undefined) this.#anywhere.push(object)
      else {
        getOrCreate(this.#byText, distinguishing.text, () => []).push(object)
        getOrCreate(this.#byKind, distinguishing.kind, () => []).push(object)
      }
    }
  }

  /** How many `matching` looks at, at most; nothing is compared. */
  countCandidates(pod: Pod): number {
    if (this.#byText.size === 0 && this.#anywhere.length === 0) return 0
    return (
      this.#anywhere.length +
      sizeOf(this.#byText, this.#knownTexts(pod)) +
      sizeOf(this.#byKind, unknownKinds(pod))
    )
  }

  /** The static entries whose selectors and parent do not rule out every container of the pod. */
  matching(pod: Pod, finding: PodFactsResult): readonly StaticCandidate[] {
    if (this.#byText.size === 0 && this.#anywhere.length === 0) return []
    const found = new Set(this.#anywhere)
    for (const text of this.#knownTexts(pod))
      for (const object of this.#byText.get(text) ?? []) found.add(object)
    for (const kind of unknownKinds(pod)) for (const object of this.#byKind.get(kind) ?? []) found.add(object)
    const candidates: StaticCandidate[] = []
    for (const object of found) {
      if (object.entry === undefined || judgeContainer(pod, undefined, object.entry).state === 'dead')
        continue
      const { parentId } = object.entry
      const parent = this.#isAliasOn(pod, parentId, finding) ? YES : judgeParent(parentId, finding)
      if (parent !== NO) candidates.push({ object, uncertainParent: whyOpenText(parent) })
    }
    return candidates
  }

  /** Whether the agent of the pod's node certainly has an alias: it has each selector of the entry that gives it. */
  #isAliasOn(pod: Pod, parentId: string, finding: PodFactsResult): boolean {
    const aliases = this.#aliases.get(parentId)
    if (aliases === undefined || finding.kind === 'no node') return false
    const { parent } = finding.facts
    const [, cluster] = (parent.kind === 'ok' ? CLUSTER_OF_AGENT.exec(parent.value.text()) : null) ?? []
    const has = ({ type, value }: EntrySelector): boolean =>
      type === 'k8s_psat' &&
      (value === `cluster:${cluster}` ||
        (pod.nodeName !== undefined && value === `agent_node_name:${pod.nodeName}`))
    return cluster !== undefined && aliases.some(({ entry }) => entry?.selectors.every(has) === true)
  }

  /** What is known of a pod that an entry is listed under. What no entry asks for is not looked at: it differs from pod to pod. */
  #knownTexts(pod: Pod): readonly string[] {
    const texts = [`ns:${pod.namespace}`, `sa:${pod.serviceAccountName}`]
    const add = (
      kind: 'pod-uid' | 'pod-name' | 'node-name',
      value: (of: Pod) => string | undefined,
    ): void => {
      const known = this.#byKind.has(kind) ? value(pod) : undefined
      if (known !== undefined) texts.push(`${kind}:${known}`)
    }
    add('pod-uid', ({ uid }) => uid)
    add('pod-name', ({ name }) => name)
    add('node-name', ({ nodeName }) => nodeName)
    if (this.#byKind.has('pod-label'))
      for (const [key, value] of pod.labels) texts.push(`pod-label:${key}:${value}`)
    if (!this.#byKind.has('pod-owner')) return texts
    for (const owner of listAt(pod.metadata, 'ownerReferences')) {
      texts.push(`pod-owner:${stringAt(owner, 'kind') ?? ''}:${stringAt(owner, 'name') ?? ''}`)
    }
    if (pod.owner?.name !== undefined) texts.push(`pod-owner:${pod.owner.kind}:${pod.owner.name}`)
    return texts
  }
}

/** The cluster as which agents of pods attest themselves, in their ID. */
const CLUSTER_OF_AGENT = /^spiffe:\/\/[^/]+\/spire\/agent\/k8s_psat\/([^/<]+)\//

/** Whether SCM certainly makes an entry that gives agents an alias: its parent is the server itself. */
function isAlias({ verdict, entry }: PreparedStatic): boolean {
  const parent = entry && parseSpiffeId(entry.parentId)
  return verdict.state === 'declared' && parent?.ok === true && parent.path === '/spire/server'
}

function sizeOf(index: ReadonlyMap<string, readonly PreparedStatic[]>, keys: readonly string[]): number {
  return keys.reduce((sum, key) => sum + (index.get(key)?.length ?? 0), 0)
}

function distinguishingSelector({
  entry,
}: PreparedStatic): { readonly kind: string; readonly text: string } | undefined {
  if (entry === undefined) return undefined
  for (const kind of DISTINGUISHING_KINDS) {
    const found = entry.selectors.find(({ type, value }) => type === 'k8s' && value.startsWith(`${kind}:`))
    if (found !== undefined) return { kind, text: found.value }
  }
  return undefined
}

function unknownKinds(pod: Pod): readonly string[] {
  const kinds: string[] = []
  if (answerOf(pod, hasNoUid) || isMirrorPod(pod)) kinds.push('pod-uid')
  if (answerOf(pod, hasNoName)) kinds.push('pod-name')
  if (answerOf(pod, hasNoNode)) kinds.push('node-name')
  if (pod.unknownLabels.size > 0 || pod.possibleLabels.size > 0) kinds.push('pod-label')
  if (pod.owner !== undefined && pod.owner.name === undefined) kinds.push('pod-owner')
  if (pod.perhaps !== undefined) kinds.push('pod-owner', 'sa')
  return kinds
}

const hasNoUid = ({ uid }: Pod): boolean => uid === undefined
const hasNoName = ({ name }: Pod): boolean => name === undefined
const hasNoNode = ({ nodeName }: Pod): boolean => nodeName === undefined

/** Whether the agent of the pod's node holds entries under this parent. */
function judgeParent(parentId: string, finding: PodFactsResult): Truth {
  if (finding.kind === 'no node') return notKnown(finding.why)
  const { parent } = finding.facts
  const isKnown = parent.kind === 'ok' && parent.value.placeholders.length === 0
  if (isKnown && parent.value.text() === parentId) return YES
  const parsed = parseSpiffeId(parentId)
  const path = parsed.ok ? parsed.path : ''
  // Entries under the server itself give agents an alias; no workload gets them.
  if (path === '/spire/server') return NO
  if (isKnown && isOtherAgent(path, parent.value.text())) return NO
  return notKnown(`its parent ${parentId} may not be the agent on the pod's node`)
}

function notKnown(why: string): Truth {
  return open(atRuntime(why, 'Node'))
}

/** Whether a parent is the agent of another node. A custom parentIDTemplate may give another ID than the agent's real one. */
function isOtherAgent(path: string, podParent: string): boolean {
  const parsed = parseSpiffeId(podParent)
  if (!parsed.ok || !parsed.path.startsWith(PSAT_AGENTS) || !path.startsWith(PSAT_AGENTS)) return false
  // An agent may add its own pod's UID to the ID that SCM expects (use_pod_uid_for_agent_id).
  return !path.startsWith(`${parsed.path}/`)
}

/** Whether a parent is an agent as nodes of a cluster have them, by default. */
export function isPodAgent(parentId: string): boolean {
  const parsed = parseSpiffeId(parentId)
  return parsed.ok && parsed.path.startsWith(PSAT_AGENTS)
}
