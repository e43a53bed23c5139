// The settings of the install that hold for all bindings (docs/contract.md §3).

/** The trust domain: set, known to be missing, or (in the plugin only) not known. */
export type TrustDomainSetting =
  | { readonly kind: 'set'; readonly value: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'not known' }

/** Trust domain and class of an install. */
export interface Config {
  readonly trustDomain: TrustDomainSetting
  /** Rendered as `spec.className`, and as the label that SCM filters by where it is a label value; empty renders none. */
  readonly className: string
  /** The labels of `--output-label`: set on every output, for an SCM that sees only labelled objects. */
  readonly outputLabels?: ReadonlyMap<string, string>
  /** Namespace and name of the install's Lease, which mark its outputs. Absent in the plugin, which writes none. */
  readonly install?: string
  /** How many bindings of a namespace may have an output; 0: any number. Absent: `DEFAULT_BINDINGS_PER_NAMESPACE`. Read in the plugin alone. */
  readonly bindingsPerNamespace?: number
  /** The pod label that tells variants apart. Absent where it is not known, in the plugin only. */
  readonly variantLabelKey?: string
}

/** The default of `--bindings-per-namespace`. */
export const DEFAULT_BINDINGS_PER_NAMESPACE = 1000

/** Stands for a trust domain that is not known; no valid trust domain equals it. */
export const TRUST_DOMAIN_PLACEHOLDER = '<trust-domain>'
