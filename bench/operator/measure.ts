// One operator on one control plane of its own, from its start over N bindings that wait for it to its restart over N
// settled ones; and then the floor on the same server.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { AuditEvent } from '../../test/control-plane/audit.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { OPERATOR, OPERATOR_B } from '../../test/control-plane/operator-access.ts'
import {
  startOperator,
  startOperatorPlane,
  type OperatorOptions,
  type RunningOperator,
} from '../../test/control-plane/operator.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { CLASS, startSpire } from '../../test/svid/spire.ts'
import type { FloorResult } from './floor.ts'
import { floorPlan } from './floor-plan.ts'
import { beforeScmSpoke, countRequests, lastWriteMs, type OperatorRequests } from './requests.ts'
import { NODE, podsOf, type BenchEstate, type Shape } from './shapes.ts'
import { processNamed, usageOf, type Usage } from './usage.ts'

export type Start = Pick<OperatorOptions, 'command' | 'flags'>

export interface MeasureOptions {
  readonly shape: Shape
  readonly count: number
  readonly start: Start
  /** Whether a real SCM is at work beside it, on a pod for each pool. */
  readonly scm: boolean
  /** How long the idle operator is watched, in seconds. */
  readonly idleSeconds: number
  /** Called with each step. */
  readonly say: (line: string) => void
}

/** One run of an operator until it has nothing left to do. */
export interface OperatorRun {
  /** From the start of the process; to the last write where there is one, not counting what SCM has made it write. */
  readonly seconds: number
  readonly requests: OperatorRequests
  /** Those and what it has written by the time when every binding said that it is in force; undefined without SCM. */
  readonly withInForce: { readonly seconds: number; readonly requests: OperatorRequests } | undefined
  readonly operator: Usage
  /** CPU seconds of the API server meanwhile. */
  readonly serverCpu: number
}

export interface OperatorMeasurement {
  readonly cold: OperatorRun
  /** Requests per minute of an operator that has nothing to do. */
  readonly idlePerMinute: { readonly lease: number; readonly others: number; readonly writes: number }
  readonly restart: OperatorRun
  readonly floor: FloorResult & { readonly serverCpu: number }
}

const MAX_MS = 1_800_000
const CONNECTIONS = 8
/** How often a run is looked at: seldom while it writes, as it pays for being asked, and its end is in the audit log. */
const LOOK_MS = { writes: 1_000, restart: 250 } as const
/** Ten seconds, SCM's own default; it works at once where anything changes. */
const SCM_INTERVAL_NS = 10_000_000_000
const FROM = 'bench-'
const TO = 'floor-'

/** Runs the shape's estate through an operator. */
export async function measure(options: MeasureOptions): Promise<OperatorMeasurement> {
  const { count, say, scm } = options
  const start = scm ? { ...options.start, flags: [`--clusterspiffeid-class-name=${CLASS}`] } : options.start
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    await prepare(cp, options, FROM)
    say('cold start')
    const cold = await run(cp, start, { count, scm, everyMs: LOOK_MS.writes })
    say('idle')
    const idlePerMinute = await watchIdle(cp, options.idleSeconds)
    await cold.operator.stop()
    say('restart')
    const restart = await run(cp, start, { count, scm, everyMs: LOOK_MS.restart })
    await restart.operator.stop()
    say('floor')
    const written = await cp.audit({ user: OPERATOR, verbs: ['patch', 'create', 'update'] })
    const floor = scm ? await floorElsewhere(written, options) : await floorOn(cp, written, options)
    return { cold: cold.run, idlePerMinute, restart: restart.run, floor }
  } finally {
    await cp.stop()
  }
}

/** With SCM the floor has a control plane of its own: an SCM that holds the operator's entries too would take longer. */
async function floorElsewhere(
  written: readonly AuditEvent[],
  options: MeasureOptions,
): Promise<OperatorMeasurement['floor']> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    return await floorOn(cp, written, options)
  } finally {
    await cp.stop()
  }
}

async function floorOn(
  cp: ControlPlane,
  written: readonly AuditEvent[],
  options: MeasureOptions,
): Promise<OperatorMeasurement['floor']> {
  await prepare(cp, options, TO)
  return runFloor(cp, written)
}

/** Creates an estate and, where SCM is to be there, pods and an SCM that waits for outputs. */
async function prepare(
  cp: ControlPlane,
  { shape, count, scm }: MeasureOptions,
  prefix: string,
): Promise<void> {
  const estate = shape.estate(count, prefix.slice(0, -1))
  await createEstate(cp, estate)
  if (!scm) return
  await createAll(cp, [NODE, ...podsOf(estate)])
  await startSpire(cp, { gcInterval: SCM_INTERVAL_NS })
}

/** Creates all of an estate, and resolves when it is there. */
export async function createEstate(cp: ControlPlane, estate: BenchEstate): Promise<void> {
  for (const objects of [estate.namespaces, estate.references, estate.bindings]) await createAll(cp, objects)
}

/** Creates objects, several at a time. */
export async function createAll(cp: ControlPlane, objects: readonly JsonRecord[]): Promise<void> {
  const queue = objects.values()
  const work = async (): Promise<void> => {
    for (const object of queue) await cp.admin.create(object)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
}

/** What the API server has used, in CPU seconds. */
export function serverCpu(cp: ControlPlane): number {
  return usageOf(processNamed(cp.pids(), 'kube-apiserver')).cpu
}

/** Resolves when so many bindings have come to stand at `reason`, nothing waits, and all their events are out. */
export async function untilSettled(
  operator: RunningOperator,
  reason: string,
  count: number,
  everyMs: number,
): Promise<void> {
  const from = performance.now()
  for (;;) {
    const how = operator.program.ended()
    if (how !== undefined) throw new Error(`the operator has ended: ${how}\n${operator.program.lastWords()}`)
    const text = await operator.metrics().catch(() => '')
    const standing = metricOf(text, 'kleym_identity_bindings', `reason="${reason}"`)
    const waiting = metricOf(text, 'workqueue_depth') + metricOf(text, 'workqueue_unfinished_work_seconds')
    if (standing === count && waiting === 0) return
    if (performance.now() - from > MAX_MS)
      throw new Error(`only ${standing} of ${count} bindings are settled\n${operator.program.lastWords()}`)
    await pauseFor(everyMs)
  }
}

/** Resolves when so many bindings say that SCM has registered their outputs. */
async function untilInForce(operator: RunningOperator, count: number, everyMs: number): Promise<void> {
  await until(
    async () => {
      const text = await operator.metrics()
      const registered = metricOf(text, 'kleym_identity_bindings_in_force', 'reason="Registered"')
      if (registered === count) return true
      await pauseFor(everyMs)
      throw new Error(`${registered} of ${count} bindings are in force`)
    },
    'all bindings to be in force',
    MAX_MS,
  )
}

/** The sum of a metric's samples whose labels hold a text. */
export function metricOf(metrics: string, name: string, labels = ''): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(name) && /[{ ]/.test(line.charAt(name.length)) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

async function run(
  cp: ControlPlane,
  start: Start,
  { count, scm, everyMs }: { readonly count: number; readonly scm: boolean; readonly everyMs: number },
): Promise<{ readonly run: OperatorRun; readonly operator: RunningOperator }> {
  const since = await cp.auditMark()
  const serverFrom = serverCpu(cp)
  const from = Date.now()
  const operator = await startOperator(cp, start)
  await untilSettled(operator, 'Reconciled', count, everyMs)
  const settled = Date.now()
  // Events are written in the background: the queue of them is empty when no more come.
  const untilQuiet = (which: (events: readonly AuditEvent[]) => readonly AuditEvent[]) =>
    until(async () => {
      const before = which(await cp.audit({ since, user: OPERATOR }))
      await pauseFor(300)
      const now = which(await cp.audit({ since, user: OPERATOR }))
      return countRequests(now).writes === countRequests(before).writes && now
    }, 'the last events to be written')
  const events = await untilQuiet(beforeScmSpoke)
  const requests = countRequests(events)
  const inForce = scm
    ? await untilInForce(operator, count, everyMs).then(() => untilQuiet((all) => all))
    : undefined
  return {
    operator,
    run: {
      seconds: ((requests.writes > 0 ? lastWriteMs(events) : settled) - from) / 1000,
      requests,
      withInForce: inForce && {
        seconds: (lastWriteMs(inForce) - from) / 1000,
        requests: countRequests(inForce),
      },
      operator: usageOf(operator.program.pid),
      serverCpu: serverCpu(cp) - serverFrom,
    },
  }
}

async function watchIdle(cp: ControlPlane, seconds: number): Promise<OperatorMeasurement['idlePerMinute']> {
  const since = await cp.auditMark()
  // This is the time that is measured, not one that is waited for.
  await pauseFor(seconds * 1000)
  const { lease, pages, besidePages, writes } = countRequests(await cp.audit({ since, user: OPERATOR }))
  const perMinute = 60 / seconds
  return { lease: lease * perMinute, others: (pages + besidePages) * perMinute, writes: writes * perMinute }
}

async function runFloor(
  cp: ControlPlane,
  written: readonly AuditEvent[],
): Promise<OperatorMeasurement['floor']> {
  const bindings = await cp.admin.list({
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
  })
  const targets = bindings.filter((binding) => stringAt(binding, 'metadata', 'namespace')?.startsWith(TO))
  const [plan, ca] = [join(cp.folder, 'floor.json'), join(cp.folder, 'floor-ca.pem')]
  writeFileSync(plan, JSON.stringify(floorPlan(written, targets, { from: FROM, to: TO })))
  writeFileSync(ca, cp.ca)
  const script = join(import.meta.dirname, 'floor.ts')
  const serverFrom = serverCpu(cp)
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    plan,
    String(cp.port),
    ca,
    cp.tokenOf(OPERATOR_B),
  ])
  const result: unknown = JSON.parse(stdout)
  const [seconds, cpu] = [own(result, 'seconds'), own(result, 'cpu')]
  if (typeof seconds !== 'number' || typeof cpu !== 'number')
    throw new Error(`the floor has measured nothing: ${stdout}`)
  return { seconds, cpu, serverCpu: serverCpu(cp) - serverFrom }
}
