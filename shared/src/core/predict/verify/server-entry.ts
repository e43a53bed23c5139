// A registration entry as `spire-server entry show -output json` prints it: protobuf's JSON with the field names of
// spire-api-sdk's `Entry` (SPIRE 1.9 to 1.15; https://github.com/spiffe/spire-api-sdk/blob/v1.15.3/proto/spire/api/types/entry.proto).
// 64-bit numbers are texts there, and a field that an older release does not know is absent.
import * as z from 'zod'
import { isRecord } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { entryKey, sortSelectors } from '../spire/entry-key.ts'

/**
 * What of two entries with one key may differ (docs/spire-facts.md §3). The key has no separators, so `shape` says where
 * in it each part ends: with an equal shape the selectors are equal too, and entries of many pods share one shape.
 */
export interface ComparedFields {
  /** Lengths in UTF-16 units: of the SPIFFE ID, of the parent ID, then of type and value of each sorted selector. */
  readonly shape: string
  /** Sorted: their order is no difference to SCM. */
  readonly dnsNames: readonly string[]
  /** Sorted, each once. */
  readonly federatesWith: readonly string[]
  readonly hint: string
  /** Seconds; 0 is the server's default. */
  readonly x509SvidTtl: number
  readonly jwtSvidTtl: number
  readonly admin: boolean
  readonly downstream: boolean
  readonly storeSvid: boolean
}

/** An entry of a server. */
export interface ServerEntry {
  /** The server's name of it. */
  readonly id: string
  readonly spiffeId: string
  readonly parentId: string
  /** What SCM takes for the same entry has the same key. */
  readonly key: string
  /** `type:value`, sorted. */
  readonly selectors: readonly string[]
  readonly fields: ComparedFields
  /** Seconds since 1970; undefined: the release does not tell (before SPIRE 1.9). */
  readonly createdAt: number | undefined
  /** How often it was written since; undefined: the release does not tell. */
  readonly revision: number | undefined
}

/** The most characters of one text in an entry: SPIRE's own limits are far below. */
const TEXT_MAX = 64 * 1024
/** The most selectors, DNS names or trust domains of an entry. */
const LIST_MAX = 10_000

// What SPIRE itself takes for these (docs/spire-facts.md §6): anything else is no dump of a server.
const TRUST_DOMAIN = /^[a-z0-9._-]+$/
const ID_PATH = /^(?:\/[A-Za-z0-9._-]+)*$/
const ENTRY_ID = /^[A-Za-z0-9._-]{1,255}$/
const DIGITS = /^\d{1,19}$/

const text = z.string().max(TEXT_MAX)
const seconds = z.int().optional()
const flag = z.boolean().optional()
const whole = z.union([z.int().min(0), z.string().regex(DIGITS)]).optional()
const texts = z.array(text).max(LIST_MAX).optional()

const spiffeId = z.object({
  trust_domain: text.regex(TRUST_DOMAIN, 'it is no trust domain'),
  path: text.regex(ID_PATH, 'it is no path of a SPIFFE ID').optional(),
})

const entrySchema = z.object({
  id: text.regex(ENTRY_ID, 'it is no ID of an entry'),
  spiffe_id: spiffeId,
  parent_id: spiffeId,
  selectors: z
    .array(z.object({ type: text, value: text }))
    .max(LIST_MAX)
    .optional(),
  x509_svid_ttl: seconds,
  jwt_svid_ttl: seconds,
  hint: text.optional(),
  dns_names: texts,
  federates_with: texts,
  admin: flag,
  downstream: flag,
  store_svid: flag,
  created_at: whole,
  revision_number: whole,
})

/** An entry that was read, or what is wrong with it: a field and a sentence. */
export type ServerEntryReading =
  | { readonly ok: true; readonly entry: ServerEntry }
  | { readonly ok: false; readonly field: string; readonly why: string }

type EntryData = z.infer<typeof entrySchema>

/** Reads one element of `entries`. Never throws. */
export function readServerEntry(value: unknown): ServerEntryReading {
  return isEntryData(value) ? { ok: true, entry: entryOf(value) } : readBySchema(value)
}

/** The same by the schema alone, which says of what is no entry what is wrong with it. */
export function readBySchema(value: unknown): ServerEntryReading {
  const parsed = entrySchema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return {
      ok: false,
      field: (issue?.path ?? []).map(String).join('.'),
      why: issue?.message ?? 'it is no entry',
    }
  }
  return { ok: true, entry: entryOf(parsed.data) }
}

/**
 * Whether a value surely is what `entrySchema` takes: written out, since the schema takes four times as long, and there are half a
 * million entries. What it does not take, the schema decides about; a test holds the two against each other.
 */
function isEntryData(value: unknown): value is EntryData {
  if (!isRecord(value)) return false
  const entry: Partial<Record<keyof EntryData, unknown>> = value
  return (
    isShort(entry.id) &&
    ENTRY_ID.test(entry.id) &&
    isIdData(entry.spiffe_id) &&
    isIdData(entry.parent_id) &&
    isListOf(entry.selectors, isSelectorData) &&
    isSeconds(entry.x509_svid_ttl) &&
    isSeconds(entry.jwt_svid_ttl) &&
    (entry.hint === undefined || isShort(entry.hint)) &&
    isListOf(entry.dns_names, isShort) &&
    isListOf(entry.federates_with, isShort) &&
    isFlag(entry.admin) &&
    isFlag(entry.downstream) &&
    isFlag(entry.store_svid) &&
    isWhole(entry.created_at) &&
    isWhole(entry.revision_number)
  )
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_MAX
}

function isIdData(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { trust_domain: domain, path } = value
  if (!isShort(domain) || !TRUST_DOMAIN.test(domain)) return false
  return path === undefined || (isShort(path) && ID_PATH.test(path))
}

function isSelectorData(value: unknown): boolean {
  return isRecord(value) && isShort(value['type']) && isShort(value['value'])
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.length <= LIST_MAX && value.every(isItem))
}

function isSeconds(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value)
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean'
}

function isWhole(value: unknown): boolean {
  if (typeof value === 'string') return DIGITS.test(value)
  return value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
}

function entryOf(data: EntryData): ServerEntry {
  const selectors = data.selectors ?? []
  const ids = { spiffeId: idText(data.spiffe_id), parentId: idText(data.parent_id) }
  return {
    id: data.id,
    ...ids,
    key: entryKey({ ...ids, selectors }),
    selectors: sortSelectors(selectors).map(({ type, value }) => `${type}:${value}`),
    fields: {
      shape: shapeOf(ids, selectors),
      dnsNames: sortTexts(data.dns_names),
      federatesWith: sortTexts(data.federates_with && [...new Set(data.federates_with)]),
      hint: data.hint ?? '',
      x509SvidTtl: data.x509_svid_ttl ?? 0,
      jwtSvidTtl: data.jwt_svid_ttl ?? 0,
      admin: data.admin === true,
      downstream: data.downstream === true,
      storeSvid: data.store_svid === true,
    },
    createdAt: numberOf(data.created_at),
    revision: numberOf(data.revision_number),
  }
}

const NO_TEXTS: readonly string[] = []

/** Texts in the order of their bytes. */
export function sortTexts(list: readonly string[] | undefined): readonly string[] {
  if (list === undefined || list.length === 0) return NO_TEXTS
  return list.length === 1 ? list : list.toSorted(compareBytes)
}

/** Whether two entries with one key say the same. */
export function isSameFields(left: ComparedFields, right: ComparedFields): boolean {
  return (
    left === right ||
    (left.shape === right.shape &&
      left.hint === right.hint &&
      left.x509SvidTtl === right.x509SvidTtl &&
      left.jwtSvidTtl === right.jwtSvidTtl &&
      left.admin === right.admin &&
      left.downstream === right.downstream &&
      left.storeSvid === right.storeSvid &&
      isSameList(left.dnsNames, right.dnsNames) &&
      isSameList(left.federatesWith, right.federatesWith))
  )
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, at) => one === right[at])
}

/** Where the parts of an entry's key end. */
export function shapeOf(
  { spiffeId: id, parentId }: Pick<ServerEntry, 'spiffeId' | 'parentId'>,
  selectors: readonly { readonly type: string; readonly value: string }[],
): string {
  let shape = `${id.length}:${parentId.length}`
  for (const { type, value } of sortSelectors(selectors)) shape += `,${type.length}:${value.length}`
  return shape
}

/** The parts of a key: the IDs, and the selectors as `type:value`. */
export function partsOfKey(
  key: string,
  shape: string,
): Pick<ServerEntry, 'spiffeId' | 'parentId' | 'selectors'> {
  let at = 0
  const take = (length: string | undefined): string => key.slice(at, (at += Number(length ?? 0)))
  const [ids = '', ...selectors] = shape.split(',')
  const [id, parent] = ids.split(':')
  return {
    spiffeId: take(id),
    parentId: take(parent),
    selectors: selectors.map((one) => {
      const [type, value] = one.split(':')
      return `${take(type)}:${take(value)}`
    }),
  }
}

function idText({ trust_domain: domain, path = '' }: z.infer<typeof spiffeId>): string {
  return `spiffe://${domain}${path}`
}

function numberOf(value: string | number | undefined): number | undefined {
  const number = value === undefined ? undefined : Number(value)
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined
}

/** The selector that every entry of SCM's pods begins with. */
const POD_UID_SELECTOR = 'k8s:pod-uid:'

/** The UID of the pod that an entry is for; undefined where its selectors name none. */
export function podUidOf({ selectors }: Pick<ServerEntry, 'selectors'>): string | undefined {
  return selectors.find((one) => one.startsWith(POD_UID_SELECTOR))?.slice(POD_UID_SELECTOR.length)
}
