// Whether an operator has what it needs: an API server that answers, its rights, the kinds, and a leader. Nothing is
// changed: a review of rights leaves nothing behind.
import { classLabelProblem } from '@kleym/shared/core/decide/index.ts'
import { SCM_CLASS_LABEL } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Api, Resource } from '@kleym/shared/kube/api.ts'
import { pause, type Clock } from '@kleym/shared/kube/clock.ts'
import { discover, type Discoverer } from '@kleym/shared/kube/discovery.ts'
import { ignoranceOf, isNotFound } from '@kleym/shared/kube/failures.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  LEASES,
  OBJECTIVES,
  POOLS,
  resourceName,
  SELF_SUBJECT_ACCESS_REVIEWS,
} from '@kleym/shared/kube/resources.ts'
import { isAllowed } from '../server/access-review.ts'
import type { LeaseName } from '../election/lease.ts'
import { signerOf } from '../election/signature.ts'
import { objectText, type RequiredRight } from './rights.ts'
import type { CheckResult } from './result.ts'

/** Asks who serves `server`. */
export async function checkServer(client: Discoverer, server: URL): Promise<CheckResult> {
  const about = 'server'
  try {
    const version = stringAt(await client.raw('GET', '/version'), 'gitVersion') ?? ''
    const what = /^v[\w.+-]{1,64}$/.test(version) ? `Kubernetes ${version}` : 'an API server'
    return { state: 'ok', about, says: `${what} answers at ${server.host}` }
  } catch (error) {
    return {
      state: 'failed',
      about,
      says: unknownReasonText(ignoranceOf(error, 'get', `the version of ${server.host}`)),
      fix: 'check that pods of this namespace may connect to the API server, and which service account they use',
    }
  }
}

/** A note where outputs lack SCM's class label although there is a class; nothing is asked. */
export function checkClass(className: string): readonly CheckResult[] {
  const problem = classLabelProblem(className)
  if (problem === undefined) return []
  return [{ state: 'note', about: 'class', says: classWithoutLabelText(problem) }]
}

/** What a class that is no label value comes to; `problem` says why it is none. */
export function classWithoutLabelText(problem: string): string {
  return `the class ${problem}, so outputs have no label ${SCM_CLASS_LABEL}: an SCM with filterByClassName sees none of them`
}

/** Asks about each right; every user may ask that about itself. */
export async function checkRights(
  api: Pick<Api, 'create'>,
  wanted: readonly RequiredRight[],
): Promise<CheckResult> {
  const about = 'rights'
  const answers = await Promise.all(
    wanted.map(async (right) => ({ right, answer: await review(api, right) })),
  )
  const refused = answers.flatMap(({ right, answer }) => (answer === 'refused' ? [right] : []))
  const failures = new Set(answers.flatMap(({ answer }) => (typeof answer === 'string' ? [] : [answer.why])))
  if (refused.length + failures.size === 0)
    return { state: 'ok', about, says: `all ${wanted.length} that an operator uses` }
  const fix =
    refused.length > 0
      ? "bind the chart's roles to this service account, as rbac.create=true does"
      : 'see why the API server cannot judge rights'
  return { state: 'failed', about, says: [...refusals(refused), ...failures].join('; '), fix }
}

/** A sentence for each thing that something may not be done to. */
function refusals(refused: readonly RequiredRight[]): readonly string[] {
  const verbs = Map.groupBy(refused, objectText)
  return [...verbs].map(([what, rights]) => `may not ${rights.map(({ verb }) => verb).join(', ')} ${what}`)
}

async function review(
  api: Pick<Api, 'create'>,
  right: RequiredRight,
): Promise<'granted' | 'refused' | { readonly why: string }> {
  const { group, version, kind } = SELF_SUBJECT_ACCESS_REVIEWS
  try {
    const answer = await api.create(SELF_SUBJECT_ACCESS_REVIEWS, {
      apiVersion: `${group}/${version}`,
      kind,
      spec: { resourceAttributes: attributesOf(right) },
    })
    return isAllowed(answer) ? 'granted' : 'refused'
  } catch (error) {
    return { why: unknownReasonText(ignoranceOf(error, 'create', kind)) }
  }
}

function attributesOf({ verb, resource, subresource, namespace, name }: RequiredRight): JsonRecord {
  return {
    verb,
    group: resource.group,
    resource: resource.plural,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
}

/** Sets of kinds: the API server must serve at least one of each, with how to install it, or what works without. */
type Need = { readonly kinds: readonly Resource[] } & (
  | { readonly fix: string }
  | { readonly without: string }
)

const NEEDS: readonly Need[] = [
  { kinds: [BINDINGS], fix: 'install its CRD, as crds.enabled=true does' },
  { kinds: [CLUSTER_SPIFFE_IDS], fix: 'install the CRDs of the SPIRE controller manager' },
  { kinds: POOLS, fix: 'install the CRDs of the Gateway API Inference Extension' },
  { kinds: OBJECTIVES, without: 'only bindings of mode PoolOnly can be compiled' },
]

/** Asks which kinds are served. */
export function checkKinds(client: Discoverer): Promise<readonly CheckResult[]> {
  return Promise.all(NEEDS.map((need) => checkNeed(client, need)))
}

async function checkNeed(client: Discoverer, need: Need): Promise<CheckResult> {
  const about = 'kinds'
  const { kinds } = need
  const served = await discover(client, kinds)
  const found = kinds.filter((_, at) => served[at]?.state === 'served')
  const unknown = served.flatMap((one) => (one.state === 'unknown' ? [unknownReasonText(one.why)] : []))
  // One that could not be asked about keeps the operator from whatever needs it, as one that is missing does.
  if (unknown.length > 0)
    return { state: 'failed', about, says: unknown.join('; '), fix: 'see why its API does not answer' }
  if (found.length > 0) return { state: 'ok', about, says: found.map(resourceName).join(', ') }
  const says = `the API server serves no ${kinds.map(resourceName).join(', nor ')}`
  return 'fix' in need
    ? { state: 'failed', about, says, fix: need.fix }
    : { state: 'note', about, says: `${says}: ${need.without}` }
}

/** How often the Lease is read, in milliseconds. */
const LOOK_MS = 1_000

export interface LeaderSearch {
  readonly api: Pick<Api, 'get'>
  readonly clock: Clock
  readonly lease: LeaseName
  /** How long an operator may take to lead, in milliseconds: images have to be fetched, and an old Lease run out. */
  readonly patienceMs: number
}

/** Waits until an operator renews the Lease: who holds one may be dead, and clocks of others prove nothing. */
export async function checkLeader({ api, clock, lease, patienceMs }: LeaderSearch): Promise<CheckResult> {
  const about = 'leader'
  const place = `the Lease ${namespacedName(lease.namespace, lease.name)}`
  const untilMs = clock.monotonicMs() + patienceMs
  let first: LeaderSighting | undefined
  for (;;) {
    const now = await look(api, lease)
    if ('holder' in now) {
      if (first?.holder === now.holder && first.renewed !== now.renewed)
        return { state: 'ok', about, says: `${now.pod} renews ${place}` }
      if (first?.holder !== now.holder) first = now
    }
    if (clock.monotonicMs() >= untilMs) {
      const seconds = Math.round(patienceMs / 1000)
      const why = 'holder' in now ? `${now.pod} holds it and does not renew it` : now.why
      const fix = `see why no operator leads: kubectl --namespace ${lease.namespace} get pods, and their logs`
      return { state: 'failed', about, says: `no replica renewed ${place} in ${seconds} s: ${why}`, fix }
    }
    await pause(clock, LOOK_MS)
  }
}

/** An operator on the Lease. */
interface LeaderSighting {
  /** As it is written there. */
  readonly holder: string
  readonly pod: string
  /** When it says that it renewed the Lease, in its own words. */
  readonly renewed: string
}

async function look(
  api: Pick<Api, 'get'>,
  lease: LeaseName,
): Promise<LeaderSighting | { readonly why: string }> {
  try {
    const spec = own(await api.get(LEASES, lease), 'spec')
    const holder = stringAt(spec, 'holderIdentity') ?? ''
    const pod = signerOf(holder)
    if (pod !== undefined) return { holder, pod, renewed: stringAt(spec, 'renewTime') ?? '' }
    return { why: holder === '' ? 'no replica holds it' : 'what holds it is no kleym-operator' }
  } catch (error) {
    if (isNotFound(error, LEASES, lease.name)) return { why: 'there is none' }
    return { why: unknownReasonText(ignoranceOf(error, 'get', resourceName(LEASES))) }
  }
}
