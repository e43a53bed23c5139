// The entries that a server should hold, by the key under which SCM knows them, from the pods one by one: half a million of them
// fit beside their cluster, since entries that agree in all but their pod share what is compared.
import { getOrCreate } from '../../base/get-or-create.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { entryKey } from '../spire/entry-key.ts'
import {
  isAskedFor,
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type Prediction,
  type RenderedEntry,
} from '../spire/prediction.ts'
import { isSameFields, shapeOf, sortTexts, type ComparedFields } from './server-entry.ts'

/** An entry that should be there, or may be. Its texts stand in its key (`partsOfKey`): there are half a million of these. */
export interface ExpectedEntry {
  readonly source: EntrySource
  /** Undefined for a static entry. */
  readonly pod: Pod | undefined
  /** What the entry may say; more than one where several objects ask for it and which of them wins is not known. */
  readonly fields: readonly ComparedFields[]
  /** Whether it is certainly there once SCM has acted, whatever it says. */
  readonly isCertain: boolean
  /** Whether SCM certainly sends it: then it should be there if it is there, for the server has taken it. */
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

/** What a prediction expects of a server. */
export interface ExpectedEntries {
  readonly byKey: ReadonlyMap<string, ExpectedEntry>
  /** By the UID of the pod; entries of pods without one, and of static entries, under the empty text. */
  readonly open: ReadonlyMap<string, readonly OpenEntry[]>
  /** The keys of entries that the server refuses: what was there before may have stayed. */
  readonly refused: ReadonlyMap<string, EntrySource>
}

/** What makes the entries of an object less than certain, beside the prediction; undefined: nothing does. */
export type WhyOpen = (source: string) => { readonly why: string; readonly isPending: boolean } | undefined

/** Works out what a prediction expects for these pods, in a step for each pod. */
export function* expecting(
  prediction: Prediction,
  pods: readonly Pod[],
  whyOpen: WhyOpen = () => undefined,
): Steps<ExpectedEntries> {
  const collector = new Collector(whyOpen)
  for (const outcome of prediction.staticEntries()) collector.add(outcome)
  for (const pod of pods) {
    yield
    for (const outcome of prediction.entriesOf(pod))
      if (outcome.source.kind === 'ClusterSPIFFEID') collector.add(outcome)
  }
  return collector
}

/** The same at once. */
export function expectedEntries(
  prediction: Prediction,
  pods: readonly Pod[],
  whyOpen?: WhyOpen,
): ExpectedEntries {
  return driveAtOnce(expecting(prediction, pods, whyOpen))
}

/** How many are looked through before they are looked up by their text. */
const RECENT = 8

class Collector implements ExpectedEntries {
  readonly byKey = new Map<string, ExpectedEntry>()
  readonly open = new Map<string, OpenEntry[]>()
  readonly refused = new Map<string, EntrySource>()
  readonly #whyOpen: WhyOpen
  /** What is compared, each once, by its text. */
  readonly #fields = new Map<string, readonly ComparedFields[]>()

  /** Those of the entries before: the pods of a workload come one after the other. */
  readonly #recent: (readonly ComparedFields[])[] = []
  #nextRecent = 0

  constructor(whyOpen: WhyOpen) {
    this.#whyOpen = whyOpen
  }

  add(outcome: EntryOutcome): void {
    const { entry, verdict, source, pod } = outcome
    if (verdict.state === 'refused' && entry !== undefined) this.refused.set(entryKey(entry), source)
    if (verdict.state === 'unknown') return this.#addOpen(outcome, verdict.spiffeId ?? entry?.spiffeId)
    if (verdict.state !== 'declared' && verdict.state !== 'depends') return
    if (entry === undefined) return this.#addOpen(outcome, undefined)
    const isWhole = entry.placeholders.length === 0
    if (!isWhole) return this.#addOpen(outcome, entry.spiffeId.includes('<') ? undefined : entry.spiffeId)
    const key = entryKey(entry)
    const known = this.byKey.get(key)
    const unsettled = this.#whyOpen(sourceText(source))
    const isCertain = isAskedFor(verdict) && unsettled === undefined
    const isSent =
      isCertain || (verdict.state === 'depends' && verdict.isSent === true && unsettled === undefined)
    const isPending = unsettled?.isPending === true
    const doubt = isCertain ? undefined : (unsettled?.why ?? ('why' in verdict ? verdict.why : undefined))
    const own = this.#sharedFields(entry)
    if (known === undefined) {
      this.byKey.set(key, {
        source,
        pod,
        fields: own,
        isCertain,
        isSent,
        isPending,
        doubt,
      })
      return
    }
    // Two pods share an entry only where a template names the other's UID; else both ask for it, and which of them wins is open.
    const winner = isCertain && !known.isCertain ? { source, pod } : { source: known.source, pod: known.pod }
    this.byKey.set(key, {
      ...winner,
      fields: known.fields === own ? own : [...new Set([...known.fields, ...own])],
      isCertain: known.isCertain || isCertain,
      isSent: known.isSent || isSent,
      isPending: known.isPending && isPending,
      doubt: known.isCertain || isCertain ? undefined : (known.doubt ?? doubt),
    })
  }

  #addOpen({ pod, source }: EntryOutcome, spiffeId: string | undefined): void {
    getOrCreate(this.open, pod?.uid ?? '', () => []).push({ spiffeId, source })
  }

  /** One list for all entries that say the same: those of most pods of a cluster. */
  #sharedFields(entry: RenderedEntry): readonly ComparedFields[] {
    const fields = fieldsOf(entry)
    const recent = this.#recent.find(([one]) => one !== undefined && isSameFields(one, fields))
    if (recent !== undefined) return recent
    const shared = getOrCreate(this.#fields, JSON.stringify(fields), () => [fields])
    this.#recent[this.#nextRecent] = shared
    this.#nextRecent = (this.#nextRecent + 1) % RECENT
    return shared
  }
}

/** What is compared of an entry that SCM would send. */
export function fieldsOf(entry: RenderedEntry): ComparedFields {
  return {
    shape: shapeOf(entry, entry.selectors),
    dnsNames: sortTexts(entry.dnsNames),
    federatesWith: sortTexts(
      entry.federatesWith.length < 2 ? entry.federatesWith : [...new Set(entry.federatesWith)],
    ),
    hint: entry.hint,
    x509SvidTtl: entry.x509SvidTtl,
    jwtSvidTtl: entry.jwtSvidTtl,
    admin: entry.admin,
    downstream: entry.downstream,
    storeSvid: entry.storeSvid,
  }
}

/** What an expected entry is for, as a person reads it: the pod, else the object that asks for it. */
export function expectedText({ pod, source }: Pick<ExpectedEntry, 'pod' | 'source'>): string {
  return pod === undefined ? sourceText(source) : podText(pod)
}
