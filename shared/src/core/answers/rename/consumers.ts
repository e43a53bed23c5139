// What has to accept a new ID beside an old one: every list in which a value takes in the old one and none takes in the new one. How a
// value matches is known from `naming` and `policies`; what a plain string does is not known.
import { groupOfApiVersion, qualifiedKind } from '../../model/kinds.ts'
import { matchesId } from '../../model/naming/id-matcher.ts'
import { holdsOneName, NAMES_FILE_KIND } from '../../model/naming/names-outside.ts'
import { writtenFor } from '../../model/naming/named-in.ts'
import type { RuleSource } from '../../model/objects/access-rule.ts'
import {
  type Policies,
  type Naming,
  type ResolvedPolicy,
  type ResolvedRule,
  policyName,
} from '../../analysis/index.ts'

/** An ID that takes the place of another. */
export interface IdChange {
  readonly oldId: string
  readonly newId: string
}

/**
 * How a consumer comes to name both. `value`: another value of a list. `rule`: another rule, since a source holds one ID. `one`: it
 * cannot, since the field holds one name. `text`: a string, and whether it can hold two is not known.
 */
export type AcceptingWay = 'value' | 'rule' | 'one' | 'text'

/** One place that names an old ID and not yet the new one. */
export interface ConsumerEdit extends IdChange {
  readonly kind: string
  /** `namespace/name`, or the name of what is in no namespace. */
  readonly consumer: string
  /** The list, field or string: `.spec.rules[0].from[0].source.principals`. */
  readonly where: string
  /** The value that takes in the old ID, as it stands there. */
  readonly written: string
  /** What to write beside it. */
  readonly add: string
  readonly way: AcceptingWay
  /** Whether a client is refused for being named there: in a policy that denies, or as one that is left out of one that allows. */
  readonly isRefusal: boolean
  /** Undefined: it certainly names the old ID. */
  readonly whyOpen: string | undefined
}

/** Who names what changes. */
export interface Consumers {
  readonly edits: readonly ConsumerEdit[]
  /** Places that name the old ID by itself: what is taken out in the end. */
  readonly named: readonly { readonly consumer: string; readonly kind: string; readonly where: string }[]
  /** Places that refuse the new ID now, and not the old one. */
  readonly refusals: readonly (Pick<ConsumerEdit, 'consumer' | 'kind' | 'newId'> & {
    readonly where: string
  })[]
  /** Policies that may name the old ID and cannot be interpreted. */
  readonly uninterpreted: readonly string[]
}

/** Who names IDs that change, in the order of changes, policies and rules. */
export function consumersOf(policies: Policies, changes: readonly IdChange[]): Consumers {
  const found = changes.map((change) => {
    const old = policies.namedBy([change.oldId], [])
    const next = policies.namedBy([change.newId], [])
    const namings = old.namings.filter(isByName)
    const naming = new Set(namings.map(listKey))
    return {
      edits: [
        ...[...Map.groupBy(namings, listKey).values()].flatMap((same) => editOfList(same, change)),
        ...old.mentions
          .filter(({ rule }) => !rule.mentioned.includes(change.newId))
          .map(({ policy, rule }) => textEdit(policy, `CEL of rule ${rule.name}`, change)),
        ...old.inTexts
          .filter(({ policy, rule }) => !isMentionedBeside(policy, rule, change.newId))
          .map(({ policy, rule }) => textEdit(policy, rule.name, change)),
      ],
      named: [
        ...namings
          .filter(({ source: { source } }) => source.kind === 'SPIFFE')
          .map(({ policy, source: { source } }) => ({ ...consumerOf(policy), where: source.field })),
        ...old.mentions.map(({ policy, rule }) => ({
          ...consumerOf(policy),
          where: `CEL of rule ${rule.name}`,
        })),
        ...old.inTexts.map(({ policy, rule }) => ({ ...consumerOf(policy), where: rule.name })),
      ],
      refusals: next.namings
        .filter((one) => isByName(one) && isRefusal(one) && !naming.has(listKey(one)))
        .map(({ policy, source: { source } }) => ({
          ...consumerOf(policy),
          where: listOf(source.field),
          newId: change.newId,
        })),
      uninterpreted: old.uninterpreted.map(policyName),
    }
  })
  return {
    edits: found.flatMap(({ edits }) => edits),
    named: found.flatMap(({ named }) => named),
    refusals: found.flatMap(({ refusals }) => refusals),
    uninterpreted: [...new Set(found.flatMap(({ uninterpreted }) => uninterpreted))],
  }
}

/** Not for being anybody, or by its service account. */
function isByName({ way }: Naming): boolean {
  return way !== 'unbounded' && way !== 'service account'
}

function isRefusal({ policy, source: { source } }: Naming): boolean {
  return (source.isExcluded === true) !== (policy.action?.toUpperCase() === 'DENY')
}

function consumerOf(policy: ResolvedPolicy): Pick<ConsumerEdit, 'kind' | 'consumer'> {
  return { kind: policy.kind, consumer: policyName(policy) }
}

/** The list in which a value stands; a field that is no item of a list is one by itself. */
function listOf(field: string): string {
  return field.replace(/\[\d+\](?:\.[A-Za-z]+)?$/, '')
}

function listKey({ policy, rule, source: { source } }: Naming): string {
  return JSON.stringify([policy.kind, policyName(policy), rule.at, listOf(source.field)])
}

function editOfList(same: readonly Naming[], change: IdChange): readonly ConsumerEdit[] {
  const [first] = same
  if (first === undefined) return []
  const { policy, rule, source: named } = first
  const { source } = named
  const where = listOf(source.field)
  const isOfList = where !== source.field
  const isFile = policy.kind === NAMES_FILE_KIND
  const way: AcceptingWay =
    isOfList || (isFile && !source.field.startsWith('.'))
      ? 'value'
      : isFile
        ? holdsOneName(source.field)
        : 'rule'
  const beside =
    way === 'rule'
      ? policy.rules.filter((one) => one.authorization === rule.authorization)
      : isFile && !isOfList
        ? policy.rules
        : [rule]
  const isAccepted = beside.some(({ sources }) =>
    sources.some(
      (one) =>
        (way === 'rule' || isFile || listOf(one.source.field) === where) &&
        takesInAlone(one.source, change.newId),
    ),
  )
  if (isAccepted) return []
  const isOpen = same.every((one) => one.way === 'perhaps')
  return [
    {
      ...change,
      ...consumerOf(policy),
      where: way === 'rule' ? `rule ${rule.name}` : where,
      written: named.text,
      add: writtenFor(
        qualifiedKind({ kind: policy.kind, group: groupOfApiVersion(policy.apiVersion) }),
        change.newId,
      ),
      way,
      isRefusal: isRefusal(first),
      whyOpen:
        isOpen && source.kind === 'pattern'
          ? source.perhaps?.why
          : first.way === 'same path'
            ? 'the trust domain is not known'
            : undefined,
    },
  ]
}

/** Whether a value by itself takes in an ID, whatever stands beside it. */
function takesInAlone(source: RuleSource, id: string): boolean {
  if (source.kind === 'SPIFFE') return source.spiffeId === id
  return source.kind === 'pattern' && (source.pattern.all[0] ?? []).some((one) => matchesId(one, id))
}

function textEdit(policy: ResolvedPolicy, where: string, change: IdChange): ConsumerEdit {
  return {
    ...change,
    ...consumerOf(policy),
    where,
    written: change.oldId,
    add: change.newId,
    way: 'text',
    isRefusal: false,
    whyOpen: 'what a string does is not known',
  }
}

/** Whether a string, or another of the same list, holds an ID. */
function isMentionedBeside(policy: ResolvedPolicy, { name }: ResolvedRule, id: string): boolean {
  const list = listOf(name)
  return policy.rules.some(
    (one) =>
      (one.name === name || (list !== name && listOf(one.name) === list)) &&
      one.sources.some(({ source }) => takesInAlone(source, id)),
  )
}
