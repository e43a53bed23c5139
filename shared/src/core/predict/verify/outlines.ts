// What a server should hold of a pod, without what is the pod's own: its UID and its parent. Pods that are alike share it.
import type { SelectorParts } from '../spire/entry-key.ts'
import type { EntrySource } from '../spire/prediction.ts'
import type { ComparedFields } from './server-entry.ts'

/** What the value of the selector of a pod begins with. */
export const UID_MARK = 'pod-uid:'
/** Stands for the selector of the pod's own UID, with which it is sorted. */
export const OWN_UID: SelectorParts = { type: 'k8s', value: UID_MARK }

/** What an entry may say. */
export interface SaidByEntry {
  readonly spiffeId: string
  /** Sorted. */
  readonly selectors: readonly SelectorParts[]
  readonly fields: ComparedFields
}

/** An entry that should be there, or may be. */
export interface EntryOutline extends SaidByEntry {
  readonly source: EntrySource
  /** Its selectors as the key of an entry has them. With the SPIFFE ID and the parent, it is the whole key. */
  readonly tail: string
  /** What else it may say: several objects ask for it, and which of them wins is not known. */
  readonly others: readonly SaidByEntry[]
  /** Whether it is certainly there once SCM has acted, whatever it says. */
  readonly isCertain: boolean
  /**
   * Whether SCM certainly sends it. If the server holds the entry, it is then as it should be, because the server has accepted
   * it.
   */
  readonly isSent: boolean
  /** Whether it comes with what kleym must still write: then it may be there, and need not be. */
  readonly isPending: boolean
  /** Why it is not certain; undefined where it is. */
  readonly doubt: string | undefined
}

/** An entry whose text holds what is not known: any one of its pod's may be it. */
export interface OpenEntry {
  /** Undefined: not known either. */
  readonly spiffeId: string | undefined
  readonly source: EntrySource
}

/** An entry that the server refuses: what was there before may have stayed. */
export type RefusedEntry = Pick<EntryOutline, 'spiffeId' | 'selectors' | 'tail' | 'source'>

/** Selectors, sorted, as the key of an entry has them. */
export function tailOf(selectors: readonly SelectorParts[]): string {
  let tail = ''
  for (const { type, value } of selectors) tail += type + value
  return tail
}

/** One entry that two objects ask for. */
export function merged(known: EntryOutline, one: EntryOutline): EntryOutline {
  const isCertain = known.isCertain || one.isCertain
  const isNew = (said: SaidByEntry): boolean =>
    ![known, ...known.others].some((before) => saysAlike(before, said))
  return {
    ...known,
    source: takesOver(known, one) ? one.source : known.source,
    others: [...known.others, ...[one, ...one.others].filter(isNew)],
    isCertain,
    isSent: known.isSent || one.isSent,
    isPending: known.isPending && one.isPending,
    doubt: isCertain ? undefined : (known.doubt ?? one.doubt),
  }
}

/** Whether an entry that two objects ask for is named after the second of them. */
export function takesOver(known: EntryOutline, one: EntryOutline): boolean {
  return one.isCertain && !known.isCertain
}

function saysAlike(left: SaidByEntry, right: SaidByEntry): boolean {
  return (
    left.fields === right.fields &&
    left.spiffeId === right.spiffeId &&
    left.selectors.length === right.selectors.length &&
    left.selectors.every(({ type, value }, at) => {
      const other = right.selectors[at]
      return other?.type === type && other.value === value
    })
  )
}

/** Of fewer, all are looked at. */
const LOOKED_UP_FROM = 9

/** What is expected of the pods that are alike. */
export class PodOutlines {
  readonly outlines: readonly EntryOutline[]
  readonly refused: readonly RefusedEntry[]
  readonly open: readonly OpenEntry[]
  /**
   * Whether the key of each entry names one UID, that of its pod. If so, the key tells the pod, and outlines of the same texts are
   * one entry.
   */
  readonly tellPod: boolean
  #byText: ReadonlyMap<string, number> | undefined

  constructor({ outlines, refused, open }: Pick<PodOutlines, 'outlines' | 'refused' | 'open'>) {
    this.tellPod = [...outlines, ...refused].every(namesOneUid)
    this.outlines = this.tellPod && outlines.length > 1 ? eachOnce(outlines) : outlines
    this.refused = refused
    this.open = open
  }

  /** Which of the outlines has these texts; -1 where none has. */
  find(spiffeId: string, tail: string): number {
    const { outlines } = this
    if (outlines.length < LOOKED_UP_FROM)
      return outlines.findIndex((one) => one.spiffeId === spiffeId && one.tail === tail)
    this.#byText ??= new Map(outlines.map((one, at) => [textOf(one), at]))
    return this.#byText.get(textOf({ spiffeId, tail })) ?? -1
  }

  /** The object whose entry of these texts the server refuses. */
  refusedBy(spiffeId: string, tail: string): EntrySource | undefined {
    return this.refused.findLast((one) => one.spiffeId === spiffeId && one.tail === tail)?.source
  }
}

/** Another selector may name a UID, and one of another type may be a part of such a name together with the one before it. */
function namesOneUid({ spiffeId, selectors }: Pick<EntryOutline, 'spiffeId' | 'selectors'>): boolean {
  return (
    isPlainId(spiffeId) &&
    selectors.every((one) => one === OWN_UID || (one.type === 'k8s' && !one.value.includes(UID_MARK)))
  )
}

function eachOnce(outlines: readonly EntryOutline[]): readonly EntryOutline[] {
  const byText = new Map<string, EntryOutline>()
  for (const one of outlines) {
    const text = textOf(one)
    const known = byText.get(text)
    byText.set(text, known === undefined ? one : merged(known, one))
  }
  return byText.size === outlines.length ? outlines : [...byText.values()]
}

function textOf({ spiffeId, tail }: Pick<EntryOutline, 'spiffeId' | 'tail'>): string {
  return `${spiffeId} ${tail}`
}

/** Whether an ID ends where the scheme of the one behind it begins, as each does that SPIRE takes. */
export function isPlainId(id: string): boolean {
  return /^spiffe:\/\/[^:]*$/.test(id)
}
