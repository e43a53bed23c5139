// Compares the entries of a server, one after the other as they are read, with those that a prediction expects. What differs is
// told; why is another question (causes.ts). What the prediction leaves open is no difference, whichever way it goes.
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { sourceText, type EntrySource } from '../spire/prediction.ts'
import { isProbe } from './entry-owner.ts'
import type { ExpectedEntries, ExpectedEntry } from './expected.ts'
import type { OpenEntry } from './outlines.ts'
import { podUidOf, type ComparedFields, type ServerEntry } from './server-entry.ts'

/** A field of an entry that differs. */
export interface DifferentField {
  /** The server's name of the field. */
  readonly field: string
  readonly predicted: string
  readonly onServer: string
}

/** An entry that should be there and is not. */
export interface MissingEntry {
  readonly kind: 'missing'
  readonly expected: ExpectedEntry
}

/** An entry that is there and should not be. */
export interface ExtraEntry {
  readonly kind: 'extra'
  readonly entry: ServerEntry
  /** The object whose entry the server refuses today: this is the previous one. */
  readonly keptBy: EntrySource | undefined
  /** Whether another entry of the server has the same key to SCM. */
  readonly isSurplus: boolean
}

/** An entry that is there and says something else. */
export interface DifferentEntry {
  readonly kind: 'different'
  readonly entry: ServerEntry
  readonly expected: ExpectedEntry
  readonly fields: readonly DifferentField[]
}

/** All that a comparison has found. */
export interface EntryDifferences {
  readonly missing: readonly MissingEntry[]
  readonly extra: readonly ExtraEntry[]
  readonly different: readonly DifferentEntry[]
  /** Extra entries beyond those of `extra`; no container gets one of them. */
  readonly extraBeyond: number
  /** Further extra entries, without their containers: these were not worked out, or there is no room for them. */
  readonly extraUnjudged: number
  /** Entries of the server, SCM's own probe not among them. */
  readonly read: number
  /** Entries that are there as predicted with certainty. */
  readonly agreed: number
  /** Entries that are there and may be. */
  readonly open: number
  /** Entries that are not there and may have to be. */
  readonly perhapsMissing: number
  /** What decides about those that are open or perhaps missing, a noun phrase each, in byte order. */
  readonly openOn: readonly string[]
  /** Entries that another state explains: before or after what kleym must still write, or of another SCM. */
  readonly pending: number
  /** Seconds since 1970: when the youngest entry was made; undefined: not told. */
  readonly newest: number | undefined
}

/**
 * Of so many extra entries what they say is kept. Of more, those that no container gets are counted, and of the others as many
 * again are kept: an entry that gives an identity must not go unsaid because of what else the server holds.
 */
const EXTRA_KEPT = 50_000

/** The comparison of one server with one prediction. */
export class EntryComparison {
  readonly #expected: ExpectedEntries
  /** What is expected of the state before or after kleym's own changes, and of other SCMs: an entry of it is explained. */
  readonly #beside: readonly ExpectedEntries[]
  /** By the number of the expected entry: 1 where the server holds it. */
  readonly #seen: Uint8Array
  /** By the UID of the pod, those that no entry of the server was yet. */
  readonly #openLeft = new Map<string, OpenEntry[]>()
  readonly #extra: ExtraEntry[] = []
  readonly #different: DifferentEntry[] = []
  readonly #isHeld: (entry: ServerEntry) => boolean | undefined
  #extraBeyond = 0
  #extraUnjudged = 0
  #read = 0
  #agreed = 0
  #open = 0
  #pending = 0
  readonly #openOn = new Set<string>()
  #newest: number | undefined

  /** `isHeld`: whether a container gets an entry, or may; undefined: not known. It is asked where extra entries are very many. */
  constructor(
    expected: ExpectedEntries,
    beside: readonly ExpectedEntries[] = [],
    isHeld: (entry: ServerEntry) => boolean | undefined = () => undefined,
  ) {
    this.#expected = expected
    this.#beside = beside
    this.#isHeld = isHeld
    this.#seen = new Uint8Array(expected.size)
  }

  /** Takes one entry of the server. */
  add(entry: ServerEntry): void {
    if (isProbe(entry)) return
    this.#read++
    this.#newest = laterOf(this.#newest, entry.createdAt)
    const expected = this.#expected.find(entry)
    const isSurplus = expected !== undefined && this.#seen[expected.number] === 1
    if (expected === undefined || isSurplus) return this.#addUnexpected(entry, isSurplus)
    this.#seen[expected.number] = 1
    const seenInstead = this.#expected.idsSeenInstead(entry)
    if (seenInstead === undefined && expected.isSaidBy(entry)) {
      // That the server has it shows that the server takes it.
      if (expected.outline.isSent) this.#agreed++
      else if (expected.outline.isPending) this.#pending++
      else {
        this.#open++
        this.#openOn.add(openText(expected))
      }
      return
    }
    if (this.#isBeside(entry)) {
      this.#pending++
      return
    }
    const ofId =
      seenInstead === undefined ? [] : [{ field: 'id', predicted: seenInstead, onServer: entry.id }]
    const fields = [...ofId, ...differentFields(expected, entry)]
    this.#different.push({ kind: 'different', entry, expected, fields })
  }

  /** What was found, once all entries have been taken. */
  finish(): EntryDifferences {
    const missing: MissingEntry[] = []
    let perhapsMissing = 0
    for (const expected of this.#expected.without(this.#seen)) {
      const { isCertain, isPending } = expected.outline
      if (isCertain) missing.push({ kind: 'missing', expected })
      else if (!isPending) {
        perhapsMissing++
        this.#openOn.add(openText(expected))
      }
    }
    return {
      missing,
      extra: this.#extra,
      different: this.#different,
      extraBeyond: this.#extraBeyond,
      extraUnjudged: this.#extraUnjudged,
      read: this.#read,
      agreed: this.#agreed,
      open: this.#open,
      perhapsMissing,
      openOn: [...this.#openOn].toSorted(compareBytes),
      pending: this.#pending,
      newest: this.#newest,
    }
  }

  #addUnexpected(entry: ServerEntry, isSurplus: boolean): void {
    if (this.#isBeside(entry)) {
      this.#pending++
      return
    }
    if (this.#takeOpen(entry)) {
      this.#open++
      return
    }
    if (this.#extra.length >= EXTRA_KEPT) {
      const isHeld = this.#isHeld(entry)
      if (isHeld === false) {
        this.#extraBeyond++
        return
      }
      if (isHeld === undefined || this.#extra.length >= 2 * EXTRA_KEPT) {
        this.#extraUnjudged++
        return
      }
    }
    const keptBy = this.#expected.refusedBy(entry)
    this.#extra.push({ kind: 'extra', entry, keptBy, isSurplus })
  }

  #isBeside(entry: ServerEntry): boolean {
    return this.#beside.some(
      (one) => one.idsSeenInstead(entry) === undefined && one.find(entry)?.isSaidBy(entry) === true,
    )
  }

  /** An entry whose text is not known explains one entry, and no more. */
  #takeOpen(entry: ServerEntry): boolean {
    for (const uid of [podUidOf(entry) ?? '', '']) {
      const left = getOrCreate(this.#openLeft, uid, () => [...this.#expected.openOf(uid)])
      const at = left.findIndex(({ spiffeId }) => spiffeId === undefined || spiffeId === entry.spiffeId)
      const [taken] = at < 0 ? [] : left.splice(at, 1)
      if (taken === undefined) continue
      this.#openOn.add(`what ${sourceText(taken.source)} renders`)
      return true
    }
    return false
  }
}

/** What decides whether an entry should be there. */
function openText({ outline: { source, isSent } }: ExpectedEntry): string {
  return isSent
    ? `whether the server takes the entries of ${sourceText(source)}`
    : `whether ${sourceText(source)} applies`
}

/** The later of two times; an unknown one is earlier than any. */
export function laterOf(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || (right !== undefined && right > left) ? right : left
}

/** What two entries are compared by. */
type Compared = ComparedFields & Pick<ServerEntry, 'selectors'>

/** The fields in the order in which a difference of them weighs; the key is the server's name. */
const FIELDS: readonly (readonly [name: string, of: (compared: Compared) => string])[] = [
  ['admin', ({ admin }) => String(admin)],
  ['downstream', ({ downstream }) => String(downstream)],
  ['store_svid', ({ storeSvid }) => String(storeSvid)],
  ['selectors', ({ selectors }) => listText(selectors)],
  ['federates_with', ({ federatesWith }) => listText(federatesWith)],
  ['dns_names', ({ dnsNames }) => listText(dnsNames)],
  ['hint', ({ hint }) => hint],
  ['x509_svid_ttl', ({ x509SvidTtl }) => String(x509SvidTtl)],
  ['jwt_svid_ttl', ({ jwtSvidTtl }) => String(jwtSvidTtl)],
  ['expires_at', ({ expiresAt }) => String(expiresAt)],
]

/** Different for different lists: what a name may be confused by is quoted. */
function listText(list: readonly string[]): string {
  return list.map((one) => (one === '' || /[\s,"]/.test(one) ? JSON.stringify(one) : one)).join(', ')
}

/** Of several things that it may say, those from which it differs least. */
function differentFields(expected: ExpectedEntry, entry: ServerEntry): readonly DifferentField[] {
  const { outline } = expected
  const held: Compared = { ...entry.fields, selectors: entry.selectors }
  const [nearest = []] = [outline, ...outline.others]
    .map((one) => {
      const asked: Compared = { ...one.fields, selectors: expected.selectorsIn(one) }
      return FIELDS.flatMap(([field, of]): DifferentField[] => {
        const [predicted, onServer] = [of(asked), of(held)]
        return predicted === onServer ? [] : [{ field, predicted, onServer }]
      })
    })
    .toSorted((left, right) => left.length - right.length)
  return nearest
}
