// Which kinds an API server serves: served, certainly absent, or not known and why. A kind counts as absent only where
// the API server itself says so twice: a failing aggregated API or a lost connection is not an absence.
import { isRecord, listAt, own, stringAt } from '../core/json.ts'
import type { Ignorance } from '../core/knowledge.ts'
import type { Resource } from './api.ts'
import type { Client } from './client.ts'
import { connectionError, ignoranceOf, isKindAbsent } from './failures.ts'
import { groupVersionPath, resourceName } from './resources.ts'

/** The versions of each group that an API server lists, by the group's name; the core group is not among them. */
export type ServedGroups = ReadonlyMap<string, ReadonlySet<string>>

/** Reads the groups in one request. Rejects as the client does, and with a ConnectionError (malformed) for no list. */
export async function servedGroups(client: Discoverer, signal?: AbortSignal): Promise<ServedGroups> {
  const answer = await client.raw('GET', '/apis', undefined, signal === undefined ? {} : { signal })
  if (!Array.isArray(own(answer, 'groups')))
    throw connectionError('malformed', 'GET /apis', { neverSent: false, detail: 'it lists no groups' })
  return new Map(
    listAt(answer, 'groups').map((group) => [
      stringAt(group, 'name') ?? '',
      new Set(listAt(group, 'versions').map((row) => stringAt(row, 'version') ?? '')),
    ]),
  )
}

/** Whether a group lists the version of a resource; the core group always does. */
export function isGroupServed(groups: ServedGroups, { group, version }: Resource): boolean {
  return group === '' || groups.get(group)?.has(version) === true
}

export type Served =
  | { readonly state: 'served' }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly why: Ignorance }

/** What discovery needs of a client. */
export type Discoverer = Pick<Client, 'raw'>

/** For each wanted resource, in order, whether it is served; never rejects. One request per group version, and `/apis`. */
export async function discover(
  client: Discoverer,
  wanted: readonly Resource[],
  signal?: AbortSignal,
): Promise<readonly Served[]> {
  const options = signal === undefined ? {} : { signal }
  const asked = new Map<string, Promise<unknown>>()
  /** Each path is read once. */
  const read = (path: string): Promise<unknown> => {
    const before = asked.get(path)
    if (before !== undefined) return before
    const answer = client.raw('GET', path, undefined, options)
    asked.set(path, answer)
    return answer
  }
  return Promise.all(wanted.map((resource) => look(resource, read)))
}

async function look(resource: Resource, read: (path: string) => Promise<unknown>): Promise<Served> {
  try {
    const list = await read(groupVersionPath(resource))
    if (!Array.isArray(own(list, 'resources'))) return unreadable(resource)
    return listAt(list, 'resources').some((row) => isRow(row, resource)) ? SERVED : ABSENT
  } catch (error) {
    if (!isKindAbsent(error)) return unknown(error, resource)
  }
  try {
    const groups = await read('/apis')
    if (!Array.isArray(own(groups, 'groups'))) return unreadable(resource)
    // The group is listed and yet not found: a CRD that comes or goes just now, or an API behind it that fails.
    return isListed(groups, resource) ? unknown(undefined, resource) : ABSENT
  } catch (error) {
    return unknown(error, resource)
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

function isRow(row: unknown, { plural, kind }: Resource): boolean {
  return isRecord(row) && row['name'] === plural && row['kind'] === kind
}

function isListed(groups: unknown, { group, version }: Resource): boolean {
  return listAt(groups, 'groups')
    .filter((each) => stringAt(each, 'name') === group)
    .some((each) => listAt(each, 'versions').some((row) => stringAt(row, 'version') === version))
}
