// The settings of the install that hold for all bindings (docs/contract.md §3).

/** The trust domain: set, known to be missing, or (in the plugin only) not known. */
export type TrustDomainSetting =
  | { readonly kind: 'set'; readonly value: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'not known' }

/** Trust domain and class of an install. */
export interface Config {
  readonly trustDomain: TrustDomainSetting
  /** Rendered as `spec.className`; empty renders none. */
  readonly className: string
}

/** Stands for a trust domain that is not known; no valid trust domain equals it. */
export const TRUST_DOMAIN_PLACEHOLDER = '<trust-domain>'
