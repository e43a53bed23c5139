// The estate of `examples/` on a real API server, as far as it takes it: what Git would hold and what a cluster knows,
// without what only the operator writes.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { idOf, RestError, type ObjectId } from './rest.ts'

const ESTATE = join(import.meta.dirname, '..', '..', 'examples', 'estate')
/** What the operator writes by itself, for bindings that have other UIDs in this cluster. */
const OUTPUTS = 'platform/kleym-outputs.yaml'
const AT_A_TIME = 8

/** An object of the estate that is not in the cluster, and the server's reason. */
export interface NotApplied {
  readonly file: string
  readonly kind: string
  readonly name: string
  readonly reason: string
}

export interface Applied {
  readonly count: number
  readonly notApplied: readonly NotApplied[]
}

interface Sourced {
  readonly file: string
  readonly object: JsonRecord
}

/**
 * Applies the estate as admin: namespaces, then the service accounts that its pods name, then the rest with its status.
 * Nothing that the server refuses stops the rest. `change` sees each object before it is applied.
 */
export async function applyEstate(
  controlPlane: ControlPlane,
  change: (object: JsonRecord) => JsonRecord = (object) => object,
): Promise<Applied> {
  const objects = readEstate().map(({ file, object }) => ({ file, object: change(object) }))
  const of = (kind: string): readonly Sourced[] => objects.filter(({ object }) => object['kind'] === kind)
  const namespaces = of('Namespace')
  const others = objects.filter(({ object }) => object['kind'] !== 'Namespace')
  const notApplied: NotApplied[] = []
  for (const group of [namespaces, missingNamespaces(objects), serviceAccounts(of('Pod')), others])
    notApplied.push(...(await applyGroup(controlPlane, group)))
  return { count: objects.length - notApplied.length, notApplied }
}

function readEstate(): readonly Sourced[] {
  const files = readdirSync(ESTATE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && file !== OUTPUTS)
    .toSorted()
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(ESTATE, file), 'utf8')).flatMap((document) => {
      const object: unknown = document.toJS()
      return isRecord(object) && stringAt(object, 'metadata', 'name') !== undefined ? [{ file, object }] : []
    }),
  )
}

/** Namespaces that objects are in and no file declares. */
function missingNamespaces(objects: readonly Sourced[]): readonly Sourced[] {
  const declared = new Set(
    objects.filter(({ object }) => object['kind'] === 'Namespace').map(({ object }) => idOf(object).name),
  )
  const used = new Set(objects.map(({ object }) => idOf(object).namespace ?? ''))
  return [...used]
    .filter((name) => name !== '' && !declared.has(name))
    .map((name) => ({ file: '', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } }))
}

/** The estate leaves service accounts out; a server refuses a pod without its own. */
function serviceAccounts(pods: readonly Sourced[]): readonly Sourced[] {
  const wanted = new Map<string, JsonRecord>()
  for (const { object } of pods) {
    const namespace = idOf(object).namespace ?? 'default'
    const name = stringAt(object, 'spec', 'serviceAccountName') ?? 'default'
    wanted.set(`${namespace}/${name}`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
    })
  }
  return [...wanted.values()].map((object) => ({ file: '', object }))
}

async function applyGroup(
  controlPlane: ControlPlane,
  group: readonly Sourced[],
): Promise<readonly NotApplied[]> {
  // By their place in the group: several are applied at once, and each may be the first to end.
  const notApplied: NotApplied[] = []
  const queue = group.entries()
  const work = async (): Promise<void> => {
    for (const [at, sourced] of queue) {
      const reason = await applyOne(controlPlane, sourced.object)
      const { kind, name } = idOf(sourced.object)
      if (reason !== undefined) notApplied[at] = { file: sourced.file, kind, name, reason }
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return Object.values(notApplied)
}

/** Why an object could not be applied; undefined when it could. */
async function applyOne({ admin }: ControlPlane, object: JsonRecord): Promise<string | undefined> {
  const { apiVersion, kind } = idOf(object)
  try {
    if (!(await admin.serves(apiVersion, kind))) return 'this cluster does not serve the kind'
    await admin.apply(asApplied(object))
    if (hasStatusToKeep(object)) await admin.patch(idOf(object), { status: object['status'] }, 'status')
    return undefined
  } catch (error) {
    if (error instanceof RestError) return stringAt(error.body, 'message') ?? error.message
    return error instanceof Error ? error.message : String(error)
  }
}

/** Without what the server gives: another UID is refused, and a status has a subresource of its own. */
function asApplied(object: JsonRecord): JsonRecord {
  const metadata = Object.entries(isRecord(object['metadata']) ? object['metadata'] : {})
  return {
    ...Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'status')),
    metadata: Object.fromEntries(metadata.filter(([key]) => !GIVEN_BY_SERVER.has(key))),
  }
}

const GIVEN_BY_SERVER = new Set([
  'uid',
  'creationTimestamp',
  'resourceVersion',
  'generation',
  'managedFields',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
])

/** A binding's status is the operator's; that of the others is what a kubelet or a gateway's controller would report. */
function hasStatusToKeep(object: JsonRecord): boolean {
  const kinds: readonly ObjectId['kind'][] = ['Pod', 'Node', 'Namespace', 'XAccessPolicy']
  return kinds.includes(stringAt(object, 'kind') ?? '') && isRecord(dig(object, 'status'))
}
