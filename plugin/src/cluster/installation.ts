// What `status` reads: which kinds are served, the operators and who leads, the bindings with their statuses, and what
// SCM is set to. No pod is read.
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { own, stringAt } from '@kleym/shared/core/base/json.ts'
import { argument, commandLines } from '@kleym/shared/core/analysis/index.ts'
import { DEFAULT_LEASE_NAME, LEASE_NAME_FLAG } from '@kleym/shared/core/decide/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { discover, type Served } from '@kleym/shared/kube/discovery.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CLUSTER_STATIC_ENTRIES,
  DEPLOYMENTS,
  LEASES,
  OBJECTIVES,
  POOLS,
  resourceName,
} from '@kleym/shared/kube/resources.ts'
import { readOperators, LiveSideReader, WHOLE, type LiveSide } from './live-side.ts'
import type { ClusterReader, Reading } from './reader.ts'
import { findEveryScm, type ScmQuestion } from './scm.ts'

/** A kind that kleym works with, and whether the API server serves it. */
export interface KindFact {
  readonly resource: Resource
  readonly served: Served
}

/** Who holds a Lease, and for how long it counts. */
export interface Leader {
  /** `namespace/name` of the Lease. */
  readonly lease: string
  /** Empty: nobody, also where the Lease is not there. */
  readonly holder: string
  /** RFC 3339. */
  readonly renewed: string
  readonly durationSeconds: number
}

/** What was read. */
export interface Installation {
  readonly kinds: readonly KindFact[]
  /** Undefined: there is no operator, it elects no leader, or its Lease could not be read. */
  readonly leader: Leader | undefined
  readonly side: LiveSide
}

/** What is to be read. */
export interface InstallationQuestion extends ScmQuestion {
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
}

/** The kinds in the order in which `status` lists them. */
export const KINDS: readonly Resource[] = [
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CLUSTER_STATIC_ENTRIES,
  ...POOLS,
  ...OBJECTIVES,
]

/** Reads an installation. Throws a KleymError only where the cluster cannot be reached at all. */
export async function readInstallation(
  client: Client,
  reader: ClusterReader,
  question: InstallationQuestion,
): Promise<Installation> {
  const { namespaces } = question
  await reader.open()
  const side = new LiveSideReader(undefined)
  const [served, operators] = await Promise.all([
    discover(client, KINDS),
    readOperators(reader),
    reader.read({ resource: BINDINGS, namespaces, trim: WHOLE }).then((one) => side.add(BINDINGS, one)),
    reader
      .read({ resource: CLUSTER_SPIFFE_IDS, trim: WHOLE })
      .then((one) => side.add(CLUSTER_SPIFFE_IDS, one)),
    findEveryScm(reader, question).then((found) => side.addScm(found)),
  ])
  return {
    kinds: KINDS.flatMap((resource, at) => {
      const state = served[at]
      return state === undefined ? [] : [{ resource, served: state }]
    }),
    leader: await leaderOf(reader, operators, side),
    side: side.finish(operators, namespaces),
  }
}

/** Why Deployments could not be looked for: a detail to other commands, and half the question to `status`. */
export function operatorsUnknown({ unverifiedRefs }: LiveSide): readonly UnknownReason[] {
  return unverifiedRefs.filter(({ what }) => what === resourceName(DEPLOYMENTS))
}

/** Why the Lease could not be read. */
export function leaderUnknown({ unverifiedRefs }: LiveSide): UnknownReason | undefined {
  return unverifiedRefs.find(({ what }) => what === resourceName(LEASES))
}

async function leaderOf(
  reader: ClusterReader,
  operators: Reading,
  side: LiveSideReader,
): Promise<Leader | undefined> {
  const [deployment] = operators.state === 'read' ? operators.objects : []
  if (deployment === undefined) return undefined
  if (flagOf(deployment, '--leader-elect') === 'false') return undefined
  const namespace = flagOf(deployment, '--leader-election-namespace') ?? readMeta(deployment.value).namespace
  const name = flagOf(deployment, LEASE_NAME_FLAG) ?? DEFAULT_LEASE_NAME
  const reading = await reader.get(LEASES, name, namespace)
  if (reading.state === 'unknown') {
    side.unverifiedRefs.push(reading.why)
    return undefined
  }
  const [lease] = reading.state === 'read' ? reading.objects : []
  const spec = lease?.value['spec']
  const duration = own(spec, 'leaseDurationSeconds')
  return {
    lease: namespacedName(namespace, name),
    holder: stringAt(spec, 'holderIdentity') ?? '',
    renewed: stringAt(spec, 'renewTime') ?? '',
    durationSeconds: typeof duration === 'number' ? duration : 0,
  }
}

function flagOf({ value }: RawObject, flag: string): string | undefined {
  return commandLines(value)
    .map((args) => argument(args, flag))
    .find((given) => given !== undefined)
}
