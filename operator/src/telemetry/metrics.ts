// The operator's metrics, under the names that dashboards for controller-runtime, client-go's workqueue and client-go's
// leader election know, and ours. No label ever holds the name of an object, a namespace or a SPIFFE ID: every label is
// from a closed set, so that the number of series does not grow with the cluster.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { bindingMetrics, type BindingMetrics } from './binding-metrics.ts'
import { entryMetrics, type EntryMetrics } from './entry-metrics.ts'
import { eventLoopMetrics, type EventLoopMetrics } from './event-loop-lag.ts'
import { memoryMetrics } from './memory-metrics.ts'
import type { QueueObserver, QueueState } from '../queue/queue.ts'

/** The only controller, and its queue: the label `controller`, and the label `name` of the queue. */
export const CONTROLLER = 'inferenceidentitybinding'

/** controller-runtime's results of a reconcile: `requeue` is a retry with backoff, `requeue_after` one after a fixed time. */
export const RECONCILE_RESULTS = ['success', 'error', 'requeue', 'requeue_after'] as const
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number]

/** What became of an event: written, refused for good, or never sent because too many waited. */
export const EVENT_RESULTS = ['recorded', 'failed', 'dropped'] as const
export type EventResult = (typeof EVENT_RESULTS)[number]

/** A request to the API server that has ended. */
export interface ApiRequest {
  /** The HTTP status, or `<error>` where there was no answer (as client-go counts). */
  readonly code: number | '<error>'
  readonly method: string
  /** Host and port of the API server. */
  readonly host: string
}

/** Everything that the operator counts and measures. */
export interface Metrics extends BindingMetrics, EntryMetrics, EventLoopMetrics {
  reconciled(result: ReconcileResult, ms: number): void
  /** Hears of the queue's events as they happen; `watchQueue` is for the rest, which is read at each scrape. */
  readonly queue: QueueObserver
  watchQueue(queue: { state(): QueueState }): void
  /** Is asked at each scrape. */
  watchLeadership(leadership: { isLeader(): boolean }, leaseName: string): void
  requested(request: ApiRequest): void
  /** A hand edit or a hand delete of our output was put right. */
  outputRepaired(): void
  eventEnded(result: EventResult): void
  /** All metrics in the Prometheus text format. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>
}

export interface MetricsOptions {
  /** Whether to measure the process, the garbage collector and the lag of the event loop. True when absent. */
  readonly process?: boolean
  /** How often the datastore was restored since the process has started; 0 when absent. */
  readonly restores?: number
}

/** controller-runtime's buckets of a reconcile, in seconds. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
/** client-go's buckets of a queue, in seconds: 10 ns to 1,000 s. */
const QUEUE_BUCKETS = Array.from({ length: 12 }, (_, at) => 10 ** (at - 8))

/** Metrics in a registry of their own. */
export function createMetrics({
  process: measureProcess = true,
  restores = 0,
}: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  if (measureProcess) {
    collectDefaultMetrics({ register: registry })
    memoryMetrics(registry)
  }
  const bindings = bindingMetrics(registry)
  return {
    ...reconcileMetrics(registry),
    ...queueMetrics(registry),
    ...clientMetrics(registry, restores),
    ...entryMetrics(registry),
    ...eventLoopMetrics(registry),
    ...bindings,
    async render() {
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}

function reconcileMetrics(registry: Registry): Pick<Metrics, 'reconciled'> {
  const registers = [registry]
  const controller = CONTROLLER
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by result.',
    labelNames: ['controller', 'result'],
    registers,
  })
  const errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that ended with an error.',
    labelNames: ['controller'],
    registers,
  })
  const time = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a reconcile took.',
    labelNames: ['controller'],
    buckets: RECONCILE_BUCKETS,
    registers,
  })
  // A rate needs a zero to start from.
  for (const result of RECONCILE_RESULTS) total.inc({ controller, result }, 0)
  errors.inc({ controller }, 0)
  return {
    reconciled(result, ms) {
      total.inc({ controller, result })
      if (result === 'error') errors.inc({ controller })
      time.observe({ controller }, ms / 1000)
    },
  }
}

function queueMetrics(registry: Registry): Pick<Metrics, 'queue' | 'watchQueue'> {
  const registers = [registry]
  const labelNames = ['name', 'controller'] as const
  const labels = { name: CONTROLLER, controller: CONTROLLER }
  let watched: { state(): QueueState } | undefined
  const gauge = (name: string, help: string, read: (state: QueueState) => number): void => {
    const metric = new Gauge({
      name: `workqueue_${name}`,
      help,
      labelNames,
      registers,
      collect: () => {
        if (watched !== undefined) metric.set(labels, read(watched.state()))
      },
    })
  }
  const counter = (name: string, help: string) => {
    const metric = new Counter({ name: `workqueue_${name}`, help, labelNames, registers })
    metric.inc(labels, 0)
    return () => metric.inc(labels)
  }
  const duration = (name: string, help: string) => {
    const metric = new Histogram({
      name: `workqueue_${name}`,
      help,
      labelNames,
      buckets: QUEUE_BUCKETS,
      registers,
    })
    return (ms: number) => metric.observe(labels, ms / 1000)
  }
  gauge('depth', 'Keys that wait for a worker.', ({ depth }) => depth)
  gauge(
    'unfinished_work_seconds',
    'How long all keys in work have been so, added up.',
    ({ unfinishedMs }) => unfinishedMs / 1000,
  )
  gauge(
    'longest_running_processor_seconds',
    'How long the key longest in work has been so.',
    ({ longestMs }) => longestMs / 1000,
  )
  return {
    queue: {
      added: counter('adds_total', 'Keys added.'),
      retried: counter('retries_total', 'Keys added with a delay.'),
      taken: duration('queue_duration_seconds', 'How long a key waited for a worker.'),
      done: duration('work_duration_seconds', 'How long a key was in work.'),
    },
    watchQueue(queue) {
      watched = queue
    },
  }
}

function clientMetrics(
  registry: Registry,
  restores: number,
): Pick<Metrics, 'watchLeadership' | 'requested' | 'outputRepaired' | 'eventEnded'> {
  const registers = [registry]
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status code, method and host.',
    labelNames: ['code', 'method', 'host'],
    registers,
  })
  const repairs = new Counter({
    name: 'kleym_output_repairs_total',
    help: 'Hand edits and hand deletions of our ClusterSPIFFEIDs that were put right.',
    registers,
  })
  const events = new Counter({
    name: 'kleym_events_total',
    help: 'Kubernetes events by what became of them.',
    labelNames: ['result'],
    registers,
  })
  new Counter({
    name: 'kleym_datastore_restores_total',
    help: 'How often the datastore of the API server was found restored to an earlier state.',
    registers,
  }).inc(restores)
  for (const result of EVENT_RESULTS) events.inc({ result }, 0)
  return {
    watchLeadership(leadership, leaseName) {
      const metric: Gauge<'name'> = new Gauge({
        name: 'leader_election_master_status',
        help: 'Whether this process holds the Lease: 1 or 0.',
        labelNames: ['name'],
        registers,
        collect: () => metric.set({ name: leaseName }, leadership.isLeader() ? 1 : 0),
      })
    },
    requested({ code, method, host }) {
      requests.inc({ code: String(code), method, host })
    },
    outputRepaired() {
      repairs.inc()
    },
    eventEnded(result) {
      events.inc({ result })
    },
  }
}
