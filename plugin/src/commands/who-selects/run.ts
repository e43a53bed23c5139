// The answer of `kubectl kleym who-selects`.
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { matchSelector } from '@kleym/shared/core/spire/selector.ts'
import type { CommandContext, Outcome } from '../../cli/context.ts'
import { KleymError } from '../../cli/errors.ts'
import { gather, type World } from '../../gather/gather.ts'
import { entriesFrame } from '../../report/entries.ts'
import { finish } from '../../report/frame.ts'
import { unlessUnread } from '../../report/missing.ts'
import { parseLabelQuery } from '../../report/label-query.ts'
import { whoSelectsFrame } from '../../report/who-selects.ts'
import type { WhoSelectsOptions } from '../../cli/options.ts'

/** Tells which containers get which identity. */
export async function run(options: WhoSelectsOptions, context: CommandContext): Promise<Outcome> {
  const world = await gather(options, context)
  const pods = unlessUnread(world, () => choosePods(world, options))
  const { container, spiffeId, target, selector, sources, allNamespaces } = options
  const everything =
    target === undefined &&
    selector === undefined &&
    (allNamespaces || sources.namespaceInForce === undefined)
  const frame = options.entries
    ? entriesFrame(world, pods, { spiffeId, everything })
    : whoSelectsFrame(world, pods, { container, spiffeId })
  return finish(frame, world, options.output, context)
}

/** The pods of the named object, else those in scope. A workload is asked about by its template. */
function choosePods({ after }: World, options: WhoSelectsOptions): readonly Pod[] {
  const { target, selector } = options
  const namespace = options.allNamespaces
    ? undefined
    : (target?.namespace ?? options.sources.namespaceInForce)
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
    why: 'none of that name is among the files',
    fix: 'list what is there with: kubectl kleym who-selects -A --offline -R -f DIR -o name',
  })
}
