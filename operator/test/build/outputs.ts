// An output as the core renders it.
import type { Output } from '@kleym/shared/core/decide/compile/output.ts'
import { binding, estate, outputOf } from '@kleym/testing/manifests.ts'

/** The output of the binding that the estate of examples holds. */
export const OUTPUT: Output = outputOf(estate(binding()))
