// The Grafana dashboard of the chart, from a table of rows and panels: charts/kleym/files/dashboard.json is made from it.
// One kleym per cluster, so that nothing is chosen but the data source. Metrics that other programs have too are told
// by `name`, or by being served beside one of ours. Schema: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
import { CONTROLLER } from '../../operator/src/telemetry/metrics.ts'
import type { Json } from './setting.ts'

/** The version of Grafana's schema that the JSON is written in; newer Grafanas migrate it. */
const SCHEMA_VERSION = 41
/** The width of a dashboard, in Grafana's units, and the heights of a row, of a number and of a graph. */
const WIDTH = 24
const ROW_HEIGHT = 1
const STAT_HEIGHT = 4
const GRAPH_HEIGHT = 8

type Query = readonly [legend: string, expr: string]

interface Panel {
  readonly kind: 'stat' | 'timeseries'
  readonly title: string
  /** What a reader makes of it, in a sentence or two. */
  readonly about: string
  /** Of Grafana's units: `short`, `s`, `bytes`, `percentunit`, `reqps`, `ops`. */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Of a number: from where on it is red, and below it green; absent: it is neither good nor bad. */
  readonly redFrom?: number
  /** Of a number: green from here on, and red below. */
  readonly greenFrom?: number
  /** Of a graph: whether its series add up to something. */
  readonly stacked?: boolean
}

interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

const QUEUE = `name="${CONTROLLER}"`
const RATE = '[$__rate_interval]'
const REFUSED = 'condition=~"InvalidRef|UnsafeSelector|Conflict|RenderFailure"'
const UNDECIDED = 'reason=~"Undetermined|WaitingForPeer"'
/** The series of the same process. */
const OURS = 'and on (job, instance) kleym_output_repairs_total'

const ROWS: readonly Row[] = [
  {
    title: 'Health',
    panels: [
      {
        kind: 'stat',
        title: 'Leaders',
        about:
          'Operators that hold the Lease: 1. None for long: nothing is decided. No data: leader election is off.',
        unit: 'short',
        queries: [['', 'sum(leader_election_master_status{name="kleym-operator"})']],
        greenFrom: 1,
      },
      {
        kind: 'stat',
        title: 'Operators',
        about: 'Operators that are scraped: the leader and those that stand by.',
        unit: 'short',
        queries: [['', 'count(kleym_output_repairs_total)']],
        greenFrom: 1,
      },
      {
        kind: 'stat',
        title: 'Datastore restored',
        about: 'How often the API server went back in time, in the time shown.',
        unit: 'short',
        queries: [['', 'round(sum(increase(kleym_datastore_restores_total[$__range])))']],
        redFrom: 1,
      },
      {
        kind: 'timeseries',
        title: 'Event loop: share of the time in which it was late',
        about:
          'Everything takes its turn in one thread. Near 1 nothing else gets one, and the Lease is lost after 10 s.',
        unit: 'percentunit',
        queries: [['{{pod}}', `rate(kleym_event_loop_lag_seconds_sum${RATE})`]],
      },
      {
        kind: 'timeseries',
        title: 'Memory',
        about:
          'Resident memory of each operator; it grows with bindings, pools and ClusterSPIFFEIDs, not with pods.',
        unit: 'bytes',
        queries: [['{{pod}}', `process_resident_memory_bytes ${OURS}`]],
      },
      {
        kind: 'timeseries',
        title: 'CPU',
        about: 'Cores that each operator uses; it has one thread, so 1 is about all that it can.',
        unit: 'short',
        queries: [['{{pod}}', `rate(process_cpu_seconds_total${RATE}) ${OURS}`]],
      },
    ],
  },
  {
    title: 'Bindings',
    panels: [
      {
        kind: 'stat',
        title: 'Ready',
        about: 'Bindings whose output is written. Whether SPIRE acts on it: the next row.',
        unit: 'short',
        queries: [['', 'sum(kleym_identity_bindings{reason="Reconciled"}) or vector(0)']],
      },
      {
        kind: 'stat',
        title: 'Refused',
        about: 'Bindings that are refused; they have no identity.',
        unit: 'short',
        queries: [['', `sum(kleym_identity_bindings{${REFUSED}}) or vector(0)`]],
        redFrom: 1,
      },
      {
        kind: 'stat',
        title: 'Undecided',
        about: 'Bindings about which kleym cannot decide yet; what they have stays.',
        unit: 'short',
        queries: [['', `sum(kleym_identity_bindings{${UNDECIDED}}) or vector(0)`]],
        redFrom: 1,
      },
      {
        kind: 'timeseries',
        title: 'Bindings by reason',
        about: 'All bindings, by where they stand.',
        unit: 'short',
        queries: [['{{reason}}', 'sum by (reason) (kleym_identity_bindings)']],
        stacked: true,
      },
      {
        kind: 'timeseries',
        title: 'Bindings by mode',
        about: 'All bindings, by the boundary of the identity that they ask for.',
        unit: 'short',
        queries: [['{{mode}}', 'sum by (mode) (kleym_identity_bindings)']],
        stacked: true,
      },
      {
        kind: 'timeseries',
        title: 'Changes of verdict',
        about: 'How often bindings came to stand there; after a restart each is counted once.',
        unit: 'ops',
        queries: [['{{reason}}', `sum by (reason) (rate(kleym_identity_binding_outcomes_total${RATE}))`]],
      },
    ],
  },
  {
    title: 'In force',
    panels: [
      {
        kind: 'stat',
        title: 'Registered',
        about: 'Bindings whose entries the SPIRE controller manager has registered.',
        unit: 'short',
        queries: [['', 'sum(kleym_identity_bindings_in_force{reason="Registered"}) or vector(0)']],
      },
      {
        kind: 'stat',
        title: 'Written, not in force',
        about:
          'Bindings whose output is written, whose pods are there, and that have no registered entry. NotHandled: no SPIRE ' +
          'controller manager has acted on it (class, label, or it is down).',
        unit: 'short',
        queries: [
          [
            '',
            'sum(kleym_identity_bindings_in_force{reason=~"NamespaceIgnored|EntriesRefused|Masked|RenderFailed|NotHandled"}) or vector(0)',
          ],
        ],
        redFrom: 1,
      },
      {
        kind: 'stat',
        title: 'No pods',
        about: 'Bindings whose pool has no pods now.',
        unit: 'short',
        queries: [['', 'sum(kleym_identity_bindings_in_force{reason="NoPods"}) or vector(0)']],
      },
      {
        kind: 'timeseries',
        title: 'In force, by reason',
        about: 'All bindings, by what SPIRE has made of them.',
        unit: 'short',
        queries: [['{{reason}}', 'sum by (reason) (kleym_identity_bindings_in_force)']],
        stacked: true,
      },
      {
        kind: 'timeseries',
        title: 'Repairs',
        about: 'Edits and deletions of the output by others that were put right.',
        unit: 'ops',
        queries: [['repairs', `sum(rate(kleym_output_repairs_total${RATE}))`]],
      },
      {
        kind: 'timeseries',
        title: 'Events',
        about: 'Kubernetes events by what became of them. Dropped: too many waited.',
        unit: 'ops',
        queries: [['{{result}}', `sum by (result) (rate(kleym_events_total${RATE}))`]],
      },
    ],
  },
  {
    title: 'Queue',
    panels: [
      {
        kind: 'timeseries',
        title: 'Waiting',
        about: 'Bindings that wait for a worker. A start and a change that concerns many make a peak.',
        unit: 'short',
        queries: [['{{pod}}', `workqueue_depth{${QUEUE}}`]],
      },
      {
        kind: 'timeseries',
        title: 'Time until a look',
        about: 'How long bindings waited for a worker.',
        unit: 's',
        queries: quantiles('workqueue_queue_duration_seconds', QUEUE),
      },
      {
        kind: 'timeseries',
        title: 'Time of a look',
        about: 'How long the work on a binding took, its requests to the API server included.',
        unit: 's',
        queries: quantiles('controller_runtime_reconcile_time_seconds', `controller="${CONTROLLER}"`),
      },
      {
        kind: 'timeseries',
        title: 'Looks by result',
        about:
          'requeue: failed, and tried again with backoff. requeue_after: looked at again after a fixed time.',
        unit: 'ops',
        queries: [
          [
            '{{result}}',
            `sum by (result) (rate(controller_runtime_reconcile_total{controller="${CONTROLLER}"}${RATE}))`,
          ],
        ],
      },
      {
        kind: 'timeseries',
        title: 'Added and retried',
        about: 'Bindings that were queued, and those of them that were queued with a delay.',
        unit: 'ops',
        queries: [
          ['added', `sum(rate(workqueue_adds_total{${QUEUE}}${RATE}))`],
          ['retried', `sum(rate(workqueue_retries_total{${QUEUE}}${RATE}))`],
        ],
      },
      {
        kind: 'timeseries',
        title: 'Longest in work',
        about: 'For how long a worker has been at the binding that it has been at the longest.',
        unit: 's',
        queries: [['{{pod}}', `workqueue_longest_running_processor_seconds{${QUEUE}}`]],
      },
    ],
  },
  {
    title: 'API server',
    panels: [
      {
        kind: 'timeseries',
        title: 'Requests by answer',
        about: '<error>: there was no answer.',
        unit: 'reqps',
        queries: [['{{code}}', `sum by (code) (rate(rest_client_requests_total${RATE}) ${OURS})`]],
        stacked: true,
      },
      {
        kind: 'timeseries',
        title: 'Requests by verb',
        about:
          'POST, PUT, PATCH and DELETE write. A settled cluster has the PUT of the Lease and nothing else.',
        unit: 'reqps',
        queries: [['{{method}}', `sum by (method) (rate(rest_client_requests_total${RATE}) ${OURS})`]],
        stacked: true,
      },
      {
        kind: 'timeseries',
        title: 'Requests that failed',
        about: 'The share of requests with no answer, or that were put off (429) or failed (5xx).',
        unit: 'percentunit',
        queries: [
          [
            'failed',
            `(sum(rate(rest_client_requests_total{code=~"429|5..|<error>"}${RATE}) ${OURS}) or vector(0)) ` +
              `/ sum(rate(rest_client_requests_total${RATE}) ${OURS})`,
          ],
        ],
      },
    ],
  },
]

/** The median and the 99th percentile of a histogram. */
function quantiles(metric: string, matcher: string): readonly Query[] {
  return [
    ['median', 0.5],
    ['99 %', 0.99],
  ].map(([legend, quantile]) => [
    String(legend),
    `histogram_quantile(${quantile}, sum by (le) (rate(${metric}_bucket{${matcher}}${RATE})))`,
  ])
}

/** charts/kleym/files/dashboard.json. */
export function dashboardJson(): string {
  return `${JSON.stringify(dashboard(), undefined, 2)}\n`
}

/** Every query of the dashboard, as PromQL. */
export function dashboardQueries(): readonly string[] {
  return ROWS.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(([, expr]) => expr)))
}

function dashboard(): Json {
  return {
    uid: 'kleym',
    title: 'kleym',
    description:
      'Inference identity bindings, whether SPIRE acts on them, and the operator that compiles them.',
    tags: ['kleym', 'spiffe'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    annotations: { list: [] },
    panels: placed(),
  }
}

/** The rows and panels, each in its place: numbers three in a line, then graphs three in a line. */
function placed(): readonly Json[] {
  const all: Json[] = []
  let y = 0
  let id = 1
  for (const { title, panels } of ROWS) {
    all.push({
      id: id++,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: ROW_HEIGHT },
      panels: [],
    })
    y += ROW_HEIGHT
    for (const kind of ['stat', 'timeseries'] as const) {
      const [h, line] = [
        kind === 'stat' ? STAT_HEIGHT : GRAPH_HEIGHT,
        panels.filter((one) => one.kind === kind),
      ]
      const w = WIDTH / 3
      for (const [at, panel] of line.entries()) {
        all.push(panelOf(panel, id++, { x: (at % 3) * w, y: y + Math.floor(at / 3) * h, w, h }))
      }
      y += Math.ceil(line.length / 3) * h
    }
  }
  return all
}

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

function panelOf(panel: Panel, id: number, gridPos: Json): Json {
  const { kind, title, about, unit, queries } = panel
  return {
    id,
    type: kind,
    title,
    description: about,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: {
      defaults: { unit, min: 0, ...(kind === 'stat' ? colours(panel) : { custom: lines(panel) }) },
      overrides: [],
    },
    options:
      kind === 'stat'
        ? {
            reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
            graphMode: 'area',
            orientation: 'auto',
          }
        : {
            legend: {
              displayMode: 'table',
              placement: 'bottom',
              showLegend: true,
              calcs: ['lastNotNull', 'max'],
            },
            tooltip: { mode: 'multi', sort: 'desc' },
          },
    targets: queries.map(([legend, expr], at) => ({
      refId: 'ABCDEFGH'.charAt(at),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}

function lines({ stacked = false }: Panel): Json {
  return {
    drawStyle: 'line',
    fillOpacity: stacked ? 30 : 5,
    showPoints: 'never',
    stacking: { mode: stacked ? 'normal' : 'none', group: 'A' },
  }
}

function colours({ redFrom, greenFrom }: Panel): { readonly [key: string]: Json } {
  if (redFrom === undefined && greenFrom === undefined) return {}
  const [below, above] = redFrom === undefined ? ['red', 'green'] : ['green', 'red']
  const steps = [
    { color: below, value: null },
    { color: above, value: redFrom ?? greenFrom ?? 0 },
  ]
  return { color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } }
}
