// Reads a registration entry as `spire-server entry show -output json` prints it: protobuf's JSON with the field names of
// spire-api-sdk's `Entry` (SPIRE 1.9 to 1.15; https://github.com/spiffe/spire-api-sdk/blob/v1.15.3/proto/spire/api/types/entry.proto).
// 64-bit numbers are texts there, and a field that an older release does not know is absent. In a file of its own, so that only
// what reads a dump loads zod.
import * as z from 'zod'
import { isRecord } from '../../base/json.ts'
import { entryKey, sortSelectors, type SelectorParts } from '../spire/entry-key.ts'
import { sortTexts, type ComparedFields, type ServerEntry } from './server-entry.ts'

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
  expires_at: whole,
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

/** What zod says of a value, in our words. */
export function faultText(issue: { readonly message: string } | undefined): string | undefined {
  const [, expected, received] =
    /^Invalid input: expected (\w+), received (\w+)$/.exec(issue?.message ?? '') ?? []
  if (expected === undefined) return issue?.message
  return received === 'undefined'
    ? 'it is missing'
    : `it is of type ${received ?? ''}, and must be ${expected}`
}

/** The same by the schema alone, which says why a value is no entry. */
export function readBySchema(value: unknown): ServerEntryReading {
  const parsed = entrySchema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return {
      ok: false,
      field: (issue?.path ?? []).map(String).join('.'),
      why: faultText(issue) ?? 'it is no entry',
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
    isWhole(entry.expires_at) &&
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
  return new EntryRead(data)
}

/** An entry of the dump. What hardly any question needs is read from the dump's own value at that question. */
class EntryRead implements ServerEntry {
  readonly spiffeId: string
  readonly parentId: string
  readonly parts: readonly SelectorParts[]
  readonly key: string
  readonly #data: EntryData

  constructor(data: EntryData) {
    this.#data = data
    this.spiffeId = idText(data.spiffe_id)
    this.parentId = idText(data.parent_id)
    this.parts = sortSelectors(data.selectors ?? [])
    this.key = entryKey({ spiffeId: this.spiffeId, parentId: this.parentId, selectors: this.parts })
  }

  get id(): string {
    return this.#data.id
  }

  get selectors(): readonly string[] {
    return this.parts.map(({ type, value }) => `${type}:${value}`)
  }

  get fields(): ComparedFields {
    const data = this.#data
    return {
      dnsNames: sortTexts(data.dns_names),
      federatesWith: sortTexts(data.federates_with && [...new Set(data.federates_with)]),
      hint: data.hint ?? '',
      x509SvidTtl: data.x509_svid_ttl ?? 0,
      jwtSvidTtl: data.jwt_svid_ttl ?? 0,
      admin: data.admin === true,
      downstream: data.downstream === true,
      storeSvid: data.store_svid === true,
      expiresAt: Number(data.expires_at ?? 0),
    }
  }

  get createdAt(): number | undefined {
    return numberOf(this.#data.created_at)
  }

  get revision(): number | undefined {
    return numberOf(this.#data.revision_number)
  }
}

function idText({ trust_domain: domain, path = '' }: z.infer<typeof spiffeId>): string {
  return `spiffe://${domain}${path}`
}

function numberOf(value: string | number | undefined): number | undefined {
  const number = value === undefined ? undefined : Number(value)
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined
}

const bundleSchema = z.object({
  trust_domain: z
    .string()
    .max(255)
    .regex(/^[a-z0-9._-]+$/, 'it is no trust domain'),
})

/** The trust domain of a bundle, or what is wrong with it. */
export type BundleReading =
  | { readonly ok: true; readonly trustDomain: string }
  | { readonly ok: false; readonly why: string }

/** Reads one element of `bundles`. Never throws. */
export function readServerBundle(value: unknown): BundleReading {
  const parsed = bundleSchema.safeParse(value)
  return parsed.success
    ? { ok: true, trustDomain: parsed.data.trust_domain }
    : { ok: false, why: `.trust_domain: ${faultText(parsed.error.issues[0]) ?? 'it is no bundle'}` }
}
