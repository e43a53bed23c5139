// How `who-selects --entries` looks: one entry after the other, in the manner of `spire-server entry show`.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { isUnfollowed } from '../../frame/causes.ts'
import type { RegistrationEntry } from '@kleym/shared/core/predict/index.ts'
import { PodCount } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { Answer } from '../../text/answer.ts'
import { findingPieces, viewFinding } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, line, MARKS, span, type Block } from '../../text/line.ts'
import { entriesText } from '../../text/names.ts'
import { table } from '../../text/table.ts'

/** What the view shows beside the entries. */
export interface EntriesLayout extends Layout {
  readonly findings: readonly Finding[]
  /** There may be more entries than are shown: a registration is not followed. */
  readonly perhapsMore: boolean
}

/** The first lines: how many entries there would be, how many of them depend, and what makes them worth less. */
export function entriesAnswer(
  entries: readonly RegistrationEntry[],
  pods: readonly Pod[],
  layout: EntriesLayout,
): Answer {
  const more = layout.perhapsMore || layout.incomplete === true ? ', and perhaps more' : ''
  const open = entries.filter(({ depends }) => depends !== undefined)
  const depend =
    open.length === 0 ? '' : `, ${open.length} of them ${open.length === 1 ? 'depends' : 'depend'}`
  const notable = layout.findings.filter(({ severity }) => severity !== 'info')
  const isOpen = open.length > 0 || more !== ''
  const whys = new Set(open.map(({ depends = '' }) => depends))
  return {
    mark: isOpen ? 'warn' : entries.length === 0 ? 'note' : 'ok',
    text: [
      `SPIRE would hold `,
      span(`${entries.length === 0 ? 'no entry' : entriesText(entries.length)}${depend}${more}`, 'bold'),
      pods.length === 0 ? '' : ` for ${PodCount.of(pods).text()}`,
    ],
    reasons: [
      ...notable.slice(0, NOTABLE_NAMED).map((one) => findingPieces(one)),
      ...(whys.size === 1 ? [[`depends: ${[...whys].join('')}`]] : []),
    ],
  }
}

/** More findings than these stand below alone. */
const NOTABLE_NAMED = 2

/** All entries, those that depend first, then the findings that say what they are worth. */
export function viewEntries(entries: readonly RegistrationEntry[], layout: EntriesLayout): Block {
  const sorted = entries.toSorted((left, right) => openness(right) - openness(left))
  return apart([
    ...sorted.map((entry) => viewEntry(entry, layout)),
    ...layout.findings
      .filter((one) => one.severity !== 'info' || isUnfollowed(one))
      .map((one) => viewFinding(one, layout)),
  ])
}

function openness({ depends }: RegistrationEntry): number {
  return depends === undefined ? 0 : 1
}

function viewEntry(entry: RegistrationEntry, layout: Layout): Block {
  const rows: [string, string][] = [
    ['parent', entry.parent_id],
    ...entry.selectors.map(({ type, value }, at): [string, string] => [
      at === 0 ? 'selectors' : '',
      `${type}:${value}`,
    ]),
    ...optional('DNS names', entry.dns_names.join(', ')),
    ...optional('X.509 TTL', entry.x509_svid_ttl === 0 ? '' : `${entry.x509_svid_ttl} s`),
    ...optional('JWT TTL', entry.jwt_svid_ttl === 0 ? '' : `${entry.jwt_svid_ttl} s`),
    ...optional('hint', entry.hint),
    ...optional('federates', entry.federates_with.join(', ')),
    ...optional('flags', flagsOf(entry).join(', ')),
    ['source', entry.source],
    ...optional('pod', entry.pod ?? ''),
    ...optional('unknown', entry.unknown.join(', ')),
    ...optional('depends', entry.depends ?? ''),
  ]
  return [
    line(entry.depends === undefined ? MARKS.ok : MARKS.warn, ' ', span(entry.spiffe_id, 'bold')),
    ...table(rows, { width: layout.width, indent: 2 }),
  ]
}

function flagsOf(entry: RegistrationEntry): readonly string[] {
  return [
    ...(entry.admin ? ['admin'] : []),
    ...(entry.downstream ? ['downstream'] : []),
    ...(entry.store_svid ? ['store_svid'] : []),
  ]
}

function optional(label: string, text: string): [string, string][] {
  return text === '' ? [] : [[label, text]]
}
