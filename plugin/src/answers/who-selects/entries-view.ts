// How `who-selects --entries` looks: one entry after the other, in the manner of `spire-server entry show`.
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { RegistrationEntry } from '@kleym/shared/core/spire/registration-entries.ts'
import { viewFinding } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block } from '../../text/line.ts'
import { table } from '../../text/table.ts'

/** What the view shows beside the entries. */
export interface EntriesLayout extends Layout {
  readonly findings: readonly Finding[]
  /** There may be more entries than are shown: a registration is not followed. */
  readonly perhapsMore: boolean
}

/** All entries, counted in the first line, then the findings that say what they are worth. */
export function viewEntries(entries: readonly RegistrationEntry[], layout: EntriesLayout): Block {
  const more = layout.perhapsMore || layout.incomplete === true ? ', and perhaps more' : ''
  const count =
    entries.length === 0 ? 'no entry' : entries.length === 1 ? '1 entry' : `${entries.length} entries`
  return [
    line(span(`SPIRE would hold ${count}${more}`, 'bold')),
    ...entries.flatMap((entry) => [BLANK, ...viewEntry(entry, layout)]),
    ...layout.findings
      .filter(({ severity, code }) => severity === 'error' || code === 'KLM413')
      .flatMap((one) => [BLANK, ...viewFinding(one, layout)]),
  ]
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
