// Compares the entries of a server, one after the other as they are read, with those that a prediction expects. What differs is
// told; why is another question (causes.ts). What the prediction leaves open is no difference, whichever way it goes.
import { sourceText } from '../prediction.ts'
import type { EntrySource } from '../prediction.ts'
import { isProbe } from './entry-owner.ts'
import type { ExpectedEntries, ExpectedEntry, OpenEntry } from './expected.ts'
import { isSameFields, partsOfKey, podUidOf, type ComparedFields, type ServerEntry } from './server-entry.ts'

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
  readonly key: string
  readonly expected: ExpectedEntry
}

/** An entry that is there and should not be. */
export interface ExtraEntry {
  readonly kind: 'extra'
  readonly entry: ServerEntry
  /** The object whose entry the server refuses today: this is the one of before. */
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
  /** Extra entries beyond those of `extra`. */
  readonly extraBeyond: number
  /** Entries of the server, SCM's own probe not among them. */
  readonly read: number
  /** Entries that are there as predicted with certainty. */
  readonly agreed: number
  /** Entries that are there and may be. */
  readonly open: number
  /** Entries that another state explains: before or after what kleym has yet to write, or of another SCM. */
  readonly pending: number
  /** Seconds since 1970: when the youngest entry was made; undefined: not told. */
  readonly newest: number | undefined
  /** The same of the entries that are as predicted: SCM has made them. */
  readonly newestAgreed: number | undefined
}

/** Of so many extra entries what they say is kept; more are counted. */
const EXTRA_KEPT = 50_000

/** The comparison of one server with one prediction. */
export class EntryComparison {
  readonly #expected: ExpectedEntries
  /** What is expected of the state before or after kleym's own changes, and of other SCMs: an entry of it is explained. */
  readonly #beside: readonly ExpectedEntries[]
  readonly #seen = new Set<string>()
  readonly #openLeft: ReadonlyMap<string, OpenEntry[]>
  readonly #extra: ExtraEntry[] = []
  readonly #different: DifferentEntry[] = []
  #extraBeyond = 0
  #read = 0
  #agreed = 0
  #open = 0
  #pending = 0
  #newest: number | undefined
  #newestAgreed: number | undefined

  constructor(expected: ExpectedEntries, beside: readonly ExpectedEntries[] = []) {
    this.#expected = expected
    this.#beside = beside
    this.#openLeft = new Map([...expected.open].map(([uid, entries]) => [uid, [...entries]]))
  }

  /** Takes one entry of the server. */
  add(entry: ServerEntry): void {
    if (isProbe(entry)) return
    this.#read++
    this.#newest = later(this.#newest, entry.createdAt)
    const expected = this.#expected.byKey.get(entry.key)
    const isSurplus = expected !== undefined && this.#seen.has(entry.key)
    if (expected === undefined || isSurplus) return this.#addUnexpected(entry, isSurplus)
    this.#seen.add(entry.key)
    if (expected.fields.some((fields) => isSameFields(fields, entry.fields))) {
      if (expected.isCertain) {
        this.#agreed++
        this.#newestAgreed = later(this.#newestAgreed, entry.createdAt)
      } else this.#open++
      return
    }
    if (this.#isBeside(entry)) this.#pending++
    else if (!expected.isCertain) this.#open++
    else
      this.#different.push({ kind: 'different', entry, expected, fields: differentFields(expected, entry) })
  }

  /** What was found, once all entries have been taken. */
  finish(): EntryDifferences {
    const missing: MissingEntry[] = []
    for (const [key, expected] of this.#expected.byKey)
      if (expected.isCertain && !this.#seen.has(key)) missing.push({ kind: 'missing', key, expected })
    return {
      missing,
      extra: this.#extra,
      different: this.#different,
      extraBeyond: this.#extraBeyond,
      read: this.#read,
      agreed: this.#agreed,
      open: this.#open,
      pending: this.#pending,
      newest: this.#newest,
      newestAgreed: this.#newestAgreed,
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
      this.#extraBeyond++
      return
    }
    const keptBy = this.#expected.refused.get(entry.key)
    this.#extra.push({ kind: 'extra', entry, keptBy, isSurplus })
  }

  #isBeside(entry: ServerEntry): boolean {
    return this.#beside.some(
      ({ byKey }) =>
        byKey.get(entry.key)?.fields.some((fields) => isSameFields(fields, entry.fields)) === true,
    )
  }

  /** An entry whose text is not known explains one entry, and no more. */
  #takeOpen(entry: ServerEntry): boolean {
    for (const uid of [podUidOf(entry) ?? '', '']) {
      const left = this.#openLeft.get(uid)
      const at =
        left?.findIndex(({ spiffeId }) => spiffeId === undefined || spiffeId === entry.spiffeId) ?? -1
      if (left !== undefined && at >= 0) {
        left.splice(at, 1)
        return true
      }
    }
    return false
  }
}

function later(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || (right !== undefined && right > left) ? right : left
}

/** The fields in the order in which a difference of them weighs; the key is the server's name. */
const FIELDS: readonly (readonly [name: string, of: (fields: ComparedFields, key: string) => string])[] = [
  ['admin', ({ admin }) => String(admin)],
  ['downstream', ({ downstream }) => String(downstream)],
  ['store_svid', ({ storeSvid }) => String(storeSvid)],
  ['selectors', ({ shape }, key) => listText(partsOfKey(key, shape).selectors)],
  ['federates_with', ({ federatesWith }) => listText(federatesWith)],
  ['dns_names', ({ dnsNames }) => listText(dnsNames)],
  ['hint', ({ hint }) => hint],
  ['x509_svid_ttl', ({ x509SvidTtl }) => String(x509SvidTtl)],
  ['jwt_svid_ttl', ({ jwtSvidTtl }) => String(jwtSvidTtl)],
]

/** Different for different lists: what a name may be confused by is quoted. */
function listText(list: readonly string[]): string {
  return list.map((one) => (one === '' || /[\s,"]/.test(one) ? JSON.stringify(one) : one)).join(', ')
}

/** Of several things that it may say, those from which it differs least. */
function differentFields({ fields }: ExpectedEntry, entry: ServerEntry): readonly DifferentField[] {
  const [nearest = []] = fields
    .map((one) =>
      FIELDS.flatMap(([field, of]): DifferentField[] => {
        const [predicted, onServer] = [of(one, entry.key), of(entry.fields, entry.key)]
        return predicted === onServer ? [] : [{ field, predicted, onServer }]
      }),
    )
    .toSorted((left, right) => left.length - right.length)
  return nearest
}

/** `ClusterSPIFFEID/default`: the object behind an expected entry. */
export function expectedSource({ source }: Pick<ExpectedEntry, 'source'>): string {
  return sourceText(source)
}
