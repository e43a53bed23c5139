// ClusterStaticEntry (spire.spiffe.io/v1alpha1): registrations written by hand, which compete with rendered ones.
import { readSpec } from './clusterspiffeid.ts'
import { refusalOf } from './manifest-check.ts'
import { readMeta, type ObjectMeta } from './meta.ts'
import type { RawObject } from './raw.ts'

/** The spec of a ClusterStaticEntry, with SCM's defaults for what it leaves out. */
export interface ClusterStaticEntrySpec {
  readonly spiffeID: string
  readonly parentID: string
  /** `type:value`, as written. */
  readonly selectors: readonly string[]
  readonly x509SVIDTTL: string | undefined
  readonly jwtSVIDTTL: string | undefined
  readonly dnsNames: readonly string[]
  readonly federatesWith: readonly string[]
  readonly hint: string
  readonly admin: boolean
  readonly downstream: boolean
  readonly storeSVID: boolean
  readonly className: string
}

/** A ClusterStaticEntry; `undecodable` are the wrong types in it, as sentences. */
export interface ClusterStaticEntry {
  readonly meta: ObjectMeta
  readonly spec: ClusterStaticEntrySpec
  readonly undecodable: readonly string[]
  /**
   * Why the API server refuses the manifest, so that SCM never sees it; undefined if it accepts the manifest, or the object is
   * live.
   */
  readonly refusal: string | undefined
}

/** Reads a ClusterStaticEntry; never throws. */
export function readClusterStaticEntry(raw: RawObject): ClusterStaticEntry {
  const { field, undecodable } = readSpec(raw)
  return {
    meta: readMeta(raw.value),
    spec: {
      spiffeID: field.text('spiffeID') ?? '',
      parentID: field.text('parentID') ?? '',
      selectors: field.texts('selectors') ?? [],
      x509SVIDTTL: field.text('x509SVIDTTL'),
      jwtSVIDTTL: field.text('jwtSVIDTTL'),
      dnsNames: field.texts('dnsNames') ?? [],
      federatesWith: field.texts('federatesWith') ?? [],
      hint: field.text('hint') ?? '',
      admin: field.flag('admin'),
      downstream: field.flag('downstream'),
      storeSVID: field.flag('storeSVID'),
      className: field.text('className') ?? '',
    },
    undecodable,
    refusal: refusalOf(raw),
  }
}
