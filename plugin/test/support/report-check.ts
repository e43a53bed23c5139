// Holds a printed report against its schema, strictly: a field that the schema does not know is a problem here, though
// readers must take it, so that the schema cannot fall behind.
import { isRecord } from '@kleym/shared/core/base/json.ts'
import { REPORT_API_VERSION } from '../../src/output/json.ts'
import { anyReportSchema } from '../../src/answers/schema.ts'

/** What is wrong with a report, a sentence each; nothing where it is as its schema says. */
export function reportProblems(report: unknown): readonly string[] {
  const parsed = anyReportSchema.safeParse(report)
  if (parsed.success) return unknownFields(report, parsed.data, '')
  return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** Throws where a text is a report of ours, as JSON, and not as its schema says; any other text is left alone. */
export function requireValidReport(text: string): void {
  if (!text.startsWith(`{\n  "apiVersion": "${REPORT_API_VERSION}"`)) return
  const problems = reportProblems(JSON.parse(text))
  if (problems.length > 0) throw new Error(`a report is not as its schema says:\n${problems.join('\n')}`)
}

/** zod leaves out what it does not know. */
function unknownFields(given: unknown, known: unknown, path: string): readonly string[] {
  if (Array.isArray(given) && Array.isArray(known))
    return given.flatMap((item, at) => unknownFields(item, known[at], `${path}[${at}]`))
  if (!isRecord(given) || !isRecord(known)) return []
  return Object.keys(given).flatMap((key) =>
    Object.hasOwn(known, key)
      ? unknownFields(given[key], known[key], `${path}.${key}`)
      : [`${path}.${key}: not in the schema`],
  )
}
