// Ctrl-C, and the signals of a CI system that has waited long enough: kleym ends at once, whatever it is at, and leaves no
// program running that it has started.
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { until } from '@kleym/testing/wait.ts'
import { ended } from '@kleym/testing/child-process.ts'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startInPty, type Terminal } from '../terminal/terminal.ts'
import { built, PLUGIN, start } from './plugin.ts'
import { workspace } from './workspace.ts'

beforeAll(built)

/** How long an end may take on a machine that does other work too, in milliseconds. */
const AT_ONCE_MS = 5_000

/** Writes the process ID of itself and of a program that it starts, and ends by no signal that can be ignored. */
const ENDLESS = `#!/bin/sh
trap '' INT TERM HUP
sleep 600 &
echo "$$ $!" >"$PIDS.part"
mv "$PIDS.part" "$PIDS"
wait
`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // One that has ended stays in the table until its parent, which may be the first process, has asked how.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A folder with a chart, and a helm and a kubectl that never end. */
function endless(): { readonly cwd: string; readonly pids: string; readonly env: Record<string, string> } {
  const cwd = workspace({
    'bin/helm': ENDLESS,
    'bin/kubectl': ENDLESS,
    'tree/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\n',
  })
  for (const name of ['helm', 'kubectl']) chmodSync(join(cwd, 'bin', name), 0o755)
  const pids = join(cwd, 'pids')
  return { cwd, pids, env: { PIDS: pids, PATH: `${join(cwd, 'bin')}:/usr/bin:/bin` } }
}

describe('a program that kleym runs ends with it', () => {
  test.each<[NodeJS.Signals, readonly string[]]>([
    ['SIGINT', ['--render', '-R', '-f', 'tree']],
    ['SIGTERM', ['--render', '-R', '-f', 'tree']],
    ['SIGHUP', ['-k', 'tree']],
  ])('by %s, with %j', async (signal, sources) => {
    const { cwd, pids, env } = endless()
    const child = start(['who-selects', '-A', '--offline', ...sources], { cwd, env })
    const end = ended(child)
    await until(() => existsSync(pids), 'the program to run')
    const programs = readFileSync(pids, 'utf8').trim().split(' ').map(Number)
    expect(programs.map(isAlive)).toEqual([true, true])

    const began = performance.now()
    child.kill(signal)
    expect(await end).toMatchObject({ signal, stdout: '' })
    expect(performance.now() - began).toBeLessThan(AT_ONCE_MS)
    await until(() => !programs.some(isAlive), `the end of the processes ${programs.join(', ')}`)
  })
})

/** How often a program is started that may end before the test gets a turn to see what it shows meanwhile. */
const STARTS = 5

/** A program that shows something on its way and goes on. On a busy machine the whole of it may pass between two looks. */
async function startedAndShowing(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  shown: RegExp,
): Promise<Terminal> {
  for (let time = 1; time <= STARTS; time++) {
    const terminal = startInPty(command, { columns: 80, rows: 24, env })
    onTestFinished(() => terminal.close())
    const state = await until(
      () => {
        if (terminal.ended() !== undefined) return 'ended'
        return shown.test(terminal.lines().join('\n')) && 'showing'
      },
      `the screen to show ${String(shown)}, or the end of the program`,
    )
    if (state === 'showing') return terminal
  }
  throw new Error(`it ended ${STARTS} times before ${String(shown)} was seen`)
}

test('Ctrl-C while thousands of files are read, a chart having been rendered, ends it at once', async () => {
  // Brackets over several lines take a parser that takes its time: nearly as many tokens as kleym takes in.
  const labels = Array.from({ length: 60 }, (_, number) => `l${number}: "${number}"`).join(', ')
  const files = Array.from({ length: 15_000 }, (_, number): [string, string] => [
    `tree/${number}.yaml`,
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p${number},\n  labels: {\n  ${labels}\n  }}\n`,
  ])
  const cwd = workspace({
    ...Object.fromEntries(files),
    'tree/chart/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\n',
    'bin/helm': '#!/bin/sh\n',
  })
  chmodSync(join(cwd, 'bin/helm'), 0o755)
  const terminal = await startedAndShowing(
    [PLUGIN, 'who-selects', '-A', '--offline', '--render', '-R', '-f', join(cwd, 'tree')],
    { PATH: `${join(cwd, 'bin')}:/usr/bin:/bin` },
    /(?:opening: \d+ of|reading file \d+ of) 15000\b/,
  )
  const began = performance.now()
  terminal.press('\u0003')
  expect(await until(() => terminal.ended(), 'the end of the program')).toBe(130)
  expect(performance.now() - began).toBeLessThan(AT_ONCE_MS)
})
