// Asks in every format that counts findings, and holds that all of them say the same.
import { expect } from 'vitest'
import { inProcess } from './in-process.ts'
import { COUNTED_FORMATS, countsIn, type CountedFormat } from './format-counts.ts'

/** The formats that say how much there is and how it ends, for a command. */
function countedBy(command: string): readonly CountedFormat[] {
  const isDrawn = command === 'explain' || command === 'conflicts'
  // Their YAML is objects to apply, and no report.
  const isGenerator = ['suggest', 'migrate', 'rename'].includes(command)
  return COUNTED_FORMATS.filter((one) => (isDrawn || one !== 'mermaid') && (!isGenerator || one !== 'yaml'))
}

/** Asks in every such format; returns the counts that all agree on, among them the exit code of the process. */
export async function agreedCounts(
  args: readonly string[],
  cwd: string,
): Promise<ReturnType<typeof countsIn>> {
  const counted = []
  for (const format of countedBy(args[0] ?? '')) {
    const { code, stdout } = await inProcess([...args, '-o', format], cwd)
    counted.push({ format, code, ...countsIn(format, stdout) })
  }
  const [first, ...others] = counted
  if (first === undefined) throw new Error('no format was asked for')
  expect(first.code).toBe(first.exitCode)
  for (const other of others) expect(other).toEqual({ ...first, format: other.format })
  return first
}
