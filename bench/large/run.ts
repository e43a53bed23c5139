// `npm run bench:large`: what one tenant's large objects take of the operator's memory, with the shipped executable on a real API
// server, beside ordinary bindings of others. `-- --objects 300`, `-- --ordinary 1000`, `-- --only TEXT` (contents whose names hold
// it), `-- --executable PATH`. For each content: the objects come while the operator runs, then are edited all the time, then the
// operator is restarted; all along a binding elsewhere is created and must become ready. Nothing is asserted:
// docs/reliability.md holds the aims, docs/performance.md the figures.
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { JsonRecord } from '../../shared/src/core/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { namespace, pool, poolOnly, untilReason } from '../../test/control-plane/objects.ts'
import { startOperator, startOperatorPlane, type RunningOperator } from '../../test/control-plane/operator.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { RestError, type ObjectId } from '../../test/control-plane/rest.ts'
import { machineLine } from '../machine.ts'
import { createAll, createEstate, untilSettled } from '../operator/measure.ts'
import { SHAPES } from '../operator/shapes.ts'
import { usageOf } from '../operator/usage.ts'
import { CONTENTS, type Content } from './contents.ts'

const { values: options } = parseArgs({
  options: {
    objects: { type: 'string', default: '300' },
    ordinary: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
    executable: { type: 'string' },
  },
})

/** How long the large objects are edited without a pause, in milliseconds. */
const EDITING_MS = 10_000
/** Who edits, at the same time. */
const EDITORS = 2
const ELSEWHERE = 'elsewhere'
/** How often a binding elsewhere is created in each phase, one after the other. */
const PROBES = 3

interface PhaseFigures {
  /** The most resident memory of the process so far, in MiB. */
  readonly peak: number
  /** The longest from the answer to a POST of a binding elsewhere to its being ready, in milliseconds. */
  readonly slowest: number
  /** The bound of the histogram that no turn of the process's event loop was later than so far, in seconds. */
  readonly lag: string
}

const [count, ordinary] = [Number(options.objects), Number(options.ordinary)]
if (!Number.isInteger(count) || !Number.isInteger(ordinary)) throw new Error('give whole numbers')
const start = options.executable === undefined ? {} : { command: [options.executable] as const }

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}

async function eachOf<T>(
  items: readonly T[],
  workers: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values()
  const work = async (): Promise<void> => {
    for (const item of queue) await act(item)
  }
  await Promise.all(Array.from({ length: workers }, work))
}

/** One content after the other, on one control plane: each in a namespace of its own, which is emptied at the end. */
async function measureAll(cp: ControlPlane): Promise<void> {
  const shape = SHAPES.find(({ name }) => name.startsWith('a pool per namespace'))
  if (shape === undefined) throw new Error('there is no ordinary estate')
  say(`${ordinary} ordinary bindings`)
  await createEstate(cp, shape.estate(ordinary, 'team'))
  await cp.apply([namespace(ELSEWHERE), pool(ELSEWHERE, 'llama', { app: 'llama' })])
  let operator = await startOperator(cp, start)
  await untilSettled(operator, 'Reconciled', ordinary, 1_000)
  await operator.stop()
  let probed = 0
  const figures = async (): Promise<PhaseFigures> => {
    const times: number[] = []
    for (let at = 0; at < PROBES; at++) {
      const name = `probe-${String(probed).padStart(4, '0')}`
      probed++
      await cp.admin.create(poolOnly(ELSEWHERE, name))
      const from = performance.now()
      await untilReason(cp, ELSEWHERE, name, 'Reconciled')
      times.push(performance.now() - from)
    }
    const lag = latestTurn(await operator.metrics())
    return { peak: usageOf(operator.program.pid).peak / 2 ** 20, slowest: Math.max(...times), lag }
  }
  for (const [at, content] of CONTENTS.entries()) {
    if (!content.name.includes(options.only)) continue
    const space = `large-${at}`
    say(`${content.name}: the objects come`)
    operator = await startOperator(cp, start)
    await operator.leads()
    await cp.apply([namespace(space), pool(space, 'llama', { app: 'llama' })])
    const objects = Array.from({ length: count }, (_, index) => index)
    await createAll(
      cp,
      objects.flatMap((index) => content.beside?.(space, index) ?? []),
    )
    const bytes = await fill(cp, content, space)
    const come = await figures()
    say(`  edited all the time`)
    const editing = edit(cp, content, space)
    const edited = await figures()
    await editing
    say('  restart')
    await operator.stop()
    operator = await startOperator(cp, start)
    await operator.leads()
    await quiet(operator)
    const restarted = await figures()
    await operator.stop()
    const cell = ({ peak, slowest, lag }: PhaseFigures): string =>
      `${peak.toFixed(0).padStart(8)} MiB ${(slowest / 1000).toFixed(2).padStart(6)} s ${`<${lag}`.padStart(6)}`
    process.stdout.write(
      `${content.name.padEnd(42)}${(bytes / 1e6).toFixed(2)} MB${[come, edited, restarted].map(cell).join('')}\n`,
    )
    say('  removed')
    await empty(cp, space)
  }
}

/** The bucket of the histogram that holds the latest turn. */
function latestTurn(metrics: string): string {
  const counts = [...metrics.matchAll(/^kleym_event_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)].map(
    ([, bound = '', turns = '']) => ({ bound, turns: Number(turns) }),
  )
  const all = counts.at(-1)?.turns
  return counts.find(({ turns }) => turns === all)?.bound ?? '?'
}

/** Creates the large objects; the size of one as the API server answers with it, in bytes. */
async function fill(cp: ControlPlane, { large }: Content, space: string): Promise<number> {
  let bytes = 0
  await eachOf(
    Array.from({ length: count }, (_, at) => at),
    EDITORS,
    async (at) => {
      bytes = Buffer.byteLength(JSON.stringify(await created(cp, large(space, at))))
    },
  )
  return bytes
}

function idOf({ apiVersion, kind, metadata }: JsonRecord): ObjectId {
  const { name, namespace: space } = Object(metadata)
  return { apiVersion: String(apiVersion), kind: String(kind), name: String(name), namespace: String(space) }
}

/** Creates an object, however long the API server takes for one of that size. */
function created(cp: ControlPlane, object: JsonRecord): Promise<JsonRecord> {
  return cp.admin.create(object).catch((error: unknown) => {
    // Without an answer within half a minute it may be created all the same; what is refused never is.
    if (error instanceof RestError) throw error
    return until(() => cp.admin.get(idOf(object)), 'a large object to be created', 180_000)
  })
}

async function edit(cp: ControlPlane, { large }: Content, space: string): Promise<void> {
  const endMs = performance.now() + EDITING_MS
  let at = 0
  await eachOf(
    Array.from({ length: EDITORS }, (_, editor) => editor),
    EDITORS,
    async () => {
      while (performance.now() < endMs) {
        at++
        const change = { metadata: { annotations: { edit: String(at) } } }
        await cp.admin
          .patch(idOf(large(space, at % count)), change)
          .catch((error: unknown) => say(`  ${String(error)}`))
      }
    },
  )
}

/** Resolves when the operator has had nothing to do for two seconds, which it may never have: then after a minute. */
async function quiet(operator: RunningOperator): Promise<void> {
  const writes = async (): Promise<string> =>
    (await operator.metrics())
      .split('\n')
      .filter(
        (line) => /^(workqueue_adds_total|rest_client_requests_total)/.test(line) && !line.includes('"PUT"'),
      )
      .join()
  await until(async () => {
    const before = await writes()
    await pauseFor(2_000)
    return before === (await writes())
  }, 'the operator to be quiet').catch((error: unknown) => say(`  ${String(error)}`))
}

/** Removes everything of a namespace, whatever holds it. */
async function empty(cp: ControlPlane, space: string): Promise<void> {
  const kinds: readonly (readonly [apiVersion: string, kind: string])[] = [
    ['kleym.sonda.red/v1alpha1', 'InferenceIdentityBinding'],
    ['inference.networking.x-k8s.io/v1alpha2', 'InferencePool'],
    ['inference.networking.k8s.io/v1', 'InferencePool'],
  ]
  for (const [apiVersion, kind] of kinds) {
    const found: readonly JsonRecord[] = await cp.admin.list({ apiVersion, kind, namespace: space })
    await eachOf(found, EDITORS, async ({ metadata }) => {
      const { name } = Object(metadata)
      const id = { apiVersion, kind, name: String(name), namespace: space }
      await cp.admin.patch(id, { metadata: { finalizers: null } })
      await cp.admin.delete(id)
    })
  }
  await cp.compactEtcd()
}

process.stdout.write(`${machineLine()}\n${count} large objects beside ${ordinary} bindings\n\n`)
process.stdout.write(
  `${'content'.padEnd(42)}each            come                   edited                 restart\n`,
)
const cp = await startOperatorPlane({ controllers: [] })
try {
  await measureAll(cp)
} finally {
  await cp.stop()
}
