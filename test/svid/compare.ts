// The comparer: what the prediction says of a cluster as it is, against what SCM has made of it on a real spire-server.
// What the prediction calls *depends* or *unknown* is no difference; it is counted, by cause.
import { registrationEntries } from '@kleym/testing/at-once.ts'
import { analyse, type Analysis } from '../../shared/src/core/analysis/states/analysis.ts'
import { dig, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { readScmSettings } from '../../shared/src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../shared/src/core/snapshot/snapshot.ts'
import { entryKey } from '../../shared/src/core/predict/spire/entry-key.ts'
import type { RegistrationEntry } from '../../shared/src/core/predict/spire/registration-entries.ts'
import {
  sourceText,
  type EntryOutcome,
  type ObjectCounts,
  type Prediction,
} from '../../shared/src/core/predict/spire/prediction.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import {
  CLASS,
  entryText,
  TRUST_DOMAIN,
  type EntryFields,
  type HeldEntry,
  type ScmConfig,
  type Spire,
} from './spire.ts'

/** What the prediction reads, and what the operator would. */
const KINDS = [
  ['v1', 'Namespace'],
  ['v1', 'Node'],
  ['v1', 'Pod'],
  ['v1', 'Endpoints'],
  ['spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID'],
  ['spire.spiffe.io/v1alpha1', 'ClusterStaticEntry'],
] as const

/** One thing that is not as predicted. */
export interface Difference {
  readonly kind: 'only on the server' | 'only predicted' | 'counted differently'
  /** The entry, or the counters, in one line. */
  readonly what: string
  /** The pod that it is about, `namespace/name`; undefined where none is. */
  readonly pod: string | undefined
  /** The object that the prediction names. */
  readonly source: string | undefined
}

export interface Comparison {
  readonly differences: readonly Difference[]
  /** Entries that are as predicted, with certainty. */
  readonly agreed: number
  /** All outcomes that the prediction came to, and those that it leaves open. */
  readonly outcomes: readonly EntryOutcome[]
  readonly uncertain: readonly EntryOutcome[]
  /**
   * Entries that were there before the server refused what SCM wanted in their place: it then leaves them as they are,
   * and no snapshot shows that.
   */
  readonly kept: readonly HeldEntry[]
  readonly analysis: Analysis
  readonly held: readonly HeldEntry[]
}

/** A cluster worked out, and the `status.stats` that SCM has written, by the name of the ClusterSPIFFEID. */
export interface Observed {
  readonly analysis: Analysis
  readonly stats: ReadonlyMap<string, unknown>
}

/** Settles, reads the cluster and compares; `blocked` as `Spire.settled` has it. */
export async function compare(cp: ControlPlane, spire: Spire, blocked = false): Promise<Comparison> {
  const held = await spire.settled(blocked)
  return compareWith(await observe(cp, spire.config()), held)
}

/** All objects of the cluster that a prediction reads, and those of `further` kinds. */
export async function objectsOf(
  cp: ControlPlane,
  further: readonly (readonly [apiVersion: string, kind: string])[] = [],
): Promise<readonly { readonly value: JsonRecord }[]> {
  const lists = await Promise.all(
    [...KINDS, ...further].map(async ([apiVersion, kind]) =>
      // Items of a list bear neither.
      (await cp.admin.list({ apiVersion, kind })).map((item) => ({ value: { ...item, apiVersion, kind } })),
    ),
  )
  return lists.flat()
}

/** What objects come to, as the plugin would work it out. */
export function analysisOfObjects(
  objects: readonly { readonly value: JsonRecord }[],
  config: ScmConfig,
): Analysis {
  const evidence = { trustDomain: TRUST_DOMAIN, className: CLASS, clusterSpiffeIdClasses: [] }
  const { settings } = readScmSettings(config, 'a test', evidence)
  const trustDomain = { kind: 'set', value: TRUST_DOMAIN } as const
  return analyse(readSnapshot({ objects }), { trustDomain, className: CLASS }, settings)
}

/** The cluster as it is now, worked out as the plugin would. */
export async function observe(cp: ControlPlane, config: ScmConfig): Promise<Observed> {
  const objects = await objectsOf(cp)
  const stats = objects.flatMap(({ value }) =>
    value['kind'] === 'ClusterSPIFFEID'
      ? [[stringAt(value, 'metadata', 'name') ?? '', dig(value, 'status', 'stats')] as const]
      : [],
  )
  return { analysis: analysisOfObjects(objects, config), stats: new Map(stats) }
}

/** Compares the prediction for a cluster with the entries that a server holds. */
export function compareWith({ analysis, stats }: Observed, held: readonly HeldEntry[]): Comparison {
  const { snapshot, podsInQuestion } = analysis
  const prediction = analysis.now.prediction()
  const outcomes = [
    ...prediction.staticEntries(),
    ...podsInQuestion.flatMap((pod) =>
      prediction.entriesOf(pod).filter(({ source }) => source.kind === 'ClusterSPIFFEID'),
    ),
  ]
  const uncertain = outcomes.filter(isUncertain)
  const podOf = new Map(
    snapshot.pods.read.map(({ uid, namespace, ref }) => [uid, `${namespace}/${ref.name}`]),
  )
  const predicted = registrationEntries(prediction, podsInQuestion)
  const certain = new Map(
    predicted.filter(isCertain).map((entry) => [entryText(asHeld(entry)), entry] as const),
  )
  const open = new Set(
    predicted.filter((entry) => !isCertain(entry)).map((entry) => entryText(asHeld(entry))),
  )
  // An entry whose text is not known may be any one of its pod's, but not more than one.
  const textNotKnown = new Map<string, number>()
  for (const { pod, entry, verdict } of uncertain) {
    if (pod === undefined || (entry !== undefined && verdict.state !== 'unknown')) continue
    const key = `${pod.namespace}/${pod.ref.name}`
    textNotKnown.set(key, (textNotKnown.get(key) ?? 0) + 1)
  }
  const onServer = new Map(held.map((entry) => [entryText(entry), entry] as const))
  const refused = new Set(
    outcomes.flatMap(({ entry, verdict }) =>
      entry !== undefined && verdict.state === 'refused' ? [entryKey(entry)] : [],
    ),
  )
  const differences: Difference[] = []
  const kept: HeldEntry[] = []
  for (const [text, entry] of onServer) {
    const pod = podOf.get(uidIn(entry))
    if (certain.has(text) || open.has(text)) continue
    const left = textNotKnown.get(pod ?? '') ?? 0
    if (pod !== undefined && left > 0) {
      textNotKnown.set(pod, left - 1)
      continue
    }
    if (refused.has(heldKey(entry))) {
      kept.push(entry)
      continue
    }
    differences.push({ kind: 'only on the server', what: text, pod, source: undefined })
  }
  for (const [text, { source, pod }] of certain) {
    if (onServer.has(text)) continue
    differences.push({ kind: 'only predicted', what: text, pod: pod?.replace(/^pod /, ''), source })
  }
  return {
    differences: [...differences, ...countDifferences(stats, prediction)],
    agreed: [...certain.keys()].filter((text) => onServer.has(text)).length,
    outcomes,
    uncertain,
    kept,
    analysis,
    held,
  }
}

function isUncertain({ verdict, entry }: EntryOutcome): boolean {
  return (
    verdict.state === 'depends' ||
    verdict.state === 'unknown' ||
    (verdict.state === 'declared' && entry !== undefined && entry.placeholders.length > 0)
  )
}

function isCertain({ unknown, depends }: RegistrationEntry): boolean {
  return unknown.length === 0 && depends === undefined
}

function asHeld(entry: RegistrationEntry): EntryFields {
  return {
    spiffeId: entry.spiffe_id,
    parentId: entry.parent_id,
    selectors: entry.selectors.map(({ type, value }) => `${type}:${value}`).toSorted(),
    dnsNames: entry.dns_names.toSorted(),
    federatesWith: entry.federates_with.toSorted(),
    hint: entry.hint,
    x509SvidTtl: entry.x509_svid_ttl,
    jwtSvidTtl: entry.jwt_svid_ttl,
    admin: entry.admin,
    downstream: entry.downstream,
    storeSvid: entry.store_svid,
  }
}

/** The key under which SCM takes an entry for the one that it wants. */
function heldKey({ spiffeId, parentId, selectors }: HeldEntry): string {
  const pairs = selectors.map((text) => {
    const colon = text.indexOf(':')
    return { type: text.slice(0, colon), value: text.slice(colon + 1), placeholders: [] }
  })
  return entryKey({ spiffeId, parentId, selectors: pairs })
}

const POD_UID = 'k8s:pod-uid:'

function uidIn({ selectors }: HeldEntry): string | undefined {
  return selectors.find((selector) => selector.startsWith(POD_UID))?.slice(POD_UID.length)
}

/** The counters that SCM writes into `status.stats` and the prediction makes too. */
const COUNTERS = [
  'namespacesSelected',
  'namespacesIgnored',
  'podsSelected',
  'podEntryRenderFailures',
  'entriesToSet',
  'entriesMasked',
] as const satisfies readonly (keyof ObjectCounts)[]

function countDifferences(
  allStats: ReadonlyMap<string, unknown>,
  prediction: Prediction,
): readonly Difference[] {
  const counts = prediction.counts()
  return [...allStats].flatMap(([name, stats]): Difference[] => {
    const source = sourceText({ kind: 'ClusterSPIFFEID', name })
    const predicted = counts.get(source)
    // SCM writes no counters where it never saw a reason to, and leaves those of objects that it handles no more.
    const isHandled = prediction.objects.get(source)?.handling.state === 'handled'
    if (predicted === undefined || predicted.uncertain > 0 || stats === undefined || !isHandled) return []
    const off = COUNTERS.filter((counter) => dig(stats, counter) !== predicted[counter])
    if (off.length === 0) return []
    const what = off.map(
      (counter) => `${counter} ${String(dig(stats, counter))}, predicted ${predicted[counter]}`,
    )
    return [{ kind: 'counted differently', what: what.join('; '), pod: undefined, source }]
  })
}

/** The differences as lines for a message. */
export function differenceText({ kind, pod, source, what }: Difference): string {
  return `${kind}: ${[pod, source].filter((part) => part !== undefined).join(' ')} ${what}`
}
