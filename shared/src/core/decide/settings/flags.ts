// The operator's flags and environment variables that say which identities it writes, and what their values may be. The operator reads
// them, and the plugin finds them in its Deployment, by the same rules (docs/contract.md §3).
import { SPIRE_COLUMN_BYTES, OWN_KEY_PREFIX, SCM_CLASS_LABEL } from '../../model/names.ts'

export { CLASS_NAME_FLAG } from '../../model/names.ts'
import { qualifiedNameProblem, labelValueProblem } from '../../base/text/kubernetes.ts'
import { byteLength } from '../../base/text/bytes.ts'

/** The operator's flag for its trust domain. */
export const TRUST_DOMAIN_FLAG = '--trust-domain'
/** The environment variable that `TRUST_DOMAIN_FLAG` falls back to. */
export const TRUST_DOMAIN_ENV = 'KLEYM_TRUST_DOMAIN'
/** The environment variable that `CLASS_NAME_FLAG` falls back to. */
export const CLASS_NAME_ENV = 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME'
/** The environment variable that the flag `VARIANT_LABEL_KEY_FLAG` falls back to. */
export const VARIANT_LABEL_KEY_ENV = 'KLEYM_VARIANT_LABEL_KEY'
/** The operator's flag for the name of its Lease. */
export const LEASE_NAME_FLAG = '--leader-election-lease-name'
/** The name of the operator's Lease where the flag is not given. */
export const DEFAULT_LEASE_NAME = 'kleym-operator'

/** The most bytes of the key: with `pod-label:`, a colon and one byte of a value it fills SPIRE's column. */
export const VARIANT_LABEL_KEY_MAX = SPIRE_COLUMN_BYTES - 'pod-label::v'.length

/** Why a key cannot be the install's, as `is …` or `has …`; undefined where it can. */
export function variantLabelKeyProblem(key: string): string | undefined {
  const bytes = byteLength(key)
  if (bytes > VARIANT_LABEL_KEY_MAX)
    return `has ${bytes} bytes, which leaves no room for a value: ${VARIANT_LABEL_KEY_MAX} is the most`
  return qualifiedNameProblem(key)
}

/** What to do about a key that cannot be the install's. */
export const VARIANT_LABEL_KEY_FIX = 'give the key of the pod label, such as llm-d.ai/role'

export const OUTPUT_LABEL_FLAG = '--output-label'

/** The labels, or the first argument that is none: what is wrong with it, and what to write. */
export type OutputLabels =
  | { readonly kind: 'labels'; readonly labels: ReadonlyMap<string, string> }
  | { readonly kind: 'problem'; readonly argument: string; readonly why: string; readonly fix: string }

/** Reads the values of the flag, in the order in which they were given. */
export function readOutputLabels(values: readonly string[]): OutputLabels {
  const labels = new Map<string, string>()
  for (const argument of values) {
    const problem = (why: string, fix: string): OutputLabels => ({ kind: 'problem', argument, why, fix })
    const at = argument.indexOf('=')
    if (at < 0) return problem('has no equals sign', 'give KEY=VALUE')
    const [key, value] = [argument.slice(0, at), argument.slice(at + 1)]
    const keyProblem = qualifiedNameProblem(key)
    if (keyProblem !== undefined) return problem(`the key ${keyProblem}`, 'give a label key of Kubernetes')
    const valueProblem = labelValueProblem(value)
    if (valueProblem !== undefined)
      return problem(`the value ${valueProblem}`, 'give a label value of Kubernetes')
    if (key.startsWith(OWN_KEY_PREFIX))
      return problem(`the keys below ${OWN_KEY_PREFIX} are kleym's own`, 'give another key')
    if (key === SCM_CLASS_LABEL) return problem('kleym sets this label to its class', 'set the class instead')
    const before = labels.get(key)
    if (before !== undefined && before !== value)
      return problem(`${key} is given the value ${JSON.stringify(before)} too`, 'give each key one value')
    labels.set(key, value)
  }
  return { kind: 'labels', labels }
}
