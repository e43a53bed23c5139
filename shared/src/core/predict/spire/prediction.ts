// The types of a prediction: the registrations of each pod and their verdicts, what SCM does with each object, and the faults
// that stop SCM as a whole (docs/spire-facts.md §2-§5, §10, §11).
import type { Each } from '../../base/each.ts'
import type { Endpoints, Namespace, Node, Pod } from '../../model/objects/pod.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { Unserved } from '../../model/objects/spire-setup.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { ClusterStaticEntry } from '../../model/objects/static-entry.ts'
import type { Truth } from '../../model/truth/truth.ts'

/** One consistent snapshot, and the settings of the SCM that reads it. */
export interface PredictionInput {
  /** All of them, of whatever class and owner. */
  readonly clusterSpiffeIds: readonly ClusterSpiffeId[]
  readonly staticEntries: Each<ClusterStaticEntry>
  readonly namespaces: Each<Namespace>
  /** Undefined: nodes were not read; the node of a scheduled pod then counts as there, with an unknown UID. */
  readonly nodes: readonly Node[] | undefined
  readonly pods: readonly Pod[]
  /** Undefined: not known, so DNS names that come from Services are not known either. */
  readonly endpoints: readonly Endpoints[] | undefined
  readonly settings: ScmSettings
  /** The ClusterSPIFFEID that there may be for a pod beside these, as a sentence names it; undefined: there is none. */
  readonly whyIncomplete?: (pod: Pod) => string | undefined
  /** Whether a container of a pod may be given an identity by what was not read or decided: no, or open. Absent: all was. */
  readonly unread?: (pod: Pod, container: string) => Truth
  /** Why an object may be other than it is here: it stands twice in the files. */
  readonly whyDoubted?: (source: EntrySource) => string | undefined
  /** Why a ClusterSPIFFEID may not come to be there: kleym must still write it. */
  readonly whyKept?: (source: EntrySource) => string | undefined
  /** Why what SCM asks for, whatever it is, may come to no agent: to none at all, or to none on the node of this pod. */
  readonly whyUnserved?: ((pod: Pod | undefined) => Unserved | undefined) | undefined
}

/** The object that a registration comes from. */
export interface EntrySource {
  readonly kind: 'ClusterSPIFFEID' | 'ClusterStaticEntry'
  readonly name: string
}

/** `ClusterSPIFFEID/default`: the object as reasons name it. */
export function sourceText({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${name}`
}

/** One selector of an entry; `placeholders` are those in its value. */
export interface EntrySelector {
  readonly type: string
  readonly value: string
  readonly placeholders: readonly string[]
}

/** A selector without placeholders: `k8s:ns:team-a`. */
export function splitSelector(text: string): EntrySelector {
  const colon = text.indexOf(':')
  return { type: text.slice(0, colon), value: text.slice(colon + 1), placeholders: [] }
}

/** A registration entry as SCM would send it, with placeholders such as `<pod UID>` for facts that are not known yet. */
export interface RenderedEntry {
  readonly spiffeId: string
  readonly parentId: string
  /** In SCM's order: the pod UID first, then the templates'; as written in a static entry. */
  readonly selectors: readonly EntrySelector[]
  readonly dnsNames: readonly string[]
  /** Seconds, as the server gets them; 0 is the server's default. */
  readonly x509SvidTtl: number
  readonly jwtSvidTtl: number
  readonly federatesWith: readonly string[]
  readonly hint: string
  readonly admin: boolean
  readonly downstream: boolean
  readonly storeSvid: boolean
  /** The placeholders in it, in the order in which the entry shows them. */
  readonly placeholders: readonly string[]
}

/**
 * The verdict on a registration. `why` is a plain sentence fragment that names the object and the field. `open`, of a verdict
 * that ends it: why it is not known whether the object applies to the pod at all; absent: it does.
 */
export type EntryVerdict =
  /** SCM holds it and the server takes it. */
  | { readonly state: 'declared' }
  /** Another object owns the same entry. */
  | {
      readonly state: 'masked'
      readonly by: EntrySource
      readonly why: string
      readonly open?: string | undefined
    }
  /** It is a fallback, and another ClusterSPIFFEID applies to the pod. `givesNothing`: nor would it if none did. */
  | {
      readonly state: 'displaced'
      readonly by: EntrySource
      readonly why: string
      readonly open?: string | undefined
      readonly givesNothing?: true
    }
  /** SCM does not look at the object, the namespace or the pod. */
  | { readonly state: 'ignored'; readonly why: string }
  /** SCM cannot make the entry; `field` is the template or field at fault. */
  | {
      readonly state: 'failed'
      readonly field: string
      readonly why: string
      readonly open?: string | undefined
    }
  /** SCM asks for it, the SPIRE server refuses it. */
  | { readonly state: 'refused'; readonly why: string; readonly open?: string | undefined }
  /**
   * It needs a fact that is not known here. `rival`: that object may ask for the same entry, and which of them is preferred is not
   * known. `mayNotAsk`: whether this one asks for it is not known either, for which `why` has the reason. `isContested`: the server takes it
   * from either, so that one of them certainly gets it.
   * `isSent`: SCM certainly sends the entry, and what is not known is whether the server takes it. `isOnServer`: the server certainly takes
   * it too, and what is not known is whether an agent hands it out.
   */
  | {
      readonly state: 'depends'
      readonly why: string
      readonly rival?: EntrySource
      readonly mayNotAsk?: true
      readonly isContested?: true
      readonly isSent?: true
      readonly isOnServer?: true
    }
  /** kleym does not model this construct, so it makes no prediction; `spiffeId` where another field than the ID holds it. */
  | {
      readonly state: 'unknown'
      readonly construct: string
      readonly why: string
      readonly spiffeId?: string | undefined
      /** Those of its selectors that are predicted: a container needs all of them. */
      readonly selectors: readonly EntrySelector[]
    }

/** Whether the server certainly holds the entry, whatever becomes of it then. */
export function isOnServer(verdict: EntryVerdict): boolean {
  return isAskedFor(verdict) || (verdict.state === 'depends' && verdict.isOnServer === true)
}

/** Whether SCM certainly asks for the entry, be it for this object or for another that wants the same. */
export function isAskedFor(verdict: EntryVerdict): boolean {
  return verdict.state === 'declared' || (verdict.state === 'depends' && verdict.isContested === true)
}

/** Why it is not known whether an object applies to a pod, whatever becomes of its entry then; undefined where that is known. */
export function whyOpen(verdict: EntryVerdict): string | undefined {
  if (verdict.state === 'depends') return verdict.isContested === true ? undefined : verdict.why
  return 'open' in verdict ? verdict.open : undefined
}

/** A registration whose selectors choose a pod, and its verdict. */
export interface EntryOutcome {
  readonly source: EntrySource
  /** Undefined for a static entry that is asked for without a pod. */
  readonly pod: Pod | undefined
  readonly hint: string
  readonly fallback: boolean
  /** The entry that would be sent; also for a registration that is not in force, where it can be rendered. */
  readonly entry: RenderedEntry | undefined
  readonly verdict: EntryVerdict
}

/** What SCM does with one object, whatever pods there are. */
export type ObjectHandling =
  | { readonly state: 'handled' }
  | { readonly state: 'ignored'; readonly why: string }
  /** The API server admits the object, and SCM cannot parse it: SCM drops it and deletes its entries. */
  | { readonly state: 'invalid'; readonly field: string; readonly why: string }
  /** Go cannot decode it, which keeps SCM from seeing any new or edited object. */
  | { readonly state: 'undecodable'; readonly why: string }
  | { readonly state: 'unknown'; readonly why: string }

/** An object, and what SCM does with it. */
export interface ObjectOutcome {
  readonly source: EntrySource
  readonly handling: ObjectHandling
}

/** The counters of `status.stats`, as far as they are certain; pods that do not exist yet are counted apart. */
export interface ObjectCounts {
  /** Namespaces that match the selector, ignored ones included. */
  readonly namespacesSelected: number
  readonly namespacesIgnored: number
  /** Existing pods that match, before a fallback skips any. */
  readonly podsSelected: number
  readonly podEntryRenderFailures: number
  /** Entries that SCM makes of this object, those that the server refuses included. */
  readonly entriesToSet: number
  readonly entriesMasked: number
  /** Pods of templates and manifests that match. */
  readonly futurePodsSelected: number
  /** Registrations, of existing and future pods, whose verdict is not certain. */
  readonly uncertain: number
}

/** A fault that keeps SCM from making any new entry, or from starting. */
export interface ScmFault {
  /** Undefined: SCM's own configuration. */
  readonly source: EntrySource | undefined
  readonly kind: 'undecodable' | 'not UTF-8' | 'configuration'
  readonly why: string
  /** Why it is not known whether there is this fault; absent: there is. */
  readonly open?: string | undefined
}

/** How often something may give pods an identity: counted for each pod, and for each container of each. */
export interface SelectionCounts {
  readonly ofPods: number
  readonly ofContainers: number
}

/** What SCM and SPIRE would do with a snapshot. Pure; each answer is worked out at the first question. */
export interface Prediction {
  /** By `sourceText`. */
  readonly objects: ReadonlyMap<string, ObjectOutcome>
  /**
   * Every registration whose selectors choose this pod, not only those in force, in a total order. Static entries are
   * there where their selectors may match one of its containers.
   */
  entriesOf(pod: Pod): readonly EntryOutcome[]
  /** Whether a container may be given an identity beside those entries, by what was not read or decided: no, or open. */
  unread(pod: Pod, container: string): Truth
  /** The parent of the entries that ClusterSPIFFEIDs give a pod; undefined where they give it none. */
  parentIdOf(pod: Pod): string | undefined
  /**
   * Whether ClusterSPIFFEIDs select pods, or ClusterStaticEntries may match them, more than so many times, each of them counted for
   * each pod; nothing is rendered.
   */
  hasMoreSelections(than: SelectionCounts): boolean
  /** The pods of a namespace, in the order of the snapshot. */
  podsIn(namespace: string): readonly Pod[]
  /** The pods of a namespace by the names of the ClusterSPIFFEIDs that choose them; goes through those pods once. */
  podsByClusterSpiffeId(namespace: string): ReadonlyMap<string, readonly Pod[]>
  /** Every ClusterStaticEntry, in a total order. */
  staticEntries(): readonly EntryOutcome[]
  /** By `sourceText`; goes through all pods once. */
  counts(): ReadonlyMap<string, ObjectCounts>
  /** In a total order. */
  scmFaults(): readonly ScmFault[]
}
