// The shipped operator against a control plane: started as its own user with its own rights, and stopped, killed or
// paused as tests need it.
import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts'
import { OPERATOR, OPERATOR_B, OPERATOR_NAMESPACE, operatorAccess } from './operator-access.ts'
import { freePorts } from './ports.ts'
import type { Program } from './processes.ts'
import { CannotHold, until } from '@kleym/testing/wait.ts'

/** What `npm run build` leaves. */
export const EXECUTABLE = join(import.meta.dirname, '../../dist/kleym-operator')
/** How long the operator's own servers may take to answer, in milliseconds. */
const PROBE_MS = 30_000
export const TRUST_DOMAIN = 'example.org'

export interface OperatorOptions {
  /** A proxy in place of the API server's own address. */
  readonly server?: string
  /** More flags. */
  readonly flags?: readonly string[]
  /** For the log file; `operator` when absent. */
  readonly name?: string
  /** Whom the API server takes it for; `OPERATOR` when absent. */
  readonly user?: typeof OPERATOR | typeof OPERATOR_B
  /** A program and its first arguments in place of the shipped executable. */
  readonly command?: readonly [string, ...string[]]
}

export interface RunningOperator {
  readonly program: Program
  /** The lines of its log so far. */
  log(): readonly JsonRecord[]
  /** Resolves when it is the leader and works; rejects at once when it has ended. */
  leads(): Promise<void>
  /** Where the probe server listens. */
  readonly probePort: number
  /** Where the metrics server listens. */
  readonly metricsPort: number
  /** GET of a path of the probe server, e.g. `/readyz`. */
  probe(path: string): Promise<{ readonly status: number; readonly body: string }>
  /** GET /metrics. */
  metrics(): Promise<string>
  /** SIGTERM; resolves with how it ended, e.g. `exit code 0`. */
  stop(): Promise<string>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGSTOP and SIGCONT. */
  pause(): Promise<void>
  resume(): Promise<void>
}

/** A control plane on which the operator has its rights. */
export async function startOperatorPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const users = [{ name: OPERATOR }, { name: OPERATOR_B }, ...(options.users ?? [])]
  const cp = await startControlPlane({ ...options, users })
  await cp.apply(operatorAccess())
  return cp
}

/** Starts an operator; it is not waited for. */
export async function startOperator(
  cp: ControlPlane,
  options: OperatorOptions = {},
): Promise<RunningOperator> {
  const [probes = 0, metrics = 0] = await freePorts(2)
  const [command, ...first] = options.command ?? [EXECUTABLE]
  if (command === EXECUTABLE && !existsSync(command))
    throw new Error(`there is no ${command}: npm run build makes it`)
  const name = options.name ?? 'operator'
  // Runs of one name share a log file. Counted before the start: on a busy machine the program has its first lines out
  // before the supervisor's answer is here, and 'leading' would be taken for an earlier run's.
  const before = linesOf(join(cp.folder, `${name}.log`)).length
  const program = await cp.start({
    name,
    command,
    args: [
      ...first,
      `--trust-domain=${TRUST_DOMAIN}`,
      `--kubeconfig=${cp.kubeconfig(options.user ?? OPERATOR, options.server)}`,
      `--leader-election-namespace=${OPERATOR_NAMESPACE}`,
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      ...(options.flags ?? []),
    ],
  })
  const log = (): readonly JsonRecord[] => linesOf(program.log).slice(before).flatMap(parsed)
  const end = async (signal: NodeJS.Signals): Promise<string> => {
    await program.signal(signal)
    await program.end()
    return program.ended() ?? ''
  }
  return {
    program,
    log,
    leads: async () => {
      await until(() => {
        const how = program.ended()
        if (how !== undefined) throw new CannotHold(`it has ended: ${how}\n${program.lastWords()}`)
        return isLeading(log())
      }, `${name} to lead`)
    },
    probePort: probes,
    metricsPort: metrics,
    probe: (path) => fetchText(probes, path),
    metrics: async () => (await fetchText(metrics, '/metrics')).body,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    pause: () => program.signal('SIGSTOP'),
    resume: () => program.signal('SIGCONT'),
  }
}

/** Starts an operator, and waits until it leads. */
export async function startLeading(
  cp: ControlPlane,
  options: OperatorOptions = {},
): Promise<RunningOperator> {
  const operator = await startOperator(cp, options)
  await operator.leads()
  return operator
}

/** Stops an operator in order, does something while none runs, and starts the next one, which leads. */
export async function whileDown(
  cp: ControlPlane,
  operator: RunningOperator,
  act: () => Promise<unknown>,
  options: OperatorOptions = {},
): Promise<RunningOperator> {
  const ended = await operator.stop()
  if (ended !== 'exit code 0') throw new Error(`the operator has ended: ${ended}`)
  await act()
  return startLeading(cp, options)
}

/** Stops what a suite has started, in this order; what its start did not come to is undefined. */
export async function stopAll(
  ...started: readonly ({ readonly stop: () => unknown } | undefined)[]
): Promise<void> {
  for (const each of started) await each?.stop()
}

/** An operator that loses its Lease ends. After a restore it begins anew instead, and may stand by from then on. */
function isLeading(log: readonly JsonRecord[]): boolean {
  const messages = log.map((line) => stringAt(line, 'message'))
  const restored = messages.findLastIndex((message) => message?.endsWith('beginning anew') === true)
  return messages.lastIndexOf('leading') > restored
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}

/** What is no JSON (an error in words) is a line all the same. */
function parsed(line: string): readonly JsonRecord[] {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? [value] : []
  } catch {
    return [{ message: line }]
  }
}

/** A GET of the operator's own servers, on a connection of its own, as the kubelet asks: one that is kept may have been ended. */
function fetchText(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false, timeout: PROBE_MS }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    request.setTimeout(PROBE_MS, () =>
      request.destroy(new Error(`GET ${path}: no answer within ${PROBE_MS} ms`)),
    )
    request.once('error', reject)
  })
}
