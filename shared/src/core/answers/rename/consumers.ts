// What has to accept a new ID beside an old one: every list in which a value takes in the old one and none takes in the new one. How a
// value matches is known from `naming` and `policies`; what a plain string does is not known.
import { groupsBy, type Group } from '../../base/groups.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '../../decide/index.ts'
import { summaryText } from '../../base/text/counted.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { groupOfApiVersion, qualifiedKind } from '../../model/kinds.ts'
import { patternMatches, patternMatchesRendered } from '../../model/naming/id-matcher.ts'
import {
  holdsOneName,
  isPartOfText,
  NAMES_FILE_KIND,
  writtenInFile,
} from '../../model/naming/names-outside.ts'
import { idsInText, LONG_LINE } from '../../model/ids-in-text.ts'
import { writtenFor } from '../../model/naming/named-in.ts'
import type { RuleSource } from '../../model/objects/access-rule.ts'
import {
  type Policies,
  type Naming,
  type ResolvedPolicy,
  type ResolvedRule,
  policyName,
} from '../../analysis/index.ts'

/** An ID that takes the place of another; undefined: none does, as far as is known. */
export interface IdChange<NewId extends string | undefined = string> {
  readonly oldId: string
  readonly newId: NewId
}

/**
 * How a consumer comes to name both. `value`: another value of a list. `rule`: another rule, since a source holds one ID. `one`: it
 * cannot, since the field holds one name. `text`: a string, and whether it can hold two is not known.
 */
export type AcceptingWay = 'value' | 'rule' | 'one' | 'text'

/** One place that names an old ID and not yet the new one. */
export interface ConsumerEdit<NewId extends string | undefined = string> extends IdChange<NewId> {
  readonly kind: string
  /** `namespace/name`, or the name of what is in no namespace. */
  readonly consumer: string
  /** The list, field or string: `.spec.rules[0].from[0].source.principals`. */
  readonly where: string
  /** The value that takes in the old ID, as it stands there. */
  readonly written: string
  /** What to write beside it; undefined if there is no new ID. */
  readonly add: string | undefined
  readonly way: AcceptingWay
  /** Whether a client that is named there is refused: by a policy that denies, or as an exception of a policy that allows. */
  readonly isRefusal: boolean
  /** Undefined: it certainly names the old ID. */
  readonly whyOpen: string | undefined
}

/** Who names what changes. */
export interface Consumers<NewId extends string | undefined = string> {
  readonly edits: readonly ConsumerEdit<NewId>[]
  /** Places that name the old ID by itself: what is taken out in the end. */
  readonly named: readonly Pick<ConsumerEdit, 'consumer' | 'kind' | 'where' | 'oldId'>[]
  /** Places that refuse the new ID now, and not the old one. */
  readonly refusals: readonly Pick<ConsumerEdit<NewId>, 'consumer' | 'kind' | 'where' | 'newId'>[]
  /** Policies that may name the old ID and cannot be interpreted. */
  readonly uninterpreted: readonly string[]
}

/** Who names IDs that change, in the order of changes, policies and rules. */
export function consumersOf<NewId extends string | undefined>(
  policies: Policies,
  changes: readonly IdChange<NewId>[],
): Consumers<NewId> {
  const found = changes.map((change) => {
    const { newId } = change
    const old = policies.namedBy([change.oldId], [])
    const next = newId === undefined ? undefined : policies.namedBy([newId], [])
    const namings = old.namings.filter(isByName)
    const naming = new Set(namings.map(listKey))
    const takers = new Takers(newId, listOfName)
    const texts = new Takers(newId, runOf)
    return {
      edits: [
        ...groupsBy(namings, listKey).flatMap((same) => editOfList(same, change, takers) ?? []),
        ...old.mentions
          .filter(
            ({ rule, mentioned: { isWhole } }) =>
              !isWhole || !rule.mentioned.some((one) => one.isWhole && one.text === newId),
          )
          .map(({ policy, rule, mentioned }) =>
            textEdit(policy, `CEL of rule ${rule.name}`, mentioned.text, change),
          ),
        ...old.inTexts
          // It, or another string of the same list, may hold the new one.
          .filter(
            ({ policy, rule, mentioned: { isWhole } }) =>
              !isWhole || !texts.beside(policy, rule.name).some((one) => standsLike(one, rule, change)),
          )
          .map(({ policy, rule, mentioned }) => textEdit(policy, rule.name, mentioned.text, change)),
      ],
      named: [
        ...namings
          .filter(({ source: { source } }) => isOneName(source))
          .map(({ policy, source: { source } }) => ({ ...consumerOf(policy), where: source.field })),
        ...old.mentions
          .filter(({ mentioned: { isWhole } }) => isWhole)
          .map(({ policy, rule }) => ({ ...consumerOf(policy), where: `CEL of rule ${rule.name}` })),
        ...old.inTexts
          .filter(({ mentioned: { isWhole } }) => isWhole)
          .map(({ policy, rule }) => ({ ...consumerOf(policy), where: rule.name })),
      ],
      refusals: (next?.namings ?? [])
        .filter((one) => isByName(one) && isRefusal(one) && !naming.has(listKey(one)))
        .map(({ policy, source: { source } }) => ({
          ...consumerOf(policy),
          where: listOfName(policy, source.field),
          newId,
        })),
      uninterpreted: old.uninterpreted.map(policyName),
    }
  })
  return {
    edits: found.flatMap(({ edits }) => edits),
    named: found.flatMap(({ named }, at) => {
      const oldId = changes[at]?.oldId ?? ''
      return named.map((one) => ({ ...one, oldId }))
    }),
    refusals: found.flatMap(({ refusals }) => refusals),
    uninterpreted: [...new Set(found.flatMap(({ uninterpreted }) => uninterpreted))],
  }
}

/** Not for being anybody. A service account is named here by the ID that it stands for. */
function isByName({ way }: Naming): boolean {
  return way !== 'unbounded'
}

function isRefusal({ policy, source: { source } }: Naming): boolean {
  return (source.isExcluded === true) !== (policy.action?.toUpperCase() === 'DENY')
}

function consumerOf(policy: ResolvedPolicy): Pick<ConsumerEdit, 'kind' | 'consumer'> {
  return { kind: policy.kind, consumer: policyName(policy) }
}

/** The list in which a value stands; a field that is no item of a list is one by itself. */
function listOf(field: string): string {
  return field.replace(/\[\d+\]$/, '')
}

/**
 * The same for a name. An item of a known list may hold it in a field; in a file such items are no list of names. The lines of a file that is
 * not JSON, whose fields have paths, are one list.
 */
function listOfName(policy: ResolvedPolicy, field: string): string {
  if (policy.kind !== NAMES_FILE_KIND) return listOf(field.replace(/(?<=\])\.[A-Za-z]+$/, ''))
  return /^[.[]/.test(field) ? listOf(field) : LINES
}

const LINES = 'lines'

function listKey({ policy, rule, source: { source } }: Naming): string {
  return JSON.stringify([policy.kind, policyName(policy), rule.at, listOfName(policy, source.field)])
}

/** The values of policies that take in an ID by themselves, by the list in which they stand: worked out once for all values beside them. */
class Takers {
  readonly #byList = new WeakMap<ResolvedPolicy, ReadonlyMap<string, readonly RuleSource[]>>()
  readonly #id: string | undefined
  readonly #list: (policy: ResolvedPolicy, field: string) => string

  constructor(id: string | undefined, list: (policy: ResolvedPolicy, field: string) => string) {
    this.#id = id
    this.#list = list
  }

  beside(policy: ResolvedPolicy, field: string): readonly RuleSource[] {
    const byList = getOrCreate(this.#byList, policy, () =>
      Map.groupBy(
        policy.rules
          .flatMap(({ sources }) => sources.map(({ source }) => source))
          .filter((source) => takesInAlone(source, this.#id)),
        (source) => this.#list(policy, source.field),
      ),
    )
    return byList.get(this.#list(policy, field)) ?? []
  }
}

function editOfList<NewId extends string | undefined>(
  same: Group<Naming>,
  change: IdChange<NewId>,
  takers: Takers,
): ConsumerEdit<NewId> | undefined {
  const [first] = same
  const { policy, rule, source: named } = first
  const { source } = named
  const isFile = policy.kind === NAMES_FILE_KIND
  const list = listOfName(policy, source.field)
  const isOfList = list !== source.field && !(isFile && isPartOfText(source))
  const where = list === LINES ? source.field : list
  const add =
    change.newId === undefined
      ? undefined
      : isFile
        ? writtenInFile(source, change.newId)
        : writtenFor(
            qualifiedKind({ kind: policy.kind, group: groupOfApiVersion(policy.apiVersion) }),
            change.newId,
          )
  const other =
    source.kind === 'pattern' && source.listOf !== undefined ? besideList(source, add ?? '') : undefined
  const way: AcceptingWay = other?.way ?? (isOfList ? 'value' : isFile ? holdsOneName(source.field) : 'rule')
  const beside =
    way === 'rule'
      ? policy.rules
          .filter((one) => one.authorization === rule.authorization)
          .flatMap(({ sources }) => sources.map((one) => one.source))
      : isFile
        ? takers.beside(policy, source.field)
        : rule.sources.map((one) => one.source)
  const takesIn = (one: RuleSource): boolean => {
    if (way === 'rule') return takesInWhole(one, change.newId)
    if (listOfName(policy, one.field) !== list || !takesInAlone(one, change.newId)) return false
    return !isFile || standsLike(one, rule, change)
  }
  const isAccepted = beside.some(
    (one) =>
      one.isExcluded === source.isExcluded && (takesIn(one) || isAcceptedBy(one, source, change.newId)),
  )
  if (isAccepted) return undefined
  return {
    ...change,
    ...consumerOf(policy),
    where: way === 'rule' ? `rule ${rule.name}` : (other?.where ?? where),
    written: named.text,
    add: add === undefined ? undefined : (other?.add ?? add),
    way,
    isRefusal: isRefusal(first),
    whyOpen: change.oldId.includes(TRUST_DOMAIN_PLACEHOLDER)
      ? 'the trust domain is not known'
      : same.some((one) => certainlyMatches(one.source.source, change.oldId))
        ? undefined
        : ((source.kind === 'pattern' ? source.perhaps?.why : undefined) ??
          'a part of the old ID is known only when its pod runs'),
  }
}

/** Whether a value matches an ID whatever its unknown parts are. */
function certainlyMatches(source: RuleSource, id: string): boolean {
  return source.kind === 'pattern' ? patternMatchesRendered(source.pattern, id) === 'yes' : !id.includes('<')
}

/**
 * Whether a new ID stands wherever a rule has the old one: in the same line or in one that is equal otherwise. In others it may be for another
 * purpose.
 */
function standsLike(
  one: RuleSource,
  rule: Pick<ResolvedRule, 'sources'>,
  { oldId, newId }: IdChange<string | undefined>,
): boolean {
  // A name alone is a line of its own.
  const beside = one.kind === 'SPIFFE' ? (one.around ?? ['\0']) : undefined
  const lines = rule.sources.flatMap(({ source }) =>
    source.kind === 'SPIFFE' && source.spiffeId === oldId ? (source.around ?? []) : [],
  )
  return (
    beside === undefined ||
    lines.every(
      (line) =>
        (line !== LONG_LINE && beside.includes(line)) ||
        idsInText(line).some(({ text, isWhole }) => isWhole && text === newId),
    )
  )
}

/** Strings side by side in a list that all have an ID; a list of arguments has others between them. */
function runOf(policy: ResolvedPolicy, field: string): string {
  const runs = getOrCreate(RUNS, policy, () => {
    const found = new Map<string, string>()
    let [run, next] = ['', '']
    for (const { name } of policy.rules) {
      if (name !== next) run = name
      found.set(name, run)
      next = name.replace(/\[(\d+)\]$/, (_, at: string) => `[${Number(at) + 1}]`)
    }
    return found
  })
  return runs.get(field) ?? field
}

const RUNS = new WeakMap<ResolvedPolicy, ReadonlyMap<string, string>>()

/** Where Istio looks for clients, and one of its sources. */
const SOURCE = /^(.*\.from)(\[\d+\]\.source)\./

/** A list of namespaces or service accounts holds no ID: the new one stands in a source, a condition or a rule of its own. */
function besideList(
  { field, isExcluded }: RuleSource,
  id: string,
): { readonly way: 'value' | 'rule'; readonly where: string; readonly add: string } {
  const [, from, source] = SOURCE.exec(field) ?? []
  if (from !== undefined)
    return isExcluded === true
      ? { way: 'value', where: `${from}${source}`, add: `notPrincipals: [${id}]` }
      : { way: 'value', where: from, add: `{ source: { principals: [${id}] } }` }
  return isExcluded === true
    ? {
        way: 'value',
        where: listOf(field).replace(/\[\d+\]\.notValues$/, ''),
        add: `{ key: source.principal, notValues: [${id}] }`,
      }
    : { way: 'rule', where: '', add: `principals: [${id}]` }
}

/** Whether another source of Istio lets an ID in, or beside the same ones leaves it out. Both name clients, or both leave some out. */
function isAcceptedBy(one: RuleSource, named: RuleSource, id: string | undefined): boolean {
  const [at, other] = [SOURCE.exec(one.field), SOURCE.exec(named.field)]
  if (id === undefined) return false
  if (named.isExcluded === true) return at?.[2] === other?.[2] && takesInAlone(one, id)
  // A condition is no source by itself; what stands in a source counts together.
  if (at === null) return false
  return takesInWhole(one, id)
}

/** Whether a value takes in an ID with all that stands beside it. */
function takesInWhole(source: RuleSource, id: string | undefined): boolean {
  if (id === undefined) return false
  return source.kind === 'SPIFFE'
    ? source.spiffeId === id
    : source.kind === 'pattern' && patternMatches(source.pattern, id)
}

/** Whether a value is one name, whatever the trust domain or the case of its letters. */
function isOneName(source: RuleSource): boolean {
  if (source.kind === 'SPIFFE') return true
  return source.kind === 'pattern' && source.pattern.like !== undefined && !/[*?+]/.test(source.written)
}

/** Whether a value by itself takes in an ID, whatever stands beside it. */
function takesInAlone(source: RuleSource, id: string | undefined): boolean {
  if (id === undefined) return false
  if (source.kind === 'SPIFFE') return source.spiffeId === id
  return (
    source.kind === 'pattern' &&
    patternMatches({ ...source.pattern, all: source.pattern.all.slice(0, 1), none: [] }, id)
  )
}

function textEdit<NewId extends string | undefined>(
  policy: ResolvedPolicy,
  where: string,
  written: string,
  change: IdChange<NewId>,
): ConsumerEdit<NewId> {
  return {
    ...change,
    ...consumerOf(policy),
    where,
    written,
    add: change.newId,
    way: 'text',
    isRefusal: false,
    whyOpen: 'what a string does is not known',
  }
}

/** Why a container may be cut off, or is. */
export interface CutOff {
  /** A sentence without a full stop. */
  readonly text: string
  /** Whether it is not known. */
  readonly isOpen: boolean
}

/** Consumers that cut a container off, or may, even if each of them accepts the new ID first. */
export function cutOffsBy({
  edits,
  refusals,
  uninterpreted,
}: Consumers<string | undefined>): readonly CutOff[] {
  return [
    ...edits.flatMap(cutOffByEdit),
    ...refusals.map((one) => ({ text: refusalText(one), isOpen: true })),
    ...(uninterpreted.length === 0 ? [] : [{ text: uninterpretedText(uninterpreted), isOpen: true }]),
  ]
}

function cutOffByEdit(edit: ConsumerEdit<string | undefined>): readonly CutOff[] {
  const { kind, consumer, where, newId, way, whyOpen } = edit
  if (newId === undefined) return []
  const what = `${kind} ${consumer} ${where}`
  if (way === 'one')
    return [{ text: `${what} holds one name, so that it cannot accept both IDs`, isOpen: false }]
  if (way === 'text')
    return [{ text: `${what} holds ${heldIn(edit)}, and whether it can hold two is not known`, isOpen: true }]
  return whyOpen === undefined ? [] : [{ text: `${what} may name the old ID: ${whyOpen}`, isOpen: true }]
}

/** What to do so that consumers accept both IDs, a sentence each. */
export function acceptLines(
  changes: readonly IdChange[],
  { edits, refusals, uninterpreted }: Consumers<string | undefined>,
): readonly string[] {
  const read = [
    ...edits.map(editText),
    ...refusals.map(refusalText),
    ...(uninterpreted.length === 0 ? [] : [`not known: ${uninterpretedText(uninterpreted)}`]),
  ]
  return [
    ...[...Map.groupBy(changes, ({ newId }) => newId)].map(([newId, same]) => {
      const old = same.map(({ oldId }) => oldId)
      return `where ${summaryText(old)} ${old.length === 1 ? 'is' : 'are'} named, name ${newId} beside ${old.length === 1 ? 'it' : 'them'}`
    }),
    ...(read.length === 0 ? ['nothing that was read is left to be changed'] : new Set(read)),
    'whoever else knows the old ID: servers, gateways and partners elsewhere, and roles that --names was not given',
  ]
}

function editText(edit: ConsumerEdit<string | undefined>): string {
  const { kind, consumer, where, written, add, newId, way, whyOpen } = edit
  const who = `${kind} ${consumer}`
  const [perhaps, why] = whyOpen === undefined ? ['', ''] : ['perhaps ', ` (${whyOpen})`]
  if (newId === undefined || add === undefined)
    return `${who}: ${where} ${perhaps}names ${written}, and no ID takes its place yet${why}`
  switch (way) {
    case 'value':
      return `${who}: ${perhaps}add ${add} beside ${written} in ${where}${why}`
    case 'rule':
      return `${who}: add a rule like ${where.replace(/^rule /, '')}, under another name, whose source is ${add}`
    case 'one':
      return `${who}: ${where} holds one name: its clients cannot go on with both IDs, so give ${newId} a role of its own`
    case 'text':
      return `${who}: ${where} holds ${heldIn(edit)}: if it says whom to expect, let it take ${add} as well`
  }
}

/** What a text holds of the old ID. */
function heldIn({ oldId, written }: ConsumerEdit<string | undefined>): string {
  return written === oldId ? 'the old ID' : `${written}, which may be the old ID`
}

function refusalText({
  kind,
  consumer,
  where,
  newId,
}: Consumers<string | undefined>['refusals'][number]): string {
  return `${kind} ${consumer} ${where} refuses ${newId ?? ''}, and not the old ID`
}

function uninterpretedText(names: readonly string[]): string {
  return `whether the old ID is named by ${summaryText(names)}: kleym cannot interpret ${names.length === 1 ? 'it' : 'them'}`
}

/** What to do about old IDs that something gives when all is done, or may give: whoever holds one by it is still to be accepted. */
export function keptLines(kept: readonly string[]): readonly string[] {
  const [first] = kept
  return first === undefined
    ? []
    : [
        `leave ${summaryText(kept)} in what names it as long as something else gives it: kubectl kleym who-selects -A --spiffe-id ${first}`,
      ]
}
