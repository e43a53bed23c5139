// From a frame to what is printed: the format that was asked for, and the exit code, which never depends on the format.
import type { SharedFields } from './schema.ts'
import { missingOf } from './causes.ts'
import { countBySeverity } from '@kleym/shared/core/findings/index.ts'
import type { Assumption } from '@kleym/shared/core/analysis/index.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { formatError } from '../io/errors.ts'
import { paletteFor, type CommandContext, type CommandResult } from '../io/context.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { CiResult } from '../output/ci.ts'
import { toJson, report } from '../output/json.ts'
import { toNames } from '../output/name.ts'
import { problemError, toldProblems } from '../sources/problem.ts'
import { BLANK, line, MARKS, rendering, type Block, type Line, type Lines } from '../text/line.ts'
import { withAbbreviations } from '../text/abbreviations.ts'
import { viewAnswer, type AnswerDoubts } from '../text/answer.ts'
import { firstAnswer } from './operator-down.ts'
import { viewSuppressions } from '../text/suppressions.ts'
import { wrap } from '../text/wrap.ts'
import { type Layout, viewWidth } from '../text/layout.ts'
import type { Frame } from './frame.ts'
import { isAlone, worldText } from './world.ts'
import { resultOf, unknownsOf, type AnswerResult } from './result.ts'
import { isForPeople, unsaidLines, unsaidProblems } from './unsaid.ts'

/** Prints a frame in the format that is asked for. */
export async function finish(
  frame: Frame,
  input: AnswerInput,
  options: OutputOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const judged = resultOf(frame, input, options)
  const answer = await answerIn(judged, options, context)
  return {
    answer,
    notes: [
      ...input.notes,
      ...(isForPeople(options.format) ? [] : (input.remarks ?? [])),
      ...unsaidLines(judged, answer, options.format).map((text) => `not known: ${text}`),
      ...(judged.assuming !== undefined && isObjects(judged, options) ? [judged.assuming] : []),
    ],
    errors: toldProblems(unsaidProblems(judged, options)).map((problem) =>
      formatError(problemError(problem)),
    ),
    exitCode: judged.exitCode,
  }
}

/** The text of an answer for so many columns, as `-o text` has it. */
export function viewText(frame: Frame, input: AnswerInput, options: OutputOptions, columns: number): Block {
  const judged = resultOf(frame, input, options)
  return [...viewWhole(judged, layoutOf(judged, columns, false, options))]
}

/** Whether stdout holds objects alone, which say nothing of what the answer takes for granted. */
function isObjects({ frame }: AnswerResult, { format }: OutputOptions): boolean {
  return format === 'name' || format === 'spire' || (format === 'yaml' && frame.documents !== undefined)
}

async function answerIn(
  judged: AnswerResult,
  options: OutputOptions,
  context: CommandContext,
): Promise<string> {
  const { frame } = judged
  const { format, failOn, colour } = options
  const view = (layout: Layout, painted: OutputOptions['colour']): string =>
    judged.input.drive(rendering(viewWhole(judged, layout), paletteFor(painted, context)), 'little')
  const result = async (): Promise<CiResult> =>
    (await import('./ci-result.ts')).ciResultOf(judged, failOn, context.version)
  switch (format) {
    case 'text':
    case 'wide':
      return view(layoutOf(judged, viewWidth(context), format === 'wide', options), colour)
    case 'json':
      return toJson(await machineReport(judged))
    case 'yaml':
      if (frame.documents !== undefined) return frame.documents()
      return (await import('../output/yaml.ts')).toYaml(await machineReport(judged))
    case 'name':
      return toNames(frame.names(judged.shown))
    case 'sarif':
      return toJson((await import('../output/sarif.ts')).toSarif(await result()))
    case 'junit':
      return (await import('../output/junit.ts')).toJunit(await result())
    case 'github':
      return (await import('../output/github.ts')).toGithub(await result())
    case 'openreports':
      return toJson((await import('../output/openreports.ts')).toOpenReports(await result()))
    case 'markdown': {
      const layout = layoutOf(judged, MARKDOWN_COLUMNS, false, options)
      const language = frame.isUnifiedDiff === true ? 'diff' : 'text'
      const { toMarkdown } = await import('../output/markdown.ts')
      return toMarkdown(await result(), { view: view(layout, 'never'), language })
    }
    case 'mermaid':
    case 'dot':
      return drawing(judged, await result(), format)
    case 'html':
      return page(judged, options, context)
    case 'spire':
      // The options refuse it before anything is read.
      if (frame.serverJson === undefined) throw new TypeError(`${frame.kind} has no registration entries`)
      return toJson(frame.serverJson())
  }
}

/** The columns of a comment: no terminal decides about them. */
const MARKDOWN_COLUMNS = 100

function layoutOf(
  judged: AnswerResult,
  width: number,
  wide: boolean,
  { echo = '', summary = false }: OutputOptions,
): Layout {
  return {
    width,
    wide,
    echo,
    summary,
    incomplete: judged.incomplete && !judged.isEmpty,
    unsettled: judged.assumptions.length > 0,
    world: worldText(judged.input),
    isAlone: isAlone(judged.input),
  }
}

async function drawing(judged: AnswerResult, result: CiResult, format: 'mermaid' | 'dot'): Promise<string> {
  const { diagram } = judged.frame
  // The options refuse it before anything is read.
  if (diagram === undefined) throw new TypeError(`${judged.frame.kind} has no diagram`)
  const { withRemarks } = await import('./diagram.ts')
  const { summaryText } = await import('../output/github.ts')
  const drawn = withRemarks(await diagram(judged.shown), result)
  return format === 'dot'
    ? (await import('../output/dot.ts')).toDot(drawn, summaryText(result))
    : (await import('../output/mermaid.ts')).toMermaid(drawn, summaryText(result))
}

async function page(
  judged: AnswerResult,
  { echo = '' }: OutputOptions,
  { clock }: CommandContext,
): Promise<string> {
  const { frame, shown } = judged
  if (frame.page === undefined) throw new TypeError(`${frame.kind} has no page`)
  const unknowns = [...(judged.assuming === undefined ? [] : [judged.assuming]), ...unknownsOf(judged)]
  const { contextName } = judged.input
  return frame.page({
    report: await machineReport(judged),
    shown,
    unknowns,
    echo,
    contextName,
    made: clock.now(),
  })
}

/**
 * The answer, then what could not be read or was not given, which may change all that follows, then the rest. An answer about
 * nothing is none. What it takes to begin is worked out at once; the lines come one by one.
 */
function viewWhole(judged: AnswerResult, layout: Layout): Lines {
  const { frame, shown, suppressed, aboutSuppressions } = judged
  const answer = judged.isEmpty ? undefined : frame.answer?.(layout, judged.kept)
  const first =
    answer === undefined
      ? []
      : viewAnswer(firstAnswer(answer, judged.frame.findings, judged), doubtsOf(judged, layout), layout)
  if (layout.summary === true && first.length > 0) return [...first, ...viewDoubts(judged, layout)]
  const views = [frame.view(layout, shown), viewSuppressions(suppressed, aboutSuppressions, layout)]
  const head = [...first, ...viewDoubts(judged, layout)]
  // No view can forget it: nothing is simply fine while it depends on what was not given, or is about nothing.
  const isSettled = judged.assumptions.length === 0 && !judged.isEmpty
  const good = judged.assuming === undefined ? MARKS.ok : MARKS.note
  return withAbbreviations(below(head, views, isSettled ? good : MARKS.warn), layout)
}

/** The first lines and, below a blank line, the others. */
function* below(head: Block, views: readonly Lines[], good: Line[number]): Lines {
  yield* head
  let isBlank = head.length > 0
  for (const view of views)
    for (const row of view) {
      if (isBlank) yield BLANK
      isBlank = false
      yield remarked(row, good)
    }
}

function doubtsOf(judged: AnswerResult, layout: Layout): AnswerDoubts {
  return {
    incomplete: layout.incomplete === true,
    unsettled: judged.assumptions.length > 0,
    assuming: judged.assuming,
    notShown: judged.notShown,
  }
}

function viewDoubts(judged: AnswerResult, layout: Layout): Block {
  const head = [
    ...(judged.isEmpty
      ? judged.problems.flatMap(({ why, fix }) => [
          line(MARKS.warn, ` nothing was checked: ${why}`),
          line(`  fix: ${fix}`),
        ])
      : []),
    ...(layout.incomplete === true
      ? [line(MARKS.warn, ' incomplete: not everything is known, and the rest may change this answer')]
      : []),
    ...viewAssumptions(judged.assumptions),
    ...(judged.input.remarks ?? []).map((text) => line(MARKS.note, ` ${text}`)),
  ]
  return head.flatMap((row) => wrap(row, layout.width, 4))
}

/** A line that says that something is fine, with the mark of how sure that is. */
function remarked(row: Line, good: Line[number]): Line {
  return row.map((piece) => (piece.text === MARKS.ok.text ? good : piece))
}

function viewAssumptions(assumptions: readonly Assumption[]): Block {
  if (assumptions.length === 0) return []
  return [
    line(MARKS.warn, ' some settings are unknown; parts of this answer are assumptions'),
    ...assumptions.map(({ what, assumed, otherwise, fix }) =>
      line(`  ${what}: ${assumed}; ${otherwise} (${fix})`),
    ),
  ]
}

/** The whole report of a command. */
export async function machineReport(judged: AnswerResult): Promise<Readonly<Record<string, unknown>>> {
  const { frame, input, shown, findings, suppressed, causes } = judged
  const { assumptions, premises, problems, notShown, exitCode } = judged
  const shared: Omit<SharedFields, 'settings'> = {
    findings,
    suppressed,
    summary: { ...countBySeverity(findings), suppressed: suppressed.length },
    notShown: notShown > 0 ? notShown : undefined,
    missing: missingOf(causes),
    assumptions,
    premises,
    problems,
    exitCode,
  }
  const [{ reportOf }, schema] = await Promise.all([import('./schema.ts'), frame.schema()])
  return reportOf(schema, report(frame.kind, { settings: input, ...frame.fields(shown), ...shared }))
}
