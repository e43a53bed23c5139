// The install's pod label key of variants (docs/contract.md §3): what it may be. The operator and the plugin read it alike.
import { byteLength } from '../../base/text/bytes.ts'
import { qualifiedNameProblem } from '../../base/text/kubernetes.ts'
import { SPIRE_COLUMN_BYTES } from '../../model/names.ts'

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
