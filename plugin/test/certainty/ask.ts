// One question, asked as data and as text.
import { inProcess } from '../support/in-process.ts'
import type { Answer } from './claims.ts'

/** The exit code if what is asked about is not there. */
export const ABSENT_CODE = 3
/** Exit codes of an answer: what was found, or not; others are errors. */
const ANSWERS: ReadonlySet<number> = new Set([0, 1, ABSENT_CODE, 4])

/** Asks in a folder; both forms must end with the same exit code. */
export async function ask(args: readonly string[], folder: string): Promise<Answer> {
  const { code, stdout, stderr } = await inProcess([...args, '-o', 'json'], folder)
  const text = await inProcess(args, folder)
  if (!ANSWERS.has(code) || text.code !== code)
    throw new Error(`${args.join(' ')}: ends with ${code} and ${text.code}\n${stderr}\n${text.stderr}`)
  return { code, report: stdout === '' ? {} : JSON.parse(stdout), text: text.stdout }
}
