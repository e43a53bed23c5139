// ClusterSPIFFEID (spire.spiffe.io/v1alpha1), kleym's and others', as SCM would decode it.
// Schema: SCM v0.7.0, config/crd/bases/spire.spiffe.io_clusterspiffeids.yaml.
import { dig, isRecord, own, typeName, type JsonRecord } from '../../base/json.ts'
import { FieldReader } from './field-reader.ts'
import { readLabelSelector, type LabelSelector } from './label-selector.ts'
import { refusalOf } from './manifest-check.ts'
import { readOutputStats, type OutputStats } from './output-stats.ts'
import { readMeta, type ObjectMeta } from './meta.ts'
import type { RawObject } from './raw.ts'

/** The spec of a ClusterSPIFFEID, with SCM's defaults for what it leaves out. */
export interface ClusterSpiffeIdSpec {
  readonly spiffeIDTemplate: string
  /** A Go duration as written, e.g. `1h`; undefined leaves SPIRE's default. */
  readonly ttl: string | undefined
  readonly jwtTtl: string | undefined
  readonly dnsNameTemplates: readonly string[]
  readonly workloadSelectorTemplates: readonly string[]
  readonly federatesWith: readonly string[]
  /** Undefined and empty both select everything in SCM, unlike in apimachinery's helper. */
  readonly namespaceSelector: LabelSelector | undefined
  readonly podSelector: LabelSelector | undefined
  readonly admin: boolean
  readonly downstream: boolean
  readonly autoPopulateDNSNames: boolean
  readonly fallback: boolean
  readonly className: string
  readonly hint: string
}

/** How far an object of the snapshot is from being in force. */
export type Lifecycle =
  /** It is in the cluster (or in a dump of it) as it is here. */
  | 'live'
  /** A manifest, or an output that kleym must still create. */
  | 'to be created'
  /** It is in the cluster, with another content. */
  | 'to be changed'

/** A ClusterSPIFFEID. The operator keeps ten thousand of them as text, so that a read of spec, labels or annotations may parse. */
export interface ClusterSpiffeId {
  readonly meta: ObjectMeta
  readonly spec: ClusterSpiffeIdSpec
  /** The spec as found, for diffs and to detect drift. */
  readonly rawSpec: JsonRecord
  /** Wrong types, as sentences: Go cannot decode the object, which stops SCM for all of them (docs/spire-facts.md §11.9). */
  readonly undecodable: readonly string[]
  /**
   * Why the API server refuses the manifest, so that SCM never sees it; undefined if it accepts the manifest, or the object is
   * live.
   */
  readonly refusal: string | undefined
  readonly lifecycle: Lifecycle
  /** What SCM has counted of it; absent where it has counted nothing, or the status was not read. */
  readonly stats?: OutputStats | undefined
}

/** Reads a ClusterSPIFFEID; never throws. */
export function readClusterSpiffeId(raw: RawObject, lifecycle: Lifecycle): ClusterSpiffeId {
  const reading = readSpec(raw)
  return {
    meta: readMeta(raw.value),
    spec: specIn(reading),
    rawSpec: reading.spec,
    undecodable: reading.undecodable,
    refusal: refusalOf(raw),
    lifecycle,
    stats: readOutputStats(raw.value),
  }
}

/** Reads the spec alone. */
export function readClusterSpiffeIdSpec(raw: RawObject): ClusterSpiffeIdSpec {
  return specIn(readSpec(raw))
}

function specIn({ spec, field, problem }: ReturnType<typeof readSpec>): ClusterSpiffeIdSpec {
  return {
    spiffeIDTemplate: field.text('spiffeIDTemplate') ?? '',
    ttl: field.text('ttl'),
    jwtTtl: field.text('jwtTtl'),
    dnsNameTemplates: field.texts('dnsNameTemplates') ?? [],
    workloadSelectorTemplates: field.texts('workloadSelectorTemplates') ?? [],
    federatesWith: field.texts('federatesWith') ?? [],
    namespaceSelector: readLabelSelector(own(spec, 'namespaceSelector'), '.spec.namespaceSelector', problem),
    podSelector: readLabelSelector(own(spec, 'podSelector'), '.spec.podSelector', problem),
    admin: field.flag('admin'),
    downstream: field.flag('downstream'),
    autoPopulateDNSNames: field.flag('autoPopulateDNSNames'),
    fallback: field.flag('fallback'),
    className: field.text('className') ?? '',
    hint: field.text('hint') ?? '',
  }
}

/** The spec of an object of SCM, as Go decodes it; `undecodable` fills up as fields are read. */
export function readSpec({ value, isManifest }: RawObject): {
  readonly spec: JsonRecord
  readonly field: FieldReader
  readonly problem: (text: string) => void
  readonly undecodable: readonly string[]
} {
  const undecodable: string[] = []
  // The API server refuses wrong types, so a manifest brings none to SCM.
  const problem = isManifest === true ? () => {} : (text: string): void => void undecodable.push(text)
  const found = dig(value, 'spec')
  if (found !== undefined && found !== null && !isRecord(found))
    problem(`.spec is ${typeName(found)}, not a mapping`)
  const spec = isRecord(found) ? found : {}
  return { spec, field: new FieldReader(spec, '.spec.', problem), problem, undecodable }
}
