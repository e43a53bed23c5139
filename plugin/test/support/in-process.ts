// Runs a command line in this process, with its own streams: as the real program does, without the cost of a start.
import { systemClock } from '@kleym/shared/kube/clock.ts'
import type { CommandContext, OutputStream } from '../../src/io/context.ts'
import { runProgram } from '../../src/program/program.ts'
import { requireValidCiFormat } from './ci-formats.ts'
import { requireValidReport } from './report-check.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * What a command line prints and its exit code, run in a folder with nothing on stdin; what goes to another stderr is not in it. Throws where it prints SARIF, JUnit or a
 * report of ours that is not valid.
 */
export async function inProcess(
  args: readonly string[],
  cwd: string,
  env: CommandContext['env'] = {},
  more: Partial<Pick<CommandContext, 'expectShortRun' | 'clock' | 'stderr' | 'collectGarbage'>> = {},
): Promise<Ran> {
  const stdout = capture()
  const stderr = capture()
  const context: CommandContext = {
    cwd,
    env,
    stdin: nothing(),
    stdout,
    stderr,
    clock: systemClock,
    version: '0.0.0',
    ...more,
  }
  const code = await runProgram(args, context)
  requireValidCiFormat(stdout.text())
  requireValidReport(stdout.text())
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

function capture(): OutputStream & { text(): string } {
  const written: string[] = []
  return {
    write: (text) => void written.push(text),
    text: () => written.join(''),
    isTerminal: false,
    columns: undefined,
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
