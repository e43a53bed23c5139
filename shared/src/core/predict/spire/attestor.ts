// Which selectors SPIRE's Kubernetes workload attestor gives a container, and so which entries match it: an entry matches
// when the container has each of the entry's selectors. Source: SPIRE v1.15.3, pkg/agent/plugin/workloadattestor/k8s/k8s.go
// (docs/spire-facts.md §6).
import { withArticle } from '../../base/text/counted.ts'
import { isRecord, listAt, own, stringAt } from '../../base/json.ts'
import { matchEqual } from '../../model/objects/label-match.ts'
import { mayGiveName } from '../../model/objects/pod-workloads.ts'
import { NO as FALSE, whyOpenText, YES as TRUE } from '../../model/truth/truth.ts'
import { giverOfLabel } from '../../model/objects/admission-labels.ts'
import { UNKNOWN_CONTAINER } from '../../model/objects/pod.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { labelFact, NODE_NAME, POD_NAME, POD_UID } from './placeholders.ts'
import { PodUidSelector } from './pod-uid-selector.ts'
import type { EntrySelector, RenderedEntry } from './prediction.ts'

/** What of an entry decides whom agents give it. */
type JudgedEntry = Pick<RenderedEntry, 'selectors' | 'storeSvid'>

/** Whether one selector is among those of a container (of a pod, where no container is given). */
export type SelectorMatch =
  | { readonly match: 'yes' }
  | { readonly match: 'no'; readonly why: string }
  | { readonly match: 'depends'; readonly why: string }

/**
 * Whether an entry that the server holds is issued to a container. `selector` is the `type:value` that decides; undefined
 * where the entry is for no container at all.
 */
export type ContainerMatch =
  | { readonly state: 'issued' }
  | { readonly state: 'dead'; readonly selector: string | undefined; readonly why: string }
  | { readonly state: 'depends'; readonly selector: string; readonly why: string }

const YES: SelectorMatch = { match: 'yes' }
/** The annotation of a mirror pod: the API server's copy of a pod that the kubelet made from a file. */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

/** Whether SPIRE issues this entry to this container; to some container of the pod, as far as its selectors tell, if none is named. */
export function judgeContainer(
  pod: Pod,
  container: Container | undefined,
  entry: JudgedEntry,
): ContainerMatch {
  if (entry.storeSvid) {
    const why = 'agents hand it to an SVID store (.spec.storeSVID), not to workloads'
    return { state: 'dead', selector: undefined, why }
  }
  let uncertain: ContainerMatch | undefined
  for (const selector of entry.selectors) {
    const judged = judgeSelector(pod, container, selector)
    if (judged.match === 'yes') continue
    const text = `${selector.type}:${selector.value}`
    if (judged.match === 'no') return { state: 'dead', selector: text, why: judged.why }
    uncertain ??= { state: 'depends', selector: text, why: judged.why }
  }
  const why = container === undefined ? undefined : whyInjected(container)
  if (container !== undefined && why !== undefined && uncertain === undefined)
    return { state: 'depends', selector: `k8s:container-name:${container.name}`, why }
  return uncertain ?? { state: 'issued' }
}

/** Why it is not certain that a container is there; undefined where no webhook adds it. */
export function whyInjected({ injectedBy }: Container): string | undefined {
  return injectedBy === undefined
    ? undefined
    : `whether the container is there depends on the webhook of ${injectedBy}`
}

/** Whether one selector is among those that the attestors give this container. */
export function judgeSelector(
  pod: Pod,
  container: Container | undefined,
  selector: EntrySelector,
): SelectorMatch {
  if (selector.type !== 'k8s') return depends(`${selector.type} selectors are known only on the node`)
  if (container?.role === 'ephemeral') return no('SPIRE does not attest ephemeral containers')
  if (selector instanceof PodUidSelector && selector.isOf(pod) && !isMirrorPod(pod)) return YES
  const at = selector.value.indexOf(':')
  const kind = at < 0 ? selector.value : selector.value.slice(0, at)
  const judge = CHECKS.get(kind) ?? (kind.startsWith('image-signature') ? sigstore : undefined)
  if (judge === undefined || at < 0) return no('SPIRE knows no such selector')
  return judge({ pod, container, selector, value: selector.value.slice(at + 1) })
}

/** One selector, and what it is compared with. */
interface SelectorCheck {
  readonly pod: Pod
  readonly container: Container | undefined
  readonly selector: EntrySelector
  /** What follows the kind and its colon. */
  readonly value: string
}

const CHECKS: ReadonlyMap<string, (check: SelectorCheck) => SelectorMatch> = new Map([
  ['ns', (check) => compareFact(check, check.pod.namespace, "the pod's namespace", undefined)],
  ['sa', (check) => compareFact(check, accountOf(check.pod), "the pod's service account", undefined)],
  ['node-name', (check) => compareFact(check, check.pod.nodeName, "the pod's node", NODE_NAME)],
  ['pod-name', (check) => compareFact(check, check.pod.name, "the pod's name", POD_NAME)],
  ['pod-uid', podUid],
  ['pod-label', podLabel],
  ['pod-owner', (check) => podOwner(check, 'name')],
  ['pod-owner-uid', (check) => podOwner(check, 'uid')],
  ['pod-image-count', (check) => imageCount(check, 'containers', 'containerStatuses')],
  ['pod-init-image-count', (check) => imageCount(check, 'initContainers', 'initContainerStatuses')],
  ['pod-image', (check) => podImage(check, 'containers', 'containerStatuses')],
  ['pod-init-image', (check) => podImage(check, 'initContainers', 'initContainerStatuses')],
  ['container-name', containerName],
  ['container-image', containerImage],
  ['ns-label', namespaceLabel],
  ['image-attestations', sigstore],
])

/** Compares a selector with a fact of the pod; `fact` is the placeholder that stands for it while it is not known. */
function compareFact(
  { selector, value }: SelectorCheck,
  actual: string | undefined,
  what: string,
  fact: string | undefined,
): SelectorMatch {
  if (actual === undefined) {
    const itself = fact !== undefined && value === fact && selector.placeholders.includes(fact)
    return itself ? YES : depends(`${what} is not known yet`)
  }
  if (selector.placeholders.length > 0) return notRendered(selector)
  return value === actual ? YES : no(`${what} is ${actual === '' ? 'empty' : actual}`)
}

/** Undefined where it is not known. */
function accountOf(pod: Pod): string | undefined {
  return pod.perhaps?.knowsAccount === false ? undefined : pod.serviceAccountName
}

/** Whether a pod is a mirror pod: the kubelet made the real one from a file. */
export function isMirrorPod(pod: Pod): boolean {
  return own(own(pod.metadata, 'annotations'), MIRROR_ANNOTATION) !== undefined
}

function podUid(check: SelectorCheck): SelectorMatch {
  const { pod, selector } = check
  if (isMirrorPod(pod)) {
    return depends('the kubelet may know a static pod under another UID than its mirror')
  }
  if (pod.uid === undefined && pod.ref.kind !== 'Pod' && selector.placeholders.length === 0) {
    return no('the pod does not exist yet, and will have a UID of its own')
  }
  return compareFact(check, pod.uid, "the pod's UID", POD_UID)
}

function podLabel({ pod, selector, value }: SelectorCheck): SelectorMatch {
  const at = value.indexOf(':')
  if (at < 0) return no('a pod-label selector is of the form key:value')
  const key = value.slice(0, at)
  const wanted = value.slice(at + 1)
  const choices = selector.placeholders.length > 0 ? undefined : pod.labelChoices?.get(key)
  if (choices?.has(wanted) === false)
    return no(`the pod's label ${key} is ${[...choices].map((one) => one ?? 'absent').join(' or ')}`)
  if (pod.unknownLabels.has(key)) {
    const fact = labelFact(key)
    const itself = wanted === fact && selector.placeholders.includes(fact)
    const giver = pod.labelGivers?.get(key)
    if (giver !== undefined) return depends(`${giver} may change the pod's label ${key}`)
    return itself ? YES : depends(`the value of the pod's label ${key} is not known yet`)
  }
  if (pod.possibleLabels.has(key)) {
    return depends(pod.perhaps?.why ?? `${giverOfLabel(pod, key)} may give the pod a label ${key}`)
  }
  const actual = pod.labels.get(key)
  if (actual === undefined) return no(`the pod has no label ${key}`)
  if (selector.placeholders.length > 0) return notRendered(selector)
  return actual === wanted ? YES : no(`the pod's label ${key} is ${actual === '' ? 'empty' : actual}`)
}

function namespaceLabel({ pod: { namespaceTold: told }, selector, value }: SelectorCheck): SelectorMatch {
  if (told === undefined) return depends('only agents with enable_namespace_labels tell namespace labels')
  const { isTold, source, namespace } = told
  if (!isTold) return no(`the agent tells no namespace labels: it has no enable_namespace_labels (${source})`)
  if (selector.placeholders.length > 0) return notRendered(selector)
  const at = value.indexOf(':')
  if (at < 0) return no('an ns-label selector is of the form key:value')
  const label = matchEqual(namespace ?? UNKNOWN_NAMESPACE, value.slice(0, at), value.slice(at + 1))
  if (label === TRUE) return YES
  return label === FALSE
    ? no(`the namespace has no label ${value.replace(':', '=')}`)
    : depends(whyOpenText(label) ?? 'the labels of the namespace are not known')
}

/** Any label may be on it. */
const UNKNOWN_NAMESPACE = { labels: new Map<string, string>(), complete: false }

function podOwner({ pod, selector, value }: SelectorCheck, field: 'name' | 'uid'): SelectorMatch {
  const owners = listAt(pod.metadata, 'ownerReferences').map((owner) => ({
    kind: stringAt(owner, 'kind') ?? '',
    id: stringAt(owner, field),
  }))
  if (pod.owner !== undefined) {
    owners.push({ kind: pod.owner.kind, id: field === 'name' ? pod.owner.name : undefined })
  }
  if (selector.placeholders.length > 0) return notRendered(selector)
  if (owners.some(({ kind, id }) => id !== undefined && value === `${kind}:${id}`)) return YES
  const mayBe = (name: string): boolean => field === 'uid' || mayGiveName(pod, name)
  if (
    owners.some(
      ({ kind, id }) =>
        id === undefined && value.startsWith(`${kind}:`) && mayBe(value.slice(kind.length + 1)),
    )
  ) {
    return depends(`the ${field === 'uid' ? 'UID' : 'name'} of the pod's owner is not known yet`)
  }
  if (owners.length === 0) return no('the pod has no owner')
  const names = owners.map(({ kind, id }) => (id === undefined ? withArticle(kind) : `${kind}:${id}`))
  return no(`the pod's owner is ${names.join(', ')}`)
}

/** The status lists all containers once the kubelet has admitted the pod; before that only the spec is known. */
function imageCount({ pod, selector, value }: SelectorCheck, spec: string, status: string): SelectorMatch {
  if (selector.placeholders.length > 0) return notRendered(selector)
  const reported = listAt(pod.status, status).length
  if (reported === 0 && listAt(pod.spec, spec).length > 0) {
    return depends("the pod's containers have no status yet")
  }
  return value === String(reported) ? YES : no(`the status lists ${reported}`)
}

function podImage({ pod, selector, value }: SelectorCheck, spec: string, status: string): SelectorMatch {
  if (selector.placeholders.length > 0) return notRendered(selector)
  const statuses = listAt(pod.status, status)
  if (statuses.some((item) => imagesOf(item).includes(value))) return YES
  const pulled = statuses.filter((item) => (stringAt(item, 'imageID') ?? '') !== '').length
  if (pulled < listAt(pod.spec, spec).length) {
    return depends('images are known under the names that the node reports after pulling them')
  }
  return no('no container of the pod runs this image')
}

/** What an agent does not look for. */
function lacked({ pod: { lacksContainerSelectors: found } }: SelectorCheck): SelectorMatch | undefined {
  if (found === undefined) return undefined
  return found.isEverywhere ? no(found.why) : depends(found.why)
}

function containerName(check: SelectorCheck): SelectorMatch {
  const { container, selector, value } = check
  const none = lacked(check)
  if (none !== undefined) return none
  if (container === undefined) return depends('it depends on the container')
  if (selector.placeholders.length > 0) return notRendered(selector)
  if (container.name === UNKNOWN_CONTAINER) return depends('the name of the container is not known')
  return container.name === value ? YES : no(`this container is ${container.name}`)
}

function containerImage(check: SelectorCheck): SelectorMatch {
  const { pod, container, selector, value } = check
  const none = lacked(check)
  if (none !== undefined) return none
  if (container === undefined) return depends('it depends on the container')
  if (selector.placeholders.length > 0) return notRendered(selector)
  const list = container.role === 'regular' ? 'containerStatuses' : 'initContainerStatuses'
  const status = listAt(pod.status, list).find((item) => own(item, 'name') === container.name)
  if (imagesOf(status).includes(value)) return YES
  if ((stringAt(status, 'imageID') ?? '') === '') {
    return depends('images are known under the names that the node reports after pulling them')
  }
  return no(`this container runs ${imagesOf(status).join(', ')}`)
}

function sigstore(): SelectorMatch {
  return depends('only agents with sigstore set up tell image signatures')
}

function imagesOf(status: unknown): readonly string[] {
  if (!isRecord(status)) return []
  return [stringAt(status, 'image'), stringAt(status, 'imageID')].filter(
    (image): image is string => image !== undefined && image !== '',
  )
}

function notRendered(selector: EntrySelector): SelectorMatch {
  return depends(`${selector.placeholders.join(' and ')} is not known yet`)
}

function no(why: string): SelectorMatch {
  return { match: 'no', why }
}

function depends(why: string): SelectorMatch {
  return { match: 'depends', why }
}
