// The report that machines read (`-o json`, `-o yaml`). Its fields only ever grow; the schema of each report describes them,
// and says how they are made.
import { countBySeverity } from '@kleym/shared/core/findings/index.ts'
import { report } from '../output/json.ts'
import { missingOf } from './causes.ts'
import type { AnswerResult } from './result.ts'
import type { SharedFields } from './schema.ts'

/** The whole report of a command. */
export async function machineReport(judged: AnswerResult): Promise<Readonly<Record<string, unknown>>> {
  const { frame, input, shown, findings, suppressed, causes } = judged
  const { assumptions, premises, problems, notShown, exitCode } = judged
  const shared: Omit<SharedFields, 'settings'> = {
    findings,
    suppressed,
    summary: { ...countBySeverity(findings), suppressed: suppressed.length },
    notShown: notShown > 0 ? notShown : undefined,
    missing: missingOf(causes),
    assumptions,
    premises,
    problems,
    exitCode,
  }
  const [{ reportOf }, schema] = await Promise.all([import('./schema.ts'), frame.schema()])
  return reportOf(schema, report(frame.kind, { settings: input, ...frame.fields(shown), ...shared }))
}
