// Metrics under the names that dashboards know, and no label that names an object.
import { expect, test } from 'vitest'
import {
  readOutputStats,
  StatsTally,
  type OutputStats,
} from '@kleym/shared/core/model/objects/output-stats.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import { WorkQueue } from '../../src/queue/queue.ts'
import { FakeTime } from '../build/fake-time.ts'

/** The samples whose name begins so, without buckets. */
async function samples(metrics: Metrics, prefix: string): Promise<string[]> {
  const { body } = await metrics.render()
  return body.split('\n').filter((line) => line.startsWith(prefix) && !line.includes('_bucket'))
}

const create = (): Metrics => createMetrics({ process: false })

test('reconciles are counted by result and timed, errors twice', async () => {
  const metrics = create()
  metrics.reconciled('success', 20)
  metrics.reconciled('error', 40)
  expect(await samples(metrics, 'controller_runtime_')).toEqual([
    'controller_runtime_reconcile_total{controller="inferenceidentitybinding",result="success"} 1',
    'controller_runtime_reconcile_total{controller="inferenceidentitybinding",result="error"} 1',
    'controller_runtime_reconcile_total{controller="inferenceidentitybinding",result="requeue"} 0',
    'controller_runtime_reconcile_total{controller="inferenceidentitybinding",result="requeue_after"} 0',
    'controller_runtime_reconcile_errors_total{controller="inferenceidentitybinding"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="inferenceidentitybinding"} 0.06',
    'controller_runtime_reconcile_time_seconds_count{controller="inferenceidentitybinding"} 2',
  ])
})

test('the queue shows as client-go shows its own', async () => {
  const metrics = create()
  const time = new FakeTime()
  const queue = new WorkQueue({
    clock: time.clock(),
    random: () => 0,
    groupOf: () => '',
    workers: Infinity,
    observer: metrics.queue,
  })
  metrics.watchQueue(queue)
  queue.add('a/1')
  queue.add('a/2')
  queue.add('a/3')
  await time.advance(2_000)
  queue.done((await queue.take()) ?? '')
  await queue.take()
  queue.retry('a/4')
  time.pass(3_000)
  const labels = '{name="inferenceidentitybinding",controller="inferenceidentitybinding"}'
  expect(await samples(metrics, 'workqueue_')).toEqual([
    `workqueue_depth${labels} 2`,
    `workqueue_unfinished_work_seconds${labels} 3`,
    `workqueue_longest_running_processor_seconds${labels} 3`,
    `workqueue_adds_total${labels} 4`,
    `workqueue_retries_total${labels} 1`,
    `workqueue_queue_duration_seconds_sum${labels} 4`,
    `workqueue_queue_duration_seconds_count${labels} 2`,
    `workqueue_work_duration_seconds_sum${labels} 0`,
    `workqueue_work_duration_seconds_count${labels} 1`,
  ])
})

const labelsOf = (reason: string, condition: string): string =>
  `{condition="${condition}",reason="${reason}",mode="PoolOnly"}`

test('bindings are counted where they stand now, and each change once', async () => {
  const metrics = create()
  const ready = { condition: 'Ready', reason: 'Reconciled', mode: 'PoolOnly' } as const
  const refused = { condition: 'InvalidRef', reason: 'TargetPoolNotFound', mode: 'PoolOnly' } as const
  metrics.setBinding('a/1', ready)
  metrics.setBinding('a/1', { ...ready })
  metrics.setBinding('a/2', ready)
  metrics.setBinding('a/2', refused)
  metrics.setBinding('a/3', refused)
  metrics.setBinding('a/3', undefined)
  metrics.setBinding('a/4', undefined)
  expect(await samples(metrics, 'kleym_identity_')).toEqual([
    `kleym_identity_bindings${labelsOf('Reconciled', 'Ready')} 1`,
    `kleym_identity_bindings${labelsOf('TargetPoolNotFound', 'InvalidRef')} 1`,
    `kleym_identity_binding_outcomes_total${labelsOf('Reconciled', 'Ready')} 2`,
    `kleym_identity_binding_outcomes_total${labelsOf('TargetPoolNotFound', 'InvalidRef')} 2`,
  ])
})

test('leadership, requests, repairs and events show', async () => {
  const metrics = create()
  let leading = true
  metrics.watchLeadership({ isLeader: () => leading }, 'kleym-operator')
  expect(await samples(metrics, 'leader_')).toEqual([
    'leader_election_master_status{name="kleym-operator"} 1',
  ])
  leading = false
  expect(await samples(metrics, 'leader_')).toEqual([
    'leader_election_master_status{name="kleym-operator"} 0',
  ])
  metrics.requested({ code: 201, method: 'POST', host: '10.0.0.1:443' })
  metrics.requested({ code: '<error>', method: 'GET', host: '10.0.0.1:443' })
  expect(await samples(metrics, 'rest_')).toEqual([
    'rest_client_requests_total{code="201",method="POST",host="10.0.0.1:443"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="10.0.0.1:443"} 1',
  ])
  metrics.outputRepaired()
  metrics.eventEnded('recorded')
  expect(await samples(metrics, 'kleym_datastore')).toEqual(['kleym_datastore_restores_total 0'])
  const later = createMetrics({ process: false, restores: 2 })
  expect(await samples(later, 'kleym_datastore')).toEqual(['kleym_datastore_restores_total 2'])
  expect(await samples(metrics, 'kleym_output')).toEqual(['kleym_output_repairs_total 1'])
  expect(await samples(metrics, 'kleym_events')).toContain('kleym_events_total{result="recorded"} 1')
})

test('the entries of outputs are added up from the counters of SCM at each scrape', async () => {
  const metrics = create()
  const tally = new StatsTally()
  for (const counters of [stats(3), undefined, stats(250)]) tally.count(counters, 1)
  metrics.watchOutputs(tally)
  expect(await samples(metrics, 'kleym_identity_')).toEqual(
    expect.arrayContaining([
      'kleym_identity_entries 253',
      'kleym_identity_entries_largest_output 250',
      'kleym_identity_entry_pages 2',
      'kleym_identity_outputs_uncounted 1',
    ]),
  )
  tally.count(stats(200), 1)
  expect(await samples(metrics, 'kleym_identity_entries ')).toEqual(['kleym_identity_entries 453'])
})

function stats(entriesToSet: number): OutputStats | undefined {
  return readOutputStats({ status: { stats: { entriesToSet } } })
}

test('no label holds what a binding is called, even where a caller hands more than the labels over', async () => {
  const metrics = create()
  const outcome = { condition: 'Ready', reason: 'Reconciled', mode: 'PoolOnly' } as const
  metrics.setBinding('secret-tenant/secret-name', Object.assign({ name: 'secret-name' }, outcome))
  expect((await metrics.render()).body).not.toContain('secret')
})

test('the process itself is measured, the lag of its event loop too', async () => {
  const metrics = createMetrics()
  const { body, contentType } = await metrics.render()
  expect(body).toContain('nodejs_eventloop_lag_p99_seconds')
  expect(body).toContain('process_resident_memory_bytes')
  expect(contentType).toContain('text/plain')
})

test('what the process takes of memory is below what it may take', async () => {
  const { body } = await createMetrics().render()
  const bytes = (series: string): number =>
    Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  for (const [taken, of] of [
    ['process_resident_memory_bytes', 'process'],
    ['nodejs_heap_size_used_bytes', 'heap'],
  ] as const) {
    expect(bytes(taken)).toBeGreaterThan(0)
    expect(bytes(taken)).toBeLessThan(bytes(`kleym_memory_limit_bytes{of="${of}"}`))
  }
})
