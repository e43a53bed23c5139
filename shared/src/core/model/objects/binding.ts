// An InferenceIdentityBinding, read field by field: an older CRD may have admitted what today's refuses, so each field holds
// either its value or a sentence that says what is wrong with it (docs/contract.md §2).
import { readBy } from '../../base/structural.ts'
import { dig, digPath, isRecord, own, typeName } from '../../base/json.ts'
import { IN_FORCE_CONDITION, type Mode } from '../names.ts'
import {
  bindingSpecSchema,
  type BindingSpec,
  type IdentityBoundaryRef,
  type ObjectiveRef,
  type PoolRef,
} from './binding-schema.ts'
import { bindingStatusSchema, type BindingStatus, type Condition } from './binding-status.ts'
import type { Lifecycle } from './clusterspiffeid.ts'
import { readMeta, type DecisiveMeta, type ObjectMeta } from './meta.ts'
import { namespacedName, type NamespacedName } from '../namespaced-name.ts'
import type { RawObject } from './raw.ts'
import { quoted } from '../../base/text/quoted.ts'

/** A field of a spec: its value, or what is wrong with it (`.spec.poolRef.name must not be empty`). */
export type SpecField<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** The value of a field; undefined where something is wrong with it, and where it has none. */
export function valueOf<T>(field: SpecField<T>): T | undefined {
  return field.ok ? field.value : undefined
}

/** What is decided by: all that the checks, the collisions and the plan read of a binding. */
export interface DeclaredBinding {
  readonly meta: DecisiveMeta
  /** `namespace/name`. */
  readonly key: NamespacedName
  readonly poolRef: SpecField<PoolRef>
  readonly objectiveRef: SpecField<ObjectiveRef | undefined>
  readonly mode: SpecField<Mode>
  readonly serviceAccountName: SpecField<string>
  readonly containerName: SpecField<string | undefined>
  readonly identityBoundary: SpecField<IdentityBoundaryRef | undefined>
}

/** A binding, from a cluster or a file. */
export interface Binding extends DeclaredBinding {
  readonly meta: ObjectMeta
  /** Undefined where the operator has written none yet, or where it cannot be read. */
  readonly status: BindingStatus | undefined
  readonly lifecycle: Lifecycle
}

/** Reads a binding; never throws. */
export function readBinding(raw: RawObject, lifecycle: Lifecycle): Binding {
  const meta = readMeta(raw.value)
  const spec = dig(raw.value, 'spec')
  return {
    meta,
    key: namespacedName(meta.namespace, meta.name),
    poolRef: readField(spec, 'poolRef'),
    objectiveRef: readField(spec, 'objectiveRef'),
    mode: readMode(spec),
    serviceAccountName: readField(spec, 'serviceAccountName'),
    containerName: readField(spec, 'containerName'),
    identityBoundary: readField(spec, 'identityBoundary'),
    status: readStatus(own(raw.value, 'status')),
    lifecycle,
  }
}

/**
 * The mode that a spec names, or else the one that its fields leave: a boundary of a variant means `PerVariant`, an objective and a
 * container `PerObjective`. A spec that names no boundary is read as `PerObjective`, which it is then refused for.
 */
function readMode(spec: unknown): SpecField<Mode> {
  const given = readField(spec, 'mode')
  if (!given.ok) return given
  if (given.value !== undefined) return { ok: true, value: given.value }
  const named = (name: string): boolean => (own(spec, name) ?? '') !== ''
  if (!named('identityBoundary')) return { ok: true, value: 'PerObjective' }
  const other = ['objectiveRef', 'containerName'].find(named)
  if (other === undefined) return { ok: true, value: 'PerVariant' }
  const problem = `.spec.mode is missing, and .spec.identityBoundary means PerVariant, .spec.${other} PerObjective`
  return { ok: false, problem }
}

/** Reads `.status` of a binding; undefined for anything that the operator cannot have written. */
export function readStatus(status: unknown): BindingStatus | undefined {
  const read = readBy(bindingStatusSchema, status)
  return read.ok ? read.value : undefined
}

function readField<Name extends keyof BindingSpec>(spec: unknown, name: Name): SpecField<BindingSpec[Name]>
function readField(spec: unknown, name: keyof BindingSpec): SpecField<unknown> {
  const { properties, required } = bindingSpecSchema
  const found = withoutNulls(own(spec, name))
  if (found === undefined && !required.some((one) => one === name)) return { ok: true, value: undefined }
  const read = readBy(properties[name], found)
  if (read.ok) return read
  const leaf = digPath(found, read.path)
  const field = `.${['spec', name, ...read.path].join('.')}`
  if (leaf === undefined || leaf === null) return { ok: false, problem: `${field} is missing` }
  return {
    ok: false,
    problem: `${field} ${read.why}; found ${typeof leaf === 'string' ? quoted(leaf) : typeName(leaf)}`,
  }
}

/** The API server prunes null where a field is not nullable, in nested objects too: it counts as absent. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
}

/** The condition `Ready` of a binding's status. */
export function readyOf({ status }: Pick<Binding, 'status'>): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

/** The condition `InForce` of a binding's status. */
export function inForceOf({ status }: Pick<Binding, 'status'>): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === IN_FORCE_CONDITION)
}
