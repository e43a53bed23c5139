// Which kinds an API server serves: served, certainly absent, or not known and why. A kind counts as absent only where
// the API server itself says so twice: a failing aggregated API or a lost connection is not an absence.
import { getOrCreate } from '../core/base/get-or-create.ts'
import { isRecord, listAt, own, stringAt } from '../core/base/json.ts'
import type { UnknownReason } from '../core/model/unknown-reason.ts'
import type { Resource } from './api.ts'
import type { Client } from './client.ts'
import { connectionError, ignoranceOf, mayBeKindAbsent } from './failures.ts'
import { groupVersionPath, resourceName } from './resources.ts'

/**
 * A served version of a group: the kinds in it by their plurals. They are `not told` by a server that lists groups alone,
 * and `stale` where the server behind it does not answer: what is in it now is not known.
 */
export type ServedKinds = ReadonlyMap<string, string> | 'not told' | 'stale'

/** The versions of each group that an API server lists, by the group's name; the core group is not among them. */
export type ServedGroups = ReadonlyMap<string, ReadonlyMap<string, ServedKinds>>

/**
 * The groups with all their kinds in one answer, where the API server gives it (from Kubernetes 1.30 on as v2); the
 * groups alone where it does not: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
 */
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

/** Reads the groups in one request. Rejects as the client does, and with a ConnectionError (malformed) for no list. */
export async function servedGroups(client: Discoverer): Promise<ServedGroups> {
  const answer = await client.raw('GET', '/apis', undefined, { accept: AGGREGATED })
  if (stringAt(answer, 'kind') === 'APIGroupDiscoveryList' && Array.isArray(own(answer, 'items')))
    return new Map(listAt(answer, 'items').map(discoveredGroup))
  if (!Array.isArray(own(answer, 'groups')))
    throw connectionError('malformed', 'GET /apis', { neverSent: false, detail: 'it lists no groups' })
  return new Map(
    listAt(answer, 'groups').map((group) => [
      stringAt(group, 'name') ?? '',
      new Map(listAt(group, 'versions').map((row) => [stringAt(row, 'version') ?? '', 'not told'])),
    ]),
  )
}

function discoveredGroup(group: unknown): [string, ReadonlyMap<string, ServedKinds>] {
  const versions = listAt(group, 'versions').map((row): [string, ServedKinds] => [
    stringAt(row, 'version') ?? '',
    kindsIn(row),
  ])
  return [stringAt(group, 'metadata', 'name') ?? '', new Map(versions)]
}

function kindsIn(version: unknown): ServedKinds {
  if (stringAt(version, 'freshness') !== 'Current') return 'stale'
  return new Map(
    listAt(version, 'resources').map((row) => [
      stringAt(row, 'resource') ?? '',
      stringAt(row, 'responseKind', 'kind') ?? '',
    ]),
  )
}

/** Whether a resource may be served: false only where the groups say that it is not; the core group always is. */
export function isGroupServed(groups: ServedGroups, resource: Resource): boolean {
  return resource.group === '' || lists(groups.get(resource.group), resource.version, resource)
}

/** Whether the server of a resource's group does not answer: even a 404 does not say then that it is not served. */
export function isStale(groups: ServedGroups, { group, version }: Resource): boolean {
  return groups.get(group)?.get(version) === 'stale'
}

/**
 * The resource in the version in which it is served: its own, else the first listed one with its kind; undefined where
 * the groups list none.
 */
export function inServedVersion(groups: ServedGroups, resource: Resource): Resource | undefined {
  const versions = groups.get(resource.group)
  const version = [resource.version, ...(versions?.keys() ?? [])].find((one) =>
    lists(versions, one, resource),
  )
  return version === undefined ? undefined : { ...resource, version }
}

function lists(
  versions: ReadonlyMap<string, ServedKinds> | undefined,
  version: string,
  { plural, kind }: Resource,
): boolean {
  if (versions?.has(version) !== true) return false
  const kinds = versions.get(version)
  return !(kinds instanceof Map) || kinds.get(plural) === kind
}

export type Served =
  | { readonly state: 'served' }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/** What discovery needs of a client. */
export type Discoverer = Pick<Client, 'raw'>

/**
 * For each wanted resource, in order, whether it is served; never rejects. One request per group version, and, for what is not in
 * its own, `/apis`: an object that is served in another version alone is there all the same, and cannot be read.
 */
export async function discover(client: Discoverer, wanted: readonly Resource[]): Promise<readonly Served[]> {
  const asked = new Map<string, Promise<unknown>>()
  /** Each path is read once. */
  const read = (path: string): Promise<unknown> => getOrCreate(asked, path, () => client.raw('GET', path))
  return Promise.all(wanted.map((resource) => look(resource, read)))
}

/** Reads a path of the API server. */
type Read = (path: string) => Promise<unknown>

async function look(resource: Resource, read: Read): Promise<Served> {
  const first = await lookIn(resource, read)
  if (first.state === 'served' || first.state === 'unknown') return first
  // The core group has one version, and `/apis` does not list it.
  if (resource.group === '') return ABSENT
  try {
    const groups = await read('/apis')
    if (!isListOf(groups, 'groups')) return unreadable(resource)
    const versions = versionsOf(groups, resource)
    const found = await Promise.all(versions.map((version) => lookIn({ ...resource, version }, read)))
    if (found.some(({ state }) => state === 'served')) return elsewhere(resource)
    // A version that is listed and yet not found: a CRD that comes or goes just now, or an API behind it that fails.
    if (found.some(({ state }) => state === 'not found')) return unknown(undefined, resource)
    return found.find((one) => one.state === 'unknown') ?? ABSENT
  } catch (error) {
    return unknown(error, resource)
  }
}

/** Whether the group version of a resource has it, or is not found itself. */
async function lookIn(resource: Resource, read: Read): Promise<Served | { readonly state: 'not found' }> {
  try {
    const list = await read(groupVersionPath(resource))
    if (!isListOf(list, 'resources')) return unreadable(resource)
    return listAt(list, 'resources').some((row) => isRow(row, resource)) ? SERVED : ABSENT
  } catch (error) {
    return mayBeKindAbsent(error) ? { state: 'not found' } : unknown(error, resource)
  }
}

const SERVED: Served = { state: 'served' }
const ABSENT: Served = { state: 'absent' }

function unknown(error: unknown, resource: Resource): Served {
  return { state: 'unknown', why: ignoranceOf(error, 'discover', resourceName(resource)) }
}

function unreadable(resource: Resource): Served {
  return { state: 'unknown', why: { verb: 'discover', what: resourceName(resource), cause: 'malformed' } }
}

function elsewhere(resource: Resource): Served {
  const what = resourceName(resource)
  return { state: 'unknown', why: { verb: 'discover', what, cause: 'served in another version' } }
}

function isListOf(answer: unknown, field: string): boolean {
  return Array.isArray(own(answer, field))
}

function isRow(row: unknown, { plural, kind }: Resource): boolean {
  return isRecord(row) && row['name'] === plural && row['kind'] === kind
}

/** The versions in which a group is listed. */
function versionsOf(groups: unknown, { group }: Resource): readonly string[] {
  return listAt(groups, 'groups')
    .filter((each) => stringAt(each, 'name') === group)
    .flatMap((each) => listAt(each, 'versions').map((row) => stringAt(row, 'version') ?? ''))
}
