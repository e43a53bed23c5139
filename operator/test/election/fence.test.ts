// Who does not lead, writes nothing; reading is free.
import { describe, expect, test } from 'vitest'
import type { Api } from '@kleym/shared/kube/api.ts'
import { ConnectionError } from '@kleym/shared/kube/errors.ts'
import { BINDINGS } from '@kleym/shared/kube/resources.ts'
import { fenced } from '../../src/election/fence.ts'

const REF = { namespace: 'team-a', name: 'chat' }

/** An API that notes what reaches it. */
function noting(): { readonly api: Api; readonly reached: string[] } {
  const reached: string[] = []
  const object = { kind: 'InferenceIdentityBinding' }
  const note = async <T>(call: string, answer: T): Promise<T> => {
    reached.push(call)
    return answer
  }
  const listing = { items: [], resourceVersion: '1' }
  const api: Api = {
    get: () => note('get', object),
    list: () => note('list', listing),
    pages: async function* pages() {
      yield await note('pages', listing)
    },
    watch: async function* watch() {
      yield await note('watch', { type: 'ADDED' as const, object })
    },
    create: () => note('create', object),
    update: () => note('update', object),
    patch: () => note('patch', object),
    delete: () => note('delete', { state: 'gone' as const }),
  }
  return { api, reached }
}

type Call = readonly [verb: string, call: (api: Api) => Promise<unknown>]

const WRITES: readonly Call[] = [
  ['create', (api) => api.create(BINDINGS, {})],
  ['update', (api) => api.update(BINDINGS, {})],
  ['patch', (api) => api.patch(BINDINGS, REF, {}, { kind: 'merge' })],
  ['delete', (api) => api.delete(BINDINGS, REF)],
]
const READS: readonly Call[] = [
  ['get', (api) => api.get(BINDINGS, REF)],
  ['list', (api) => api.list(BINDINGS)],
  ['pages', (api) => Array.fromAsync(api.pages(BINDINGS))],
  ['watch', (api) => Array.fromAsync(api.watch(BINDINGS, { resourceVersion: '1', timeoutSeconds: 1 }))],
]

describe('the fence', () => {
  test.each(WRITES)('keeps a %s of a process that does not lead from being sent', async (_verb, call) => {
    const { api, reached } = noting()
    const refused: unknown = await call(fenced(api, { isLeader: () => false })).catch(
      (error: unknown) => error,
    )
    expect(reached).toEqual([])
    expect(refused).toBeInstanceOf(ConnectionError)
    expect(refused).toMatchObject({ failure: 'aborted', neverSent: true })
  })

  test.each(WRITES)('asks at each %s anew', async (verb, call) => {
    const { api, reached } = noting()
    let leads = true
    const fence = fenced(api, { isLeader: () => leads })
    await call(fence)
    leads = false
    await expect(call(fence)).rejects.toThrow('does not lead')
    expect(reached).toEqual([verb])
  })

  test.each(READS)('lets a %s through', async (verb, call) => {
    const { api, reached } = noting()
    await call(fenced(api, { isLeader: () => false }))
    expect(reached).toEqual([verb])
  })
})
