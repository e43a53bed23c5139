// The pods that AIBrix's own controllers make of random StormServices, RoleSets and PodSets are those that kleym expands offline.
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { FIRST_BUILD_MS } from '../client-binaries.ts'
import { idOf } from '../rest.ts'
import { disagreements } from './agreement.ts'
import { create, podsOf, startMaker, type MakerPlane } from './maker-plane.ts'
import { objectsOf, someOf, templateWith } from './random-stacks.ts'

const STORM = 'stormservice.orchestration.aibrix.ai'
const API_VERSION = 'orchestration.aibrix.ai/v1alpha1'
const OF_ROLE = {
  'role-name': ['other'],
  'role-template-hash': ['abc'],
  'roleset-name': ['other'],
  [`${STORM}/role-replica-index`]: ['7'],
  [`${STORM}/podset-name`]: ['other'],
  name: ['other'],
}

const ROLES = fc
  .array(
    fc.record(
      {
        replicas: fc.constantFrom(1, 2),
        podGroupSize: fc.constantFrom(1, 2),
        stateful: fc.boolean(),
        template: templateWith(OF_ROLE),
      },
      { requiredKeys: ['template', 'replicas'] },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((roles) => roles.map((role, at) => ({ name: ['prefill', 'decode', 'encode'][at], ...role })))

const STORM_SERVICES = objectsOf(
  { apiVersion: API_VERSION, kind: 'StormService' },
  fc.record({
    replicas: fc.constantFrom(1, 2),
    stateful: fc.boolean(),
    roles: ROLES,
    labels: someOf({ name: ['llama'] }),
  }),
  3,
).map((service, at) => {
  const { roles, labels, ...spec } = Object(service['spec'])
  // A StormService takes all RoleSets that its selector matches for its own.
  const own = { app: `storm-${at}` }
  const template = { metadata: { labels: { ...labels, ...own } }, spec: { roles } }
  return { ...service, spec: { ...spec, selector: { matchLabels: own }, template } }
})
const ROLE_SETS = objectsOf(
  { apiVersion: API_VERSION, kind: 'RoleSet' },
  ROLES.map((roles) => ({ roles })),
  4,
)
const POD_SETS = objectsOf(
  { apiVersion: API_VERSION, kind: 'PodSet' },
  fc.record({
    podGroupSize: fc.constantFrom(2, 3),
    stateful: fc.boolean(),
    template: templateWith(OF_ROLE),
  }),
  5,
).map((set, at) => ({
  ...set,
  metadata: {
    ...Object(set['metadata']),
    ...(at % 2 === 0 && { labels: { 'role-name': 'decode', team: 'b' } }),
  },
}))

let plane: MakerPlane

beforeAll(async () => {
  plane = await startMaker('aibrix', (cp) => ({
    args: [
      ['--kubeconfig', cp.kubeconfig()],
      ['--controllers', 'stormservice-controller'],
      ['--disable-webhook'],
      ['--metrics-bind-address', '0'],
      ['--health-probe-bind-address', '0'],
    ].flat(),
  }))
}, FIRST_BUILD_MS)
afterAll(() => plane.cp.stop())

/** What AIBrix tells a container of its pod: labels of the template may hide it. */
function envOf(pod: JsonRecord, name: string): string {
  const [container] = listAt(pod, 'spec', 'containers')
  const found = listAt(container, 'env').find((one) => stringAt(one, 'name') === name)
  return stringAt(found, 'value') ?? ''
}

/** The object and the role of a pod, by the name of the object in its environment. */
function roleOf(object: string): (pod: JsonRecord) => string {
  return (pod) => `${envOf(pod, object)} ${envOf(pod, 'ROLE_NAME')}`
}

function countIn(roles: readonly unknown[]): number {
  return roles.reduce(
    (sum: number, role) => sum + Number(dig(role, 'replicas')) * Number(dig(role, 'podGroupSize') ?? 1),
    0,
  )
}

function countsOf(
  objects: readonly JsonRecord[],
  countOf: (spec: unknown) => number,
): ReadonlyMap<string, number> {
  return new Map(objects.map((object) => [idOf(object).name, countOf(object['spec'])]))
}

test('the pods of StormServices', async () => {
  await create(plane, STORM_SERVICES)
  const counts = countsOf(
    STORM_SERVICES,
    (spec) => Number(dig(spec, 'replicas')) * countIn(listAt(spec, 'template', 'spec', 'roles')),
  )
  const pods = await podsOf(plane, (pod) => envOf(pod, 'STORM_SERVICE_NAME'), counts)
  expect(disagreements(STORM_SERVICES, pods, roleOf('STORM_SERVICE_NAME'))).toEqual([])
})

test('the pods of RoleSets', async () => {
  await create(plane, ROLE_SETS)
  const counts = countsOf(ROLE_SETS, (spec) => countIn(listAt(spec, 'roles')))
  const pods = await podsOf(plane, (pod) => envOf(pod, 'ROLESET_NAME'), counts)
  expect(disagreements(ROLE_SETS, pods, roleOf('ROLESET_NAME'))).toEqual([])
})

test('the pods of PodSets', async () => {
  await create(plane, POD_SETS)
  const counts = countsOf(POD_SETS, (spec) => Number(dig(spec, 'podGroupSize')))
  const pods = await podsOf(plane, (pod) => envOf(pod, 'PODSET_NAME'), counts)
  expect(disagreements(POD_SETS, pods, (pod) => envOf(pod, 'PODSET_NAME'))).toEqual([])
})
