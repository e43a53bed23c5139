// The answer of `kubectl kleym who-selects`.
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import { UNKNOWN_CONTAINER } from '@kleym/shared/core/model/objects/pod.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { fewText } from '@kleym/shared/core/base/text/counted.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { gather, type GatheredInput } from '../../gather/gather.ts'
import { entriesFrame } from './entries-frame.ts'
import { finish } from '../../frame/finish.ts'
import { framedUnderPremises, type Framed } from '../../frame/premises.ts'
import { notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { whoSelectsFrame } from './frame.ts'
import { requireSpiffeId } from '../parts/spiffe-id.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { kindsOfName, type ObjectName } from '../../sources/kind-name.ts'
import { choosePods } from '../parts/choose-pods.ts'

/** What `who-selects` is asked. */
export interface WhoSelectsOptions extends CommonOptions {
  /** The object whose containers are asked about; undefined: those in scope. */
  readonly target: ObjectName | undefined
  /** A label selector as written. */
  readonly selector: string | undefined
  readonly container: string | undefined
  /** Asks the reverse: which containers would hold this ID. */
  readonly spiffeId: string | undefined
  /** Prints registration entries instead of containers. */
  readonly entries: boolean
}

/** Tells which containers get which identity. */
export async function run(options: WhoSelectsOptions, context: CommandContext): Promise<CommandResult> {
  const { container, spiffeId, target, selector, allNamespaces } = options
  requireSpiffeId(spiffeId, options.settings.trustDomain)
  const input = await gather(
    options,
    {
      allNamespaces,
      named: [target?.namespace],
      kind: workloadKind(target),
      workloads: target !== undefined || selector !== undefined || container !== undefined,
      policies: !options.entries,
      elsewhere: spiffeId !== undefined,
      names: options.entries ? undefined : 'strings',
    },
    context,
  )
  const pods = notFoundOnlyIfRead(input, kindsOfName(target ?? { kind: 'Pod', group: undefined }), () => {
    const chosen = choosePods(input, options)
    requireContainer(chosen, options)
    return chosen
  })
  const everything = target === undefined && selector === undefined && input.namespaceInForce === undefined
  const isLiveState = input.isLive && input.before === input.after
  // That no container holds an ID, or that a server has no entry, must be so in every world.
  const strict = options.output.strict === true || options.entries || spiffeId !== undefined
  const framedOf = (one: GatheredInput): Framed => ({
    frame: options.entries
      ? entriesFrame(one, pods, { spiffeId, everything, isLiveState })
      : whoSelectsFrame(one, pods, { container, spiffeId, isLiveState }),
    input: one,
  })
  const framed = framedUnderPremises(input, { strict }, framedOf, pods)
  return finish(framed.frame, framed.input, options.output, context)
}

/** If no pod has the container, it counts as not found. A pod without known containers may have it. */
function requireContainer(
  pods: readonly Pod[],
  { container, target }: Pick<WhoSelectsOptions, 'container' | 'target'>,
): void {
  const names = [...new Set(pods.flatMap(({ containers }) => containers.map(({ name }) => name)))]
  const isOpen = names.length === 0 || names.includes(UNKNOWN_CONTAINER)
  if (container === undefined || isOpen || names.includes(container)) return
  throw new KleymError('not-found', {
    what: 'there is no such container',
    where: target === undefined ? container : `${target.kind.toLowerCase()}/${target.name} -c ${container}`,
    why: `the containers are ${fewText(names, CONTAINERS_NAMED)}`,
    fix: didYouMean(container, names) ?? 'name one of them, or leave -c out',
  })
}

/** How many names of containers a message lists. */
const CONTAINERS_NAMED = 10

/** Only a kind of workload says which templates must be read. */
function workloadKind(target: WhoSelectsOptions['target']): string | undefined {
  return WORKLOAD_KINDS.some(({ kind }) => kind === target?.kind) || target?.kind === 'ReplicaSet'
    ? target?.kind
    : undefined
}
