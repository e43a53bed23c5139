// Every reason of docs/contract.md §7 but MissingTrustDomain on a real API server: reached from a settled binding, and
// left again by putting its cause right, with no restart. The CRDs are loosened, as older ones may have been: what
// admission refuses today may be there from before.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { FINALIZER } from '../../shared/src/core/model/names.ts'
import { REASON_NAMES, type Reason } from '../../shared/src/core/decide/reasons/reasons.ts'
import { allowAllHints, denyHintsOf, POLICY } from './admission-policy.ts'
import type { ControlPlane } from './control-plane.ts'
import type { CrdName } from './crds.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { foreign, untilBindingGone } from './in-force.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  binding,
  bindingId,
  conditionOf,
  estate,
  eventsOf,
  HOLD,
  member,
  objective,
  olderPool,
  outputId,
  outputsOf,
  pool,
  poolOnly,
  untilReason,
} from './objects.ts'
import { operatorAccess } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { idOf } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'
import { all, expectReady, expectRefused, said, told } from './status-words.ts'

const POOL = 'InferencePool/llama (inference.networking.k8s.io/v1)'
/** How many bindings of a namespace may have an output. */
const MOST = 5
const OLDER_GROUP = 'inference.networking.x-k8s.io'
const LOOSENED = [
  'inferenceidentitybindings.kleym.sonda.red',
  'inferencepools.inference.networking.k8s.io',
] as const satisfies readonly CrdName[]

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
let neverTwo: NeverTwo
/** The reasons that tests have seen. */
const seen = new Set<string>()
beforeAll(async () => {
  cp = await startOperatorPlane({ without: LOOSENED })
  for (const name of LOOSENED) await cp.installCrd(loosened(cp.crd(name)))
  proxy = await startFaultProxy(cp)
  neverTwo = await watchNeverTwo(cp)
  operator = await startLeading(cp, { server: proxy.server, flags: [`--bindings-per-namespace=${MOST}`] })
})
afterAll(() => stopAll(neverTwo, proxy, cp))

interface Case {
  /** How the binding `chat` of a namespace is broken. */
  readonly how: string
  readonly reason: Reason
  readonly breakIt: (space: string) => Promise<unknown>
  /** What the message must say. */
  readonly says: readonly string[]
  readonly mend: (space: string) => Promise<unknown>
}

const CASES: readonly Case[] = [
  field('a pool name that is no DNS name', 'InvalidPoolRef', { poolRef: { name: 'Llama_3' } }, [
    '.spec.poolRef.name',
    '"Llama_3"',
  ]),
  field('a pool group that is none', 'InvalidPoolRef', { poolRef: { name: 'llama', group: 'apps' } }, [
    '.spec.poolRef.group',
    '"apps"',
  ]),
  field('a pool reference that is a text', 'InvalidPoolRef', { poolRef: 'llama' }, ['.spec.poolRef']),
  {
    how: 'the pool is deleted',
    reason: 'TargetPoolNotFound',
    breakIt: (space) => remove(pool(space, 'llama', {})),
    says: [
      'no InferencePool llama in namespace',
      'inference.networking.k8s.io, inference.networking.x-k8s.io',
    ],
    mend: (space) => cp.apply([pool(space, 'llama', { app: 'llama' })]),
  },
  {
    how: 'a pool of the other group has the same name and other labels',
    reason: 'AmbiguousPoolRef',
    breakIt: (space) => cp.apply([olderPool(space, 'llama', { app: 'gemma' })]),
    says: ['InferencePool llama exists in inference.networking.k8s.io and inference.networking.x-k8s.io'],
    mend: (space) => remove(olderPool(space, 'llama', {})),
  },
  {
    how: 'a pool of the other group has the same name and other labels, until the binding says which',
    reason: 'AmbiguousPoolRef',
    breakIt: (space) => cp.apply([olderPool(space, 'llama', { app: 'gemma' })]),
    says: ['InferencePool llama exists in'],
    mend: (space) => edit(space, { poolRef: { group: 'inference.networking.k8s.io' } }),
  },
  {
    how: 'it names the pool of the older group, and the other pool of that name selects other pods',
    reason: 'AmbiguousPoolRef',
    breakIt: async (space) => {
      await cp.apply([olderPool(space, 'llama', { app: 'gemma' })])
      await edit(space, { poolRef: { group: OLDER_GROUP } })
    },
    says: ['InferencePool llama exists in inference.networking.k8s.io and inference.networking.x-k8s.io'],
    mend: (space) => edit(space, { poolRef: { group: 'inference.networking.k8s.io' } }),
  },
  {
    how: 'it names the objective of the older group, and the other objective of that name has another pool',
    reason: 'InvalidObjectiveRef',
    breakIt: async (space) => {
      await edit(space, { objectiveRef: { group: OLDER_GROUP } })
      await cp.apply([newerObjective(space, 'chat', 'gemma')])
    },
    says: ['InferenceObjective/chat (llm-d.ai/v1alpha2) has the same name', '"gemma", not "llama"'],
    mend: (space) => cp.apply([newerObjective(space, 'chat', 'llama')]),
  },
  field('an objective name that is no DNS name', 'InvalidObjectiveRef', { objectiveRef: { name: '-' } }, [
    '.spec.objectiveRef.name',
    '"-"',
  ]),
  {
    how: 'the objective targets another pool',
    reason: 'InvalidObjectiveRef',
    breakIt: (space) => cp.apply([objective(space, 'chat', 'gemma')]),
    says: ['InferenceObjective/chat', '.spec.poolRef.name is "gemma", not "llama"'],
    mend: (space) => cp.apply([objective(space, 'chat', 'llama')]),
  },
  field('no objective', 'MissingObjectiveRef', { objectiveRef: null }, ['.spec.objectiveRef is missing']),
  {
    how: 'the objective is deleted',
    reason: 'TargetObjectiveNotFound',
    breakIt: (space) => remove(objective(space, 'chat', 'llama')),
    says: ['no InferenceObjective chat in namespace', 'llm-d.ai, inference.networking.x-k8s.io'],
    mend: (space) => cp.apply([objective(space, 'chat', 'llama')]),
  },
  selector('a pool without labels', 'InvalidPoolSelector', { matchLabels: {} }, [
    '.spec.selector.matchLabels is empty',
  ]),
  selector(
    'pool labels that are none, all named',
    'InvalidPoolSelector',
    { matchLabels: { app: '', 'a b': 'x', size: 70 } },
    [POOL, '["a b"] is no label key', '["app"] is empty', '["size"] is a number, not a string'],
  ),
  selector(
    'a pool that selects by expressions',
    'UnsafeSelector',
    { matchLabels: { app: 'llama' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    [`${POOL}: .spec.selector.matchExpressions[0]: tier Exists`],
  ),
  selector(
    'a pool label that SPIRE cannot keep',
    'UnsafeSelector',
    { matchLabels: { [`${'prefix.'.repeat(30)}org/model`]: 'l'.repeat(63) } },
    ['255 is the most that SPIRE keeps'],
  ),
  field('a mode that is none', 'UnsupportedMode', { mode: 'Cluster' }, ['.spec.mode', '"Cluster"']),
  field('fields of two modes', 'UnsupportedMode', { identityBoundary: { variant: 'a' } }, [
    '.spec.identityBoundary means PerVariant, .spec.objectiveRef PerObjective',
  ]),
  field('a service account that is no name', 'InvalidServiceAccountName', { serviceAccountName: 'Runner!' }, [
    '.spec.serviceAccountName',
    '"Runner!"',
  ]),
  field('no service account', 'InvalidServiceAccountName', { serviceAccountName: null }, [
    '.spec.serviceAccountName is missing',
  ]),
  field('a container that is no name', 'InvalidContainerName', { containerName: 'VLLM' }, [
    '.spec.containerName',
    '"VLLM"',
  ]),
  field('no container', 'InvalidContainerName', { containerName: null }, ['.spec.containerName is missing']),
  field('a container for whole pods', 'UnexpectedContainerName', { mode: 'PoolOnly' }, [
    '.spec.containerName must be empty when .spec.mode is PoolOnly',
  ]),
  field(
    'a variant that is no label value',
    'InvalidIdentityBoundary',
    { mode: 'PerVariant', containerName: null, identityBoundary: { variant: '..' } },
    ['.spec.identityBoundary.variant must be a label value', '".."'],
  ),
  field('no variant', 'InvalidIdentityBoundary', { mode: 'PerVariant', containerName: null }, [
    '.spec.identityBoundary.variant is missing',
  ]),
  field(
    'a variant with another mode',
    'InvalidIdentityBoundary',
    { mode: 'PerObjective', identityBoundary: { variant: 'a' } },
    ['.spec.identityBoundary must be absent when .spec.mode is PerObjective'],
  ),
  {
    how: 'an objective name that makes the SPIFFE ID too long',
    reason: 'InvalidSPIFFEID',
    breakIt: async (space) => {
      await cp.apply([objective(space, 'o'.repeat(250), 'llama')])
      await edit(space, { objectiveRef: { name: 'o'.repeat(250) } })
    },
    says: ['/objective/ooo', "255 is the most that SPIRE's datastore keeps"],
    mend: (space) => edit(space, { objectiveRef: { name: 'chat' } }),
  },
  {
    how: 'another binding claims the container',
    reason: 'IdentityCollision',
    breakIt: (space) => cp.apply([objective(space, 'rival', 'llama'), binding(space, 'rival')]),
    says: ['identity collision with bindings rival:'],
    mend: (space) => cp.admin.delete(bindingId(space, 'rival')),
  },
  {
    how: 'a foreign object took the name while the binding was away',
    reason: 'OutputNotOwned',
    breakIt: async (space) => {
      const name = await outputName(space)
      await cp.admin.delete(bindingId(space, 'chat'))
      await untilBindingGone(cp, space)
      await cp.apply([foreign(name), binding(space, 'chat')])
    },
    says: ['ClusterSPIFFEID kleym-', "exists and is not kleym's"],
    mend: removeForeign,
  },
  {
    how: 'a policy denies what the binding asks for now',
    reason: 'ManagedOutputApplyFailed',
    breakIt: async (space) => {
      await denyHintsOf(cp, space)
      await edit(space, { containerName: 'router' })
    },
    says: [POLICY, 'not on this cluster'],
    mend: () => allowAllHints(cp),
  },
]

test.each(CASES.map((one, at) => [one.reason, one.how, one, `case-${at}`] as const))(
  '%s: %s',
  async (_reason, _how, one, space) => {
    await cp.apply(tenant(space))
    const settled = await untilReason(cp, space, 'chat', 'Reconciled')
    expectReady(settled)
    await one.breakIt(space)
    const broken = await untilReason(cp, space, 'chat', one.reason)
    expectRefused(broken, one.reason, one.says)
    expect(await outputsOf(cp, space, 'chat')).toEqual([])
    expect(await eventsOf(cp, space, 'chat', 2)).toContain(`Warning ${one.reason}`)
    await one.mend(space)
    expectReady(await untilReason(cp, space, 'chat', 'Reconciled'))
    expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
    seen.add(one.reason)
  },
)

test('Undetermined: a kind that may no longer be read keeps outputs and verdicts, and stops nobody else', async () => {
  const space = 'undetermined'
  await cp.apply([
    ...tenant(space),
    objective(space, 'lost', 'gemma'),
    binding(space, 'lost', { containerName: 'router' }),
    poolOnly(space, 'whole'),
  ])
  const before = await untilReason(cp, space, 'chat', 'Reconciled')
  const lost = await untilReason(cp, space, 'lost', 'InvalidObjectiveRef')

  await cp.apply(operatorAccess().map(withoutOlderObjectives))
  try {
    await withoutTheRight(space, before, lost)
  } finally {
    await cp.apply(operatorAccess())
  }
  await Promise.all(['chat', 'rival'].map((name) => untilReason(cp, space, name, 'IdentityCollision')))
  await cp.admin.delete(bindingId(space, 'rival'))
  await untilReason(cp, space, 'chat', 'Reconciled')
  await untilReason(cp, space, 'lost', 'InvalidObjectiveRef')
  await untilReason(cp, space, 'new', 'Reconciled')
  expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
  seen.add('Undetermined')
})

test('WaitingForPeer: a binding without a verdict says so in all five conditions', async () => {
  const space = 'waiting'
  await cp.apply(tenant(space))
  await untilReason(cp, space, 'chat', 'Reconciled')
  const name = await outputName(space)
  await cp.admin.patch(outputId(name), { metadata: { finalizers: [HOLD] } })
  await cp.admin.delete(bindingId(space, 'chat'))
  await cp.apply([objective(space, 'next', 'llama'), binding(space, 'next')])
  const message = `waiting for ClusterSPIFFEID ${name}, of binding ${space}/chat, which claims the same container`
  const found = await untilReason(cp, space, 'next', 'WaitingForPeer', message)
  expect(said(found)).toEqual(all(found, () => ({ status: 'Unknown', reason: 'WaitingForPeer', message })))
  await cp.admin.patch(outputId(name), { metadata: { finalizers: null } })
  expectReady(await untilReason(cp, space, 'next', 'Reconciled'))
  seen.add('WaitingForPeer')
})

test('NamespaceFull: a namespace with as many outputs as it may have keeps them, and the next binding gets the first that is free', async () => {
  const space = 'full'
  const names = Array.from({ length: MOST }, (_, at) => `b-${at}`)
  await cp.apply([...estate(space), ...names.flatMap((name) => member(space, name, { containerName: name }))])
  for (const name of names) await untilReason(cp, space, name, 'Reconciled')
  // A tenant may write kleym's finalizer; it gives no room.
  const metadata = { name: 'late', namespace: space, finalizers: [FINALIZER] }
  const late = { ...binding(space, 'late', { containerName: 'late' }), metadata }
  await cp.apply([objective(space, 'late', 'llama'), late])
  const found = await untilReason(cp, space, 'late', 'NamespaceFull')
  const message = `${MOST} bindings of the namespace have an output, the most that the operator is set to (--bindings-per-namespace); this one gets one when one of theirs is gone`
  expect(said(found)).toEqual(all(found, () => ({ status: 'Unknown', reason: 'NamespaceFull', message })))
  expect(await outputsOf(cp, space, 'late')).toEqual([])
  // What is in force is maintained.
  await cp.admin.patch(bindingId(space, 'b-0'), { spec: { serviceAccountName: 'gemma' } })
  await until(
    async () => JSON.stringify(await outputsOf(cp, space, 'b-0')).includes('k8s:sa:gemma'),
    'the output of an edited binding to follow',
  )
  // Nor does a hand that deletes an output: it is made anew.
  const [before] = await outputsOf(cp, space, 'b-2')
  await cp.admin.delete(idOf(before ?? {}))
  await until(async () => {
    const [now] = await outputsOf(cp, space, 'b-2')
    return now !== undefined && stringAt(now, 'metadata', 'uid') !== stringAt(before, 'metadata', 'uid')
  }, 'the output that a hand has deleted to be made anew')
  expect(await outputsOf(cp, space, 'late')).toEqual([])
  await cp.admin.delete(bindingId(space, 'b-1'))
  expectReady(await untilReason(cp, space, 'late', 'Reconciled'))
  seen.add('NamespaceFull')
})

test("Deleting: a binding without output that another's finalizer keeps is not ready, and no more is written to it", async () => {
  const space = 'leaving'
  await cp.apply([...estate(space), ...member(space, 'chat')])
  await untilReason(cp, space, 'chat', 'Reconciled')
  await cp.admin.patch(bindingId(space, 'chat'), {
    metadata: { finalizers: [FINALIZER, 'example.com/other'] },
  })
  await cp.admin.delete(bindingId(space, 'chat'))
  const found = await untilReason(cp, space, 'chat', 'Deleting')
  const ready = { status: 'Unknown', reason: 'Deleting', message: 'the binding is being deleted' }
  expect(conditionOf(found, 'Ready')).toMatchObject(ready)
  expect(await outputsOf(cp, space, 'chat')).toEqual([])
  expect(found).not.toHaveProperty('status.clusterSPIFFEID')
  const generation = Number(dig(found, 'metadata', 'generation'))
  expect(conditionOf(found, 'Ready')).toMatchObject({ observedGeneration: generation })
  await cp.admin.patch(bindingId(space, 'chat'), { metadata: { finalizers: [] } })
  await untilBindingGone(cp, space)
  seen.add('Deleting')
})

/** Last of the table, because they meet every binding. */
test.each<
  [reason: Reason, crds: readonly CrdName[], says: string, again: (space: string) => readonly JsonRecord[]]
>([
  [
    'InferenceObjectiveCRDMissing',
    ['inferenceobjectives.llm-d.ai', 'inferenceobjectives.inference.networking.x-k8s.io'],
    'the API server does not serve InferenceObjective.llm-d.ai or InferenceObjective.inference.networking.x-k8s.io',
    (space) => [objective(space, 'chat', 'llama')],
  ],
  [
    'InferencePoolCRDMissing',
    ['inferencepools.inference.networking.k8s.io', 'inferencepools.inference.networking.x-k8s.io'],
    'the API server does not serve InferencePool.inference.networking.k8s.io or InferencePool.inference.networking.x-k8s.io',
    (space) => [pool(space, 'llama', { app: 'llama' })],
  ],
  [
    'ClusterSPIFFEIDCRDMissing',
    ['clusterspiffeids.spire.spiffe.io'],
    'the API server does not serve ClusterSPIFFEID',
    () => [],
  ],
])('%s: the CRDs are removed and come back', async (reason, crds, says, again) => {
  const space = `crds-${reason.toLowerCase()}`
  await cp.apply(tenant(space))
  await untilReason(cp, space, 'chat', 'Reconciled')
  for (const crd of crds) await cp.removeCrd(crd)
  expectRefused(await untilReason(cp, space, 'chat', reason), reason, [says])
  expect(operator.program.ended()).toBeUndefined()
  for (const crd of crds) await cp.installCrd(crd)
  await cp.apply(again(space))
  expectReady(await untilReason(cp, space, 'chat', 'Reconciled'))
  expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
  seen.add(reason)
})

test('no reason is left out but the one that a start with --trust-domain cannot reach', async () => {
  await neverTwo.holds()
  expect(REASON_NAMES.filter((reason) => !seen.has(reason))).toEqual(['Reconciled', 'MissingTrustDomain'])
})

async function withoutTheRight(space: string, before: JsonRecord, lost: JsonRecord): Promise<void> {
  proxy.watches(/x-k8s\.io\/.*inferenceobjectives/).drop()
  const message = `cannot watch InferenceObjective.${OLDER_GROUP}: forbidden`
  const unknown = { status: 'Unknown', reason: 'Undetermined', message }

  const kept = await untilReason(cp, space, 'chat', 'Undetermined', message)
  expect(conditionOf(kept, 'Ready')).toMatchObject(unknown)
  expect(said(kept).slice(1)).toEqual(said(before).slice(1))
  expect(told(kept)).toEqual(told(before))
  const [output] = await outputsOf(cp, space, 'chat')
  expect(stringAt(output, 'metadata', 'uid')).toBe(stringAt(before, 'status', 'clusterSPIFFEID', 'uid'))

  const stillLost = await untilReason(cp, space, 'lost', 'Undetermined')
  expect(said(stillLost).slice(1)).toEqual(said(lost).slice(1))
  await cp.apply([objective(space, 'new', 'llama'), binding(space, 'new', { containerName: 'new' })])
  const fresh = await untilReason(cp, space, 'new', 'Undetermined', message)
  expect(said(fresh)).toEqual(all(fresh, () => unknown))
  expect(await outputsOf(cp, space, 'new')).toEqual([])
  // Whoever does not read that kind is served, or waits for one of whom nobody knows whether it collides.
  await cp.apply([newerObjective(space, 'rival', 'llama'), binding(space, 'rival')])
  const waiting = `waiting for binding ${space}/chat, whose own checks cannot be decided and more`
  await untilReason(cp, space, 'rival', 'WaitingForPeer', waiting)
  await cp.admin.patch(bindingId(space, 'whole'), { spec: { serviceAccountName: 'gemma' } })
  await untilReason(cp, space, 'whole', 'Reconciled')
}

/** A namespace with pool `llama`, and binding `chat` with its objective. */
function tenant(space: string): readonly JsonRecord[] {
  return [...estate(space), ...member(space, 'chat')]
}

/** A binding whose spec is spoilt, and put right. */
function field(how: string, reason: Reason, spec: JsonRecord, says: readonly string[]): Case {
  return {
    how,
    reason,
    breakIt: (space) => edit(space, spec),
    says,
    mend: restore,
  }
}

/** A pool whose selector is spoilt, and put right. */
function selector(how: string, reason: Reason, spoilt: JsonRecord, says: readonly string[]): Case {
  return {
    how,
    reason,
    breakIt: (space) => selectBy(space, spoilt),
    says,
    mend: (space) => selectBy(space, { matchLabels: { app: 'llama' } }),
  }
}

/** A PUT: an apply would leave out what is empty. */
async function selectBy(space: string, chosen: JsonRecord): Promise<void> {
  const now = await cp.admin.get(idOf(pool(space, 'llama', {})))
  await cp.admin.replace({ ...now, spec: { ...record(own(now, 'spec')), selector: chosen } })
}

function edit(space: string, spec: JsonRecord): Promise<JsonRecord> {
  return cp.admin.patch(bindingId(space, 'chat'), { spec })
}

/** Gives the binding the spec that it began with. */
async function restore(space: string): Promise<void> {
  const now = await cp.admin.get(bindingId(space, 'chat'))
  await cp.admin.replace({ ...now, spec: own(binding(space, 'chat'), 'spec') })
}

function remove(object: JsonRecord): Promise<void> {
  return cp.admin.delete(idOf(object))
}

async function outputName(space: string): Promise<string> {
  const found = await cp.admin.get(bindingId(space, 'chat'))
  return stringAt(found, 'status', 'clusterSPIFFEID', 'name') ?? ''
}

/** The foreign object is the one that bears the name which the message says. */
async function removeForeign(space: string): Promise<void> {
  const found = await cp.admin.get(bindingId(space, 'chat'))
  const message = stringAt(conditionOf(found, 'Ready'), 'message') ?? ''
  await cp.admin.delete(outputId(/ClusterSPIFFEID (\S+)/.exec(message)?.[1] ?? ''))
}

/** A CRD that admits everything in `spec`. */
function loosened(crd: JsonRecord): JsonRecord {
  const versions = listAt(crd, 'spec', 'versions').map((version) => {
    const schema = dig(version, 'schema', 'openAPIV3Schema')
    const properties = {
      ...record(own(schema, 'properties')),
      spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    }
    return { ...record(version), schema: { openAPIV3Schema: { ...record(schema), properties } } }
  })
  return { ...crd, spec: { ...record(own(crd, 'spec')), versions } }
}

/** An objective of `llm-d.ai/v1alpha2`. */
function newerObjective(space: string, name: string, poolName: string): JsonRecord {
  return { ...objective(space, name, poolName), apiVersion: 'llm-d.ai/v1alpha2' }
}

/** The operator's rights without those on objectives of the older group. */
function withoutOlderObjectives(object: JsonRecord): JsonRecord {
  const rules = listAt(object, 'rules').filter(
    (rule) =>
      !listAt(rule, 'apiGroups').includes(OLDER_GROUP) ||
      !listAt(rule, 'resources').includes('inferenceobjectives'),
  )
  return own(object, 'kind') === 'ClusterRole' ? { ...object, rules } : object
}

function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}
