// The derivation of one binding, step by step, for a person: what was looked at, what it resolved to, and which step
// failed. The steps group the checks of `compile/checks.ts`; their order is the order of judgement.
import { valueOf } from '../../model/objects/binding.ts'
import {
  CHECKS,
  modeOf,
  trustDomainText,
  type CheckInput,
  type CheckName,
  type StepName,
  safetyProblems,
  selectorsOf,
  spiffeIdOf,
  objectText,
  type Judgement,
} from '../../decide/index.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'

/** One step of the derivation of one binding. */
export interface DerivationStep {
  readonly name: StepName
  readonly outcome: 'passed' | 'failed' | 'unknown' | 'not judged'
  /** What it resolved to, or why it failed. */
  readonly text: string
}

/** What to say of a step when all its checks passed. */
const PASSED: Readonly<Record<StepName, (input: CheckInput) => string>> = {
  pool: poolText,
  objective: objectiveText,
  selector: selectorText,
  mode: ({ binding }) => modeOf(binding) ?? '',
  account: ({ binding }) => valueOf(binding.serviceAccountName) ?? '',
  container: ({ parts }) => parts?.containerName ?? 'all containers of the pods',
  variant: ({ parts }) => (parts?.variant === undefined ? '' : `${parts.variant.key}=${parts.variant.value}`),
  proof: proofText,
  'SPIFFE ID': ({ parts, config }) => (parts === undefined ? '' : spiffeIdOf(parts, trustDomainText(config))),
  collision: collisionText,
  output: () => '',
}

const STEPS: ReadonlySet<StepName> = new Set(CHECKS.map(({ step }) => step))

/** All steps of a judged binding, in order; the step of the variant only if the binding has one. */
export function stepsOf(judgement: Judgement): readonly DerivationStep[] {
  const { input } = judgement.compiled
  const stop = stopOf(judgement)
  let judged = true
  const hasVariant = modeOf(input.binding) === 'PerVariant' || stop?.check === 'identity boundary'
  const failed = CHECKS.find(({ name }) => name === stop?.check)?.step
  return [...STEPS]
    .filter((name) => name !== 'variant' || hasVariant)
    .map((name): DerivationStep => {
      if (!judged) return { name, outcome: 'not judged', text: '' }
      if (stop === undefined || failed !== name) return { name, outcome: 'passed', text: PASSED[name](input) }
      judged = false
      return { name, outcome: stop.outcome, text: stop.text }
    })
}

/** Where the judgement stopped, and how. */
function stopOf(
  judgement: Judgement,
): { check: CheckName; outcome: 'failed' | 'unknown'; text: string } | undefined {
  switch (judgement.state) {
    case 'refused':
      return { check: judgement.check, outcome: 'failed', text: judgement.message }
    case 'undetermined':
      return { check: judgement.check, outcome: 'unknown', text: unknownReasonText(judgement.why) }
    case 'waiting':
      return { check: 'output', outcome: 'unknown', text: `waiting for ${judgement.waitsFor.join('; ')}` }
    case 'ready':
    case 'deleting':
      return undefined
  }
}

function poolText({ pool }: CheckInput): string {
  if (pool?.state !== 'found') return ''
  const shadowed =
    pool.shadowed === undefined ? '' : `; ${pool.shadowed.group} holds another pool of that name`
  return `${objectText(pool.kind, pool.pool.meta.name)}${shadowed}`
}

function objectiveText({ objective, pool }: CheckInput): string {
  if (objective?.state !== 'found' || pool?.state !== 'found') return 'none named, none needed'
  return `${objectText(objective.kind, objective.objective.meta.name)}, targets pool ${pool.pool.meta.name}`
}

function selectorText({ pool }: CheckInput): string {
  if (pool?.state !== 'found' || !pool.selector.ok) return ''
  return [...pool.selector.labels].map(([key, value]) => `${key}=${value}`).join(',')
}

function proofText({ parts }: CheckInput): string {
  if (parts === undefined) return ''
  const selectors = selectorsOf(parts).map(({ selector }) => selector)
  if (safetyProblems(parts, selectors).length > 0) return ''
  const container = parts.containerName === undefined ? '' : ', one container'
  const variant = parts.variant === undefined ? '' : ', one variant'
  return `${selectors.length} selectors: one namespace, one service account, every pool label${container}${variant}`
}

function collisionText({ binding }: CheckInput): string {
  switch (modeOf(binding)) {
    case 'PoolOnly':
      return 'none: PoolOnly bindings never collide'
    case 'PerVariant':
      return 'none: no other binding provably claims these pods for a variant'
    case 'PerObjective':
    case undefined:
      return 'none: no other binding provably claims this container of these pods'
  }
}
