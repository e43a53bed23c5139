// Policies and webhooks that change pods and Namespaces when they are made: Kyverno's, Gatekeeper's, the API server's own, and the templates by
// which Istio injects. What they match is not followed: where the text of one names a label, it may give that label to any
// that does not exist yet.
import { own, stringAt } from '../../base/json.ts'
import { qualifiedKind } from '../kinds.ts'
import type { Namespace, Pod } from './pod.ts'
import type { PodChange } from './raw.ts'

/** Groups and kinds that change pods when they are made. */
const POD_CHANGERS: ReadonlyMap<string, RegExp> = new Map([
  ['kyverno.io', /^(?:Cluster)?Policy$/],
  ['policies.kyverno.io', /MutatingPolicy$/],
  ['mutations.gatekeeper.sh', /^(?:Assign|AssignMetadata|ModifySet)$/],
  ['admissionregistration.k8s.io', /^Mutating/],
  ['argoproj.io', /^Application(?:Set)?$/],
])
/** Labels of Namespaces, which Argo CD sets: https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#namespace-metadata */
const OF_NAMESPACES = 'managedNamespaceMetadata'
/** A policy that sets labels says so, and one of these words; one that only asks for them does not. */
const MUTATES = /mutate|mutations|mutator|patch|"location"/i

/** What an object of a kind may do to pods; undefined where it changes none. */
export function podChangeOf(
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
  text: () => string,
): PodChange | undefined {
  if (POD_CHANGERS.get(group)?.test(kind) !== true) return undefined
  const whole = text()
  const by = `${qualifiedKind({ group, kind })} ${name}`
  if (group === 'argoproj.io')
    return whole.includes(OF_NAMESPACES)
      ? { by, mountsWorkloadApi: false, labelText: whole, ofNamespaces: true }
      : undefined
  const mountsWorkloadApi = /spire|spiffe/i.test(whole)
  const labelText = whole.includes('labels') && MUTATES.test(whole) ? whole : undefined
  if (!mountsWorkloadApi && labelText === undefined) return undefined
  return {
    by,
    mountsWorkloadApi,
    ...(labelText !== undefined && { labelText }),
  }
}

/** `inject.istio.io/templates: sidecar,spire`: https://istio.io/latest/docs/ops/integrations/spire/ */
export const ISTIO_TEMPLATES = 'inject.istio.io/templates'
/** Those that Istio brings: https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/ */
const OF_ISTIO: ReadonlySet<string> = new Set(['sidecar', 'gateway', 'grpc-agent', 'grpc-simple'])

/** The template that a pod asks Istio for and that is none of Istio's own: it may set any label, and add any volume. */
export function istioTemplate({ metadata }: Pod): string | undefined {
  const named = stringAt(own(metadata, 'annotations'), ISTIO_TEMPLATES)?.split(',') ?? []
  const template = named.map((one) => one.trim()).find((one) => one !== '' && !OF_ISTIO.has(one))
  return template && `Istio's injection template ${template}`
}

/** Whether a text names the key of a label: as it is, in a path of JSON or of Gatekeeper, or with a part of it that is filled in later. */
function namesLabel(text: string, key: string): boolean {
  if (COMPUTED_KEY.test(text)) return true
  const before = /(?<![A-Za-z0-9._/~-])/.source
  const either = [key, key.replaceAll('/', '~1')].map((one) => RegExp.escape(one)).join('|')
  return text.includes(key) || text.includes('~1')
    ? new RegExp(`${before}(?:${either})(?![A-Za-z0-9._/~-])`).test(
        text.replaceAll(/[/.]?metadata[/.]labels[/.]/g, ' '),
      )
    : false
}

const COMPUTED_KEY = /\}\}[^"\\]{0,64}\\?"[ ]*:/

/**
 * A pod that does not exist yet, with the labels that admission may add to it, of those that are asked for: any other label decides
 * nothing. A label that is there is treated as unchanged.
 */
export function withLabelsOfAdmission(
  pod: Pod,
  changes: readonly PodChange[],
  asked: ReadonlySet<string>,
): Pod {
  const template = pod.exists ? undefined : istioTemplate(pod)
  if (pod.exists || (changes.length === 0 && template === undefined)) return pod
  const ofPods = changes.filter(({ ofNamespaces }) => ofNamespaces !== true)
  const givers = new Map<string, string>()
  for (const key of asked) {
    if (pod.labels.has(key) || pod.unknownLabels.has(key) || pod.possibleLabels.has(key)) continue
    const giver = template ?? giverAmong(ofPods, key)
    if (giver !== undefined) givers.set(key, giver)
  }
  if (givers.size === 0) return pod
  return {
    ...pod,
    possibleLabels: new Set([...pod.possibleLabels, ...givers.keys()]),
    labelGivers: givers,
  }
}

/** A Namespace that does not exist yet, with the labels that admission may add to it: what a policy matches is not followed. */
export function namespaceOfAdmission(
  namespace: Namespace,
  changes: readonly PodChange[],
  asked: ReadonlySet<string>,
): Namespace {
  const possible = new Set(
    [...asked].filter((key) => !namespace.labels.has(key) && giverAmong(changes, key) !== undefined),
  )
  return possible.size === 0 ? namespace : { ...namespace, possible }
}

function giverAmong(changes: readonly PodChange[], key: string): string | undefined {
  return changes.find(({ labelText = '' }) => namesLabel(labelText, key))?.by
}

/** Who may give a pod a label, of those that it may carry. */
export function giverOfLabel({ labelGivers }: Pod, key: string): string {
  return labelGivers?.get(key) ?? 'the node'
}
