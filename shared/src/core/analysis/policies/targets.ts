// What policies do to one another on the targets that they share, in the reference implementation: rules are kept by their
// names, and only the oldest policies count. A policy that comes from a file has no age: it may replace a stored one, which
// keeps its age, or be new.
import type { Each } from '../../base/each.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { targetText, type AccessPolicy } from '../../model/objects/access-policy.ts'
import type { PolicyRule } from '../../model/objects/access-rule.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { noteOf } from './notes.ts'
import { POLICIES_PER_TARGET, type PolicyNote } from './resolution.ts'

/** The policies that have something in common: those of known age first, the oldest first. */
interface Rivals {
  readonly all: AccessPolicy[]
  /** The latest of those whose age is known. */
  latest: AccessPolicy | undefined
}

/** Which policies share a target, worked out once for all of them. */
export class TargetIndex {
  readonly #byTarget = new Map<string, Rivals>()
  /** By target, action and rule name, without those that are certainly left out. */
  readonly #byRule = new Map<string, Rivals>()

  constructor(policies: Each<AccessPolicy>) {
    for (const policy of policies.filter(hasTargets).toSorted(byAge)) {
      for (const target of new Set(policy.targets.map((one) => targetKey(policy, one)))) {
        join(this.#byTarget, target, policy)
        if (isLeftOut(policy)) continue
        for (const name of new Set(policy.rules.filter(({ isNamed }) => isNamed).map((rule) => rule.name)))
          join(this.#byRule, ruleKey(target, policy, name), policy)
      }
    }
  }

  /** A note for each target that has too many policies for this one. */
  overLimit(policy: AccessPolicy): readonly PolicyNote[] {
    if (!hasTargets(policy)) return []
    return policy.targets.flatMap((target) => {
      const { all } = this.#byTarget.get(targetKey(policy, target)) ?? NO_RIVALS
      if (all.slice(0, POLICIES_PER_TARGET).includes(policy)) return []
      const why =
        policy.meta.createdAt === undefined
          ? `only the ${POLICIES_PER_TARGET} oldest count, and the age of this one is unknown`
          : `and this one is not among the ${POLICIES_PER_TARGET} oldest`
      return [noteOf('over the limit', `${targetText(target)} has ${all.length} policies, ${why}`)]
    })
  }

  /** A note for each policy that replaces this rule, or may. */
  replaced(policy: AccessPolicy, rule: PolicyRule): readonly PolicyNote[] {
    if (!rule.isNamed || isLeftOut(policy)) return []
    const byPolicy = new Map<string, PolicyNote>()
    for (const target of policy.targets) {
      const rivals = this.#byRule.get(ruleKey(targetKey(policy, target), policy, rule.name)) ?? NO_RIVALS
      const found = replacing(policy, rivals)
      if (found === undefined || byPolicy.has(found.by.key)) continue
      const { by, isCertain } = found
      const which = isCertain
        ? 'which is later and replaces it'
        : 'and which of the two is the later one is not known'
      const text = `${targetText(target)} has a rule ${JSON.stringify(rule.name)} of ${by.key} too, ${which}`
      byPolicy.set(by.key, noteOf('rule replaced', text, by.key))
    }
    return [...byPolicy.values()]
  }
}

const NO_RIVALS: Rivals = { all: [], latest: undefined }

function join(map: Map<string, Rivals>, key: string, policy: AccessPolicy): void {
  const rivals = getOrCreate(map, key, (): Rivals => ({ all: [], latest: undefined }))
  rivals.all.push(policy)
  if (policy.meta.createdAt !== undefined) rivals.latest = policy
}

/** Which policy takes the place of this one, as far as their ages decide it. */
function replacing(
  policy: AccessPolicy,
  { all, latest }: Rivals,
): { readonly by: AccessPolicy; readonly isCertain: boolean } | undefined {
  const { createdAt: age } = policy.meta
  const later = latest?.meta.createdAt
  if (latest !== undefined && age !== undefined && later !== undefined && compareBytes(later, age) > 0)
    return { by: latest, isCertain: true }
  const by = all.at(-1) === policy ? all.at(-2) : all.at(-1)
  if (by === undefined) return undefined
  const isOlder = age !== undefined && by.meta.createdAt !== undefined && by.meta.createdAt !== age
  return isOlder ? undefined : { by, isCertain: false }
}

/** Whether a controller can see it as a policy of its targets: one of a kind that no API server has is on none. */
function hasTargets({ reading }: AccessPolicy): boolean {
  return reading.kind !== 'proposal'
}

/** Whether the reference implementation certainly does not look at it. */
function isLeftOut({ ancestors, reading, action }: AccessPolicy): boolean {
  if (reading.kind !== 'v1alpha1' || action === undefined) return true
  return (
    ancestors !== undefined &&
    (ancestors.length === 0 || ancestors.some(({ accepted }) => accepted !== 'True'))
  )
}

function byAge({ meta: left }: AccessPolicy, { meta: right }: AccessPolicy): number {
  return (
    compareBytes(left.createdAt ?? AGELESS, right.createdAt ?? AGELESS) ||
    compareBytes(left.namespace, right.namespace) ||
    compareBytes(left.name, right.name)
  )
}

/** Behind every time as an API server writes it. */
const AGELESS = '~'

type Target = AccessPolicy['targets'][number]

function targetKey({ meta }: AccessPolicy, { group, kind, name }: Target): string {
  return [meta.namespace, group, kind, name].join('\n')
}

function ruleKey(target: string, { action }: AccessPolicy, name: string): string {
  return [target, action ?? '', name].join('\n')
}
