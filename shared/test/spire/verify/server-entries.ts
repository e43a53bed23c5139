// Entries of a server, as SPIRE prints them, for the estates of these tests.
import type { Fields } from '../estate.ts'

export type { Fields } from '../estate.ts'

/** The entry of `ID` for pod `team-a/p`, made on the first day of 2026. */
export function serverEntry(fields: Fields = {}): Fields {
  return {
    id: 'prod.1',
    spiffe_id: { trust_domain: 'td', path: '/ns/team-a/sa/runner' },
    parent_id: { trust_domain: 'td', path: '/spire/agent/k8s_psat/c1/node-uid-1' },
    selectors: [{ type: 'k8s', value: 'pod-uid:pod-uid-p' }],
    x509_svid_ttl: 0,
    jwt_svid_ttl: 0,
    federates_with: [],
    admin: false,
    downstream: false,
    expires_at: '0',
    dns_names: [],
    revision_number: '0',
    store_svid: false,
    hint: '',
    created_at: '1767225600',
    ...fields,
  }
}
