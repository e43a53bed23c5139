// The answer of `kubectl kleym who-selects`.
import { WORKLOAD_KINDS } from '@kleym/shared/core/objects/workload.ts'
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { matchSelector } from '@kleym/shared/core/spire/selector.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { entriesFrame } from './entries-frame.ts'
import { finish } from '../../frame/finish.ts'
import { unlessUnread } from '../../frame/missing.ts'
import { parseLabelQuery } from '../../gather/label-query.ts'
import { whoSelectsFrame } from './frame.ts'
import type { WhoSelectsOptions } from '../../flags/options.ts'

/** Tells which containers get which identity. */
export async function run(options: WhoSelectsOptions, context: CommandContext): Promise<CommandResult> {
  const { container, spiffeId, target, selector, allNamespaces } = options
  const world = await gather(
    options,
    { allNamespaces, named: [target?.namespace], kind: target?.kind, policies: !options.entries },
    context,
  )
  const pods = unlessUnread(world, kindOf(target), () => choosePods(world, options))
  const everything = target === undefined && selector === undefined && world.namespaceInForce === undefined
  const frame = options.entries
    ? entriesFrame(world, pods, { spiffeId, everything })
    : whoSelectsFrame(world, pods, { container, spiffeId })
  return finish(frame, world, options.output, context)
}

/** The qualified kind of what is asked about. */
function kindOf(target: WhoSelectsOptions['target']): string {
  const group = WORKLOAD_KINDS.find(({ kind }) => kind === target?.kind)?.group
  return group === undefined ? (target?.kind ?? 'Pod') : `${target?.kind ?? ''}.${group}`
}

/** The pods of the named object, else those in scope. A workload is asked about by its template. */
function choosePods(
  { after, isLive, namespaceInForce }: AnswerInput,
  { target, selector, allNamespaces }: WhoSelectsOptions,
): readonly Pod[] {
  const namespace = allNamespaces ? undefined : (target?.namespace ?? namespaceInForce)
  const query = selector === undefined ? undefined : parseLabelQuery(selector)
  const candidates =
    target === undefined ? after.subjects : [...after.snapshot.pods, ...after.snapshot.templates]
  const chosen = candidates.filter(
    (pod) =>
      (namespace === undefined || pod.namespace === namespace) &&
      (target === undefined || (pod.ref.kind === target.kind && pod.ref.name === target.name)) &&
      (query === undefined ||
        matchSelector(query, { labels: pod.labels, open: pod.openLabels, possible: pod.possibleLabels }) !==
          'no'),
  )
  if (target === undefined || chosen.length > 0) return chosen
  throw new KleymError({
    code: 'not-found',
    what: `there is no such ${target.kind}`,
    where: namespace === undefined ? target.name : `${namespace}/${target.name}`,
    why: isLive ? 'the API server has none of that name' : 'none of that name is among the files',
    fix: `list what is there with: kubectl kleym who-selects ${isLive ? '' : '-A --offline -R -f DIR '}-o name`,
  })
}
