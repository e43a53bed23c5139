// One question, asked as data and as text.
import { expect } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import type { Answer } from './contradictions.ts'

/** Asks in a folder; both forms must end with the same exit code. */
export async function ask(args: readonly string[], folder: string): Promise<Answer> {
  const { code, stdout } = await inProcess([...args, '-o', 'json'], folder)
  const text = await inProcess(args, folder)
  expect(text.code, `${args.join(' ')}: ${text.stderr}`).toBe(code)
  return { code, report: JSON.parse(stdout), text: text.stdout }
}
