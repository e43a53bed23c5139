// A network that says nothing: the watches' connections stay open, nothing comes, and everything else is answered. Silence
// is never read as absence, and it is over within 45 s (docs/reliability.md). And an API server that answers the Lease
// alone, or everything but reviews of tokens.
import { get } from 'node:https'
import { certificate, certificatePath } from '@kleym/testing/faults/certificates.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringAt } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { CRD_NAMES } from './crds.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { bindingId, estate, member, outputsOf, untilReason } from './objects.ts'
import { LEASE } from './operator-access.ts'
import { startLeading, startOperator, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { allWatches } from './proxied-watches.ts'
import { CannotHold, until } from '@kleym/testing/wait.ts'

/** What docs/reliability.md promises, and the queue, a live list and a delete on a busy machine. */
const NOTICED_MS = 45_000 + 10_000
/** Longer than one renewal lets a leader lead. */
const LEADS_MS = 11_000

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  proxy = await startFaultProxy(cp)
  operator = await startOperator(cp, { server: proxy.server, flags: ['--leader-elect=false'] })
})
afterAll(() => stopAll(proxy, cp))

test('watches that fall silent lose nothing, and a deletion that they did not tell is acted on in time', async () => {
  await cp.apply([
    ...estate('silent'),
    ...member('silent', 'gone'),
    ...member('silent', 'stays', { containerName: 'proxy' }),
  ])
  for (const name of ['gone', 'stays']) await untilReason(cp, 'silent', name, 'Reconciled')
  const [before] = await outputsOf(cp, 'silent', 'stays')
  const silent = await allWatches(proxy)
  silent.stall()
  await cp.admin.delete(bindingId('silent', 'gone'))
  await until(
    async () => (await outputsOf(cp, 'silent', 'gone')).length === 0,
    'the identity of a deleted binding to go',
    NOTICED_MS,
  )
  const after = await outputsOf(cp, 'silent', 'stays')
  expect(after, 'nothing was taken for absent').toEqual([before])
})

test('a leader whose other requests all hang renews its Lease', async () => {
  await operator.stop()
  // Few connections beside the one for its worker.
  operator = await startLeading(cp, { server: proxy.server, flags: ['--workers=1'] })
  const others = proxy.inject({
    path: /^(?!.*\/leases)(?!.*[?&]watch=)/,
    count: Infinity,
    fault: { kind: 'hold' },
  })
  // Each CRD that changes is a reason to ask which kinds are served.
  for (const name of CRD_NAMES) {
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }
    await cp.admin.patch(crd, { metadata: { annotations: { 'example.org/touched': 'yes' } } })
  }
  const renewed = async (): Promise<number> =>
    Date.parse(stringAt(await cp.admin.get(LEASE), 'spec', 'renewTime') ?? '')
  await others.hit(6)
  const since = await renewed()
  await until(async () => {
    if (operator.program.ended() !== undefined) throw new CannotHold(operator.program.lastWords())
    return (await renewed()) > since + LEADS_MS
  }, 'a renewal, when the last one before the silence has run out')
  others.release()
  others.remove()
  expect(await operator.stop()).toBe('exit code 0')
})

test('reviews of tokens that all hang keep no binding waiting', async () => {
  operator = await startLeading(cp, {
    server: proxy.server,
    flags: [
      '--workers=1',
      '--metrics-secure',
      `--metrics-tls-cert-file=${certificatePath('server.crt')}`,
      `--metrics-tls-key-file=${certificatePath('server.key')}`,
    ],
  })
  const reviews = proxy.inject({ path: /tokenreviews/, count: Infinity, fault: { kind: 'hold' } })
  const target = { host: '127.0.0.1', servername: 'localhost', port: operator.metricsPort, path: '/metrics' }
  const scrapes = Array.from({ length: 8 }, (_, at) =>
    get({ ...target, ca: certificate('ca.crt'), headers: { authorization: `Bearer made-up-${at}` } }).on(
      'error',
      () => undefined,
    ),
  )
  await reviews.hit(8)
  await cp.apply([...estate('reviewed'), ...member('reviewed', 'late')])
  await untilReason(cp, 'reviewed', 'late', 'Reconciled')
  for (const scrape of scrapes) scrape.destroy()
  reviews.release()
  reviews.remove()
  expect(await operator.stop()).toBe('exit code 0')
})
