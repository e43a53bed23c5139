// Policies and webhooks that change pods and Namespaces when they are made: Kyverno's, Gatekeeper's, the API server's own, and the templates by
// which Istio injects. Of what they match, kinds and namespaces are followed: each may change any such object that does not exist yet
// (`admission-labels.ts`).
import { isDns1123Label } from '../../base/text/kubernetes.ts'
import { dig, listAt, own, stringAt, walk, type JsonRecord } from '../../base/json.ts'
import { qualifiedKind } from '../kinds.ts'
import { containersAddedBy, labelTextOf } from './label-setting.ts'
import type { Pod } from './pod.ts'
import { KINDS_WITH_PODS } from './workload.ts'
import type { PodChange } from './raw.ts'

/** Groups and kinds that change pods when they are made. */
const POD_CHANGERS: ReadonlyMap<string, RegExp> = new Map([
  ['kyverno.io', /^(?:Cluster)?Policy$/],
  ['policies.kyverno.io', /MutatingPolicy$/],
  ['mutations.gatekeeper.sh', /^(?:Assign|AssignMetadata|ModifySet)$/],
  ['admissionregistration.k8s.io', /^Mutating/],
])
/** Groups and kinds that set labels of Namespaces alone, and the field in which they do. */
const NAMESPACE_CHANGERS: ReadonlyMap<string, { readonly kinds: RegExp; readonly field: string }> = new Map([
  // https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#namespace-metadata
  ['argoproj.io', { kinds: /^Application(?:Set)?$/, field: 'managedNamespaceMetadata' }],
  // https://github.com/kubernetes-retired/hierarchical-namespaces, api/v1alpha2/hierarchy_types.go: of a namespace and of those below it
  ['hnc.x-k8s.io', { kinds: /^HierarchyConfiguration$/, field: 'labels' }],
  // https://projectcapsule.dev/docs/tenants/metadata
  ['capsule.clastix.io', { kinds: /^Tenant$/, field: 'namespaceOptions' }],
])
/** A policy that sets labels says so, and one of these words; one that only asks for them does not. */
const MUTATES = /mutate|mutations|mutator|patch|"location"/i

/** Groups and kinds that delete objects: https://kyverno.io/docs/policy-types/cleanup-policy/, https://kyverno.io/docs/policy-types/deleting-policy/ */
const DELETERS: ReadonlyMap<string, RegExp> = new Map([
  ['kyverno.io', /CleanupPolicy$/],
  ['policies.kyverno.io', /DeletingPolicy$/],
])
/** They end by themselves, and policies for them take away what has ended. */
const ENDING: ReadonlySet<string> = new Set(['Pod', 'Job'])
/** A list of kinds with a pattern in it, in YAML or JSON. It ends where a further list may begin: a long text is gone through once. */
const ANY_KIND = /(?:kinds|resources)["']?\s*:\s*(?:\[[^[\]:]*?|(?:-\s*[^\s*:]+\s+)*-\s*)["']?\*/

/** A policy that copies objects into other namespaces: https://kyverno.io/docs/policy-types/cluster-policy/generate/#clone-source */
const COPIES = /\bcloneList["']?\s*:/

/** What an object of a kind may do to pods, by its text; undefined where it changes none. `value` is the object, if it could be read. */
export function podChangeOf(
  type: { readonly group: string; readonly kind: string },
  name: string,
  text: () => string,
  value?: JsonRecord,
): PodChange | undefined {
  const { group, kind } = type
  const ofNamespaces = NAMESPACE_CHANGERS.get(group)
  const setsNamespaces = ofNamespaces?.kinds.test(kind) === true
  if (!setsNamespaces && POD_CHANGERS.get(group)?.test(kind) !== true) return undefined
  const whole = text()
  const by = `${qualifiedKind(type)} ${name}`
  if (setsNamespaces && !whole.includes(ofNamespaces.field)) return undefined
  const alone = setsNamespaces ? 'namespaces' : aloneIn(value, whole)
  if (alone === 'neither') return undefined
  const namespaces = setsNamespaces ? undefined : namespacesOf(kind, value)
  const mutates = MUTATES.test(whole)
  // Such a policy of Kyverno may also refuse objects alone; what the others are called says that they change them.
  const mayOnlyRefuse = group === 'kyverno.io' && !mutates
  const mountsWorkloadApi = !setsNamespaces && !mayOnlyRefuse && /spire|spiffe/i.test(whole)
  const setsLabels = /labels|annotations|containers/i.test(whole) && (setsNamespaces || mutates)
  if (!mountsWorkloadApi && !setsLabels) return undefined
  return {
    by,
    mountsWorkloadApi,
    ...(setsLabels && {
      labelText:
        value === undefined
          ? whole
          : labelTextOf(kind, value, setsNamespaces ? ofNamespaces.field : undefined),
    }),
    ...(value !== undefined && setsLabels && { containers: containersAddedBy(value) }),
    ...(alone && { alone }),
    ...(namespaces && { namespaces }),
  }
}

/** The fields by which policies name the kinds that they are for, match, change or make. */
const OF_KINDS = /^(?:kinds?|resources?)$/
const OF_PODS = /^pods?$/i
const OF_NAMESPACE = /^namespaces?$/i
/** Kinds whose own labels no pod gets, by their names and plurals. */
const IDLE =
  /^(?:services?|configmaps?|secrets?|serviceaccounts?|endpoints(?:lices?)?|ingress(?:es)?|networkpolic(?:y|ies)|persistentvolume(?:claim)?s?|(?:cluster)?role(?:binding)?s?|storageclass(?:es)?|resourcequotas?|limitranges?|nodes?|horizontalpodautoscalers?|poddisruptionbudgets?|(?:deployment|statefulset|daemonset|replicaset|job|cronjob)s?)$/i

/** What of pods and Namespaces a policy changes alone, by the kinds that it names; undefined: both, or that is not plain. */
function aloneIn(value: JsonRecord | undefined, text: string): 'pods' | 'namespaces' | 'neither' | undefined {
  const spec = own(value, 'spec')
  const names = kindsNamedIn(spec)
  const isOpen = matchesOf(spec).some((one) => kindsNamedIn(one).length === 0)
  if (isOpen || names.some((name) => !/^[\w./-]+$/.test(name))) return undefined
  const kinds = names.map((name) => name.split('/').at(-1) ?? '')
  const changesNamespaces = names.some((name) => name.split('/').some((part) => OF_NAMESPACE.test(part)))
  // A template in an object of such a kind is one of pods.
  const isIdle = (name: string): boolean =>
    OF_NAMESPACE.test(name) || (IDLE.test(name) && !/template/i.test(text))
  const changesPods =
    names.some((name) => name.split('/').some((part) => OF_PODS.test(part))) || !kinds.every(isIdle)
  if (changesPods) return changesNamespaces ? undefined : 'pods'
  return changesNamespaces ? 'namespaces' : 'neither'
}

/** The namespaces of the objects that a policy changes, if it lists them by plain names; undefined means any. */
function namespacesOf(kind: string, value: JsonRecord | undefined): ReadonlySet<string> | undefined {
  const spec = own(value, 'spec')
  const isElsewhere = listAt(spec, 'rules').some((rule) => dig(rule, 'mutate', 'targets') !== undefined)
  // A Policy of Kyverno changes objects of its own namespace: https://kyverno.io/docs/policy-types/cluster-policy/overview/
  const lists =
    kind === 'Policy'
      ? [[stringAt(value, 'metadata', 'namespace')]]
      : matchesOf(spec).map((one) => [
          ...listAt(one, 'resources', 'namespaces'),
          ...listAt(spec, 'match', 'namespaces'),
        ])
  const names = lists
    .flat()
    .filter((name): name is string => typeof name === 'string' && isDns1123Label(name))
  const isPlain = lists.every((list) => list.length > 0) && names.length === lists.flat().length
  return isElsewhere || !isPlain ? undefined : new Set(names)
}

/** The parts of a policy that match something by themselves: rules of Kyverno, kinds of Gatekeeper, resources of the API server's own. */
function matchesOf(spec: unknown): readonly unknown[] {
  const ofRules = listAt(spec, 'rules').flatMap((rule) => {
    const any = listAt(rule, 'match', 'any')
    return any.length > 0 ? any : [own(rule, 'match')]
  })
  const matches = [
    ...ofRules,
    ...listAt(spec, 'match', 'kinds'),
    ...listAt(spec, 'matchConstraints', 'resourceRules'),
  ]
  return matches.length > 0 ? matches : [spec]
}

function kindsNamedIn(value: unknown): readonly string[] {
  const names: string[] = []
  walk(value, (part, key) => {
    if (typeof part === 'string' && OF_KINDS.test(key)) names.push(part)
    return key !== 'exclude'
  })
  return names
}

/**
 * Those of the kinds that a policy changes so that it matters, by its text: workloads in their service account, any other in its spec; or
 * that it copies or deletes. Labels of pods and Namespaces are looked at by themselves.
 */
export function kindsChangedBy<T extends { readonly group: string; readonly kind: string }>(
  { group, kind }: { readonly group: string; readonly kind: string },
  text: string,
  kinds: readonly T[],
): readonly T[] {
  if (DELETERS.get(group)?.test(kind) === true)
    return kinds.filter((one) => !ENDING.has(one.kind) && (ANY_KIND.test(text) || isNamedIn(text, one)))
  const isCopy = COPIES.test(text)
  if (POD_CHANGERS.get(group)?.test(kind) !== true || (!isCopy && !MUTATES.test(text))) return []
  return kinds.filter((one) => {
    const field = KINDS_WITH_PODS.has(qualifiedKind(one)) ? /serviceAccount/ : /\bspec\b/
    return (isCopy || field.test(text)) && isNamedIn(text, one)
  })
}

/** Whether a text has a kind by its name or its plural. */
function isNamedIn(text: string, { kind }: { readonly kind: string }): boolean {
  const [, stem = '', end = ''] = /^(.*?)(y?)$/.exec(kind) ?? []
  return new RegExp(`\\b${stem}${end && '(?:y|ie)'}s?\\b`, 'i').test(text)
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
