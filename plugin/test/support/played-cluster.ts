// A cluster that is played over HTTP: it holds what manifests say, as the API server has them after `kubectl apply`, and forbids or loses
// what a test says.
import { parseAllDocuments } from 'yaml'
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { kindKey } from '@kleym/shared/core/model/kinds.ts'
import { LAST_APPLIED } from '@kleym/shared/core/model/objects/applied.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { groupVersionPath, RESOURCES } from '@kleym/shared/kube/resources.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { failure, json, text, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer, type Seen } from '@kleym/testing/faults/server.ts'
import { discoveryOf } from './fake-client.ts'
import { inProcess, type Ran } from './in-process.ts'
import { workspace } from './workspace.ts'

/** What a played cluster does beside holding objects. */
export interface Played {
  /** By `get configmaps`, `list pods`, or the name of an object: what is answered in its place. */
  readonly instead?: Readonly<Record<string, Behaviour>>
  /** Whether the objects have no record of applies, as what Helm 3 has installed. */
  readonly isUnrecorded?: boolean
}

/** What ran, and which requests it sent: `get services/scm`, `list pods in demo`, `list pods`. */
export interface RanLive extends Ran {
  readonly requests: readonly string[]
}

/** Runs a command line against a cluster that holds these manifests, with `files` in its folder. */
export async function onPlayedCluster(
  live: readonly string[],
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  played: Played = {},
): Promise<RanLive> {
  const objects = objectsIn(live, played)
  const requests: string[] = []
  await using server = await faultServer((seen) => {
    const asked = askedBy(seen)
    if (asked === undefined) return discovered(seen.path)
    requests.push(asked.said)
    const { resource, name } = asked
    const verb = name === undefined ? 'list' : 'get'
    const instead = played.instead?.[`${verb} ${resource.plural}`] ?? played.instead?.[name ?? '']
    return instead ?? answer(objects, asked)
  })
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url.origin } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  const cwd = await workspace({ ...files, kubeconfig: JSON.stringify(config) })
  const ran = await inProcess([...args, '--kubeconfig', 'kubeconfig'], cwd)
  return { ...ran, requests }
}

function discovered(path: string): Behaviour {
  if (path === '/apis') return json(discoveryOf(RESOURCES))
  const rows = RESOURCES.filter((one) => groupVersionPath(one) === path)
  return rows.length === 0
    ? text('404 page not found', 404)
    : json({ resources: rows.map(({ plural, kind }) => ({ name: plural, kind })) })
}

interface Asked {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly labelSelector: string | undefined
  readonly said: string
}

function askedBy({ path }: Seen): Asked | undefined {
  const { pathname, searchParams } = new URL(path, 'http://x')
  for (const resource of RESOURCES) {
    const prefix = `${groupVersionPath(resource)}/`
    if (!pathname.startsWith(prefix)) continue
    const parts = pathname.slice(prefix.length).split('/').map(decodeURIComponent)
    const isWithin = parts[0] === 'namespaces' && parts.length > 2
    const [plural, name] = isWithin ? parts.slice(2) : parts
    if (plural !== resource.plural) continue
    const namespace = isWithin ? parts[1] : undefined
    const said =
      name === undefined
        ? `list ${plural}${namespace === undefined ? '' : ` in ${namespace}`}`
        : `get ${plural}/${name}`
    return { resource, namespace, name, labelSelector: searchParams.get('labelSelector') ?? undefined, said }
  }
  return undefined
}

function answer(
  objects: readonly JsonRecord[],
  { resource, namespace, name, labelSelector }: Asked,
): Behaviour {
  const { group, version, kind, plural } = resource
  const found = objects.filter((one) => {
    const meta = readMeta(one)
    const [key = '', value] = labelSelector?.split('=') ?? []
    return (
      kindKey(one) === (group === '' ? kind : `${kind}.${group}`) &&
      (namespace === undefined || meta.namespace === namespace) &&
      (labelSelector === undefined || meta.labels.get(key) === value)
    )
  })
  if (name === undefined) {
    const apiVersion = group === '' ? version : `${group}/${version}`
    return json({ apiVersion, kind: `${kind}List`, metadata: { resourceVersion: '1' }, items: found })
  }
  const one = found.find((each) => readMeta(each).name === name)
  return one === undefined ? failure(404, 'NotFound', { details: { name, group, kind: plural } }) : json(one)
}

function objectsIn(manifests: readonly string[], { isUnrecorded = false }: Played): readonly JsonRecord[] {
  return parseAllDocuments(manifests.join('\n---\n')).flatMap((document, at): readonly JsonRecord[] => {
    const value: unknown = document.toJS()
    if (!isRecord(value)) return []
    const metadata = recordAt(value, 'metadata')
    const annotations = {
      ...recordAt(metadata, 'annotations'),
      ...(!isUnrecorded && { [LAST_APPLIED]: JSON.stringify(value) }),
    }
    const given = { uid: `live-${at}`, creationTimestamp: '2026-01-01T00:00:00Z', annotations }
    return [{ ...value, metadata: { ...metadata, ...given } }]
  })
}
