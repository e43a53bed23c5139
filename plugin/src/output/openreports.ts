// `-o openreports`: findings as reports of openreports.io/v1alpha1 (https://github.com/openreports/reports-api, v0.2.1), one for each
// namespace, so that a tenant may read its own alone, and a ClusterReport for what has none. A finding stands in the report of each namespace
// that it concerns, as `-n` shows it there; one about an object without a namespace also whole in the ClusterReport.
import { pageUrl } from '../io/docs-url.ts'
import { escapeTerminal } from '../io/escape.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import {
  namedIn,
  seenFrom,
  type Finding,
  findingEntry,
  type Severity,
} from '@kleym/shared/core/findings/index.ts'
import { subjectText, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { suppressionText, type CiResult } from './ci.ts'

type Outcome = 'pass' | 'fail' | 'warn' | 'error' | 'skip'

interface ReportResult {
  readonly source: 'kleym'
  readonly policy: string
  readonly rule?: string
  readonly category: string
  readonly result: Outcome
  readonly severity?: 'high' | 'medium' | 'info'
  readonly scored: boolean
  readonly message: string
  readonly resources?: readonly object[]
  readonly properties?: Readonly<Record<string, string>>
}

/** The most bytes of a report's results, as JSON. An API server stores objects of up to 1.5 MiB. */
const RESULTS_BYTES = 1_000_000

/** What a finding of a severity is there; `scored`: whether its owner should act on it. */
const BY_SEVERITY: Readonly<Record<Severity, Pick<ReportResult, 'result' | 'severity' | 'scored'>>> = {
  error: { result: 'fail', severity: 'high', scored: true },
  warning: { result: 'warn', severity: 'medium', scored: true },
  info: { result: 'warn', severity: 'info', scored: false },
}

/** The reports as a `List`, a value for `toJson`. What is not known, or taken for granted, stands in each: none is surer than the whole answer. */
export function toOpenReports(result: CiResult): unknown {
  const byNamespace = new Map<string, ReportResult[]>()
  const add = (namespace: string, one: ReportResult): void =>
    void getOrCreate(byNamespace, namespace, () => []).push(one)
  for (const one of result.findings)
    for (const namespace of namespacesOf(one)) add(namespace, ofFinding(shownIn(namespace, one)))
  for (const { finding, suppression } of result.suppressed)
    for (const namespace of namespacesOf(finding)) {
      const one = shownIn(namespace, finding)
      const message = escapeTerminal(`${one.summary} (${suppressionText(suppression)})`)
      add(namespace, { ...ofFinding(one), result: 'skip', message })
    }
  const name = `kleym-${result.kind.replace(/Report$/, '').toLowerCase()}`
  const reserves = [
    ...result.unknowns.map((text) => ofReserve('error', `not known: ${text}`)),
    ...(result.assuming === undefined ? [] : [ofReserve('skip', result.assuming)]),
  ]
  if (reserves.length > 0) getOrCreate(byNamespace, '', () => [])
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [...byNamespace]
      .toSorted(([one], [other]) => compareBytes(one, other))
      .map(([namespace, results]) => report(name, namespace, [...reserves, ...results])),
  }
}

/** The namespaces that a finding concerns, and '' if its subject has none. */
function namespacesOf(one: Finding): ReadonlySet<string> {
  const named = namedIn(one).map(({ namespace }) => namespace)
  return new Set([one.subject.namespace, ...named.filter((each) => each !== ''), ...(one.namespaces ?? [])])
}

function shownIn(namespace: string, one: Finding): Finding {
  return seenFrom(namespace === '' ? undefined : namespace, one)
}

/** What keeps an answer from being sure. */
function ofReserve(result: Outcome, text: string): ReportResult {
  return {
    source: 'kleym',
    policy: 'complete',
    category: 'completeness',
    result,
    scored: false,
    message: escapeTerminal(text),
  }
}

function ofFinding({ code, severity, subject, related, summary, evidence, fix }: Finding): ReportResult {
  const { title, reason } = findingEntry(code)
  return {
    source: 'kleym',
    policy: code,
    ...(reason !== undefined && { rule: reason }),
    category: title,
    ...BY_SEVERITY[severity],
    message: escapeTerminal(`${subjectText(subject)}: ${summary}`),
    resources: [subject, ...related].map(reference),
    properties: {
      ...(evidence.length > 0 && { evidence: evidence.map(escapeTerminal).join('\n') }),
      fix: escapeTerminal(fix),
      more: pageUrl(code) ?? `kubectl kleym explain ${code}`,
    },
  }
}

function reference({ kind, namespace, name }: Subject): object {
  return { kind, name, ...(namespace !== '' && { namespace }) }
}

function report(name: string, namespace: string, results: readonly ReportResult[]): unknown {
  const count = (outcome: Outcome): number => results.filter((one) => one.result === outcome).length
  return {
    apiVersion: 'openreports.io/v1alpha1',
    kind: namespace === '' ? 'ClusterReport' : 'Report',
    metadata: {
      name,
      ...(namespace !== '' && { namespace }),
      labels: { 'app.kubernetes.io/managed-by': 'kleym' },
    },
    source: 'kleym',
    summary: {
      pass: count('pass'),
      fail: count('fail'),
      warn: count('warn'),
      error: count('error'),
      skip: count('skip'),
    },
    results: withinRoom(results),
  }
}

/** As many results as a report has room for, and how many there are beside. */
function withinRoom(results: readonly ReportResult[]): readonly ReportResult[] {
  let bytes = 0
  const end = results.findIndex((one) => (bytes += Buffer.byteLength(JSON.stringify(one))) > RESULTS_BYTES)
  if (end < 0) return results
  const left = results.length - end
  return [
    ...results.slice(0, end),
    ofReserve('error', `no room for ${counted(left, 'more result')}: ask kubectl kleym`),
  ]
}
