/** Whether spire-server takes a DNS name in a registration entry. */
export type DnsNameVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string }

/** Whether spire-server takes `name` as a DNS name of a registration entry. */
export function dnsNameVerdict(name: string): DnsNameVerdict {
  return { kind: 'unknown', why: name }
}
