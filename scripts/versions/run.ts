// Runs suites in a vitest of its own, with variables of the environment that choose other versions, and hands on its report.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const ROOT = join(import.meta.dirname, '..', '..')

/** What runs, and with what. */
export interface SuitesRun {
  readonly project: 'control-plane' | 'svid' | 'makers'
  /** From the root of the project. */
  readonly files: readonly string[]
  /** Beside those of this process. */
  readonly variables: Readonly<Record<string, string>>
}

/** vitest's JSON report; undefined, with a line on stderr, when it writes none. */
export function runSuites({ project, files, variables }: SuitesRun): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-versions-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  try {
    spawnSync(
      process.execPath,
      [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', `--project=${project}`, ...reporters, ...files],
      { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...variables } },
    )
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`error: vitest wrote no report: ${String(error)}\n`)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
