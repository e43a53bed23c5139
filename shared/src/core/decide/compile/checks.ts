// What a binding must satisfy before the operator writes anything for it, as one ordered list: the first check that objects
// decides (docs/contract.md §7). A check takes the input and returns an objection or nothing; none logs or throws.
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { valueOf, type DeclaredBinding } from '../../model/objects/binding.ts'
import type { DeclaredObjective } from '../../model/objects/inference.ts'
import type { RefusalReason } from '../reasons/reasons.ts'
import { qualifiedKind, type Kind } from '../../model/kinds.ts'
import { VARIANT_LABEL_KEY_FLAG, type Mode } from '../../model/names.ts'
import type { VariantLabel } from './identity-path.ts'
import { TRUST_DOMAIN_PLACEHOLDER, type Config } from '../settings/config.ts'
import { safetyProblems, selectorsOf, spiffeIdOf, spiffeIdProblem, type IdentityParts } from './identity.ts'
import {
  kindsText,
  objectivePool,
  objectText,
  preferredObjectivePool,
  resolveObjective,
  resolvePool,
  type ObjectivePool,
  type ObjectiveResolution,
  type PoolResolution,
} from './references.ts'
import { type References } from '../../model/objects/lookup.ts'

const VARIANT_LABEL_KEY_NOT_GIVEN: UnknownReason = {
  verb: 'read',
  what: VARIANT_LABEL_KEY_FLAG,
  cause: 'not given',
  fix: `pass ${VARIANT_LABEL_KEY_FLAG}`,
}

/** Everything that the checks look at, read before the first of them runs. */
export interface CheckInput {
  readonly binding: DeclaredBinding
  readonly config: Config
  /** Undefined when `.spec.poolRef` is malformed. */
  readonly pool: PoolResolution | undefined
  /** Undefined when there is no well-formed `.spec.objectiveRef`. */
  readonly objective: ObjectiveResolution | undefined
  /** Set when the fields and the pool give all parts of an identity. */
  readonly parts: IdentityParts | undefined
}

/** What a check that does not pass returns; a text is the message of a refusal for the reason of the check. */
export type Objection =
  | string
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string }
  | { readonly kind: 'undetermined'; readonly why: UnknownReason }

/** One check: its name, the step of `explain` that shows it, why it refuses, and its judgement; undefined: the binding passes. */
interface Check {
  readonly name: string
  readonly step: string
  readonly reason: RefusalReason
  readonly judge: (input: CheckInput) => Objection | undefined
}

/** All checks, in the order in which they are judged: the first that objects decides. */
export const CHECKS = [
  { name: 'poolRef form', step: 'pool', reason: 'InvalidPoolRef', judge: formOf('poolRef') },
  { name: 'pool found', step: 'pool', reason: 'TargetPoolNotFound', judge: poolFound },
  { name: 'pool unambiguous', step: 'pool', reason: 'AmbiguousPoolRef', judge: poolUnambiguous },
  {
    name: 'objectiveRef form',
    step: 'objective',
    reason: 'InvalidObjectiveRef',
    judge: formOf('objectiveRef'),
  },
  { name: 'objective required', step: 'objective', reason: 'MissingObjectiveRef', judge: objectiveRequired },
  { name: 'objective found', step: 'objective', reason: 'TargetObjectiveNotFound', judge: objectiveFound },
  {
    name: 'objective leads to the pool',
    step: 'objective',
    reason: 'InvalidObjectiveRef',
    judge: objectiveLeadsToPool,
  },
  { name: 'pool selector', step: 'selector', reason: 'InvalidPoolSelector', judge: poolSelector },
  { name: 'mode', step: 'mode', reason: 'UnsupportedMode', judge: formOf('mode') },
  {
    name: 'service account',
    step: 'account',
    reason: 'InvalidServiceAccountName',
    judge: formOf('serviceAccountName'),
  },
  { name: 'container', step: 'container', reason: 'InvalidContainerName', judge: container },
  { name: 'identity boundary', step: 'variant', reason: 'InvalidIdentityBoundary', judge: identityBoundary },
  { name: 'safety proof', step: 'proof', reason: 'UnsafeSelector', judge: safetyProof },
  { name: 'SPIFFE ID', step: 'SPIFFE ID', reason: 'InvalidSPIFFEID', judge: spiffeIdValid },
  // `collide/` and `plan/` decide these by the other bindings and by the outputs that exist.
  { name: 'collision', step: 'collision', reason: 'IdentityCollision', judge: passes },
  { name: 'output', step: 'output', reason: 'OutputNotOwned', judge: passes },
] as const satisfies readonly Check[]

/** The name of a check. */
export type CheckName = (typeof CHECKS)[number]['name']
/** A step of `explain`: the checks that it shows as one. */
export type StepName = (typeof CHECKS)[number]['step']

/** Why a binding gets no output: the condition's reason, and a message that names object and field. */
export interface Refusal {
  readonly kind: 'refused'
  readonly check: CheckName
  readonly reason: RefusalReason
  readonly message: string
}

/** Why a binding cannot be decided: something that a check needs could not be read. */
export interface Undetermined {
  readonly kind: 'undetermined'
  readonly check: CheckName
  readonly why: UnknownReason
}

/** What the first check that objects makes of a binding; undefined where all pass. Never throws. */
export function firstObjection(input: CheckInput): Refusal | Undetermined | undefined {
  for (const { name: check, reason, judge } of CHECKS) {
    const objection = judge(input)
    if (objection === undefined) continue
    if (typeof objection === 'string') return { kind: 'refused', check, reason, message: objection }
    return { ...objection, check }
  }
  return undefined
}

/** Looks up what a binding names and assembles the identity that it declares. `references` answers from what was read before. */
export function checkInputOf(binding: DeclaredBinding, references: References, config: Config): CheckInput {
  const { namespace } = binding.meta
  const pool = binding.poolRef.ok ? resolvePool(references, namespace, binding.poolRef.value) : undefined
  const objectiveRef = valueOf(binding.objectiveRef)
  const objective =
    objectiveRef === undefined ? undefined : resolveObjective(references, namespace, objectiveRef)
  return { binding, config, pool, objective, parts: identityParts(binding, pool, config) }
}

/** The mode of a binding, named or inferred; undefined where the field holds no mode, or is missing and the others name two. */
export function modeOf(binding: DeclaredBinding): Mode | undefined {
  return valueOf(binding.mode)
}

function identityParts(
  binding: DeclaredBinding,
  pool: PoolResolution | undefined,
  config: Config,
): IdentityParts | undefined {
  const mode = modeOf(binding)
  if (pool?.state !== 'found' || !pool.selector.ok || mode === undefined) return undefined
  if (!binding.serviceAccountName.ok || !binding.containerName.ok || !binding.objectiveRef.ok)
    return undefined
  const perObjective = mode === 'PerObjective'
  const containerName = perObjective ? binding.containerName.value : undefined
  const objectiveName = perObjective ? binding.objectiveRef.value?.name : undefined
  if (perObjective && (containerName === undefined || containerName === '' || objectiveName === undefined))
    return undefined
  const variant = mode === 'PerVariant' ? variantLabelOf(binding, config) : undefined
  if (mode === 'PerVariant' && variant === undefined) return undefined
  return {
    namespace: binding.meta.namespace,
    binding: binding.meta.name,
    mode,
    poolName: pool.pool.meta.name,
    poolLabels: pool.selector.labels,
    poolSelectors: pool.selector.selectors,
    objectiveName,
    serviceAccountName: binding.serviceAccountName.value,
    containerName,
    variant,
  }
}

/** The label of the variant that a binding names; undefined where it names none, or the key of the label is not known. */
function variantLabelOf(
  { identityBoundary: field }: DeclaredBinding,
  config: Config,
): VariantLabel | undefined {
  const key = config.variantLabelKey
  if (key === undefined || !field.ok || field.value === undefined) return undefined
  return { key, value: field.value.variant }
}

/** Objects to a malformed field. */
function formOf(name: 'poolRef' | 'objectiveRef' | 'mode' | 'serviceAccountName'): Check['judge'] {
  return ({ binding: { [name]: field } }) => (field.ok ? undefined : field.problem)
}

function passes(): undefined {
  return undefined
}

function poolFound({ binding, pool }: CheckInput): Objection | undefined {
  if (pool?.state === 'unknown') return { kind: 'undetermined', why: pool.why }
  const name = valueOf(binding.poolRef)?.name ?? ''
  if (pool?.state === 'absent') return absentText(pool.tried, name, binding)
  if (pool?.state === 'kinds absent') {
    return refused('InferencePoolCRDMissing', `the API server does not serve ${kindsText(pool.tried)}`)
  }
  return undefined
}

function poolUnambiguous({ pool }: CheckInput): Objection | undefined {
  if (pool?.state !== 'ambiguous') return undefined
  const groups = pool.pools.map(({ group }) => group).join(' and ')
  const name = pool.pools[0]?.meta.name ?? ''
  return `InferencePool ${name} exists in ${groups} with different selectors`
}

function objectiveRequired({ binding, objective }: CheckInput): Objection | undefined {
  if (modeOf(binding) !== 'PerObjective' || objective !== undefined) return undefined
  return '.spec.objectiveRef is missing; mode PerObjective requires it'
}

function objectiveFound({ binding, objective }: CheckInput): Objection | undefined {
  if (objective?.state === 'unknown') return { kind: 'undetermined', why: objective.why }
  const name = (binding.objectiveRef.ok ? binding.objectiveRef.value?.name : undefined) ?? ''
  if (objective?.state === 'absent') return absentText(objective.tried, name, binding)
  if (objective?.state === 'kinds absent') {
    return refused(
      'InferenceObjectiveCRDMissing',
      `the API server does not serve ${kindsText(objective.tried)}`,
    )
  }
  return undefined
}

function objectiveLeadsToPool({ objective, pool }: CheckInput): Objection | undefined {
  if (objective?.state !== 'found' || pool?.state !== 'found') return undefined
  const which = objectText(objective.kind, objective.objective.meta.name)
  const own = leadsObjection(objective, which, objectivePool(objective.objective, pool.pool))
  if (own !== undefined) return own
  for (const { kind, lookup } of objective.preferred) {
    if (lookup.state === 'unknown') return { kind: 'undetermined', why: lookup.why }
    if (lookup.state !== 'found') continue
    const preferred = { kind, objective: lookup.object }
    const text = `${objectText(kind, lookup.object.meta.name)} has the same name and`
    const other = leadsObjection(preferred, text, preferredObjectivePool(lookup.object, pool))
    if (other !== undefined) return other
  }
  return undefined
}

function leadsObjection(
  { kind, objective }: { readonly kind: Kind; readonly objective: DeclaredObjective },
  which: string,
  leads: ObjectivePool,
): Objection | undefined {
  if (leads.state === 'leads there') return undefined
  if (leads.state === 'leads elsewhere') return `${which} targets another pool: ${leads.why}`
  const { namespace } = objective.meta
  const malformed = {
    verb: 'read',
    what: `poolRefs of ${qualifiedKind(kind)}`,
    namespace,
    cause: 'malformed',
  } as const
  return { kind: 'undetermined', why: leads.why ?? malformed }
}

function poolSelector({ pool }: CheckInput): Objection | undefined {
  if (pool?.state !== 'found' || pool.selector.ok) return undefined
  const which = objectText(pool.kind, pool.pool.meta.name)
  return refused(pool.selector.reason, `${which}: ${pool.selector.problems.join('; ')}`)
}

function container({ binding }: CheckInput): Objection | undefined {
  const field = binding.containerName
  const mode = modeOf(binding)
  if (mode === 'PoolOnly' || mode === 'PerVariant') {
    if (field.ok && (field.value ?? '') === '') return undefined
    return refused('UnexpectedContainerName', `.spec.containerName must be empty when .spec.mode is ${mode}`)
  }
  if (!field.ok) return field.problem
  if ((field.value ?? '') !== '') return undefined
  return '.spec.containerName is missing; mode PerObjective requires it'
}

function identityBoundary({ binding, config }: CheckInput): Objection | undefined {
  const field = binding.identityBoundary
  const mode = modeOf(binding)
  if (mode !== 'PerVariant') {
    if (field.ok && field.value === undefined) return undefined
    return `.spec.identityBoundary must be absent when .spec.mode is ${mode}`
  }
  if (!field.ok) return field.problem
  if (field.value === undefined)
    return '.spec.identityBoundary.variant is missing; mode PerVariant requires it'
  return config.variantLabelKey === undefined
    ? { kind: 'undetermined', why: VARIANT_LABEL_KEY_NOT_GIVEN }
    : undefined
}

function safetyProof({ parts }: CheckInput): Objection | undefined {
  // All earlier checks passed, so the parts are there. Without them nothing is proven, so the answer is a refusal.
  if (parts === undefined) return 'the selectors could not be put together'
  const problems = safetyProblems(
    parts,
    selectorsOf(parts).map(({ selector }) => selector),
  )
  return problems.length === 0 ? undefined : problems.join('; ')
}

function spiffeIdValid({ parts, config }: CheckInput): Objection | undefined {
  if (config.trustDomain.kind === 'missing')
    return refused('MissingTrustDomain', 'no trust domain is configured')
  if (parts === undefined) return 'the SPIFFE ID could not be put together'
  const spiffeId = spiffeIdOf(parts, trustDomainText(config))
  const problem = spiffeIdProblem(spiffeId)
  return problem === undefined ? undefined : `${spiffeId}: ${problem}`
}

/** `no InferencePool gemma in namespace team-a (looked in inference.networking.k8s.io)`. */
function absentText(tried: readonly Kind[], name: string, binding: DeclaredBinding): string {
  const groups = tried.map(({ group }) => group).join(', ')
  return `no ${tried[0]?.kind ?? 'object'} ${name} in namespace ${binding.meta.namespace} (looked in ${groups})`
}

/** The trust domain as it is rendered; `TRUST_DOMAIN_PLACEHOLDER` where it is not known. */
export function trustDomainText(config: Config): string {
  return config.trustDomain.kind === 'set' ? config.trustDomain.value : TRUST_DOMAIN_PLACEHOLDER
}

function refused(reason: RefusalReason, message: string): Objection {
  return { kind: 'refused', reason, message }
}
