// A registration entry of a server, and what is compared of it.
import { compareBytes } from '../../base/text/bytes.ts'
import type { SelectorParts } from '../spire/entry-key.ts'

/** What of two entries with one key may differ (docs/spire-facts.md §3). */
export interface ComparedFields {
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
  /** Seconds since 1970; 0: never, as SCM makes them. */
  readonly expiresAt: number
}

/** An entry of a server. */
export interface ServerEntry {
  /** The server's name of it. */
  readonly id: string
  readonly spiffeId: string
  readonly parentId: string
  /** What SCM takes for the same entry has the same key. */
  readonly key: string
  /** Its selectors, sorted. */
  readonly parts: readonly SelectorParts[]
  /** The same as `type:value`. */
  readonly selectors: readonly string[]
  readonly fields: ComparedFields
  /** Seconds since 1970; undefined: the release does not tell (before SPIRE 1.9). */
  readonly createdAt: number | undefined
  /** How often it was written since; undefined: the release does not tell. */
  readonly revision: number | undefined
}

/** Whether an entry gives its ID a right on the server: to make every other identity. */
export function givesRight({ fields: { admin, downstream } }: Pick<ServerEntry, 'fields'>): boolean {
  return admin || downstream
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
    (left.hint === right.hint &&
      left.x509SvidTtl === right.x509SvidTtl &&
      left.jwtSvidTtl === right.jwtSvidTtl &&
      left.admin === right.admin &&
      left.downstream === right.downstream &&
      left.storeSvid === right.storeSvid &&
      left.expiresAt === right.expiresAt &&
      isSameList(left.dnsNames, right.dnsNames) &&
      isSameList(left.federatesWith, right.federatesWith))
  )
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((one, at) => one === right[at])
}

/** The selector that every entry of SCM's pods begins with. */
const POD_UID_SELECTOR = 'k8s:pod-uid:'

/** The UID of the pod that an entry is for; undefined where its selectors name none. */
export function podUidOf({ selectors }: Pick<ServerEntry, 'selectors'>): string | undefined {
  return selectors.find((one) => one.startsWith(POD_UID_SELECTOR))?.slice(POD_UID_SELECTOR.length)
}
