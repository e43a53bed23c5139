// What equal pods share is kept once, and the answer is the same.
import { describe, expect, test } from 'vitest'
import { recordAt, podReader, readPod } from '@kleym/shared/core/model/objects/pod.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { sizeOf } from '@kleym/shared/core/base/value-size.ts'
import { Sharing } from '../../src/sources/sharing.ts'
import { podTrim } from '../../src/cluster/trim.ts'

/** A pod as it comes off the wire: no two values of two pods are the same object. */
function pod(
  name: string,
  app: string,
  containers: readonly JsonRecord[],
  more: JsonRecord = {},
): JsonRecord {
  const metadata = { name, namespace: 'team-a', uid: `uid-${name}`, labels: { app } }
  const value = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...more } }
  return structuredClone(value)
}

const VLLM = [{ name: 'vllm', image: 'vllm:1' }]
const PODS: readonly JsonRecord[] = [
  pod('one', 'llama', VLLM),
  pod('two', 'llama', VLLM),
  pod('other-label', 'phi', VLLM),
  pod('other-container', 'llama', [{ name: 'proxy', image: 'vllm:1' }]),
  pod('with-init', 'llama', VLLM, { initContainers: [{ name: 'setup', image: 'busybox' }] }),
  pod('with-debugger', 'llama', VLLM, { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }),
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bare', uid: 'b', labels: null }, spec: 'nothing' },
]

describe('pods that are trimmed and read with what they share', () => {
  const needs = { mentions: new Set<string>(), images: false }
  const sharing = new Sharing()
  const shared = PODS.map((one) => podTrim(needs)(one, sharing))
  const read = podReader()
  const pods = shared.map((value) => read({ value }))

  test('are the pods that each would be alone', () => {
    const alone = PODS.map((one) => podTrim(needs)(one))
    expect(shared).toEqual(alone)
    expect(pods).toEqual(alone.map((value) => readPod({ value })))
  })

  test('have one map of labels and one list of containers where they are alike', () => {
    const [one, two, label, container, init] = pods
    expect(one?.labels).toBe(two?.labels)
    expect(one?.containers).toBe(two?.containers)
    expect(label?.labels).not.toBe(one?.labels)
    expect(container?.containers).not.toBe(one?.containers)
    expect(init?.containers).not.toEqual(one?.containers)
  })
})

describe('pods of one template, which have values in common', () => {
  const containers = [
    { name: 'vllm', image: 'vllm:1', volumeMounts: [{ name: 'spire', mountPath: '/run/spire' }] },
    { name: 'proxy', image: 'proxy:1' },
  ]
  const socket = [{ name: 'spire', csi: { driver: 'csi.spiffe.io', readOnly: true } }]
  const ofTemplate = (name: string, volumes: readonly JsonRecord[]): JsonRecord => ({
    ...pod(name, 'llama', []),
    spec: { containers, volumes, nodeName: name, nodeSelector: { 'kubernetes.io/os': 'linux' } },
  })
  const trim = podTrim({ mentions: new Set<string>(), images: false })

  test('have one list of containers, and a node each', () => {
    const sharing = new Sharing()
    const [one, two] = ['one', 'two'].map((name) => trim(ofTemplate(name, socket), sharing))
    expect(recordAt(one, 'spec')['containers']).toBe(recordAt(two, 'spec')['containers'])
    expect(recordAt(one, 'spec')['volumes']).toBe(recordAt(two, 'spec')['volumes'])
    expect(recordAt(two, 'spec')['nodeName']).toBe('two')
  })

  test('keep the mounts of their own volumes where containers alone are the same value', () => {
    const sharing = new Sharing()
    const others = [{ name: 'spire', emptyDir: {} }]
    const [one, other] = [socket, others].map((volumes) => trim(ofTemplate('one', volumes), sharing))
    expect([one, other]).toEqual([socket, others].map((volumes) => trim(ofTemplate('one', volumes))))
    expect(recordAt(one, 'spec')['containers']).not.toEqual(recordAt(other, 'spec')['containers'])
  })
})

describe('sharing', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['equal mappings', { a: 1 }, { a: 1 }, true],
    ['equal lists', [{ a: [] }], [{ a: [] }], true],
    ['a list and a mapping of nothing', [], {}, false],
    ['a text and the list of it', 'a', ['a'], false],
    ['mappings that differ deep down', { a: { b: 1 } }, { a: { b: '1' } }, false],
  ])('%s are one and the same: %s and %s', (_says, left, right, same) => {
    const sharing = new Sharing()
    expect(sharing.value(left) === sharing.value(right)).toBe(same)
    expect(sharing.value(right)).toEqual(right)
  })

  test('forgets rather than to grow for ever, and still gives what is equal', () => {
    const sharing = new Sharing()
    const first = sharing.value({ at: 0 })
    for (let at = 1; at < 20_001; at++) expect(recordAt({ it: sharing.value({ at }) }, 'it')['at']).toBe(at)
    expect(sharing.value({ at: 0 })).not.toBe(first)
    expect(sharing.value({ at: 0 })).toEqual(first)
  })
})

test('what is shared is measured once, and counts wherever it stands', () => {
  const sharing = new Sharing()
  const shared = sharing.value({ app: 'llama', tier: ['a', 'b'] })
  const whole = { labels: shared, other: { labels: shared }, name: 'x' }
  expect(sharing.sizeOf(whole)).toBe(sizeOf(whole))
})
