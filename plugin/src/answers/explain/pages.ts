// `kubectl kleym explain KLM201`: the page of a finding code or of a condition reason, offline.
import {
  FINDING_CODES,
  findingEntry,
  type FindingCode,
  pageSections,
  type PageExample,
} from '@kleym/shared/core/findings/index.ts'
import { paletteFor, type CommandContext, type CommandResult } from '../../io/context.ts'
import { viewWidth } from '../../text/layout.ts'
import { EXIT, wrongUsage } from '../../io/errors.ts'
import { codeMeant, failNoCode } from '../../flags/finding-filter.ts'
import type { OutputFormat } from '../../flags/flags.ts'
import { noSummary, type OutputOptions } from '../../flags/options.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { report, toJson } from '../../output/json.ts'
import { table } from '../../text/table.ts'
import { BLANK, line, render, span, type Block } from '../../text/line.ts'
import { PROSE_WIDTH, wrap } from '../../text/wrap.ts'
import { reasonPageOf, type ReasonPage } from './reasons.ts'

/** The pages of some codes and reasons in the format that is asked for; throws for a code that does not exist. */
export async function codePages(
  written: readonly string[],
  options: OutputOptions,
  context: CommandContext,
): Promise<CommandResult> {
  requirePageFormat(options.format)
  if (options.summary === true)
    throw noSummary(written.join(' '), 'the page of a finding code is read as a whole', 'leave --summary out')
  // The letters alone ask for all codes.
  const isIndex = written.some((word) => word.toLowerCase() === 'klm')
  const answer =
    isIndex && (options.format === 'text' || options.format === 'wide')
      ? viewIndex(options, context)
      : await pagesIn(isIndex ? { codes: FINDING_CODES, reasons: [] } : pagesOf(written), options, context)
  return { answer, notes: [], exitCode: EXIT.ok }
}

/** What is asked for, in the order of the command line. */
interface Pages {
  readonly codes: readonly FindingCode[]
  /** The reasons without a code. */
  readonly reasons: readonly ReasonPage[]
}

function pagesOf(written: readonly string[]): Pages {
  return {
    codes: written
      .filter((word) => codeMeant(word) !== undefined || reasonPageOf(word) === undefined)
      .map(requireCode),
    reasons: written.flatMap((word) => reasonPageOf(word) ?? []),
  }
}

async function pagesIn(pages: Pages, options: OutputOptions, context: CommandContext): Promise<string> {
  const { codes, reasons } = pages
  const examples = await loadExamples()
  if (options.format === 'json') return toJson(pagesReport(pages, examples))
  if (options.format === 'yaml')
    return (await import('../../output/yaml.ts')).toYaml(pagesReport(pages, examples))
  if (options.format === 'name')
    return [...codes, ...reasons.map(({ reason }) => reason)].map((name) => `${name}\n`).join('')
  const width = Math.min(viewWidth(context), PROSE_WIDTH)
  const views = [
    ...codes.map((code) => viewPage(code, examples.get(code), width)),
    ...reasons.map((reason) => viewReason(reason, width)),
  ]
  const block = views.flatMap((view, at) => (at === 0 ? view : [BLANK, ...view]))
  return render(block, paletteFor(options.colour, context))
}

const PAGE_FORMATS: readonly OutputFormat[] = ['text', 'wide', 'json', 'yaml', 'name']

/** A page has no findings and no graph, so it has no format for those. */
function requirePageFormat(format: OutputFormat): void {
  if (PAGE_FORMATS.includes(format)) return
  throw wrongUsage('explain', {
    what: 'a page has no findings and no graph',
    where: `-o ${format}`,
    why: 'the page of a finding code is text',
    fix: `use one of ${PAGE_FORMATS.join(', ')}`,
  })
}

function requireCode(written: string): FindingCode {
  const fix = didYouMean(written, FINDING_CODES) ?? 'see all of them with: kubectl kleym explain KLM'
  return codeMeant(written) ?? failNoCode('not-found', written, fix)
}

/** All codes, a line each. */
function viewIndex(options: OutputOptions, context: CommandContext): string {
  const rows = FINDING_CODES.map((code) => {
    const { severity, title, reason } = findingEntry(code)
    return [code, severity, reason === undefined ? title : `${title} (${reason})`]
  })
  const header = ['CODE', 'SEVERITY', 'MEANING']
  return render(table(rows, { width: viewWidth(context), header }), paletteFor(options.colour, context))
}

/** The examples by code; loaded where a page is printed. */
type Examples = ReadonlyMap<string, PageExample>

async function loadExamples(): Promise<Examples> {
  const { default: examples } = await import('./examples.generated.json', { with: { type: 'json' } })
  return new Map<string, PageExample>(Object.entries(examples))
}

function pagesReport({ codes, reasons }: Pages, examples: Examples): Readonly<Record<string, unknown>> {
  return report('FindingPages', {
    ...(reasons.length > 0 && { reasons }),
    pages: codes.map((code) => {
      const example = examples.get(code)
      const { severity, title, meaning, consequence, fix, reason } = findingEntry(code)
      const page = {
        code,
        severity,
        title,
        meaning,
        consequence,
        fix,
        ...(reason !== undefined && { reason }),
      }
      return { ...page, ...(example !== undefined && 'bad' in example && { example }) }
    }),
  })
}

function viewPage(code: FindingCode, example: PageExample | undefined, width: number): Block {
  const entry = findingEntry(code)
  const reason = entry.reason === undefined ? '' : `, condition reason ${entry.reason}`
  return [
    line(span(`${code}: ${entry.title}`, 'bold')),
    line(`${entry.severity}${reason}`),
    ...pageSections(code).flatMap(({ heading, text }) => viewSection(heading, text, width)),
    ...viewExample(example),
  ]
}

function viewReason({ reason, condition, status, meaning, fix }: ReasonPage, width: number): Block {
  return [
    line(span(reason, 'bold')),
    line(`condition ${condition}=${status}`),
    ...viewSection('Meaning', meaning, width),
    ...(fix === '' ? [] : viewSection('Fix', fix, width)),
  ]
}

function viewSection(heading: string, text: string, width: number): Block {
  return [BLANK, line(span(heading, 'bold')), ...wrap(line(`  ${text}`), width, 2)]
}

/** YAML as it stands in a file: it is not wrapped, so that it can be pasted. */
function viewExample(example: PageExample | undefined): Block {
  if (example === undefined || 'none' in example) return []
  return [['Bad', example.bad] as const, ['Good', example.good] as const].flatMap(([heading, text]) => [
    BLANK,
    line(span(heading, 'bold')),
    ...text
      .trimEnd()
      .split('\n')
      .map((row) => line(`  ${row}`)),
  ])
}
