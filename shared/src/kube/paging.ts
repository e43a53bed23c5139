// A list, page by page. https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
import { isRecord, own, stringAt, type JsonRecord } from '../core/base/json.ts'
import type { Listing } from './api.ts'
import { ApiError, ConnectionError } from './errors.ts'
import { connectionError } from './failures.ts'
import { BodyTooLarge } from './transport.ts'

/** Items per page, as client-go asks for. */
export const PAGE_SIZE = 500
/** How often a list is begun in pages; the try after these asks for all at once, which cannot expire. */
const PAGED_TRIES = 2

/**
 * The most bytes of a page of several items, unless its caller says otherwise. Objects of 1.5 MB, the most that an API server
 * takes, would make a page of 250 larger than the memory of the operator: such pages are asked for with fewer items, down to one.
 */
export const PAGE_BYTES = 16 * 1024 * 1024
/** By how much a page that was too long shrinks. */
const SHRINKING = 10
/** By how much pages grow again: the server makes a page that is not read on, and should make little of it. */
const GROWTH = 2
/**
 * After how many pages they grow, and after each one that does so: large objects come in a row. Twice as many each time that a grown page
 * was too long, up to MOST_BEFORE_GROWTH.
 */
const PAGES_BEFORE_GROWTH = 4
const MOST_BEFORE_GROWTH = 64

/** How large pages may be. */
export interface PageLimits {
  /** Items of a page; 0 for all. */
  readonly limit: number
  /** Bytes of a page of several items; PAGE_BYTES when absent. */
  readonly pageBytes?: number | undefined
  /**
   * Whether a page of several items that is not answered in time is asked for again, once, as a page of one. 250 objects of 1.4 MB take
   * an API server longer than a call may, every time. A server that answers nothing is given up a call's time later.
   */
  readonly oneAfterTimeout?: boolean
}

/**
 * The pages of a client that keeps little of each object and runs for long: half of client-go's number of items, and of large ones one
 * alone, since what a page leaves behind decides how large a process gets. Parsed, short fields take 15 times their bytes.
 */
export const SMALL_PAGES = { limit: 250, pageBytes: 2 * 1024 * 1024, oneAfterTimeout: true } as const

/** Asks for a page: `limit` items (0 for all), after those that `continueToken` stands for. */
export type ReadPage = (page: {
  readonly limit: number
  readonly continueToken: string | undefined
  /** The longest body to read; as long as any when undefined. */
  readonly bodyBytes: number | undefined
}) => Promise<JsonRecord>

/** The pages of one list. Throws what `read` throws, and a ConnectionError (malformed) for what is no list. */
export async function* pagesOf(
  read: ReadPage,
  what: string,
  { limit, pageBytes = PAGE_BYTES, oneAfterTimeout = false }: PageLimits,
): AsyncGenerator<Listing> {
  let continueToken: string | undefined
  let size = limit
  /** The size that the present one has grown from, until a page of it has come. */
  let grownFrom: number | undefined
  let inARow = 0
  let beforeGrowth = PAGES_BEFORE_GROWTH
  for (;;) {
    const asked = { limit: size, continueToken, bodyBytes: size > 1 ? pageBytes : undefined }
    let page: JsonRecord
    try {
      page = await read(asked)
    } catch (error) {
      // The same page once more, with fewer items; one item alone may be as long as it likes.
      const isLate = oneAfterTimeout && error instanceof ConnectionError && error.failure === 'timed out'
      if (!(error instanceof BodyTooLarge || isLate) || size <= 1) throw error
      size = isLate ? 1 : (grownFrom ?? Math.max(1, Math.floor(size / SHRINKING)))
      if (grownFrom !== undefined) beforeGrowth = Math.min(beforeGrowth * 2, MOST_BEFORE_GROWTH)
      grownFrom = undefined
      inARow = 0
      continue
    }
    inARow += 1
    const fits = grownFrom !== undefined
    grownFrom = undefined
    if (fits) beforeGrowth = PAGES_BEFORE_GROWTH
    if (size < limit && (fits || inARow >= beforeGrowth)) {
      grownFrom = size
      size = Math.min(limit, size * GROWTH)
      inARow = 0
    }
    // Go writes a list without items as null in some kinds.
    const items = own(page, 'items') ?? []
    const resourceVersion = stringAt(page, 'metadata', 'resourceVersion') ?? ''
    if (!Array.isArray(items) || !items.every(isRecord) || resourceVersion === '') throw noList(what)
    yield { items, resourceVersion }
    const next = stringAt(page, 'metadata', 'continue') ?? ''
    if (next === '') return
    // Without progress the loop would never end.
    if (next === continueToken) throw noList(what)
    continueToken = next
  }
}

/** All pages as one list; begun again where the state that the pages are of was compacted away (410). */
export async function allPages(read: ReadPage, what: string, limits: PageLimits): Promise<Listing> {
  for (let tries = 1; ; tries += 1) {
    const all = tries > PAGED_TRIES
    try {
      return await collect(pagesOf(read, what, all ? { ...limits, limit: 0 } : limits))
    } catch (error) {
      if (all || !(error instanceof ApiError) || error.status !== 410) throw error
    }
  }
}

async function collect(pages: AsyncIterable<Listing>): Promise<Listing> {
  const items: JsonRecord[] = []
  let resourceVersion: string | undefined
  for await (const page of pages) {
    for (const item of page.items) items.push(item)
    resourceVersion ??= page.resourceVersion
  }
  return { items, resourceVersion: resourceVersion ?? '' }
}

function noList(what: string): Error {
  return connectionError('malformed', what, { neverSent: false, detail: 'it is no list of objects' })
}
