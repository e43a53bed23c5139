// IDs that are there and are nearly one that is not: only the case of letters differs, only the trust domain, or one lies
// below the other (people expect a prefix to match; in KAN an ID is compared as a whole). By index, with no scan.
import { getOrCreate } from '../../base/get-or-create.ts'
import { pathIn, pathStart } from '../../model/spiffe-id.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import type { IdentitySource } from './identity-sources.ts'
import { NEAR_MISSES_MAX, type NearMiss } from './resolution.ts'

const CASE = 'differs only in the case of letters'
const TRUST_DOMAIN = 'has the same path, in another trust domain'
const BELOW = 'lies below it, and an ID is compared as a whole'
const ABOVE = 'lies above it, and an ID is compared as a whole'

/** The IDs that are given, indexed by what makes another ID nearly the same. */
export class NearMisses {
  readonly #given: ReadonlyMap<string, IdentitySource>
  readonly #byLowerCase = new Map<string, string[]>()
  readonly #byPath = new Map<string, string[]>()
  /** The first few IDs below a prefix that ends before a slash. */
  readonly #below = new Map<string, string[]>()

  /** Takes every ID that is there, with what gives it. */
  constructor(given: ReadonlyMap<string, IdentitySource>) {
    this.#given = given
    for (const id of [...given.keys()].toSorted(compareBytes)) {
      push(this.#byLowerCase, id.toLowerCase(), id)
      push(this.#byPath, pathIn(id), id)
      for (const end of segmentEnds(id)) push(this.#below, id.slice(0, end), id)
    }
  }

  /** At most `NEAR_MISSES_MAX`, the likeliest kind first, each kind in byte order. */
  of(spiffeId: string): readonly NearMiss[] {
    const path = pathIn(spiffeId)
    const found = new Map<string, NearMiss>()
    const add = (how: NearMiss['how'], text: string, ids: readonly string[]): void => {
      for (const id of ids) {
        const identitySource = this.#given.get(id)
        if (id === spiffeId || identitySource === undefined || found.has(id)) continue
        const { binding, source } = identitySource
        found.set(id, { spiffeId: id, how, text, binding, source })
      }
    }
    add('case', CASE, this.#byLowerCase.get(spiffeId.toLowerCase()) ?? [])
    if (path !== '') add('trust domain', TRUST_DOMAIN, this.#byPath.get(path) ?? [])
    add(
      'prefix',
      ABOVE,
      segmentEnds(spiffeId)
        .map((end) => spiffeId.slice(0, end))
        .filter((prefix) => this.#given.has(prefix)),
    )
    add('prefix', BELOW, this.#below.get(spiffeId.replace(/\/+$/, '')) ?? [])
    return [...found.values()].slice(0, NEAR_MISSES_MAX)
  }
}

function push(map: Map<string, string[]>, key: string, id: string): void {
  const ids = getOrCreate(map, key, () => [])
  if (ids.length <= NEAR_MISSES_MAX) ids.push(id)
}

/** The positions of the slashes in the path: each ends a prefix. Only so many, since hostile IDs may be long. */
function segmentEnds(spiffeId: string): readonly number[] {
  const ends: number[] = []
  for (let at = pathStart(spiffeId); at >= 0 && at < spiffeId.length && ends.length < SEGMENTS_MAX;) {
    ends.push(at)
    at = spiffeId.indexOf('/', at + 1)
  }
  return ends
}

/** SPIRE keeps 255 bytes of an ID; one of kleym's has four segments. */
const SEGMENTS_MAX = 16
