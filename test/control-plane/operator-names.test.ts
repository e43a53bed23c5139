// Names at their limits, on a real API server (docs/contract.md §5): whatever bindings, namespaces, pools, objectives,
// service accounts and labels may be called, what is written is accepted, no two bindings share an output, and what SPIRE
// could not keep is refused.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { nameOf } from './in-force.ts'
import {
  binding,
  bindingId,
  conditionOf,
  namespace,
  objective,
  outputId,
  ownerOf,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { startLeading, startOperatorPlane, stopAll } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites, sortOf } from './write-rules.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startOperatorPlane()
  await startLeading(cp)
})
afterAll(() => stopAll(cp))

/** A name of so many characters that begins so. */
function long(start: string, characters: number): string {
  return start.padEnd(characters, 'x')
}

/** SHA-256 in hex, by other means than kleym's own. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

interface Key {
  readonly space: string
  readonly name: string
}

/** Creates PoolOnly bindings with the pools that they need, and returns their outputs once they are in force. */
async function register(keys: readonly Key[]): Promise<readonly JsonRecord[]> {
  const spaces = new Set(keys.map(({ space }) => space))
  await cp.apply([...spaces].flatMap((space) => [namespace(space), pool(space, 'llama', { app: 'llama' })]))
  await cp.apply(keys.map(({ space, name }) => poolOnly(space, name)))
  return Promise.all(keys.map(outputInForce))
}

async function outputInForce({ space, name }: Key): Promise<JsonRecord> {
  const ready = await untilReason(cp, space, name, 'Reconciled')
  const output = await cp.admin.get(outputId(stringAt(ready, 'status', 'clusterSPIFFEID', 'name') ?? ''))
  expect(stringAt(output, 'metadata', 'uid')).toBe(stringAt(ready, 'status', 'clusterSPIFFEID', 'uid'))
  return output ?? {}
}

/** What a name must be for every use that it may be put to. */
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

describe('bindings whose names are all but the same have two outputs, and each goes with its own', () => {
  test.for<[string, Key, Key]>([
    [
      'a dot, and the dash and hash that another rule would put there',
      { space: 'dots', name: 'x.y' },
      { space: 'dots', name: 'x-y-57cccf61' },
    ],
    ['a dot and a dash', { space: 'dashes', name: 'a.b-c' }, { space: 'dashes', name: 'a-b.c' }],
    [
      'the namespace ends where the other’s goes on',
      { space: 'team-a', name: 'llama' },
      { space: 'team', name: 'a-llama' },
    ],
    [
      '253 characters that differ in the last',
      { space: 'cut', name: long('chat', 252) + '1' },
      { space: 'cut', name: long('chat', 252) + '2' },
    ],
    [
      '253 characters that differ in a dot beyond the cut',
      { space: 'cut-dots', name: `${long('chat', 200)}.${long('b', 52)}` },
      { space: 'cut-dots', name: `${long('chat', 200)}-${long('b', 52)}` },
    ],
    [
      'namespaces of 63 characters that differ in the last',
      { space: long('wide', 62) + '1', name: 'chat' },
      { space: long('wide', 62) + '2', name: 'chat' },
    ],
    [
      'a cut that falls on a dash, and a name that ends there',
      { space: 'dash', name: `${long('a', 26)}.b` },
      { space: 'dash', name: long('a', 26) },
    ],
  ])('%s', async ([, one, two]) => {
    const [first, second] = await register([one, two])
    for (const [key, output] of [
      [one, first],
      [two, second],
    ] as const) {
      const spiffeId = stringAt(output, 'spec', 'spiffeIDTemplate')
      expect(spiffeId).toBe(`spiffe://example.org/ns/${key.space}/pool/llama`)
      expect(nameOf(output)).toMatch(DNS_LABEL)
      expect(nameOf(output)).not.toContain('--')
      const digits = hash(`${key.space}/${key.name}\n${spiffeId}`).slice(0, 20)
      expect(nameOf(output).endsWith(`-pool-${digits}`)).toBe(true)
      expect(ownerOf(output)).toBe(`${key.space}/${key.name}`)
    }
    expect(nameOf(first)).not.toBe(nameOf(second))
    await cp.admin.delete(bindingId(one.space, one.name))
    await until(
      async () => (await cp.admin.get(bindingId(one.space, one.name))) === undefined,
      `binding ${one.space}/${one.name} to go`,
    )
    expect(await cp.admin.get(outputId(nameOf(first)))).toBeUndefined()
    expect(await cp.admin.get(outputId(nameOf(second)))).toEqual(second)
  })
})

describe('what does not fit is cut, with a hash of the whole', () => {
  test.for<[string, string, string]>([
    ['63 characters are a label value as they are', long('chat', 63), long('chat', 63)],
    ['64 are not', long('chat', 64), `${long('chat', 54)}-${hash(long('chat', 64)).slice(0, 8)}`],
    [
      'a cut behind a dot',
      `${long('chat', 53)}.${long('b', 60)}`,
      `${long('chat', 53)}.-${hash(`${long('chat', 53)}.${long('b', 60)}`).slice(0, 8)}`,
    ],
  ])('label: %s', async ([, name, label]) => {
    const [output] = await register([{ space: 'labels', name }])
    expect(dig(output, 'metadata', 'labels')).toEqual({
      'kleym.sonda.red/managed-by': 'kleym',
      'kleym.sonda.red/binding-name': label,
      'kleym.sonda.red/binding-namespace': 'labels',
    })
  })

  const HINTS = long('hints', 63)
  test.for<[string, string, string]>([
    ['255 bytes are a hint as they are', long('a', 191), `${HINTS}/${long('a', 191)}`],
    [
      '256 are not',
      long('a', 192),
      `${`${HINTS}/${long('a', 192)}`.slice(0, 246)}-${hash(`${HINTS}/${long('a', 192)}`).slice(0, 8)}`,
    ],
  ])('hint: %s', async ([, name, hint]) => {
    const [output] = await register([{ space: HINTS, name }])
    expect(dig(output, 'spec', 'hint')).toBe(hint)
    expect(hint.length).toBe(255)
  })
})

describe('what SPIRE could not keep in 255 bytes is refused, and one byte less is registered', () => {
  // spiffe://example.org/ns/<63>/objective/<157>
  const SPACE = long('limits', 63)
  const fits = { objective: long('fits', 157), pool: long('fits', 162) }
  const tooLong = { objective: long('over', 158), pool: long('over', 163) }
  const prefix = `${long('a', 63)}.${long('b', 53)}`
  const keys = { fits: `${prefix}/${long('k', 63)}`, tooLong: `${prefix}y/${long('k', 63)}` }

  beforeAll(async () => {
    const labelled = (name: string, key: string): JsonRecord => pool(SPACE, name, { [key]: long('v', 63) })
    await cp.apply([
      namespace(SPACE),
      pool(SPACE, 'llama', { app: 'llama' }),
      pool(SPACE, fits.pool, { app: 'llama' }),
      pool(SPACE, tooLong.pool, { app: 'llama' }),
      pool(SPACE, long('most', 253), { app: 'llama' }),
      labelled('label-fits', keys.fits),
      labelled('label-too-long', keys.tooLong),
      objective(SPACE, 'chat', 'llama'),
      objective(SPACE, fits.objective, 'llama'),
      objective(SPACE, tooLong.objective, 'llama'),
      objective(SPACE, long('most', 253), 'llama'),
    ])
  })

  const perObjective = (name: string, spec: JsonRecord): JsonRecord => binding(SPACE, name, spec)
  const perPool = (name: string, spec: JsonRecord): JsonRecord => poolOnly(SPACE, name, spec)

  test.for<[string, JsonRecord, string]>([
    [
      'an objective that makes an SPIFFE ID of 255 bytes',
      perObjective('objective-fits', { objectiveRef: { name: fits.objective }, containerName: 'a' }),
      'Reconciled',
    ],
    [
      'an objective that makes one of 256',
      perObjective('objective-over', { objectiveRef: { name: tooLong.objective }, containerName: 'b' }),
      'InvalidSPIFFEID',
    ],
    [
      'an objective of 253 characters',
      perObjective('objective-most', { objectiveRef: { name: long('most', 253) }, containerName: 'c' }),
      'InvalidSPIFFEID',
    ],
    [
      'a pool that makes one of 255 bytes',
      perPool('pool-fits', { poolRef: { name: fits.pool } }),
      'Reconciled',
    ],
    [
      'a pool that makes one of 256',
      perPool('pool-over', { poolRef: { name: tooLong.pool } }),
      'InvalidSPIFFEID',
    ],
    [
      'a pool of 253 characters',
      perPool('pool-most', { poolRef: { name: long('most', 253) } }),
      'InvalidSPIFFEID',
    ],
    [
      'a container of 63 characters and a service account of 63',
      perObjective('container', {
        objectiveRef: { name: 'chat' },
        serviceAccountName: long('sa', 63),
        containerName: long('c', 63),
      }),
      'Reconciled',
    ],
    [
      'a service account of 252 characters',
      perPool('account-fits', { serviceAccountName: long('sa', 252) }),
      'Reconciled',
    ],
    [
      'a service account of 253',
      perPool('account-over', { serviceAccountName: long('sa', 253) }),
      'UnsafeSelector',
    ],
    ['a pod label of 255 bytes', perPool('label-fits', { poolRef: { name: 'label-fits' } }), 'Reconciled'],
    ['a pod label of 256', perPool('label-over', { poolRef: { name: 'label-too-long' } }), 'UnsafeSelector'],
  ])('%s', async ([, wish, reason]) => {
    await cp.apply([wish])
    const name = nameOf(wish)
    const told = await untilReason(cp, SPACE, name, reason)
    const isReady = reason === 'Reconciled'
    expect(conditionOf(told, 'Ready')).toMatchObject({ status: isReady ? 'True' : 'False' })
    expect(listAt(told, 'status', 'computedSpiffeIDs')).toHaveLength(isReady ? 1 : 0)
    const output = isReady ? await outputInForce({ space: SPACE, name }) : undefined
    const texts = [stringAt(output, 'spec', 'spiffeIDTemplate') ?? '', ...selectorsOf(output)]
    expect(Math.max(...texts.map((text) => text.replace(/^k8s:/, '').length))).toBeLessThanOrEqual(255)
  })
})

function selectorsOf(output: unknown): readonly string[] {
  return listAt(output, 'spec', 'workloadSelectorTemplates').map(String)
}

test('the API server has taken every output, every status and every event that was sent', async () => {
  const { writes, broken } = await judgeWrites(cp)
  expect(broken).toEqual([])
  // Events are sent in the background: each binding above has had at least one.
  const events = await until(async () => {
    const sent = (await judgeWrites(cp)).writes.filter((write) => write.resource === 'events')
    return sent.length >= 30 && sent
  }, 'the events to be sent')
  const refused = [...writes, ...events].filter(({ status }) => status >= 400 && status !== 409)
  expect(
    refused.map((write) => `${sortOf(write)} ${write.namespace}/${write.name}: ${write.status}`),
  ).toEqual([])
})
