// `npm run bench:pool-edits`: what a tenant who edits a pool that many bindings name does to everybody else, on a real API
// server: how long a new binding in another namespace takes to be ready, and whether the Lease is kept. `-- --executable PATH`
// takes another operator (a .ts file runs on this Node), `--lifted` one without limits. Of the longest wait it says what the audit
// log shows of it. It asserts nothing: docs/performance.md holds the figures.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { isRecord, stringAt } from '../../shared/src/core/json.ts'
import { ANNOTATION_BINDING } from '../../shared/src/core/names.ts'
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
import { usageOf } from './usage.ts'

const SECONDS = 20
const ROWS: readonly PoolEdits[] = [
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
  'of new',
  'began',
  'served',
  'rest',
  'lag<=',
]

const { values: options } = parseArgs({
  options: { executable: { type: 'string' }, lifted: { type: 'boolean', default: false } },
})
process.stdout.write(
  `${machineLine()}\n
New bindings elsewhere: ready after, in ms. Of the longest: which one it is; until the operator's first request about it; in which the API server
served those requests; the rest. The last column is the event loop's longest lag.\n
${lineFrom(COLUMNS)}\n`,
)
for (const row of ROWS) process.stdout.write(`${await lineOf(row)}\n`)

async function lineOf(row: PoolEdits): Promise<string> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    await createTenants(cp, row)
    const operator = await startLeading(cp, operatorOf(options.executable))
    const times = await readyBesideEdits(cp, row)
    const sorted = times.toSorted((a, b) => a - b)
    const longest = sorted.at(-1) ?? Number.NaN
    const how = operator.program.ended()
    const which = times.indexOf(longest)
    const parts = await partsOf(cp, `new-${which}`)
    const lag = how === undefined ? longestLagMs(await operator.metrics()) : Number.NaN
    const cells = [
      row.bindings,
      row.editsPerSecond,
      times.length,
      median(sorted),
      longest,
      which + 1,
      ...parts,
      lag,
    ]
    const line = lineFrom(cells.map((cell) => cell.toFixed(0)))
    return how === undefined
      ? `${line}  CPU ${usageOf(operator.program.pid).cpu.toFixed(0)} s, waited for one ${waitedForCpu(operator.program.pid).toFixed(0)} s`
      : `${line}  ended: ${how}`
  } finally {
    await cp.stop()
  }
}

/** Of one binding elsewhere, in milliseconds: until the first request about it, the requests, and what is between and after them. */
async function partsOf(cp: ControlPlane, name: string): Promise<readonly number[]> {
  const events = await cp.audit()
  const about = events.filter(({ namespace, name: of, responseObject }) =>
    isRecord(responseObject) && stringAt(responseObject, 'kind') === 'ClusterSPIFFEID'
      ? stringAt(responseObject, 'metadata', 'annotations', ANNOTATION_BINDING) === `${ELSEWHERE}/${name}`
      : namespace === ELSEWHERE && of === name,
  )
  const bindings = about.filter(({ resource }) => resource === 'inferenceidentitybindings')
  const created = bindings.find(({ user, verb }) => user !== OPERATOR && verb !== 'get')
  const readAt = bindings.findLast(({ user }) => user !== OPERATOR)
  const requests = about.filter(({ user, resource }) => user === OPERATOR && resource !== 'events')
  const first = requests[0]
  if (created === undefined || readAt === undefined || first === undefined) return []
  const served = requests.reduce(
    (sum, { receivedAt, answeredAt }) => sum + between(receivedAt, answeredAt),
    0,
  )
  const began = between(created.answeredAt, first.receivedAt)
  return [began, served, between(created.answeredAt, readAt.answeredAt) - began - served]
}

/** How many seconds a process's main thread was ready to run and had no processor. */
function waitedForCpu(pid: number): number {
  const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return Number(waited) / 1e9
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
