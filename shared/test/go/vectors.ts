// Reads the answers of the Go oracle (test/go-oracle/formats): one JSON array per line, the input first. For a longer run,
// let the oracle write elsewhere and name that folder in ORACLE_VECTORS.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env['ORACLE_VECTORS'] ?? join(import.meta.dirname, 'vectors')

/** The lines of a file of vectors. */
export function readVectors(file: string): readonly (readonly unknown[])[] {
  const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const row: unknown = JSON.parse(line)
    if (!Array.isArray(row)) throw new Error(`${file}: not an array: ${line}`)
    return row
  })
}

/** The text at a place of a row. */
export function textAt(row: readonly unknown[], at: number): string {
  const text = row[at]
  if (typeof text !== 'string') throw new Error(`not a text at ${at}: ${JSON.stringify(row)}`)
  return text
}

/** What `rule` makes of each row, beside what the oracle made of it: only rows that differ. */
export function disagreements(
  file: string,
  rule: (row: readonly unknown[]) => readonly unknown[],
): readonly { readonly oracle: unknown; readonly kleym: unknown }[] {
  return readVectors(file)
    .map((row) => ({ oracle: row, kleym: rule(row) }))
    .filter(({ oracle, kleym }) => JSON.stringify(oracle) !== JSON.stringify(kleym))
}
