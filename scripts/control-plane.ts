// `npm run control-plane`: a real API server with every kind that kleym is about and the estate of examples/ on it, and with
// `--spire` all of SPIRE beside it, for trying things by hand. It runs until Ctrl-C and leaves nothing behind.
import process from 'node:process'
import { stringAt, type JsonRecord } from '../shared/src/core/base/json.ts'
import { ensureBinaries, type Binaries, type NoBinaries } from '../test/control-plane/binaries.ts'
import {
  DEFAULT_CONTROLLERS,
  startControlPlane,
  type ControlPlane,
} from '../test/control-plane/control-plane.ts'
import { applyEstate } from '../test/control-plane/examples.ts'
import { OPERATOR } from '../test/control-plane/operator-access.ts'
import { ensureSpire, type SpireBinaries } from '../test/control-plane/spire-binaries.ts'
import { cgroupPlace } from '../test/svid/agent/cgroup.ts'
import { readArguments } from './control-plane/arguments.ts'
import { nextSteps } from './control-plane/next-steps.ts'
import { startSpireStack } from './control-plane/spire.ts'

/** A pod of a Deployment comes and goes with it. */
const WORKLOAD_CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'garbage-collector-controller',
]

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function fail(message: string): number {
  process.stderr.write(`error: ${message}\n`)
  return 1
}

async function main(): Promise<number> {
  const wanted = readArguments(process.argv.slice(2))
  if (wanted.kind === 'error') {
    fail(wanted.message)
    return 2
  }
  if (wanted.kind === 'help') {
    process.stdout.write(wanted.text)
    return 0
  }
  const binaries = await ensureBinaries()
  if (!binaries.available) return fail(`there is no control plane: ${missing(binaries)}`)
  if (!wanted.spire)
    return untilInterrupted(
      () => startControlPlane(),
      (cp) => plain(cp, binaries),
    )
  const spire = await ensureSpire()
  if (!spire.available) return fail(`there is no SPIRE: ${missing(spire)}`)
  return untilInterrupted(
    () =>
      startControlPlane({
        kubelets: true,
        users: [{ name: OPERATOR }],
        controllers: [...DEFAULT_CONTROLLERS, ...WORKLOAD_CONTROLLERS],
      }),
    (cp) => withSpire(cp, binaries, spire),
  )
}

function missing({ why, fix }: NoBinaries): string {
  return `${why}\n  fix:  ${fix}`
}

/** Ends what does not end with the control plane. */
type Stop = () => Promise<void>

/** Starts a control plane and what belongs to it, and ends both at Ctrl-C, also while they start. */
async function untilInterrupted(
  start: () => Promise<ControlPlane>,
  prepare: (cp: ControlPlane) => Promise<Stop>,
): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  // A pending promise alone keeps no process alive.
  const alive = setInterval(() => undefined, 60_000)
  try {
    const cp = await start()
    try {
      const stop = await prepare(cp)
      await interrupted
      await stop()
    } finally {
      await cp.stop()
    }
    return 0
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  } finally {
    clearInterval(alive)
  }
}

async function plain(cp: ControlPlane, { programs }: Binaries): Promise<Stop> {
  await estate(cp, (object) => object)
  say(`there is no kubelet, so nothing runs.`)
  say(`\nexport KUBECONFIG=${cp.kubeconfig()}`)
  say(`alias kubectl=${programs.kubectl}\n\nIt runs until Ctrl-C.`)
  return () => Promise.resolve()
}

async function withSpire(cp: ControlPlane, controlPlane: Binaries, spire: SpireBinaries): Promise<Stop> {
  await estate(cp, paused)
  const place = cgroupPlace()
  const stack = await startSpireStack(cp, { controlPlane, spire }, place)
  say(`SPIRE server, SCM and the kleym operator run${place.available ? ', and an agent on each node' : ''}.`)
  if (!place.available)
    say(
      `\nNO AGENT RUNS: ${place.why}. All but fetching SVIDs can be tried.\n  fix:  run it as root where a cgroup hierarchy can be written to`,
    )
  say(
    nextSteps({
      kubeconfig: cp.kubeconfig(),
      bin: stack.bin,
      folder: cp.folder,
      scmPid: stack.spire.scm().pid,
      hasAgents: place.available,
    }),
  )
  say('It runs until Ctrl-C.')
  return () => stack.stop()
}

async function estate(cp: ControlPlane, change: (object: JsonRecord) => JsonRecord): Promise<void> {
  const { count, notApplied } = await applyEstate(cp, change)
  say(`${count} objects of examples/estate are applied.`)
  for (const { file, kind, name, reason } of notApplied)
    say(`not applied: ${kind} ${name} (${file}): ${reason}`)
}

/** The pods of the estate are there as they were dumped: its Deployments must not make them again. */
function paused(object: JsonRecord): JsonRecord {
  const { spec } = object
  return stringAt(object, 'kind') === 'Deployment' && typeof spec === 'object'
    ? { ...object, spec: { ...spec, paused: true } }
    : object
}

process.exitCode = await main()
