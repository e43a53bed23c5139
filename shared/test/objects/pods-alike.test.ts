// Work on pods that is done once for those that are alike gives each of them the result that it would have alone.
import { describe, expect, test, vi } from 'vitest'
import { answerOf, isRecorded, PodsAlike } from '../../src/core/model/objects/pods-alike.ts'
import { own } from '../../src/core/base/json.ts'
import { podReader, type Pod } from '../../src/core/model/objects/pod.ts'

const LABELS = { app: 'llama' }
const CONTAINERS = [{ name: 'vllm' }]
const read = podReader()

/** A pod of one workload: its labels and containers are those of the others, and one value. */
function pod(
  name: string,
  { nodeName = 'n1', annotations }: { nodeName?: string; annotations?: object } = {},
): Pod {
  const metadata = {
    name,
    namespace: 'team-a',
    uid: `uid-of-${name}`,
    labels: LABELS,
    ...(annotations !== undefined && { annotations }),
  }
  return read({ value: { kind: 'Pod', metadata, spec: { nodeName, containers: CONTAINERS } } })
}

/** What comes of some pods, and for how many of them there was work. */
function each(work: (one: Pod) => unknown, pods: readonly Pod[]): { results: unknown[]; worked: number } {
  const counted = vi.fn<(one: Pod) => unknown>(work)
  const alike = new PodsAlike(counted)
  const results = pods.map((one) => (alike.find(one) ?? { value: alike.work(one) }).value)
  return { results, worked: counted.mock.calls.length }
}

const ONE_NODE = [pod('a'), pod('b'), pod('c')]
const TWO_NODES = [pod('a'), pod('b', { nodeName: 'n2' }), pod('c'), pod('d', { nodeName: 'n2' })]
const ANNOTATED = [pod('a'), pod('b', { annotations: { id: 'x' } }), pod('c')]

describe('work that asks', () => {
  test.each<[string, (one: Pod) => unknown, readonly Pod[], number]>([
    ['nothing', () => 1, ONE_NODE, 1],
    ['for labels', ({ labels }) => labels.get('app'), ONE_NODE, 1],
    ['for the name', ({ name }) => name, ONE_NODE, 3],
    ['for the name that a reference has', ({ ref }) => ref.name, ONE_NODE, 3],
    ['for the kind that a reference has', ({ ref }) => ref.kind, ONE_NODE, 1],
    ['for the UID in the metadata', ({ metadata }) => own(metadata, 'uid'), ONE_NODE, 3],
    ['for the namespace in the metadata', ({ metadata }) => own(metadata, 'namespace'), ONE_NODE, 1],
    ['for the node', ({ nodeName }) => nodeName, TWO_NODES, 2],
    ['for the UID on one node', (one) => (one.nodeName === 'n1' ? one.uid : 'other'), TWO_NODES, 3],
    [
      'for an annotation that some lack',
      ({ metadata }) => own(own(metadata, 'annotations'), 'id'),
      ANNOTATED,
      2,
    ],
    ['whether there are annotations', ({ metadata }) => 'annotations' in metadata, ANNOTATED, 2],
    [
      'whether a pod has annotations of its own',
      ({ metadata }) => Object.hasOwn(metadata, 'annotations'),
      ANNOTATED,
      2,
    ],
    [
      'which keys there are, and so for each of them',
      ({ metadata }) => Object.keys(metadata).join(),
      ANNOTATED,
      3,
    ],
    ['for all of the metadata', ({ metadata }) => JSON.stringify(metadata), ONE_NODE, 3],
    ['for a copy of the pod', (one) => ({ ...one }).name, ONE_NODE, 3],
    ['for the parts of a copy', (one) => ({ ...one, labels: new Map() }).metadata['uid'], ONE_NODE, 3],
    ['what a question answers', (one) => answerOf(one, isOnFirst), TWO_NODES, 2],
    ['what the same question answers for all', (one) => answerOf(one, hasNode), TWO_NODES, 1],
  ])('%s gives each pod its own result', (_asks, work, pods, worked) => {
    expect(each(work, pods)).toEqual({ results: pods.map(work), worked })
  })

  test('nothing of the frozen is changed, and all of it is read', () => {
    const frozen = ONE_NODE.map((one) => Object.freeze({ ...one, metadata: Object.freeze(one.metadata) }))
    expect(each(namespaceIn, frozen)).toEqual({ results: frozen.map(namespaceIn), worked: 1 })
  })

  test('in another order on each pod is remembered for both', () => {
    let turn = 0
    const work = (one: Pod): unknown =>
      (turn += 1) % 2 === 0 ? [one.uid, one.nodeName, turn > 0] : [one.nodeName, one.uid, turn > 0]
    const alike = new PodsAlike(work)
    for (const one of TWO_NODES) alike.work(one)
    expect(TWO_NODES.map((one) => alike.find(one)?.value)).toEqual(
      TWO_NODES.map(({ uid, nodeName }, at) =>
        at % 2 === 0 ? [nodeName, uid, true] : [uid, nodeName, true],
      ),
    )
  })
})

const namespaceIn = ({ metadata }: Pod): unknown => own(metadata, 'namespace')
const hasNode = ({ nodeName }: Pod): boolean => nodeName !== undefined
const isOnFirst = ({ nodeName }: Pod): boolean => nodeName === 'n1'

test('a result that asks a pod something later throws: it would ask only the first of those that are alike', () => {
  const alike = new PodsAlike((one) => () => one.uid)
  const [first = pod('a')] = ONE_NODE
  expect(alike.work(first)).toThrow(TypeError)
})

test('that what is asked is recorded is known of no pod but the one that is worked on', () => {
  const [first = pod('a')] = ONE_NODE
  expect([isRecorded(first), new PodsAlike(isRecorded).work(first)]).toEqual([false, true])
})

test('if hardly any pods are alike, nothing is remembered after the first five hundred', () => {
  const pods = Array.from({ length: 510 }, (_, at) => pod(`pod-${at}`))
  const alike = new PodsAlike(({ name }) => name)
  for (const one of pods) if (alike.find(one) === undefined) alike.work(one)
  expect(pods.filter((one) => alike.find(one) !== undefined)).toEqual([])
  expect(pods.map((one) => alike.work(one))).toEqual(pods.map(({ name }) => name))
})
