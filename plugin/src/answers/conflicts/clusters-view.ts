// How several clusters look beside each other: who shares an ID with whom, with whom each federates, and which pools it imports.
import { type ClustersComparison, type ComparedCluster } from '@kleym/shared/core/answers/index.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, span, type Block } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { table } from '../../text/table.ts'

/** The first lines: how many IDs are shared. */
export function clustersAnswer({ clusters, shared }: ClustersComparison, layout: Layout): Answer {
  const certain = shared.filter(({ isCertain }) => isCertain).length
  const perhaps = shared.length - certain
  const where = `${counted(clusters.length, 'cluster')} (${namesText(clusters.map(({ name }) => name))})`
  const isOpen =
    layout.incomplete === true ||
    layout.unsettled === true ||
    clusters.some((one) => one.trustDomain === undefined || one.unfollowed.length > 0)
  if (shared.length === 0)
    return {
      mark: isOpen ? 'warn' : 'ok',
      text: [
        isOpen
          ? `no SPIFFE ID is known to be given in two of ${where}`
          : `no SPIFFE ID is given in two of ${where}`,
      ],
    }
  const areGiven = (count: number): string =>
    `${counted(count, 'SPIFFE ID')} ${count === 1 ? 'is' : 'are'}${certain === 0 ? ' perhaps' : ''} given`
  const open = certain === 0 || perhaps === 0 ? '' : `, and ${perhaps} perhaps,`
  return {
    mark: 'warn',
    text: [
      span(`${areGiven(certain === 0 ? perhaps : certain)}${open} in more than one of ${where}`, 'bold'),
    ],
  }
}

/** What follows: the shared IDs, then a row for each cluster. */
export function viewClusters(
  { clusters }: ClustersComparison,
  findings: readonly Finding[],
  layout: Layout,
): Block {
  const shared = [...viewFindingGroups(findings, layout)]
  return [
    ...shared,
    ...(shared.length === 0 ? [] : [BLANK]),
    line(span('Each cluster', 'bold')),
    ...table(
      clusters.flatMap((one) => rowsOf(one)),
      { width: layout.width, indent: 2 },
    ),
  ]
}

function rowsOf({
  name,
  trustDomain,
  ids,
  federations,
  imports,
  importsUnread,
}: ComparedCluster): readonly (readonly string[])[] {
  const domain = trustDomain === undefined ? 'trust domain not known' : `trust domain ${trustDomain}`
  const rows = [
    `${domain}, ${ids === 1 ? '1 SPIFFE ID' : `${ids} SPIFFE IDs`}`,
    ...federations.map(({ trustDomain: other, by, isDeclared, clusters }) => {
      const which = clusters.length === 0 ? '' : ` (${clusters.join(', ')})`
      const declared =
        isDeclared === undefined
          ? ''
          : isDeclared
            ? ', declared by a ClusterFederatedTrustDomain'
            : ', which no ClusterFederatedTrustDomain declares'
      return `federates with ${other}${which}: ${namesText(by)}${declared}`
    }),
    ...(importsUnread === undefined
      ? []
      : [`which pools it imports is not known: ${unknownReasonText(importsUnread)}`]),
    ...(imports ?? []).map(({ pool, exportedBy, foundIn, perhapsIn }) => {
      const exported = exportedBy.length === 0 ? '' : `, exported by ${exportedBy.join(', ')}`
      const found =
        foundIn.length === 0
          ? perhapsIn.length === 0
            ? 'none of the other clusters has it'
            : `whether ${namesText(perhapsIn)} has it is not known`
          : foundIn
              .map(
                ({ cluster, spiffeIds }) =>
                  `its pods are in ${cluster}${spiffeIds.length === 0 ? ', without a binding' : ` and hold ${namesText(spiffeIds)}`}`,
              )
              .join('; ')
      return `imports pool ${pool}${exported}: no pod of it is here; ${found}`
    }),
  ]
  return rows.map((text, at) => [at === 0 ? name : '', text])
}
