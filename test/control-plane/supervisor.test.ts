// Nothing of a control plane outlives the process that wanted it, however that ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { startProcesses } from './processes.ts'
import { until, within } from '@kleym/testing/wait.ts'

const HERE = import.meta.dirname
/** A whole control plane may be started. */
const STARTED_MS = 120_000

interface Started {
  readonly harness: ChildProcess
  readonly pids: readonly number[]
  readonly folder: string
}

/** Runs a module in a process of its own. It prints `{pids, folder}` and then waits for a line before it goes on. */
async function startElsewhere(start: string, ending: string): Promise<Started> {
  const script = `
    import { startControlPlane } from ${JSON.stringify(join(HERE, 'control-plane.ts'))}
    import { startProcesses } from ${JSON.stringify(join(HERE, 'processes.ts'))}
    ${start}
    process.stdout.write(JSON.stringify({ pids, folder }) + '\\n')
    process.stdin.resume()
    process.stdin.once('data', () => { ${ending} })
  `
  const harness = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void harness.kill('SIGKILL'))
  const [line]: readonly unknown[] = await within(
    once(createInterface(harness.stdout), 'line'),
    'the harness to say what it has started',
    STARTED_MS,
  )
  const said: unknown = JSON.parse(String(line))
  const pids = listAt(said, 'pids').filter((pid) => typeof pid === 'number')
  return { harness, pids, folder: stringAt(said, 'folder') ?? '' }
}

const TWO_PROGRAMS = `
  const processes = await startProcesses()
  const sleeper = { command: 'sleep', args: ['600'] }
  const first = await processes.start({ name: 'first', ...sleeper })
  const second = await processes.start({ name: 'second', ...sleeper })
  const pids = [processes.supervisorPid, first.pid, second.pid]
  const { folder } = processes
`
const CONTROL_PLANE = `
  const controlPlane = await startControlPlane({ without: ['inferenceobjectives.llm-d.ai'] })
  const pids = controlPlane.pids()
  const { folder } = controlPlane
`

/** False also for a process that has ended and waits for its parent, or for an init, to take note. */
function isAlive(pid: number): boolean {
  const status = join('/proc', String(pid), 'stat')
  try {
    process.kill(pid, 0)
    return !existsSync(status) || !/\) Z /.test(readFileSync(status, 'utf8'))
  } catch {
    return false
  }
}

async function allGone(pids: readonly number[], folder: string): Promise<void> {
  await until(() => !pids.some(isAlive), 'every process to end', 20_000)
  await until(() => !existsSync(folder), 'the folder to go', 20_000)
}

test.each([
  ['is killed with SIGKILL', TWO_PROGRAMS, 3, "process.kill(process.pid, 'SIGKILL')"],
  ['crashes', TWO_PROGRAMS, 3, "throw new Error('a crash, as this test wants it')"],
  ['ends and forgets to stop it', TWO_PROGRAMS, 3, 'process.exit(0)'],
  ['is killed while it waits', TWO_PROGRAMS, 3, "void first.end(); process.kill(process.pid, 'SIGKILL')"],
  [
    'is killed with a program stopped',
    TWO_PROGRAMS,
    3,
    "process.kill(first.pid, 'SIGSTOP'); process.kill(process.pid, 'SIGKILL')",
  ],
  // The supervisor, etcd, the controller manager and the API server.
  ['is killed with a whole control plane', CONTROL_PLANE, 4, "process.kill(process.pid, 'SIGKILL')"],
])('a harness that %s leaves no process and no folder', async (_how, start, count, ending) => {
  const { harness, pids, folder } = await startElsewhere(start, ending)
  expect(pids).toHaveLength(count)
  expect(pids.filter(isAlive)).toEqual(pids)
  expect(existsSync(folder)).toBe(true)
  const ended = once(harness, 'exit')
  harness.stdin?.write('now\n')
  await within(ended, 'the harness to end')
  await allGone(pids, folder)
})

test('stop ends everything before it resolves, and may be called twice', async () => {
  const processes = await startProcesses()
  const program = await processes.start({ name: 'sleeper', command: 'sleep', args: ['600'] })
  await processes.stop()
  expect([processes.supervisorPid, program.pid].filter(isAlive)).toEqual([])
  expect(existsSync(processes.folder)).toBe(false)
  await processes.stop()
})

test('programs end even when it is their supervisor that is killed', async () => {
  const processes = await startProcesses()
  const program = await processes.start({ name: 'sleeper', command: 'sleep', args: ['600'] })
  process.kill(processes.supervisorPid, 'SIGKILL')
  await program.end()
  expect(program.ended()).toBe('the end of its supervisor')
  await allGone([program.pid], processes.folder)
})

test('a program that cannot be started is an error that names it', async () => {
  const processes = await startProcesses()
  onTestFinished(() => processes.stop())
  const start = processes.start({ name: 'nothing', command: join(HERE, 'no-such-program'), args: [] })
  await expect(start).rejects.toThrow(/no-such-program cannot be started: .*ENOENT/)
})
