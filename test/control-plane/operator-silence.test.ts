// A network that says nothing: the watches' connections stay open, nothing comes, and everything else is answered. Silence
// is never read as absence, and it is over within 45 s (docs/reliability.md).
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { bindingId, estate, member, outputsOf, untilReason } from './objects.ts'
import { startOperator, startOperatorPlane, stopAll } from './operator.ts'
import { allWatches } from './proxied-watches.ts'
import { until } from '@kleym/testing/wait.ts'

/** What docs/reliability.md promises, and the queue, a live list and a delete on a busy machine. */
const NOTICED_MS = 45_000 + 10_000

let cp: ControlPlane
let proxy: FaultProxy
beforeAll(async () => {
  cp = await startOperatorPlane()
  proxy = await startFaultProxy(cp)
  await startOperator(cp, { server: proxy.server, flags: ['--leader-elect=false'] })
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
