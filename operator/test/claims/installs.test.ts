// Which installs have outputs in the cluster, and when this one stands by (docs/contract.md §8, "Whose object is it").
import { expect, test } from 'vitest'
import {
  ANNOTATION_BINDING,
  ANNOTATION_GO_CLAIM,
  ANNOTATION_INSTALL,
} from '@kleym/shared/core/model/names.ts'
import { GO_IMPLEMENTATION } from '@kleym/shared/core/decide/plan/ownership.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { Installs } from '../../src/claims/installs.ts'
import { keptLog } from '../build/log-lines.ts'

const OWN = 'kleym-system/kleym-operator'
const OTHER = 'other/kleym-operator'

function cluster(takeOver: readonly string[] = [], install: string | undefined = OWN) {
  const caches = createCaches({ onError: (error) => expect.fail(String(error)) })
  let freed = 0
  const installs = new Installs({
    caches,
    install,
    takeOver: new Set(takeOver),
    log: keptLog().log,
    onFree: () => {
      freed += 1
    },
  })
  let version = 0
  const show = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, mark?: string): void => {
    version += 1
    const annotations =
      mark === GO_IMPLEMENTATION
        ? { [ANNOTATION_GO_CLAIM]: '0f3f' }
        : {
            [ANNOTATION_BINDING]: 'team-a/chat',
            ...(mark === undefined ? {} : { [ANNOTATION_INSTALL]: mark }),
          }
    const metadata = { name, uid: `uid-of-${name}`, resourceVersion: String(version), annotations }
    caches.outputs.store.apply(type, caches.outputs.read({ metadata, spec: {} }))
  }
  return { installs, show, freed: () => freed }
}

test('without outputs of others it works, and an output without a mark is its own', () => {
  const { installs, show } = cluster()
  expect(installs.standsBy).toBe(false)
  show('ADDED', 'a')
  show('ADDED', 'b', OWN)
  expect(installs).toMatchObject({ standsBy: false, others: [] })
})

test('it stands by while another install has outputs and it has none, and hears of the end of that', () => {
  const { installs, show, freed } = cluster()
  show('ADDED', 'a', OTHER)
  show('ADDED', 'b', OTHER)
  expect(installs).toMatchObject({ standsBy: true, others: [OTHER] })
  show('DELETED', 'a', OTHER)
  expect(installs.standsBy).toBe(true)
  show('DELETED', 'b', OTHER)
  expect(installs).toMatchObject({ standsBy: false, others: [] })
  expect(freed()).toBe(1)
})

test('one that has outputs works on beside those of another, and tells of them', () => {
  const { installs, show } = cluster()
  show('ADDED', 'a', OWN)
  show('ADDED', 'b', OTHER)
  expect(installs).toMatchObject({ standsBy: false, others: [OTHER] })
  show('MODIFIED', 'b', OWN)
  expect(installs.others).toEqual([])
})

test('an install that is taken over is no other one', () => {
  const { installs, show } = cluster([OTHER])
  show('ADDED', 'a', OTHER)
  expect(installs).toMatchObject({ standsBy: false, others: [] })
  expect(installs.isOther(OTHER)).toBe(false)
  expect(installs.isOther('third/kleym')).toBe(true)
})

test('an output of the Go implementation is one of another install, which nothing takes over', () => {
  const { installs, show, freed } = cluster([OTHER])
  show('ADDED', 'kleym-team-a-chat-pool-01234567', GO_IMPLEMENTATION)
  expect(installs).toMatchObject({ standsBy: true, others: [GO_IMPLEMENTATION] })
  expect(installs.problem).toBe(
    'outputs of the Go implementation of the same API group are here: remove its operator, then what it has left: kubectl kleym status lists that',
  )
  show('DELETED', 'kleym-team-a-chat-pool-01234567', GO_IMPLEMENTATION)
  expect(installs).toMatchObject({ standsBy: false, problem: undefined })
  expect(freed()).toBe(1)
})
