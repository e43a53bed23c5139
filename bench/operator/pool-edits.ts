// `npm run bench:pool-edits`: what a tenant who edits a pool that many bindings name does to everybody else, on a real API
// server: how long a new binding in another namespace takes to be ready, and whether the Lease is kept. Beside it, in the same seconds:
// how long the same four writes of an idle client take, without an operator, which is what the machine and the API server take by
// themselves. The first row has no edits. `-- --executable PATH` takes another operator (a .ts file runs on this Node), `--lifted` one
// without limits. It asserts nothing: docs/performance.md holds the figures.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { isRecord, stringAt } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING } from '../../shared/src/core/model/names.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { OPERATOR } from '../../test/control-plane/operator-access.ts'
import {
  createTenants,
  ELSEWHERE,
  readyBesideEdits,
  type PoolEdits,
} from '../../test/control-plane/pool-edits.ts'
import { startLeading, startOperatorPlane, type OperatorOptions } from '../../test/control-plane/operator.ts'
import { machineLine } from '../machine.ts'
import { plainWrites } from './plain-writes.ts'
import { usageOf } from './usage.ts'

const SECONDS = 20
const ROWS: readonly PoolEdits[] = [
  { bindings: 2_000, editsPerSecond: 0, labels: 64, seconds: SECONDS },
  { bindings: 300, editsPerSecond: 14, labels: 64, seconds: SECONDS },
  { bindings: 2_000, editsPerSecond: 2, labels: 64, seconds: SECONDS },
  { bindings: 2_000, editsPerSecond: 40, labels: 64, seconds: SECONDS },
]

const LIFTED = ['--bindings-per-namespace=0', '--writes-per-second=0']
const COLUMNS = [
  'bindings',
  'edits/s',
  'new',
  'median',
  'longest',
  'plain',
  'median',
  'longest',
  'ran',
  'waited',
  'most ran',
  'began',
  'served',
  'lag<=',
]

/** What the operator's thread did while one binding waited, in milliseconds. */
interface Wait {
  readonly ms: number
  readonly ranMs: number
  /** Ready to run, without a processor. */
  readonly waitedMs: number
}

const { values: options } = parseArgs({
  options: { executable: { type: 'string' }, lifted: { type: 'boolean', default: false } },
})
process.stdout.write(
  `${machineLine()}\n
All in ms. New bindings elsewhere: ready after. The same four writes of an idle client, in the same seconds. Of the longest wait: how long the
operator's thread ran, and waited for a processor; then the most that it ran during any wait; then, of the longest again, until the operator's first
request about it, and in which the API server served those requests. Last, the event loop's longest lag.\n
${lineFrom(COLUMNS)}\n`,
)
for (const row of ROWS) process.stdout.write(`${await lineOf(row)}\n`)

async function lineOf(row: PoolEdits): Promise<string> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    await createTenants(cp, row)
    const operator = await startLeading(cp, operatorOf(options.executable))
    const { pid } = operator.program
    const waits: Wait[] = []
    const plain = await plainWrites(cp)
    await readyBesideEdits(cp, row, async (wait) => {
      const before = threadOf(pid)
      const ms = await wait()
      const { ranMs, waitedMs } = threadOf(pid)
      waits.push({ ms, ranMs: ranMs - before.ranMs, waitedMs: waitedMs - before.waitedMs })
      return ms
    })
    const alone = (await plain.end()).toSorted((a, b) => a - b)
    const sorted = waits.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const which = waits.findIndex(({ ms }) => ms === sorted.at(-1))
    const longest = waits[which]
    if (longest === undefined) throw new Error('no binding elsewhere was ready')
    const how = operator.program.ended()
    const cells = [
      row.bindings,
      row.editsPerSecond,
      waits.length,
      median(sorted),
      longest.ms,
      alone.length,
      median(alone),
      alone.at(-1) ?? Number.NaN,
      longest.ranMs,
      longest.waitedMs,
      Math.max(...waits.map(({ ranMs }) => ranMs)),
      ...(await partsOf(cp, `new-${which}`)),
      how === undefined ? longestLagMs(await operator.metrics()) : Number.NaN,
    ]
    const line = lineFrom(cells.map((cell) => cell.toFixed(0)))
    if (how !== undefined) return `${line}  ended: ${how}`
    const { ranMs, waitedMs } = threadOf(pid)
    const ofThread = `thread ran ${(ranMs / 1000).toFixed(0)} s, waited ${(waitedMs / 1000).toFixed(0)} s`
    return `${line}  CPU ${usageOf(pid).cpu.toFixed(0)} s, ${ofThread}`
  } finally {
    await cp.stop()
  }
}

/** Of one binding elsewhere, in milliseconds: until the first request about it, and the requests. */
async function partsOf(cp: ControlPlane, name: string): Promise<readonly number[]> {
  const events = await cp.audit()
  const about = events.filter(({ namespace, name: of, responseObject }) =>
    isRecord(responseObject) && stringAt(responseObject, 'kind') === 'ClusterSPIFFEID'
      ? stringAt(responseObject, 'metadata', 'annotations', ANNOTATION_BINDING) === `${ELSEWHERE}/${name}`
      : namespace === ELSEWHERE && of === name,
  )
  const bindings = about.filter(({ resource }) => resource === 'inferenceidentitybindings')
  const created = bindings.find(({ user, verb }) => user !== OPERATOR && verb !== 'get')
  const requests = about.filter(({ user, resource }) => user === OPERATOR && resource !== 'events')
  const first = requests[0]
  if (created === undefined || first === undefined) return [Number.NaN, Number.NaN]
  const served = requests.reduce(
    (sum, { receivedAt, answeredAt }) => sum + between(receivedAt, answeredAt),
    0,
  )
  return [between(created.receivedAt, first.receivedAt), served]
}

/** How long a process's main thread has run so far, and how long it was ready to run and had no processor. */
function threadOf(pid: number): { readonly ranMs: number; readonly waitedMs: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 }
}

function between(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from)
}

/** The least bucket that holds all. */
function longestLagMs(metrics: string): number {
  const buckets = [...metrics.matchAll(/^kleym_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)]
  const all = buckets.at(-1)?.[2]
  return Number(buckets.find(([, , count]) => count === all)?.[1]) * 1000
}

function lineFrom(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(9)).join('')
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function operatorOf(executable: string | undefined): OperatorOptions {
  const flags = options.lifted ? LIFTED : []
  if (executable === undefined) return { flags }
  return { flags, command: executable.endsWith('.ts') ? [process.execPath, executable] : [executable] }
}
