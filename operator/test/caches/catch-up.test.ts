// What a new leader does before its first write: every cache that is followed comes from a list that began
// after it led, and nothing that cannot be listed keeps it from leading.
import { expect, it } from 'vitest'
import { BINDINGS } from '@kleym/shared/kube/resources.ts'
import { settled } from '../build/fake-time.ts'
import {
  begin,
  fail,
  filled,
  forbid,
  MINUTE,
  named,
  permit,
  SECOND,
  setUp,
  SUBJECT,
  type Setup,
} from './keeper-setup.ts'

it('has in its caches what their watches must still show', async () => {
  const setup = await filled('llama', 'qwen')
  setup.server.remove(SUBJECT, 'qwen', { tells: false })
  setup.server.write(SUBJECT, named('mistral'), { tells: false })
  await setup.keeper.catchUp()
  expect([setup.names(), setup.said]).toEqual([
    ['llama', 'mistral'],
    ['0 s: waiting', '0 s: synced'],
  ])
})

it('believes nothing that it held before, also where the list shows it in the very version', async () => {
  const setup = await filled('llama')
  setup.server.holdLists(SUBJECT)
  const under = setup.keeper.catchUp()
  await settled()
  expect(setup.syncState()).toBe('waiting')
  // The watch that it had goes on no more.
  setup.server.write(SUBJECT, named('mistral'))
  await settled()
  expect(setup.names()).toEqual(['llama'])
  setup.server.letListsGo(SUBJECT)
  await under
  expect(setup.names()).toEqual(['llama'])
  expect(setup.heard).toEqual(['updated llama while waiting'])
})

/** The first list of the kind has begun with `llama` and `qwen`; since then `qwen` is gone and `mistral` is new. */
async function listing(): Promise<Setup> {
  const setup = setUp()
  setup.server.write(SUBJECT, named('llama'))
  setup.server.write(SUBJECT, named('qwen'))
  setup.server.holdLists(SUBJECT)
  await begin(setup)
  expect(setup.syncState()).toBe('waiting')
  setup.server.remove(SUBJECT, 'qwen', { tells: false })
  setup.server.write(SUBJECT, named('mistral'), { tells: false })
  return setup
}

it('believes no list that began before', async () => {
  const setup = await listing()
  await setup.keeper.catchUp()
  setup.server.letListsGo(SUBJECT)
  await settled()
  expect([setup.syncState(), setup.names()]).toEqual(['synced', ['llama', 'mistral']])
  expect(setup.heard.filter((line) => line.includes('qwen'))).toEqual([])
})

it('does not lead before every cache that it believed is listed, and waits for no other', async () => {
  const setup = setUp()
  setup.server.holdLists(BINDINGS)
  setup.server.write(SUBJECT, named('llama'))
  await begin(setup)
  setup.server.write(SUBJECT, named('mistral'), { tells: false })
  fail(setup)
  let isOver = false
  const under = setup.keeper.catchUp().then(() => (isOver = true))
  await setup.time.advance(SECOND)
  expect([isOver, setup.syncState()]).toEqual([false, 'waiting'])
  permit(setup)
  await setup.time.advance(MINUTE)
  await under
  expect(setup.names()).toEqual(['llama', 'mistral'])
})

it.each([
  { fails: 'fail', does: fail, cause: 'failed' },
  { fails: 'are forbidden', does: forbid, cause: 'forbidden' },
])(
  'leads after ten seconds without a kind that it believed and whose lists $fails',
  async ({ does, cause }) => {
    const setup = await filled('llama')
    does(setup)
    const outcome = setup.keeper.catchUp().then(() => 'caught up')
    await setup.time.advance(MINUTE)
    expect(await Promise.race([outcome, settled().then(() => 'hangs')])).toBe('caught up')
    expect(setup.said).toEqual(['0 s: waiting', `10 s: unknown: ${cause}`])
    // What it held may have gone since, and the leader before may have acted on that.
    expect([setup.heard, setup.names()]).toEqual([['removed llama while unknown'], []])
    permit(setup)
    await setup.time.advance(MINUTE)
    expect([setup.syncState(), setup.names()]).toEqual(['synced', ['llama']])
  },
)

it.each<{ name: string; does: (setup: Setup) => void; syncState: string }>([
  { name: 'is not served', does: ({ server }) => server.withdraw(SUBJECT), syncState: 'absent' },
  { name: 'may not be listed', does: forbid, syncState: 'unknown: forbidden' },
  { name: 'nobody answers for', does: ({ server }) => server.holdLists(SUBJECT), syncState: 'waiting' },
])('is not held up by a kind that $name', async ({ does, syncState }) => {
  const setup = setUp()
  does(setup)
  await begin(setup)
  expect(setup.syncState()).toBe(syncState)
  const outcome = setup.keeper.catchUp().then(() => 'caught up')
  expect(await Promise.race([outcome, settled().then(() => 'hangs')])).toBe('caught up')
  await settled()
  expect(setup.syncState()).toBe(syncState)
})

it('has nothing of a kind that it did not believe any more, until that is listed', async () => {
  const setup = await filled('llama')
  forbid(setup)
  await setup.time.advance(MINUTE)
  expect([setup.syncState(), setup.names()]).toEqual(['unknown: forbidden', ['llama']])
  permit(setup)
  setup.server.remove(SUBJECT, 'llama')
  setup.server.write(SUBJECT, named('mistral'))
  setup.server.holdLists(SUBJECT)
  await setup.keeper.catchUp()
  expect([setup.syncState(), setup.names()]).toEqual(['waiting', []])
  setup.server.letListsGo(SUBJECT)
  await settled()
  expect([setup.syncState(), setup.names()]).toEqual(['synced', ['mistral']])
})

it('follows a kind that it could not list once it can be', async () => {
  const setup = setUp()
  forbid(setup)
  await begin(setup)
  await setup.keeper.catchUp()
  permit(setup)
  await setup.time.advance(MINUTE)
  expect(setup.syncState()).toBe('synced')
})

it('does not take a kind for absent that is served again and that no event has told of', async () => {
  const setup = setUp()
  setup.server.withdraw(SUBJECT)
  await begin(setup)
  expect(setup.syncState()).toBe('absent')
  setup.server.serve(SUBJECT)
  setup.server.write(SUBJECT, named('llama'), { tells: false })
  await setup.keeper.catchUp()
  expect(setup.syncState(), 'nothing is refused for want of it').toBe('waiting')
  await settled()
  expect([setup.syncState(), setup.names()]).toEqual(['synced', ['llama']])
})
