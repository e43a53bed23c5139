// The commands that are measured, and one row of numbers for each: the shipped executable against the filled cluster,
// several runs, with kubectl beside it as the measure of time.
import { join } from 'node:path'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { ensureBinaries } from '../../test/control-plane/binaries.ts'
import { startByteCounter } from './byte-counter.ts'
import { FIRST, objectiveName } from './estate.ts'
import { podName } from './pods.ts'
import { run, type MeasuredProgram, type ProgramRun } from './program.ts'
import { countRequests, explainsInFew, readsPages, type PluginRequests } from './requests.ts'

/** What `npm run build` leaves. */
export const EXECUTABLE = join(import.meta.dirname, '../../dist/kubectl-kleym')

/** A command line, and what must hold of its requests. */
export interface MeasuredCommand {
  readonly name: string
  readonly program: 'kleym' | 'kubectl'
  readonly args: readonly string[]
  /** The exit codes of an answer: `conflicts` has 1 where it has found something. */
  readonly codes: readonly number[]
  /** A sentence where the requests break a promise. */
  readonly judge?: (requests: PluginRequests) => string | undefined
}

const ONE = objectiveName(FIRST, 'vllm')
const IN = ['-n', FIRST.namespace]

/** kubectl's own first: what follows is shown in multiples of them. */
export const COMMANDS: readonly MeasuredCommand[] = [
  // A kubectl that `go build` made knows no version of its own: it says so, and ends with 1.
  { name: 'kubectl version', program: 'kubectl', args: ['version'], codes: [0, 1] },
  {
    name: 'kubectl get pods -A -o name',
    program: 'kubectl',
    args: ['get', 'pods', '-A', '-o', 'name'],
    codes: [0],
  },
  kleym('explain ONE', ['explain', ONE, ...IN], explainsInFew),
  kleym('who-selects pod/NAME', ['who-selects', `pod/${podName(FIRST.pool, 0)}`, ...IN]),
  kleym('completion of names', ['__complete', 'explain', ...IN, '']),
  kleym('status', ['status']),
  kleym('conflicts -A', ['conflicts', '-A'], readsPages),
  kleym('explain -A', ['explain', '-A']),
  kleym('suggest -A', ['suggest', '-A']),
  kleym('diff -A of one deletion', ['diff', '-A', '--without', `iib/${FIRST.namespace}/${ONE}`]),
]

function kleym(name: string, args: readonly string[], judge?: MeasuredCommand['judge']): MeasuredCommand {
  return { name, program: 'kleym', args, codes: [0, 1], ...(judge === undefined ? {} : { judge }) }
}

export interface CommandMeasurement {
  readonly command: string
  /** Seconds; the median of the runs. */
  readonly seconds: number
  readonly cpu: number
  /** Bytes; the highest of the runs. */
  readonly peak: number
  /** Of the last run. */
  readonly requests: PluginRequests
  /** Bytes that the API server sent, in a run of its own. */
  readonly received: number
  readonly broken: string | undefined
}

/** Who asks, as the audit log names them, and how often each command is run. */
export interface Person {
  readonly user: string
  readonly runs: number
}

/** Measures one command. Rejects where it fails to answer. */
export async function measure(
  cp: ControlPlane,
  command: MeasuredCommand,
  { user, runs }: Person,
): Promise<CommandMeasurement> {
  const at = async (kubeconfig: string): Promise<ProgramRun> => {
    const ran = await run(await programOf(cp, command, kubeconfig))
    if (ran.code !== null && command.codes.includes(ran.code)) return ran
    throw new Error(`${command.name} ended with ${String(ran.code)}:\n${ran.stdout}${ran.stderr}`)
  }
  const kubeconfig = cp.kubeconfig(user)
  const done: ProgramRun[] = []
  let since = await cp.auditMark()
  while (done.length < runs) {
    since = await cp.auditMark()
    done.push(await at(kubeconfig))
  }
  const requests = countRequests(await cp.audit({ since, user }))
  const counter = await startByteCounter(cp.port)
  try {
    await at(cp.kubeconfig(user, counter.server))
  } finally {
    counter.close()
  }
  return {
    command: command.name,
    seconds: median(done.map((ran) => ran.seconds)),
    cpu: median(done.map((ran) => ran.cpu)),
    peak: Math.max(...done.map((ran) => ran.peak)),
    requests,
    received: counter.received(),
    broken: command.judge?.(requests),
  }
}

async function programOf(
  cp: ControlPlane,
  { program, args }: MeasuredCommand,
  kubeconfig: string,
): Promise<MeasuredProgram> {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  return {
    command: program === 'kleym' ? EXECUTABLE : binaries.programs.kubectl,
    args,
    cwd: cp.folder,
    env: { HOME: cp.folder, KUBECONFIG: kubeconfig },
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
