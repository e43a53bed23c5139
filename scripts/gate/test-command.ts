// `npm test` as the first part of the gate: the very command, in a process of its own, which hands on what it has counted.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { listAt, own, stringAt } from '../../shared/src/core/base/json.ts'
import { runCommand, type Counted, type Tally } from './run.ts'

/** The file into which `npm test` writes what it has counted; unset: none. */
const VARIABLE = 'KLEYM_COUNTED'

/** Hands on what this process has counted, if the gate asks for it. */
export function handOn({ passed, failed, failures, took }: Tally): void {
  const file = process.env[VARIABLE]
  if (file !== undefined)
    writeFileSync(file, JSON.stringify({ passed, failed, failures, took } satisfies Counted))
}

/** Runs `npm test` with all random cases, and adds what it counts. One that counts nothing has failed. */
export function runTestCommand(tally: Tally): void {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-gate-'))
  const file = join(folder, 'counted.json')
  const all = process.env['KLEYM_RUNS'] ?? '1'
  const passed = runCommand(['npm', 'test', '--loglevel=error'], { [VARIABLE]: file, KLEYM_RUNS: all })
  const counted = readCounted(file)
  rmSync(folder, { recursive: true, force: true })
  if (counted !== undefined) tally.merge(counted)
  if (counted === undefined || (!passed && counted.failed === 0))
    tally.fail('npm test: it ended with an error')
}

function readCounted(file: string): Counted | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const [passed, failed] = [own(value, 'passed'), own(value, 'failed')]
    if (typeof passed !== 'number' || typeof failed !== 'number') return undefined
    const took = listAt(value, 'took').map((row) => ({
      name: stringAt(row, 'name') ?? '',
      tests: Number(own(row, 'tests')),
      seconds: Number(own(row, 'seconds')),
    }))
    return { passed, failed, failures: listAt(value, 'failures').map(String), took }
  } catch {
    return undefined
  }
}
