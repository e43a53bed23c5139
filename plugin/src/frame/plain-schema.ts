// Schemas of reports that hold of no model: the page of `map`, which is checked for a browser, takes its types from these.
import * as z from 'zod'

/** A list, which the model may not change. */
export function list<Schema extends z.ZodType>(
  of: Schema,
): z.ZodType<readonly z.output<Schema>[], readonly z.input<Schema>[]> {
  return z.array(of)
}

/** A number of things. */
export const count = z.int().min(0)
/** A finding code. */
export const codeSchema = z.string().regex(/^KLM\d{3}$/)
/** `namespace/name`. */
export const bindingKeySchema = z.string().describe('A binding as namespace/name.')
/** `pod team-a/llama-0`, `Deployment team-a/llama`. */
export const podTextSchema = z.string().describe('A pod, or the template of a workload: pod team-a/llama-0.')
