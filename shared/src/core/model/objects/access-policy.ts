// XAccessPolicy of Kube Agentic Networking (agentic.networking.x-k8s.io/v1alpha1, provisional), read field by field and
// without trust. What cannot be understood says where and why. Source: KAN v0.1.0 and its main branch at c7e4194.
import { dig, isRecord, listAt, own, stringAt, typeName } from '../../base/json.ts'
import { ACCESS_POLICY_KIND, OLD_ACCESS_POLICY_VERSION, qualifiedKind } from '../kinds.ts'
import { readRule, type PolicyRule, type Unreadable } from './access-rule.ts'
import { quoted } from '../../base/text/quoted.ts'
import { readMeta, type ObjectMeta } from './meta.ts'
import { namespacedName, type NamespacedName } from '../namespaced-name.ts'
import type { RawObject } from './raw.ts'

/** How much kleym understands of the object: `too old` and `not known` have no rules here. */
export type PolicyReading =
  | { readonly kind: 'v1alpha1' }
  /** Group and version are those of v1alpha1; the kind is `AccessPolicy`, as the proposals call it and no release does. */
  | { readonly kind: 'proposal'; readonly apiVersion: string }
  /** A group or version from before v1alpha1, whose fields meant something else. `apiVersion` as written. */
  | { readonly kind: 'too old'; readonly apiVersion: string }
  /** A version that kleym does not know. */
  | { readonly kind: 'not known'; readonly apiVersion: string }
  /** An object of another program: kleym reads whom it names, and nothing else of it. */
  | { readonly kind: 'names alone'; readonly apiVersion: string }

/** What a policy is for: an object of the policy's own namespace. */
export interface PolicyTarget {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly sectionName: string | undefined
}

/** One entry of `status.ancestors`. */
export interface PolicyAncestor {
  readonly group: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** `True`, `False`, `Unknown`, or undefined where there is no condition `Accepted`. */
  readonly accepted: string | undefined
  readonly reason: string
  readonly observedGeneration: number | undefined
}

/** An access policy, as far as it can be understood. */
export interface AccessPolicy {
  readonly meta: ObjectMeta
  /** `namespace/name`. */
  readonly key: NamespacedName
  /** `XAccessPolicy`, `AccessPolicy` of the oldest group, or the kind of another program. */
  readonly kind: string
  readonly reading: PolicyReading
  readonly targets: readonly PolicyTarget[]
  /** `Allow`, `ExternalAuth`, or as written; undefined where there is none. */
  readonly action: string | undefined
  /** Empty if `reading` is `too old` or `not known`. */
  readonly rules: readonly PolicyRule[]
  /** The fields that cannot be understood, apart from sources, which say it themselves. */
  readonly unreadable: readonly Unreadable[]
  /** Undefined where the object has no UID: no controller can have accepted it yet. */
  readonly ancestors: readonly PolicyAncestor[] | undefined
  /** What turns mTLS off where it is in force, without which no name of it matches; absent: nothing is known to. */
  readonly withoutMtls?: string
}

/** Reads an access policy of any group; never throws. */
export function readAccessPolicy(raw: RawObject): AccessPolicy {
  const meta = readMeta(raw.value)
  const reading = readingOf(raw)
  const found = {
    meta,
    key: namespacedName(meta.namespace, meta.name),
    kind: stringAt(raw.value, 'kind') ?? '',
    reading,
    ancestors: meta.uid === undefined ? undefined : readAncestors(raw.value, meta.namespace),
  }
  if (reading.kind !== 'v1alpha1' && reading.kind !== 'proposal')
    return { ...found, targets: [], action: undefined, rules: [], unreadable: [] }
  const unreadable: Unreadable[] = []
  const problem = (where: string, why: string): void => void unreadable.push({ where, why })
  const spec = dig(raw.value, 'spec')
  if (!isRecord(spec))
    problem('.spec', spec === undefined ? 'is missing' : `is ${typeName(spec)}, not a mapping`)
  return {
    ...found,
    targets: readList(spec, 'targetRefs', problem).flatMap(
      (target, at) => readTarget(target, at, problem) ?? [],
    ),
    action: readAction(spec, problem),
    rules: readList(spec, 'rules', problem).map((rule, at) => readRule(rule, at, meta.namespace, problem)),
    unreadable,
  }
}

/** An object that names identities, as a policy; kleym understands its names alone. */
export function policyOfNames(
  { value }: RawObject,
  { targets, action, rules }: Pick<AccessPolicy, 'targets' | 'action' | 'rules'>,
): AccessPolicy {
  const meta = readMeta(value)
  return {
    meta,
    key: namespacedName(meta.namespace, meta.name),
    kind: stringAt(value, 'kind') ?? '',
    reading: { kind: 'names alone', apiVersion: stringAt(value, 'apiVersion') ?? '' },
    targets,
    action,
    rules,
    unreadable: [],
    ancestors: undefined,
  }
}

/** `Gateway/tools`, `XBackend.agentic.networking.x-k8s.io/mcp`, with the section behind a colon. */
export function targetText({ group, kind, name, sectionName }: PolicyTarget): string {
  const qualified = group === GATEWAY_GROUP ? kind : qualifiedKind({ kind, group })
  return `${qualified}/${name}${sectionName === undefined ? '' : `:${sectionName}`}`
}

const GATEWAY_GROUP = 'gateway.networking.k8s.io'

type Problem = (where: string, why: string) => void

function readingOf({ value }: RawObject): PolicyReading {
  const apiVersion = stringAt(value, 'apiVersion') ?? ''
  const { group, version, kind } = ACCESS_POLICY_KIND
  const isKind = stringAt(value, 'kind') === kind
  if (apiVersion === `${group}/${version}`)
    return isKind ? { kind: 'v1alpha1' } : { kind: 'proposal', apiVersion }
  const isOld =
    !isKind || !apiVersion.startsWith(`${group}/`) || apiVersion === `${group}/${OLD_ACCESS_POLICY_VERSION}`
  return { kind: isOld ? 'too old' : 'not known', apiVersion }
}

function readList(spec: unknown, field: string, problem: Problem): readonly unknown[] {
  const found = own(spec, field)
  if (found === undefined || found === null) return []
  if (Array.isArray(found)) return found
  problem(`.spec.${field}`, `is ${typeName(found)}, not a list`)
  return []
}

function readAction(spec: unknown, problem: Problem): string | undefined {
  const found = own(spec, 'action')
  if (found === undefined || found === null || found === '') return undefined
  if (typeof found !== 'string') problem('.spec.action', `is ${typeName(found)}, not a string`)
  else if (found !== 'Allow' && found !== 'ExternalAuth')
    problem('.spec.action', `is ${quoted(found)}, which kleym does not know`)
  return typeof found === 'string' ? found : undefined
}

function readTarget(found: unknown, at: number, problem: Problem): PolicyTarget | undefined {
  const where = `.spec.targetRefs[${at}]`
  if (!isRecord(found)) {
    problem(where, `is ${typeName(found)}, not a mapping`)
    return undefined
  }
  const [kind, name] = [stringAt(found, 'kind') ?? '', stringAt(found, 'name') ?? '']
  if (kind === '' || name === '') problem(where, 'does not say which object it means')
  const sectionName = stringAt(found, 'sectionName')
  return {
    group: stringAt(found, 'group') ?? '',
    kind,
    name,
    sectionName: sectionName === '' ? undefined : sectionName,
  }
}

/** An ancestor without a namespace is in the policy's own; one without a kind is a Gateway (GEP-713, ParentReference). */
function readAncestors(object: unknown, namespace: string): readonly PolicyAncestor[] {
  return listAt(object, 'status', 'ancestors').map((ancestor) => {
    const accepted = listAt(ancestor, 'conditions').find((one) => own(one, 'type') === 'Accepted')
    const observed = own(accepted, 'observedGeneration')
    return {
      group: stringAt(ancestor, 'ancestorRef', 'group') ?? GATEWAY_GROUP,
      kind: stringAt(ancestor, 'ancestorRef', 'kind') ?? 'Gateway',
      namespace: stringAt(ancestor, 'ancestorRef', 'namespace') ?? namespace,
      name: stringAt(ancestor, 'ancestorRef', 'name') ?? '',
      accepted: stringAt(accepted, 'status'),
      reason: stringAt(accepted, 'reason') ?? '',
      observedGeneration: typeof observed === 'number' ? observed : undefined,
    }
  })
}
