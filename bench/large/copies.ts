// Many objects of a content without the API server's minutes for each: a few are created through the API server, which admits them,
// and the others are those same stored bytes in etcd under other names and UIDs. The API server learns of them by its watch, and
// serves, validates and patches them like any other.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { storedAt, store } from '../../test/control-plane/etcd.ts'
import { idOf } from '../../test/control-plane/rest.ts'
import { until } from '@kleym/testing/wait.ts'
import type { Content } from './contents.ts'

/** One object that the API server has admitted, as etcd holds it. */
export interface AdmittedObject {
  /** As the API server answers with it. */
  readonly object: JsonRecord
  readonly stored: string
}

/** The longest that the API server may take for one of them, in milliseconds. */
const CREATE_MS = 180_000

/** Creates the object of a number through the API server; rejects with its refusal. No operator may run, which would change it. */
export async function admit(
  cp: ControlPlane,
  content: Content,
  space: string,
  at: number,
): Promise<AdmittedObject> {
  const wanted = content.large(space, at)
  const id = idOf(wanted)
  // An answer may take longer than the client waits: a second try then says that it is there.
  const object = await until(
    async () => (await cp.admin.get(id)) ?? (await cp.admin.create(wanted)),
    `${id.kind} ${id.name} to be created`,
    CREATE_MS,
  )
  return { object, stored: await storedAt(cp.etcdPort, keyOf(wanted)) }
}

/**
 * Puts a copy of an admitted object into etcd, as the object of a number. Best while no API server runs: etcd takes them faster than
 * an API server decodes them, and one that is behind answers no list.
 */
export async function copy(
  cp: ControlPlane,
  { object, stored }: AdmittedObject,
  wanted: JsonRecord,
): Promise<void> {
  const [name, uid] = [stringAt(object, 'metadata', 'name'), stringAt(object, 'metadata', 'uid')]
  const copied = stored
    .replaceAll(`"${String(name)}"`, JSON.stringify(idOf(wanted).name))
    .replaceAll(`"${String(uid)}"`, JSON.stringify(randomUUID()))
  await store(cp.etcdPort, keyOf(wanted), copied)
}

/** Throws unless the API server serves a copy as it serves what was copied, but for name, UID and version. */
export async function assertServedAlike(
  cp: ControlPlane,
  { object }: AdmittedObject,
  wanted: JsonRecord,
): Promise<void> {
  const id = idOf(wanted)
  const served = await until(() => cp.admin.get(id), `the copy ${id.name} to be served`)
  if (!isDeepStrictEqual(withoutIdentity(served), withoutIdentity(object)))
    throw new Error(`${id.name} is served with other content than what it was copied from`)
}

function withoutIdentity(object: JsonRecord): unknown {
  const text = JSON.stringify(object, (key, value: unknown) =>
    ['name', 'uid', 'resourceVersion'].includes(key) ? undefined : value,
  )
  return JSON.parse(text)
}

/** Where the API server stores an object of a custom kind. */
function keyOf(object: JsonRecord): string {
  const { apiVersion, kind, namespace = '', name } = idOf(object)
  const [group = ''] = apiVersion.split('/')
  return `/registry/${group}/${kind.toLowerCase()}s/${namespace}/${name}`
}
