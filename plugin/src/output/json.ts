// JSON as a report: deterministic, keys in the order in which they are given, and safe to look at: whatever a terminal or
// a CI system would act on is a `\u` escape, so the text stays the same JSON value.
import { escapeJsonText } from '../io/escape.ts'

/** The `apiVersion` of every machine-readable report. */
export const REPORT_API_VERSION = 'kleym.sonda.red/report/v1alpha1'

/** A report: `apiVersion` and `kind` first, then the fields in their order. */
export function report(
  kind: string,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return { apiVersion: REPORT_API_VERSION, kind, ...fields }
}

/** A value as indented JSON, with a line break at its end. */
export function toJson(value: unknown): string {
  return `${escapeJsonText(JSON.stringify(value, null, 2))}\n`
}
