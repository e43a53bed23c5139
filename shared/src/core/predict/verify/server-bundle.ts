// One element of `spire-server bundle list -output json`; only whose bundle it is matters here.
import * as z from 'zod'
import { faultText } from './read-server-entry.ts'

const bundleSchema = z.object({
  trust_domain: z
    .string()
    .max(255)
    .regex(/^[a-z0-9._-]+$/, 'it is no trust domain'),
})

/** The trust domain of a bundle, or what is wrong with it. */
export type BundleReading =
  | { readonly ok: true; readonly trustDomain: string }
  | { readonly ok: false; readonly why: string }

/** Reads one element of `bundles`. Never throws. */
export function readServerBundle(value: unknown): BundleReading {
  const parsed = bundleSchema.safeParse(value)
  return parsed.success
    ? { ok: true, trustDomain: parsed.data.trust_domain }
    : { ok: false, why: `.trust_domain: ${faultText(parsed.error.issues[0]) ?? 'it is no bundle'}` }
}
