// `-o sarif`: SARIF 2.1.0 (OASIS, errata 01) with what GitHub code scanning asks for: a physical location for every
// result, a fingerprint that does not depend on line numbers, and rules with help.
import { pageUrl } from '../io/docs-url.ts'
import type { Location, Log, LogicalLocation, ReportingDescriptor, Result } from 'sarif'
import {
  findingKey,
  type Finding,
  type Suppression,
  findingEntry,
  type FindingCode,
  type Severity,
  pageSections,
} from '@kleym/shared/core/findings/index.ts'
import { subjectText, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import { sha256Hex } from '@kleym/shared/core/base/text/sha256.ts'
import {
  findingLines,
  ordinals,
  placeOfFinding,
  suppressionText,
  type CiResult,
  type FilePlace,
} from './ci.ts'
import { escapeTerminal } from '../io/escape.ts'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** Stands for the root of the repository. */
const SOURCE_ROOT = '%SRCROOT%'
/** Stands for the cluster: what is below it is no file. Code scanning refuses a result that is nowhere. */
const CLUSTER = 'CLUSTER'

const LEVELS: Readonly<Record<Severity, Result.level>> = { error: 'error', warning: 'warning', info: 'note' }

/** The log, as a value for `toJson`. */
export function toSarif(result: CiResult): Log {
  const all: readonly { readonly finding: Finding; readonly suppression?: Suppression }[] = [
    ...result.findings.map((finding) => ({ finding })),
    ...result.suppressed,
  ]
  const codes = distinct(all.map(({ finding }) => finding.code))
  const fingerprints = fingerprintsOf(all.map(({ finding }) => finding))
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'kleym', semanticVersion: result.version, rules: codes.map(ruleOf) },
        },
        originalUriBaseIds: {
          [CLUSTER]: {
            description: { text: 'Objects of the cluster, by kind, namespace and name; no files.' },
          },
        },
        invocations: [
          {
            executionSuccessful: result.unknowns.length === 0,
            exitCode: result.exitCode,
            toolExecutionNotifications: [
              ...result.unknowns.map((text) => ({
                level: 'error' as const,
                message: { text: `not known: ${escapeSarif(text)}` },
              })),
              ...(result.assuming === undefined
                ? []
                : [{ level: 'note' as const, message: { text: escapeSarif(result.assuming) } }]),
            ],
          },
        ],
        results: all.map(({ finding, suppression }, at) => ({
          ruleId: finding.code,
          ruleIndex: codes.indexOf(finding.code),
          level: LEVELS[finding.severity],
          message: { text: findingLines(finding).map(escapeSarif).join('\n') },
          locations: [locationOf(finding.subject, placeOfFinding(finding, result))],
          ...(finding.related.length === 0
            ? {}
            : { relatedLocations: finding.related.map((one) => locationOf(one, result.placeOf(one))) }),
          partialFingerprints: { primaryLocationLineHash: fingerprints[at] ?? '' },
          ...(suppression === undefined
            ? {}
            : {
                suppressions: [
                  {
                    kind: suppression.by === 'flag' ? 'external' : 'inSource',
                    status: 'accepted',
                    justification: escapeSarif(suppressionText(suppression)),
                  },
                ],
              }),
        })),
        properties: { report: result.kind, differences: result.differences.map(escapeSarif) },
      },
    ],
  }
}

/**
 * A line for a message that ends on a web page: what reorders or hides text is written out, and nothing reads as an
 * embedded link (SARIF §3.11.6), whose brackets touch, or as a placeholder of an argument (SARIF §3.11.5), such as `{0}`.
 */
export function escapeSarif(text: string): string {
  return escapeTerminal(text)
    .replaceAll('](', '] (')
    .replaceAll(/\{(?=\d+\})/g, '{ ')
}

/** A path as a relative URI, an absolute one as a file URI; lone surrogates, which a URI cannot hold, as U+FFFD. */
export function uriOf(path: string): string {
  const segments = path
    .toWellFormed()
    .split('/')
    .filter((segment, at) => segment !== '.' && (segment !== '' || at === 0))
  const uri = segments.map(encodeURIComponent).join('/')
  return path.startsWith('/') ? `file://${uri}` : uri
}

function ruleOf(code: FindingCode): ReportingDescriptor {
  const { title, meaning, severity } = findingEntry(code)
  const sections = pageSections(code)
  const url = pageUrl(code)
  const page = url ?? `docs/findings/${code}.md`
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: meaning },
    ...(url !== undefined && { helpUri: url }),
    help: {
      text: [
        ...sections.map(({ heading, text }) => `${heading}: ${text}`),
        `See ${page}, or: kubectl kleym explain ${code}`,
      ].join('\n'),
      markdown: [
        ...sections.map(({ heading, text }) => `## ${heading}\n\n${text}\n`),
        `See \`${page}\`, or: \`kubectl kleym explain ${code}\``,
      ].join('\n'),
    },
    defaultConfiguration: { level: LEVELS[severity] },
    properties: { tags: ['kubernetes', 'spiffe'], precision: 'very-high' },
  }
}

function locationOf(subject: Subject, place: FilePlace | undefined): Location {
  return {
    physicalLocation:
      place === undefined
        ? { artifactLocation: { uri: uriOf(subjectText(subject).replace(/^\/+/, '')), uriBaseId: CLUSTER } }
        : {
            artifactLocation: {
              uri: uriOf(place.file),
              ...(place.file.startsWith('/') ? {} : { uriBaseId: SOURCE_ROOT }),
            },
            region: { startLine: place.line },
          },
    logicalLocations: [logicalOf(subject)],
  }
}

function logicalOf(subject: Subject): LogicalLocation {
  return {
    name: escapeTerminal(subject.name),
    fullyQualifiedName: escapeTerminal(subjectText(subject)),
    kind: 'resource',
  }
}

/** By what a finding is about, not by its line: `primaryLocationLineHash` is the one that code scanning compares. */
function fingerprintsOf(findings: readonly Finding[]): readonly string[] {
  const hashes = findings.map((one) => sha256Hex(findingKey(one)).slice(0, 32))
  const numbers = ordinals(hashes)
  return hashes.map((hash, at) => `${hash}:${numbers[at] ?? 1}`)
}
