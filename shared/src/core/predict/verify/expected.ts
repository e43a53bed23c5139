// The entries that a server should hold, from the pods one by one. Half a million of them fit beside their cluster, since of each pod
// no more is kept than its UID and its parent: what else there is of an entry is kept once for all pods that are alike.
import { getOrCreate } from '../../base/get-or-create.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import { idsSeenInstead } from './entry-owner.ts'
import type { Steps } from '../../base/steps.ts'
import { sortSelectors, type SelectorParts } from '../spire/entry-key.ts'
import {
  isOnServer,
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type Prediction,
  type RenderedEntry,
} from '../spire/prediction.ts'
import {
  isPlainId,
  merged,
  OWN_UID,
  PodOutlines,
  tailOf,
  takesOver,
  UID_MARK,
  type EntryOutline,
  type OpenEntry,
  type RefusedEntry,
  type SaidByEntry,
} from './outlines.ts'
import { isSameFields, sortTexts, type ComparedFields, type ServerEntry } from './server-entry.ts'

/** What is an entry's own among those that have an outline in common. */
interface EntryPlace {
  /** Undefined for a static entry. */
  readonly pod: Pod | undefined
  readonly parentId: string
}

/** An entry that should be there, or may be. */
export class ExpectedEntry {
  /** Which of all entries it is, from 0. */
  readonly number: number
  readonly outline: EntryOutline
  readonly #place: EntryPlace

  constructor(number: number, outline: EntryOutline, place: EntryPlace) {
    this.number = number
    this.outline = outline
    this.#place = place
  }

  get source(): EntrySource {
    return this.outline.source
  }

  get pod(): Pod | undefined {
    return this.#place.pod
  }

  /** Why it is not certain; undefined where it is. */
  get doubt(): string | undefined {
    return this.outline.doubt
  }

  get spiffeId(): string {
    return this.outline.spiffeId
  }

  get parentId(): string {
    return this.#place.parentId
  }

  /** `type:value`, sorted. */
  get selectors(): readonly string[] {
    return this.selectorsIn(this.outline)
  }

  /** The selectors in one of the things that it may say. */
  selectorsIn({ selectors }: SaidByEntry): readonly string[] {
    return selectors.map((one) => `${one.type}:${one.value}${one === OWN_UID ? this.#uid : ''}`)
  }

  /** The same entry, which another object asks for too, or another pod: a template names the other's UID. */
  with(outline: EntryOutline, place: EntryPlace): ExpectedEntry {
    const from = takesOver(this.outline, outline) ? place : this.#place
    return new ExpectedEntry(this.number, merged(this.outline, outline), from)
  }

  /** Whether an entry of the same key says one of the things that it may say. */
  isSaidBy(entry: ServerEntry): boolean {
    const { outline } = this
    return this.#isSaid(outline, entry) || outline.others.some((one) => this.#isSaid(one, entry))
  }

  get #uid(): string {
    return this.#place.pod?.uid ?? ''
  }

  /** The key has no separators: two entries of one key have the same texts if each part of them is as long. */
  #isSaid({ spiffeId, selectors, fields }: SaidByEntry, entry: ServerEntry): boolean {
    const { parts } = entry
    return (
      spiffeId.length === entry.spiffeId.length &&
      this.parentId.length === entry.parentId.length &&
      selectors.length === parts.length &&
      selectors.every(
        (one, at) =>
          one.type.length === parts[at]?.type.length &&
          one.value.length + (one === OWN_UID ? this.#uid.length : 0) === parts[at].value.length,
      ) &&
      isSameFields(fields, entry.fields)
    )
  }
}

/** What a prediction expects of a server. */
export interface ExpectedEntries {
  /** How many entries there are. */
  readonly size: number
  /** The entry that SCM takes for the same as one of the server. */
  find(entry: ServerEntry): ExpectedEntry | undefined
  /** All but those whose number is marked. */
  without(marked: Uint8Array): Iterable<ExpectedEntry>
  /** The entries of the pod with a UID whose text is not known; for the empty text, those of pods without one, and of static entries. */
  openOf(uid: string): readonly OpenEntry[]
  /** The object whose entry the server refuses, if an entry of the server is the same to SCM: what was there before may have stayed. */
  refusedBy(entry: ServerEntry): EntrySource | undefined
  /** The IDs of SCM's entries, if an entry of the server has another one, which SCM does not see; undefined: it sees it. */
  idsSeenInstead(entry: ServerEntry): string | undefined
}

/** What makes the entries of an object less than certain, beside the prediction; undefined: nothing does. */
export type WhyOpen = (source: string) => { readonly why: string; readonly isPending: boolean } | undefined

/**
 * Works out what a prediction expects for these pods, in a step for each pod that is not like one before. `settings` of SCM say which
 * entries it sees: all of them if they are left out.
 */
export function* expecting(
  prediction: Prediction,
  pods: readonly Pod[],
  whyOpen: WhyOpen = () => undefined,
  settings?: ScmSettings,
): Steps<ExpectedEntries> {
  const outliner = new Outliner(whyOpen)
  const collector = new Collector(pods, settings)
  for (const outcome of prediction.staticEntries())
    collector.addByKey(outliner.outlinesOf([outcome]), {
      pod: undefined,
      parentId: outcome.entry?.parentId ?? '',
    })
  const outlinesOf = (pod: Pod): PodOutlines =>
    outliner.outlinesOf(prediction.entriesOf(pod).filter(({ source }) => source.kind === 'ClusterSPIFFEID'))
  yield* workingOn(pods, outlinesOf, (pod, outlines) =>
    collector.add(outlines, { pod, parentId: prediction.parentIdOf(pod) ?? '' }),
  )
  return collector
}

/** How many are looked through before they are looked up by their text. */
const RECENT = 8

/** Makes outlines of what is predicted. */
class Outliner {
  readonly #whyOpen: WhyOpen
  /** What is compared, each once, by its text. */
  readonly #fields = new Map<string, ComparedFields>()
  /** Those of the entries before: the pods of a workload come one after the other. */
  readonly #recent: ComparedFields[] = []
  #nextRecent = 0

  constructor(whyOpen: WhyOpen) {
    this.#whyOpen = whyOpen
  }

  outlinesOf(outcomes: readonly EntryOutcome[]): PodOutlines {
    const outlines: EntryOutline[] = []
    const refused: RefusedEntry[] = []
    const open: OpenEntry[] = []
    for (const { entry, verdict, source } of outcomes) {
      if (verdict.state === 'refused' && entry !== undefined)
        refused.push({ source, ...textsOf(source, entry) })
      if (verdict.state === 'unknown') open.push({ source, spiffeId: verdict.spiffeId ?? entry?.spiffeId })
      if (verdict.state !== 'declared' && verdict.state !== 'depends') continue
      if (entry === undefined) open.push({ source, spiffeId: undefined })
      else if (entry.placeholders.length > 0)
        open.push({ source, spiffeId: entry.spiffeId.includes('<') ? undefined : entry.spiffeId })
      else outlines.push(this.#outlineOf(entry, { verdict, source }))
    }
    return new PodOutlines({ outlines, refused, open })
  }

  #outlineOf(
    entry: RenderedEntry,
    { verdict, source }: Pick<EntryOutcome, 'verdict' | 'source'>,
  ): EntryOutline {
    const unsettled = this.#whyOpen(sourceText(source))
    const isCertain = isOnServer(verdict) && unsettled === undefined
    return {
      source,
      ...textsOf(source, entry),
      fields: this.#sharedFields(entry),
      others: NOTHING_ELSE,
      isCertain,
      isSent:
        isCertain || (verdict.state === 'depends' && verdict.isSent === true && unsettled === undefined),
      isPending: unsettled?.isPending === true,
      doubt: isCertain ? undefined : (unsettled?.why ?? ('why' in verdict ? verdict.why : undefined)),
    }
  }

  /** One for all entries that say the same: those of most pods of a cluster. */
  #sharedFields(entry: RenderedEntry): ComparedFields {
    const fields = fieldsOf(entry)
    const recent = this.#recent.find((one) => isSameFields(one, fields))
    if (recent !== undefined) return recent
    const shared = getOrCreate(this.#fields, JSON.stringify(fields), () => fields)
    this.#recent[this.#nextRecent] = shared
    this.#nextRecent = (this.#nextRecent + 1) % RECENT
    return shared
  }
}

const NOTHING_ELSE: readonly SaidByEntry[] = []
const UID_ALONE = { selectors: [OWN_UID], tail: tailOf([OWN_UID]) }

/** The texts that the key of an entry is made of, but for its parent; the selector that SCM puts first is that of the pod. */
function textsOf(
  { kind }: EntrySource,
  { spiffeId, selectors }: RenderedEntry,
): Pick<EntryOutline, 'spiffeId' | 'selectors' | 'tail'> {
  if (kind === 'ClusterSPIFFEID' && selectors.length < 2) return { spiffeId, ...UID_ALONE }
  const all: readonly SelectorParts[] =
    kind === 'ClusterSPIFFEID' ? [OWN_UID, ...selectors.slice(1)] : selectors
  const sorted = sortSelectors(all)
  return { spiffeId, selectors: sorted, tail: tailOf(sorted) }
}

/** The entries of a pod. */
interface PodEntries extends EntryPlace {
  readonly of: PodOutlines
  /** The number of the first. */
  readonly first: number
}

/** The lengths of UIDs that are looked for in a key; each of Kubernetes' own has the same. */
const UID_LENGTHS_MAX = 4

class Collector implements ExpectedEntries {
  size = 0
  /** Those of a pod, or the key of one by itself. */
  readonly #inOrder: (PodEntries | string)[] = []
  readonly #byUid = new Map<string, PodEntries>()
  readonly #uidLengths: number[] = []
  /** Entries whose key does not tell their pod. */
  readonly #byKey = new Map<string, ExpectedEntry>()
  readonly #refused = new Map<string, EntrySource>()
  readonly #open = new Map<string, OpenEntry[]>()
  /** The UIDs that two pods have. */
  readonly #shared = new Set<string>()
  readonly #staticKeys: string[] = []
  /** What stands in those keys where a UID may stand, by the length of UIDs. */
  readonly #inStaticKeys = new Map<number, ReadonlySet<string>>()

  readonly #settings: ScmSettings | undefined

  constructor(pods: readonly Pod[], settings: ScmSettings | undefined) {
    this.#settings = settings
    const uids = new Set<string>()
    for (const { uid } of pods) {
      if (uid === undefined) continue
      if (uids.has(uid)) this.#shared.add(uid)
      uids.add(uid)
    }
  }

  /** Adds the entries of a pod, once all static ones have been added. */
  add(of: PodOutlines, place: EntryPlace): void {
    const uid = place.pod?.uid
    if (uid === undefined || !of.tellPod || !this.#isTold(uid) || !isPlainId(place.parentId)) {
      this.addByKey(of, place)
      return
    }
    const entries = { ...place, of, first: this.size }
    this.#byUid.set(uid, entries)
    this.#inOrder.push(entries)
    this.size += of.outlines.length
  }

  /** Adds entries whose key is not known to tell their pod. */
  addByKey({ outlines, refused, open }: PodOutlines, place: EntryPlace): void {
    const { pod, parentId } = place
    for (const one of outlines) {
      const outline = withUid(one, pod?.uid)
      const key = outline.spiffeId + parentId + outline.tail
      const known = this.#byKey.get(key)
      if (known === undefined) this.#inOrder.push(key)
      if (pod === undefined) this.#staticKeys.push(key)
      this.#byKey.set(key, known?.with(outline, place) ?? new ExpectedEntry(this.size++, outline, place))
    }
    for (const one of refused) {
      const { spiffeId, tail } = withUid(one, pod?.uid)
      const key = spiffeId + parentId + tail
      if (pod === undefined) this.#staticKeys.push(key)
      this.#refused.set(key, one.source)
    }
    if (open.length > 0) getOrCreate(this.#open, pod?.uid ?? '', () => []).push(...open)
  }

  find(entry: ServerEntry): ExpectedEntry | undefined {
    const found = this.#byKey.size === 0 ? undefined : this.#byKey.get(entry.key)
    return found ?? this.#ofPod(entry, expectedOf)
  }

  *without(marked: Uint8Array): Iterable<ExpectedEntry> {
    for (const one of this.#inOrder) {
      if (typeof one === 'string') {
        const entry = this.#byKey.get(one)
        if (entry !== undefined && marked[entry.number] === 0) yield entry
        continue
      }
      for (const [at, outline] of one.of.outlines.entries())
        if (marked[one.first + at] === 0) yield new ExpectedEntry(one.first + at, outline, one)
    }
  }

  openOf(uid: string): readonly OpenEntry[] {
    return this.#byUid.get(uid)?.of.open ?? this.#open.get(uid) ?? []
  }

  refusedBy(entry: ServerEntry): EntrySource | undefined {
    return (
      this.#refused.get(entry.key) ?? this.#ofPod(entry, ({ of }, tail) => of.refusedBy(entry.spiffeId, tail))
    )
  }

  idsSeenInstead(entry: ServerEntry): string | undefined {
    return this.#settings && idsSeenInstead(entry, this.#settings)
  }

  /** Looks among the pods that are named in the key of an entry: what their outlines have as `tail` is handed on. */
  #ofPod<T>(
    { key, spiffeId }: ServerEntry,
    look: (pod: PodEntries, tail: string, spiffeId: string) => T | undefined,
  ): T | undefined {
    for (let at = key.indexOf(UID_MARK); at >= 0; at = key.indexOf(UID_MARK, at + 1)) {
      const from = at + UID_MARK.length
      for (const length of this.#uidLengths) {
        const pod = this.#byUid.get(key.slice(from, from + length))
        if (pod === undefined || !key.startsWith(pod.parentId, spiffeId.length)) continue
        const tail = key.slice(spiffeId.length + pod.parentId.length, from) + key.slice(from + length)
        const found = look(pod, tail, spiffeId)
        if (found !== undefined) return found
      }
    }
    return undefined
  }

  /** Whether an entry whose key names this UID, and no other, is one of the pod's. */
  #isTold(uid: string): boolean {
    const { length } = uid
    if (this.#shared.has(uid)) return false
    if (!this.#uidLengths.includes(length)) {
      if (this.#uidLengths.length === UID_LENGTHS_MAX) return false
      this.#uidLengths.push(length)
    }
    return !getOrCreate(this.#inStaticKeys, length, () => textsBehindMark(this.#staticKeys, length)).has(uid)
  }
}

function expectedOf(pod: PodEntries, tail: string, spiffeId: string): ExpectedEntry | undefined {
  const at = pod.of.find(spiffeId, tail)
  const outline = pod.of.outlines[at]
  return outline === undefined ? undefined : new ExpectedEntry(pod.first + at, outline, pod)
}

function textsBehindMark(keys: readonly string[], length: number): ReadonlySet<string> {
  const texts = new Set<string>()
  for (const key of keys)
    for (let at = key.indexOf(UID_MARK); at >= 0; at = key.indexOf(UID_MARK, at + 1))
      texts.add(key.slice(at + UID_MARK.length, at + UID_MARK.length + length))
  return texts
}

/** What is expected of one pod alone. */
function withUid<Of extends RefusedEntry & { readonly others?: readonly SaidByEntry[] }>(
  of: Of,
  uid: string | undefined,
): Of {
  const selectorsOf = ({ selectors }: Pick<SaidByEntry, 'selectors'>): readonly SelectorParts[] =>
    sortSelectors(
      selectors.map((one) => (one === OWN_UID ? { ...one, value: `${one.value}${uid ?? ''}` } : one)),
    )
  const selectors = selectorsOf(of)
  return {
    ...of,
    selectors,
    tail: tailOf(selectors),
    ...(of.others !== undefined && {
      others: of.others.map((one) => ({ ...one, selectors: selectorsOf(one) })),
    }),
  }
}

/** What is compared of an entry that SCM would send. */
function fieldsOf(entry: RenderedEntry): ComparedFields {
  return {
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
    expiresAt: 0,
  }
}

/** What an expected entry is for, as a person reads it: the pod, else the object that asks for it. */
export function expectedText({ pod, source }: Pick<ExpectedEntry, 'pod' | 'source'>): string {
  return pod === undefined ? sourceText(source) : podText(pod)
}
