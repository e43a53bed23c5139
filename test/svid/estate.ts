// Small estates as values: what is in one, and how it is put on a control plane beside many others, in a slot of its own.
import { dig, isRecord, type JsonRecord, stringAt } from '../../shared/src/core/base/json.ts'
import { csid, HELD, staticEntry } from './clusterspiffeid.ts'
import { namespace, pod, type PlacedObject, type Waves } from './build-cluster.ts'

/** The namespaces of every slot, by the end of their names. SCM ignores the third: its rule is not anchored. */
export const SPACES = ['a', 'b', 'ibm-x'] as const
export type Space = (typeof SPACES)[number]
type Labels = Readonly<Record<string, string>>

export interface EstatePod {
  readonly space: Space
  readonly node: 'n1' | 'n2' | 'gone' | undefined
  readonly serviceAccount: string
  readonly labels: Labels
  readonly annotations: Labels
  readonly fate: 'running' | 'Succeeded' | 'Failed' | 'terminating'
  readonly containers: readonly string[]
  readonly inits: readonly string[]
  readonly owned: boolean
}

export interface EstateId {
  readonly spec: JsonRecord
  /** Which of its selectors keeps it in its slot: the other one is free, and may be absent. */
  readonly scope: 'namespace' | 'pod'
  readonly younger: boolean
  readonly terminating: boolean
}

export interface EstateStatic {
  readonly path: string
  readonly selectors: readonly string[]
  /** Claims the first pod of the estate under the agent of a node, as SCM would. */
  readonly forPod: 'n1' | 'n2' | undefined
  readonly hint: string
}

export interface Estate {
  readonly namespaces: Readonly<Record<Space, Labels>>
  readonly pods: readonly EstatePod[]
  readonly ids: readonly EstateId[]
  readonly statics: readonly EstateStatic[]
}

/** The label by which an estate's objects select each other and nothing else. */
const SLOT = 'kleym.test/slot'

/** `s007`: the slot in the names of all objects of an estate. */
export function slotName(at: number): string {
  return `s${String(at).padStart(3, '0')}`
}

/** The slot that a name or a `namespace/name` belongs to. */
export function slotOf(text: string): number | undefined {
  const found = /(?:^|\/)s(\d{3})-/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

/**
 * All estates in their slots: namespaces and pods first, then the older objects, then the younger. Where they meet, no
 * ClusterSPIFFEID is kept in its slot.
 */
export function placeAll(estates: readonly Estate[], meet = false): Waves {
  const waves: [PlacedObject[], PlacedObject[], PlacedObject[]] = [[], [], []]
  for (const [at, estate] of estates.entries()) {
    for (const [wave, pieces] of place(estate, slotName(at), meet).entries()) waves[wave]?.push(...pieces)
  }
  return waves
}

function place(estate: Estate, slot: string, meet: boolean): Waves {
  const spaces = SPACES.map((space) =>
    namespace(`${slot}-${space}`, { ...estate.namespaces[space], [SLOT]: slot }),
  )
  const ids = (younger: boolean): readonly PlacedObject[] =>
    estate.ids.flatMap((id, at) =>
      id.younger === younger ? [placeId(id, slot, `${slot}-c${at}`, meet)] : [],
    )
  const statics = estate.statics.map((one, at) => ({ object: placeStatic(one, estate, slot, at) }))
  return [
    [...spaces.map((object) => ({ object })), ...estate.pods.map((one, at) => placePod(one, slot, at))],
    ids(false),
    [...statics, ...ids(true)],
  ]
}

function placePod(one: EstatePod, slot: string, at: number): PlacedObject {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `rs-${at}`, uid: `uid-${slot}-${at}` }
  const object = pod(
    `${slot}-${one.space}`,
    `p${at}`,
    {
      labels: { ...one.labels, [SLOT]: slot },
      annotations: one.annotations,
      ...(one.owned ? { ownerReferences: [owner] } : {}),
    },
    {
      nodeName: one.node ?? null,
      serviceAccountName: one.serviceAccount,
      containers: one.containers.map((name) => ({ name, image: `${name}:1` })),
      initContainers: one.inits.map((name) => ({ name, image: `${name}:1` })),
    },
  )
  const { fate } = one
  if (fate === 'terminating') return { object, terminating: true }
  return fate === 'running' ? { object } : { object, phase: fate }
}

function placeId(id: EstateId, slot: string, name: string, meet: boolean): PlacedObject {
  const spec = inSlot(meet ? id.spec : scoped(id, slot), slot)
  const object = csid(name, spec, id.terminating ? HELD : {})
  return id.terminating ? { object, terminating: true } : { object }
}

function scoped({ spec, scope }: EstateId, slot: string): JsonRecord {
  const field = scope === 'namespace' ? 'namespaceSelector' : 'podSelector'
  const free = spec[field]
  const matchLabels = { ...asRecord(dig(free, 'matchLabels')), [SLOT]: slot }
  return { ...spec, [field]: { ...asRecord(free), matchLabels } }
}

function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

/** `@` in a text is the slot: names of namespaces bear it. */
function inSlot(spec: JsonRecord, slot: string): JsonRecord {
  return asRecord(JSON.parse(JSON.stringify(spec).replaceAll('@', slot)))
}

function placeStatic(one: EstateStatic, estate: Estate, slot: string, at: number): JsonRecord {
  const [first] = estate.pods
  const claims = one.forPod !== undefined && first !== undefined
  const uid = `k8s:pod-uid:<uid:Pod/${slot}-${first?.space ?? ''}/p0>`
  return staticEntry(`${slot}-t${at}`, {
    spiffeID: `spiffe://example.org${one.path}`,
    parentID: `spiffe://example.org/spire/agent/k8s_psat/prod/${claims ? `<uid:Node/${one.forPod}>` : slot}`,
    selectors: [...(claims ? [uid] : []), ...one.selectors],
    hint: one.hint,
  })
}

/** Whether an object belongs to a slot. Nodes are everybody's. */
export function isOfSlot(value: JsonRecord, slot: string): boolean {
  const name = stringAt(value, 'metadata', 'name') ?? ''
  const space = stringAt(value, 'metadata', 'namespace') ?? ''
  return value['kind'] === 'Node' || space.startsWith(`${slot}-`) || name.startsWith(`${slot}-`)
}
