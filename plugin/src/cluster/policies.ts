// Access policies of a cluster. All of them are wanted whatever is asked about: one in any namespace may name any identity.
// Where that is not permitted, those of the namespaces in question are better than none, and the rest stays unknown.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { ISTIO_NAMESPACE } from '@kleym/shared/core/model/naming/istio-source.ts'
import {
  ACCESS_POLICIES,
  CONFIG_MAPS,
  EARLIER_ACCESS_POLICIES,
  NAMING_RESOURCES,
} from '@kleym/shared/kube/resources.ts'
import type { ClusterReader, Reading } from './reader.ts'
import { keepingApplied, policyTrim } from './trim.ts'

/** What reading one kind came to. */
export interface KindReading {
  readonly resource: Resource
  readonly reading: Reading
}

/** Where to look besides, and how much at a time. */
export interface PolicyQuestion {
  readonly namespaces: readonly string[] | undefined
  readonly limit: number | undefined
  /** Whether objects of other programs that name identities are read too. */
  readonly names: boolean
  /** Whether a file shadows an object. */
  readonly isInFiles: (object: JsonRecord) => boolean
}

/** Reads the kinds that are served, one list each; a version too old or too new to interpret where there is no other. */
export function readPolicies(
  reader: ClusterReader,
  question: PolicyQuestion,
): Promise<readonly KindReading[]> {
  return Promise.all(
    [ACCESS_POLICIES, ...EARLIER_ACCESS_POLICIES, ...(question.names ? NAMING_RESOURCES : [])].map(
      async (resource) => ({
        resource,
        reading: await readKind(reader, reader.servedAs(resource), question),
      }),
    ),
  )
}

/** The settings of Istio's mesh, by which its policies mean identities; undefined where no policy of Istio was read. */
export async function readMesh(
  reader: ClusterReader,
  readings: readonly KindReading[],
): Promise<Reading | undefined> {
  const isAsked = readings.some(
    ({ resource, reading }) =>
      resource.kind === 'AuthorizationPolicy' && reading.state !== 'absent' && reading.objects.length > 0,
  )
  return isAsked ? reader.get(CONFIG_MAPS, MESH_CONFIG, ISTIO_NAMESPACE) : undefined
}

const MESH_CONFIG = 'istio'

async function readKind(
  reader: ClusterReader,
  resource: Resource,
  { namespaces, limit, isInFiles }: PolicyQuestion,
): Promise<Reading> {
  const trim = keepingApplied(policyTrim, isInFiles)
  const everywhere = await reader.read({ resource, trim, limit })
  if (everywhere.state !== 'unknown' || everywhere.why.cause !== 'forbidden' || namespaces === undefined)
    return everywhere
  const some = await reader.read({ resource, namespaces, trim, limit })
  return some.state === 'absent' ? everywhere : { ...everywhere, objects: some.objects }
}
