// How `why` looks below its first line: a line for each hop, with its mark. Chains with equal hops are shown once.
import { groupsBy } from '@kleym/shared/core/base/groups.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { NO, YES } from '@kleym/shared/core/model/truth/truth.ts'
import type { Chain, Hop } from '@kleym/shared/core/answers/index.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'

/** The hops of each container; where several have the same hops, the fixes of the first. */
export function viewWhy(chains: readonly Chain[], layout: Layout): Block {
  return groupsBy(chains, hopsText).flatMap((group, at) => {
    const heads = group.map((chain) => line(span(headOf(chain), 'bold')))
    const title = chains.length === 1 ? [] : heads
    return [...(at === 0 ? [] : [BLANK]), ...title, ...hopRows(group[0], layout)]
  })
}

function hopsText({ hops }: Chain): string {
  return JSON.stringify(hops.map(({ truth, text, notes = [] }) => [markOf(truth), text, notes]))
}

function headOf({ subject: { pod, container } }: Chain): string {
  return `${podText(pod)}, container ${container.name}`
}

function hopRows({ hops, broken, open }: Chain, layout: Layout): Block {
  const told = broken ?? open
  const rows = table(
    hops.map((hop, at) => [MARKS[markOf(hop.truth)], `${at + 1} ${hop.name}`, hop.text]),
    { width: layout.width, gap: 1 },
  )
  const notes = hops.flatMap(({ notes: all = [] }) => all)
  // The first line has said the fix of the hop at which the way ends.
  const fixes = hops.filter((hop) => hop !== told && hop.fix !== undefined && hop.truth !== YES)
  return [
    ...rows,
    ...notes.flatMap((note) => wrap(line(MARKS.note, ` ${note}`), layout.width, 2)),
    ...fixes.flatMap((hop) => wrap(line(`  ${hop.name}: `, hop.fix ?? ''), layout.width, 4)),
  ]
}

function markOf(truth: Hop['truth']): Mark {
  if (truth === YES) return 'ok'
  return truth === NO ? 'bad' : 'warn'
}
