// Which bindings could be for a pool, the best first. Nothing is proven here: `prove.ts` runs each plan through the core that
// the operator runs, and takes the first that passes.
import { onceBy, type Group } from '../../base/groups.ts'
import { present } from '../../base/present.ts'
import { type Config, objectivePool } from '../../decide/index.ts'
import { valueOf, type Binding } from '../../model/objects/binding.ts'
import type { Objective, Pool } from '../../model/objects/inference.ts'
import { type Pod, DEFAULT_SERVICE_ACCOUNT } from '../../model/objects/pod.ts'
import { sameSelection } from '../../model/objects/pool-selector.ts'
import type { Finding } from '../../findings/index.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { POOL_KIND } from '../../model/kinds.ts'
import { counted } from '../../base/text/counted.ts'
import { YES } from '../../model/truth/truth.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { CandidateBoundary, UnnamedCandidate } from './candidate.ts'
import { proxyContainers, type Companion } from './companion.ts'
import { openChoice, type NotSuggested } from './not-suggested.ts'
import type { ProxyHarms } from './proxy-harms.ts'
import {
  commonContainers,
  labelValues,
  LLM_D_ROLE,
  USUAL_VARIANT_KEYS,
  type AccountPods,
  type PoolPods,
} from './pool-pods.ts'
import { distinct } from '../../base/text/bytes.ts'

/** Bindings that are only applied together. */
export interface Plan {
  readonly candidates: readonly UnnamedCandidate[]
  /** Why these, a sentence each. */
  readonly why: readonly string[]
}

/** The pods of a pool under one service account, and what could be for them. */
export interface Need {
  readonly pool: Subject
  readonly serviceAccountName: string
  readonly pods: readonly Pod[]
  /** The best first; empty where the pods have a binding already, or where none can be named. */
  readonly plans: readonly Plan[]
  /** What cannot be had and why, a sentence each. */
  readonly remarks: readonly string[]
  /** What a person has to choose before there is a plan of this mode; undefined where there is nothing to choose. */
  readonly open: NotSuggested | undefined
  /** What could be in the place of bindings that are there, which suggestions never replace; absent: nothing has to be. */
  readonly instead?: Instead
}

/** Bindings in the place of some that are there and give proxies an identity that they cannot use. */
export interface Instead {
  /** The bindings that are there. */
  readonly of: readonly NamespacedName[]
  /** Their harm. */
  readonly harm: Finding
  /** The best first; empty where nothing can be in their place. */
  readonly plans: readonly Plan[]
  /** How many objectives lead to the pool. */
  readonly objectives: number
  /** What a person has to choose before there is a plan; undefined: nothing. */
  readonly open: NotSuggested | undefined
}

/** What the plans of one pool are made from. */
export interface PoolContext {
  /** The pools of one name: one, or one of each group. */
  readonly pools: Group<Pool>
  readonly pods: PoolPods
  /** The bindings that name the pool and are not being deleted. */
  readonly bindings: readonly Binding[]
  /** The objectives that name the pool. */
  readonly objectives: readonly Objective[]
  /** Whether an objective is asked about; undefined: the question names none. */
  readonly isAsked: ((objective: Objective) => boolean) | undefined
  /** Whether a pod is asked about. */
  readonly isPod: (pod: Pod) => boolean
  /** The containers that are to get an identity; undefined: those that a binding can best be proven for. */
  readonly held: ((pod: Pod) => ReadonlySet<string>) | undefined
  /** What bindings that are there do to proxies of meshes. */
  readonly proxies: ProxyHarms
  /** What keeps all that the proxies of its pods have by fallbacks, whichever binding is applied. */
  readonly companions: readonly Companion[]
  readonly config: Config
}

/** The needs of one pool, in byte order of their service accounts. */
export function needsOf(context: PoolContext): readonly Need[] {
  const [pool, ...others] = context.pools
  const isRefused = !pool.selector.ok || others.some((other) => !sameSelection(pool.selector, other.selector))
  if (isRefused) return [refusedNeed(context)]
  return present(
    ...context.pods.accounts
      .filter(({ pods }) => pods.some(context.isPod))
      .map((account) => needOf(context, account)),
    keptNeed(context),
    insteadNeed(context),
  )
}

/** The subject of a pool. */
export function poolSubject({ meta: { namespace, name } }: Pool): Subject {
  return { kind: POOL_KIND, namespace, name }
}

/** The operator refuses whatever names this pool: one binding is enough to hear why. */
function refusedNeed(context: PoolContext): Need {
  const [pool] = context.pools
  const account = context.pods.accounts[0]?.serviceAccountName ?? DEFAULT_SERVICE_ACCOUNT
  return {
    ...NO_NEED,
    pool: poolSubject(pool),
    serviceAccountName: account,
    plans: context.bindings.length > 0 ? [] : [poolOnly(context, account)],
  }
}

function needOf(context: PoolContext, { serviceAccountName, pods }: AccountPods): Need {
  const [pool] = context.pools
  const mine = context.bindings.filter(
    ({ serviceAccountName: field }) => !field.ok || field.value === serviceAccountName,
  )
  const base = { pool: poolSubject(pool), serviceAccountName, pods }
  const asked = context.isAsked === undefined ? [] : context.objectives.filter(context.isAsked)
  const account = { context, serviceAccountName, pods }
  if (context.held !== undefined && mine.length === 0)
    return { ...base, ...forContainers(account, context.held) }
  if (asked.length > 0) return { ...base, ...forObjectives(account, asked, mine) }
  if (mine.length === 0)
    return { ...base, ...(context.bindings.length === 0 ? forAll(account) : forAnotherAccount(account)) }
  return { ...base, ...besideExisting(account, mine) }
}

/** Registrations alone, for the proxies that bindings of the pool leave without the identity of their mesh. */
function keptNeed(context: PoolContext): Need | undefined {
  const { pools, pods, bindings, proxies } = context
  const harmed = bindings.filter(({ key }) => proxies.lostBy(key).length > 0)
  const [first] = harmed
  const boundary = first && boundaryOf(first)
  if (context.held !== undefined || first === undefined || boundary === undefined) return undefined
  const lost = distinct(harmed.flatMap(({ key }) => proxies.lostBy(key)))
  const companions = context.companions.filter(({ container }) => lost.includes(container))
  if (companions.length === 0) return undefined
  const serviceAccountName = valueOf(first.serviceAccountName) ?? ''
  const { namespace, name } = first.meta
  const one = { namespace, nameParts: name, pool: pools[0].meta.name, boundary, serviceAccountName }
  const of = harmed.map(({ key }) => key)
  const leaves = of.every((key) => proxies.certainlyLosesBy(key)) ? 'leaves' : 'may leave'
  const why = `${of.join(', ')} ${leaves} ${lost.join(', ')} without the ID of the service account, which the mesh ${needText(pods.certain, lost)}`
  return {
    ...NO_NEED,
    pool: poolSubject(pools[0]),
    serviceAccountName,
    pods: pods.certain,
    plans: [{ candidates: [{ ...one, companions, isThere: true }], why: [why] }],
  }
}

/** Whether the mesh of one of these proxies certainly needs the ID of the service account. */
function needText(pods: readonly Pod[], containers: readonly string[]): string {
  const needing = proxyContainers(pods, ({ asksSpire }) => asksSpire === YES)
  return needing.some((name) => containers.includes(name)) ? 'needs' : 'may need'
}

function boundaryOf({
  mode,
  objectiveRef,
  containerName,
  identityBoundary,
}: Binding): CandidateBoundary | undefined {
  const value = valueOf(mode)
  if (value === undefined) return undefined
  if (value === 'PoolOnly') return { mode: value }
  if (value === 'PerVariant') {
    const variant = valueOf(identityBoundary)?.variant
    return variant === undefined ? undefined : { mode: value, variant }
  }
  const objective = valueOf(objectiveRef)?.name
  const container = valueOf(containerName)
  if (objective === undefined || container === undefined) return undefined
  return { mode: value, objective, container }
}

/** What could be in the place of the bindings of a pool that give proxies an identity which their mesh does not accept. */
function insteadNeed(context: PoolContext): Need | undefined {
  const harming = context.bindings.filter(({ key }) => context.proxies.unusableOf(key) !== undefined)
  const [first] = harming
  const harm = first && context.proxies.unusableOf(first.key)
  if (first === undefined || harm === undefined) return undefined
  const of = harming.map(({ key }) => key)
  const objectives = leading(context)
  const accounts = Map.groupBy(harming, (one) => valueOf(one.serviceAccountName) ?? '')
  const planned = [...accounts].flatMap(([serviceAccountName, mine]) => {
    const pods = context.pods.accounts.find((one) => one.serviceAccountName === serviceAccountName)?.pods
    const [one] = mine
    if (objectives.length !== 1 || pods === undefined || one === undefined) return []
    const account = { context, serviceAccountName, pods }
    const { plans, open } = forObjectives(account, objectives, [], { isAsked: false })
    const replaces = mine.map(({ key }) => key)
    return { plan: plans[0], open, place: { nameParts: one.meta.name, replaces } }
  })
  const open = planned.find((one) => one.open !== undefined)?.open
  const why = planned.flatMap(({ plan }) => plan?.why ?? [])
  const candidates = planned.flatMap(({ plan, place }) =>
    (plan?.candidates ?? []).map((one) => ({ ...one, ...place })),
  )
  const plans = open === undefined && candidates.length > 0 ? [{ candidates, why: distinct(why) }] : []
  return {
    ...NO_NEED,
    pool: poolSubject(context.pools[0]),
    serviceAccountName: valueOf(first.serviceAccountName) ?? '',
    pods: context.pods.certain,
    instead: { of, harm, plans, objectives: objectives.length, open },
  }
}

interface Account {
  readonly context: PoolContext
  readonly serviceAccountName: string
  readonly pods: readonly Pod[]
}

type Planned = Pick<Need, 'plans' | 'remarks' | 'open'>

const NOTHING: Planned = { plans: [], remarks: [], open: undefined }
const NO_NEED = { ...NOTHING, pods: [] }

/** Pods that have no binding yet. */
function forAll(account: Account): Planned {
  const { context, serviceAccountName, pods } = account
  const roles = rolesOf(context)
  const objectives = leading(context)
  const several = roles.remarks
  const whole = poolOnly(context, serviceAccountName)
  if (roles.values.length > 1) {
    const plan = besideProxies(account, perVariant(account, roles.key, meantValues(account, roles)))
    // A proxy that takes whatever it is given cannot use the identity of a variant.
    const isTaken = proxyContainers(pods, ({ consumer }) => consumer.asksById !== true).length > 0
    const narrow = isTaken ? forObjectives(account, objectives, [], { isAsked: false }) : NOTHING
    const plans = [plan, ...narrow.plans, besideProxies(account, whole)]
    return { plans, remarks: [...several, ...narrow.remarks], open: narrow.open }
  }
  const { plans, remarks, open } = forObjectives(account, objectives, [], { isAsked: false })
  return { plans: [...plans, besideProxies(account, whole)], remarks: [...several, ...remarks], open }
}

/** The narrowest boundary that gives certain containers an identity. */
function forContainers(account: Account, held: (pod: Pod) => ReadonlySet<string>): Planned {
  const { context, serviceAccountName, pods } = account
  const meant = pods.filter(context.isPod)
  const whole = besideProxies(account, poolOnly(context, serviceAccountName))
  const isWhole = meant.every((pod) => pod.containers.every(({ name }) => held(pod).has(name)))
  // Registrations of their own keep what proxies hold.
  const kept = new Set(context.companions.map((one) => one.container))
  if (isWhole && kept.size === 0) return { ...NOTHING, plans: [whole] }
  const [container, another] = distinct(meant.flatMap((pod) => [...held(pod)])).filter(
    (name) => !kept.has(name),
  )
  if (container === undefined || another !== undefined)
    return { ...NOTHING, plans: [whole], remarks: [WIDER] }
  const [objective, ...others] = leading(context)
  if (objective === undefined || others.length > 0) {
    const why =
      objective === undefined
        ? `no objective targets the pool, and a binding for container ${container} alone must name one`
        : `${counted(others.length + 1, 'objective')} lead to the pool, and nothing says which of them container ${container} serves`
    const when = objective === undefined ? ' once there is an objective' : ''
    const fix = `write a binding PerObjective by hand${when}, in the place of the one for all containers`
    return {
      plans: [whole],
      remarks: [WIDER],
      open: openChoice({ mode: 'PerObjective', what: 'PerObjective', why, fix }),
    }
  }
  const { name } = objective.meta
  const plan = besideProxies(account, {
    candidates: [
      candidate(context, serviceAccountName, { mode: 'PerObjective', objective: name, container }, [name]),
    ],
    why: [`objective ${name} targets the pool, and container ${container} alone is to get an identity`],
  })
  return { ...NOTHING, plans: [plan, whole] }
}

const WIDER = 'a binding PoolOnly gives its identity to all containers of the pods'

/** The variants that pods in question carry. */
function meantValues({ context, pods }: Account, { key, values }: Roles): readonly string[] {
  const meant = new Set(pods.filter(context.isPod).map(({ labels }) => labels.get(key)))
  return values.filter((value) => meant.has(value))
}

/** Pods of a pool that has bindings for other accounts: whoever wrote them may have left these out on purpose. */
function forAnotherAccount(account: Account): Planned {
  const { context, serviceAccountName } = account
  // Bindings for variants leave the others to others.
  const ofVariants = besideExisting(account, context.bindings)
  if (ofVariants.plans.length > 0) return ofVariants
  const keys = context.bindings.map(({ key }) => key).join(', ')
  return {
    ...NOTHING,
    open: openChoice({
      mode: undefined,
      what: `a binding for service account ${serviceAccountName}`,
      why: `${keys} binds another service account, perhaps on purpose; a second binding would give both the same SPIFFE ID`,
      fix: 'write it by hand if both are to be one identity',
    }),
  }
}

/** For pods that a binding covers already: a variant without a binding may still get one. */
function besideExisting(account: Account, mine: readonly Binding[]): Planned {
  const { context } = account
  const named = new Set(
    mine.map(({ mode, identityBoundary }) =>
      valueOf(mode) === 'PerVariant' ? valueOf(identityBoundary)?.variant : undefined,
    ),
  )
  if (named.has(undefined)) return NOTHING
  const roles = rolesOf(context)
  const left = meantValues(account, roles).filter((value) => !named.has(value))
  return left.length === 0
    ? NOTHING
    : { ...NOTHING, plans: [besideProxies(account, perVariant(account, roles.key, left))] }
}

/** The objectives of a pool, by name: the operator looks an objective up by its name alone. */
function leading({ objectives, pools: [pool] }: PoolContext): readonly Objective[] {
  const there = objectives.filter((one) => objectivePool(one, pool).state === 'leads there')
  return onceBy(there, ({ meta }) => meta.name)
}

/** More objectives than these need not be tried together: two on one container collide already. */
const TRIED_TOGETHER = 2

function forObjectives(
  account: Account,
  objectives: readonly Objective[],
  mine: readonly Binding[],
  { isAsked = true }: { readonly isAsked?: boolean } = {},
): Planned {
  const { context, serviceAccountName, pods } = account
  const bound = new Set(mine.map(({ objectiveRef }) => valueOf(objectiveRef)?.name ?? ''))
  const names = distinct(objectives.map(({ meta }) => meta.name)).filter((name) => !bound.has(name))
  if (names.length === 0) return NOTHING
  const containers = commonContainers(pods)
  const [container, ...more] = containers ?? []
  if (container === undefined || more.length > 0) {
    const ran = distinct(pods.flatMap((pod) => pod.containers.map(({ name }) => name)))
    return {
      ...NOTHING,
      open: openChoice({
        mode: 'PerObjective',
        what: 'PerObjective',
        why:
          containers === undefined
            ? `its pods run different containers (${ran.join(', ')}), and nothing says which of them serves objective ${names.join(', ')}`
            : `its pods run ${counted(ran.length, 'container')} (${ran.join(', ')}), and nothing says which of them serves objective ${names.join(', ')}`,
        fix: 'write the binding by hand with the containerName that you choose',
      }),
    }
  }
  const tried = isAsked ? names : names.slice(0, TRIED_TOGETHER)
  const beside = proxyContainers(pods).length === 0 ? '' : ' beside proxies'
  const plan = besideProxies(account, {
    candidates: tried.map((objective) =>
      candidate(context, serviceAccountName, { mode: 'PerObjective', objective, container }, [objective]),
    ),
    why: [
      `objective ${names.join(', ')} targets the pool, and ${container} is the only regular container of its pods${beside}`,
    ],
  })
  const shared = leading(context).length
  const remarks = present(
    shared > 1 &&
      `${counted(shared, 'objective')} lead to the pool: an objective is a header of a request, so no selector can tell which one a container serves`,
  )
  // Whole pools are offered where the question is about the pool, or where nothing names the pods yet.
  const whole =
    isAsked && mine.length === 0 ? [besideProxies(account, poolOnly(context, serviceAccountName))] : []
  return { plans: [plan, ...whole], remarks, open: undefined }
}

/** A plan with the registrations that keep what proxies have by fallbacks, if a binding of its mode leaves these of use. */
function besideProxies({ context, pods }: Account, plan: Plan): Plan {
  const [first, ...others] = plan.candidates
  // Of two IDs only a proxy that asks by ID gets the one that it needs for certain.
  const isWhole = first?.boundary.mode !== 'PerObjective'
  const companions = context.companions.filter(({ asksById }) => !isWhole || asksById)
  if (first === undefined || companions.length === 0) return plan
  const containers = distinct(companions.map(({ container }) => container))
  const keep = `${containers.join(', ')} ${containers.length === 1 ? 'keeps' : 'keep'} the ID of the service account`
  const why = `${keep}, which the mesh ${needText(pods, containers)}, by a registration of its own: it is applied first`
  return { candidates: [{ ...first, companions }, ...others], why: [...plan.why, why] }
}

interface Roles {
  readonly key: string
  /** The values that tell pods apart; empty where not every pod carries the label. */
  readonly values: readonly string[]
  readonly remarks: readonly string[]
}

/** What tells the roles of a pool apart: those of one service account may all be of one role. */
function rolesOf({ config: { variantLabelKey: key }, pods: { certain: pods } }: PoolContext): Roles {
  if (key === undefined) {
    const guessed = USUAL_VARIANT_KEYS.map((one) => ({ key: one, values: labelValues(pods, one) ?? [] }))
    const telling = guessed.find(({ values }) => values.length > 1)
    return { key: telling?.key ?? '', values: telling?.values ?? [], remarks: [] }
  }
  const values = labelValues(pods, key)
  if (values !== undefined) return { key, values, remarks: [] }
  return { key, values: [], remarks: present(roleRemark(key, pods)) }
}

/** What cannot be had because of labels that pods do not carry. */
function roleRemark(key: string, pods: readonly Pod[]): string | undefined {
  const lacking = pods.filter(({ labels }) => !labels.has(key)).length
  if (lacking < pods.length)
    return `${lacking} of its ${pods.length} pods and pod templates do not carry the label ${key}, so no binding PerVariant covers them: label their templates`
  const roles = key === LLM_D_ROLE ? undefined : labelValues(pods, LLM_D_ROLE)
  if (roles !== undefined && roles.length > 1)
    return `its pods carry ${LLM_D_ROLE} (${roles.join(', ')}), and the install uses ${key}: --variant-label-key ${LLM_D_ROLE} gives each role its own identity`
  return commonContainers(pods) === undefined
    ? `its pods run different containers, as prefill and decode pods do: label their templates with ${key} to bind each role (PerVariant); routing needs one pool`
    : undefined
}

function perVariant({ context, serviceAccountName }: Account, key: string, values: readonly string[]): Plan {
  return {
    candidates: values.map((variant) =>
      candidate(context, serviceAccountName, { mode: 'PerVariant', variant }, [variant]),
    ),
    why: [
      `its pods carry ${key} with ${values.length === 1 ? 'the value' : 'the values'} ${values.join(', ')}`,
    ],
  }
}

function poolOnly(context: PoolContext, serviceAccountName: string): Plan {
  return {
    candidates: [candidate(context, serviceAccountName, { mode: 'PoolOnly' }, [])],
    why: [`all pods of the pool that run under service account ${serviceAccountName} can share one identity`],
  }
}

function candidate(
  { pools: [pool], pods }: PoolContext,
  serviceAccountName: string,
  boundary: CandidateBoundary,
  parts: readonly string[],
): UnnamedCandidate {
  const { namespace, name } = pool.meta
  const account = pods.accounts.length > 1 ? [serviceAccountName] : []
  return {
    namespace,
    nameParts: [name, ...parts, ...account],
    pool: name,
    boundary,
    serviceAccountName,
  }
}
