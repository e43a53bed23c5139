// Programs built from Go modules: whether there is a Go that can, and the build itself.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import process from 'node:process'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { codeOf } from '../../shared/src/kube/failures.ts'

const PROGRESS_EVERY_MS = 15_000
/** How long one program may take to build: some ten times what it takes on two idle cores with an empty build cache. */
export const LONGEST_BUILD_MS = 40 * 60_000
/** How long Go may take to fetch another version of itself. */
const LONGEST_FETCH_MS = 10 * 60_000

type Environment = Readonly<Record<string, string | undefined>>

/** The module in which something is built. */
export interface GoModuleBuild {
  readonly folder: string
  /** The arguments of `go` before `-o`. */
  readonly args: readonly string[]
  /** The oldest Go that the module takes, e.g. `1.26.0`. */
  readonly goVersion: string
  /** Whether a C compiler takes part (SQLite needs one); absent: not. */
  readonly cgo?: boolean
}

/** One program of a module. */
export interface GoProgram extends GoModuleBuild {
  readonly name: string
  readonly package: string
  /** Minutes on two cores with an empty Go build cache. */
  readonly minutes: number
}

/** Whether a path is a file that can be run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** `usable`, or what is wrong with the Go of this machine. */
export function goOn(env: Environment, { folder, goVersion }: GoModuleBuild): string {
  // In the module's folder: a Go that fetches newer toolchains by itself does it here, or says why it cannot.
  try {
    const { status, stdout, stderr } = runToEnd('go', ['env', 'GOVERSION'], {
      cwd: folder,
      env,
      ms: LONGEST_FETCH_MS,
    })
    if (status !== 0) return stderr.trim()
    const version = stdout.trim().replace(/^go/, '')
    return isAtLeast(version, goVersion) ? 'usable' : `the go on the PATH is ${version}, which is too old`
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'there is no go on the PATH' : String(error)
  }
}

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/\d+/g)].map(Number)
}

function isAtLeast(version: string, wanted: string): boolean {
  const [have, want] = [numbersIn(version), numbersIn(wanted)]
  for (let part = 0; part < want.length; part++) {
    const difference = (have[part] ?? 0) - (want[part] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

/** Builds a program to a path, saying so. Rejects when Go fails, leaving nothing there. */
export async function buildProgram(
  program: GoProgram,
  target: string,
  env: Environment,
  say: (line: string) => void,
): Promise<void> {
  const { name } = program
  // Renamed when complete: a build that is interrupted leaves nothing that looks finished.
  const unfinished = `${target}.${process.pid}`
  const began = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - began) / 1000)} s`
  say(
    `building ${name} once, with Go: about ${program.minutes} min on two cores, less when Go has built it before`,
  )
  const progress = setInterval(() => say(`  still building ${name}: ${seconds()}`), PROGRESS_EVERY_MS)
  try {
    await runGo(program, [...program.args, '-o', unfinished, program.package], env)
    renameSync(unfinished, target)
  } finally {
    clearInterval(progress)
    if (existsSync(unfinished)) rmSync(unfinished)
  }
  say(`built ${name} in ${seconds()}`)
}

function runGo({ folder, cgo }: GoProgram, args: readonly string[], env: Environment): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = spawn('go', args, {
      cwd: folder,
      env: { ...env, CGO_ENABLED: cgo === true ? '1' : '0' },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: LONGEST_BUILD_MS,
    })
    go.once('error', reject)
    go.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else if (signal === 'SIGTERM')
        reject(new Error(`go ${args[0] ?? ''} did not end within ${LONGEST_BUILD_MS} ms`))
      else
        reject(
          new Error(
            `go ${args[0] ?? ''} failed (${signal ?? `exit code ${String(code)}`}); what it says stands above`,
          ),
        )
    })
  })
}
