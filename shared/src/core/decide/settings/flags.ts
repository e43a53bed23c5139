// The operator's flags and environment variables that say which identities it writes. The operator reads them, and the plugin finds
// them in its Deployment.
/** The operator's flag for its trust domain. */
export const TRUST_DOMAIN_FLAG = '--trust-domain'
/** The environment variable that `TRUST_DOMAIN_FLAG` falls back to. */
export const TRUST_DOMAIN_ENV = 'KLEYM_TRUST_DOMAIN'
/** The operator's flag for the class of its output. */
export const CLASS_NAME_FLAG = '--clusterspiffeid-class-name'
/** The environment variable that `CLASS_NAME_FLAG` falls back to. */
export const CLASS_NAME_ENV = 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME'
/** The environment variable that the flag `VARIANT_LABEL_KEY_FLAG` falls back to. */
export const VARIANT_LABEL_KEY_ENV = 'KLEYM_VARIANT_LABEL_KEY'
/** The operator's flag for the name of its Lease. */
export const LEASE_NAME_FLAG = '--leader-election-lease-name'
/** The name of the operator's Lease where the flag is not given. */
export const DEFAULT_LEASE_NAME = 'kleym-operator'
