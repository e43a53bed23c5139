// A predicted entry in the shape of `spire-server entry show -output json` (SPIRE v1.15.3), so that any tool can compare the two.
import type { RegistrationEntry } from '../spire/registration-entries.ts'

/** An entry in the shape that `spire-server entry show -output json` gives it, but for what the server alone decides. */
export function asServerJson(entry: RegistrationEntry): Readonly<Record<string, unknown>> {
  return {
    id: '',
    spiffe_id: splitId(entry.spiffe_id),
    parent_id: splitId(entry.parent_id),
    selectors: entry.selectors,
    x509_svid_ttl: entry.x509_svid_ttl,
    jwt_svid_ttl: entry.jwt_svid_ttl,
    federates_with: entry.federates_with,
    admin: entry.admin,
    downstream: entry.downstream,
    dns_names: entry.dns_names,
    store_svid: entry.store_svid,
    hint: entry.hint,
    expires_at: '0',
    revision_number: '0',
    created_at: '0',
  }
}

const SCHEME = 'spiffe://'

function splitId(id: string): { readonly trust_domain: string; readonly path: string } {
  const rest = id.startsWith(SCHEME) ? id.slice(SCHEME.length) : id
  const slash = rest.indexOf('/')
  return slash < 0
    ? { trust_domain: rest, path: '' }
    : { trust_domain: rest.slice(0, slash), path: rest.slice(slash) }
}
