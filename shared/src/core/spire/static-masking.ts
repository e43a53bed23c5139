// ClusterStaticEntries that want the same entry as one another, or as what is rendered for a pod (facts/spire.md §3,
// §11.1). Only an entry that names the pod's UID can be the pod's.
import { resolveMasking, entryKey, type Contender, type MaskingResult } from './entry-key.ts'
import type { EntryVerdict } from './prediction.ts'
import type { PreparedStatic } from './prepared-static.ts'

const UID_MARK = 'k8spod-uid:'
const UID_LENGTH = 36

export class StaticMasking {
  readonly #byId = new Map<string, Map<string, PreparedStatic[]>>()
  readonly #alone = new Map<PreparedStatic, EntryVerdict>()
  /** What follows the mark in the keys, at the length of a usual UID. */
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

  /** The static entries that want an entry of this SPIFFE ID, by key. */
  rivals(spiffeId: string): ReadonlyMap<string, readonly PreparedStatic[]> | undefined {
    return this.#byId.get(spiffeId)
  }

  /** What becomes of a static entry among its kind. */
  verdictOf(object: PreparedStatic): EntryVerdict {
    return this.#alone.get(object) ?? object.verdict
  }

  #add(object: PreparedStatic): void {
    if (object.entry === undefined || object.wants === 'no') return
    const key = entryKey(object.entry)
    let byKey = this.#byId.get(object.entry.spiffeId)
    if (byKey === undefined) this.#byId.set(object.entry.spiffeId, (byKey = new Map()))
    const rivals = byKey.get(key)
    if (rivals === undefined) byKey.set(key, [object])
    else rivals.push(object)
    if (!key.includes(UID_MARK)) return
    this.#keysWithPods.push(key)
    for (let at = key.indexOf(UID_MARK); at >= 0; at = key.indexOf(UID_MARK, at + 1)) {
      this.#uids.add(key.slice(at + UID_MARK.length, at + UID_MARK.length + UID_LENGTH))
    }
  }

  #decide(rivals: readonly PreparedStatic[]): void {
    if (rivals.length < 2) return
    const results = resolveMasking(rivals.map(staticContender))
    for (const [at, object] of rivals.entries()) {
      this.#alone.set(object, afterMasking(object.verdict, results[at]))
    }
  }
}

/** A static entry as it competes. */
export function staticContender({ source, precedence, wants }: PreparedStatic): Contender {
  return { source, precedence, certain: wants === 'yes' }
}

/** The verdict of an entry once the contest for it is decided; a winner keeps its own. */
export function afterMasking(verdict: EntryVerdict, result: MaskingResult | undefined): EntryVerdict {
  if (result === undefined || result.kind === 'wins') return verdict
  if (result.kind === 'masked') return { state: 'masked', by: result.by, why: result.why }
  return verdict.state === 'declared' ? { state: 'depends', why: result.why } : verdict
}
