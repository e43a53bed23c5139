// ClusterStaticEntries that ask for the same entry as one another, or as is rendered for a pod (docs/spire-facts.md §3,
// §11.1). Only an entry that names a pod's UID can equal one that is rendered for the pod.
import { getOrCreate } from '../../base/get-or-create.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { resolveMasking, type MaskingResult, type MaskingCandidate } from './masking.ts'
import { entryKey } from './entry-key.ts'
import { whyOpen, type EntryVerdict } from './prediction.ts'
import type { PreparedStatic } from './prepared-static.ts'

const UID_MARK = 'k8spod-uid:'
const UID_LENGTH = 36

/** The static entries of a snapshot by the entries that they ask for. */
export class StaticMasking {
  readonly #byId = new Map<string, Map<string, PreparedStatic[]>>()
  readonly #alone = new Map<PreparedStatic, EntryVerdict>()
  /** The UIDs in the keys, where they have the usual length. */
  readonly #uids = new Set<string>()
  readonly #keysWithPods: string[] = []

  constructor(objects: readonly PreparedStatic[]) {
    for (const object of objects) this.#add(object)
    for (const byKey of this.#byId.values()) {
      for (const rivals of byKey.values()) this.#decide(rivals)
    }
  }

  /** Whether any static entry names a pod's UID. */
  get namesPods(): boolean {
    return this.#keysWithPods.length > 0
  }

  /** Whether a static entry may name this UID. */
  mayName(uid: string): boolean {
    if (uid.length === UID_LENGTH) return this.#uids.has(uid)
    return this.#keysWithPods.some((key) => key.includes(`${UID_MARK}${uid}`))
  }

  /** The static entries that ask for an entry of this SPIFFE ID, by key. */
  rivals(spiffeId: string): ReadonlyMap<string, readonly PreparedStatic[]> | undefined {
    return this.#byId.get(spiffeId)
  }

  /** The verdict on a static entry among static entries alone. */
  verdictOf(object: PreparedStatic): EntryVerdict {
    return this.#alone.get(object) ?? object.verdict
  }

  #add(object: PreparedStatic): void {
    if (object.entry === undefined || object.wants === NO) return
    const key = entryKey(object.entry)
    const byKey = getOrCreate(this.#byId, object.entry.spiffeId, () => new Map<string, PreparedStatic[]>())
    getOrCreate(byKey, key, () => []).push(object)
    if (!key.includes(UID_MARK)) return
    this.#keysWithPods.push(key)
    for (let at = key.indexOf(UID_MARK); at >= 0; at = key.indexOf(UID_MARK, at + 1)) {
      this.#uids.add(key.slice(at + UID_MARK.length, at + UID_MARK.length + UID_LENGTH))
    }
  }

  #decide(rivals: readonly PreparedStatic[]): void {
    if (rivals.length < 2) return
    const results = resolveMasking(rivals.map(maskingCandidateOf))
    const isTaken = rivals.filter((_one, at) => results[at]?.kind !== 'masked').every(isStaticTaken)
    for (const [at, object] of rivals.entries()) {
      this.#alone.set(object, afterMasking(object.verdict, results[at], isTaken))
    }
  }
}

/** A static entry as a candidate for its entry. */
export function maskingCandidateOf({ source, precedence, wants }: PreparedStatic): MaskingCandidate {
  return { source, precedence, certain: wants === YES }
}

/** Whether the server takes the entry of a static entry, should SCM prefer it. */
export function isStaticTaken({ verdict }: PreparedStatic): boolean {
  return verdict.state === 'declared'
}

/**
 * The verdict on an entry after masking; the winner keeps its own. `isTaken`: the server takes it from whichever of the rivals
 * wins, so that one of them certainly gets it.
 */
export function afterMasking(
  verdict: EntryVerdict,
  result: MaskingResult | undefined,
  isTaken: boolean,
): EntryVerdict {
  if (result === undefined || result.kind === 'wins') return verdict
  if (result.kind === 'masked')
    return { state: 'masked', by: result.by, why: result.why, open: whyOpen(verdict) }
  const { why, rival } = result
  if (verdict.state === 'depends') return { ...verdict, rival, mayNotAsk: true }
  if (verdict.state !== 'declared') return verdict
  return { state: 'depends', why, rival, ...(isTaken && { isContested: true }) }
}
