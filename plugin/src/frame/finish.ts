// From a frame to what is printed: the format that was asked for, and the exit code, which never depends on the format.
import type { Assumption } from '@kleym/shared/core/assumptions/assumptions.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { formatError } from '../io/errors.ts'
import { paletteFor, type CommandContext, type CommandResult } from '../io/context.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { CiResult } from '../output/ci.ts'
import { toJson } from '../output/json.ts'
import { toNames } from '../output/name.ts'
import { problemError } from '../sources/problem.ts'
import { BLANK, line, MARKS, render, type Block, type Line } from '../text/line.ts'
import { viewSuppressions } from '../text/suppressions.ts'
import { wrap } from '../text/wrap.ts'
import type { Layout } from '../text/layout.ts'
import { viewWidth } from '../text/layout.ts'
import type { Frame } from './frame.ts'
import { isAlone, worldText } from './world.ts'
import { resultOf, unknownsOf, type AnswerResult } from './result.ts'
import { machineReport } from './json.ts'

/** Prints a frame in the format that is asked for. */
export async function finish(
  frame: Frame,
  input: AnswerInput,
  options: OutputOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const judged = resultOf(frame, input, options)
  return {
    answer: await answerIn(judged, options, context),
    notes: [...input.notes, ...unknownsOf(judged).map((text) => `not known: ${text}`)],
    errors: judged.problems.map((problem) => formatError(problemError(problem))),
    exitCode: judged.exitCode,
  }
}

async function answerIn(
  judged: AnswerResult,
  options: OutputOptions,
  context: CommandContext,
): Promise<string> {
  const { frame } = judged
  switch (options.format) {
    case 'text':
    case 'wide': {
      const layout = {
        width: viewWidth(context),
        wide: options.format === 'wide',
        incomplete: judged.incomplete && !judged.isEmpty,
        unsettled: judged.assumptions.length > 0,
        world: worldText(judged.input),
        isAlone: isAlone(judged.input),
      }
      return render(viewWhole(judged, layout), paletteFor(options.colour, context))
    }
    case 'json':
      return toJson(machineReport(judged))
    case 'yaml':
      return (await import('../output/yaml.ts')).toYaml(machineReport(judged))
    case 'name':
      return toNames(frame.names(judged.shown))
    case 'sarif':
      return toJson((await import('../output/sarif.ts')).toSarif(await ciResult(judged, options, context)))
    case 'junit':
      return (await import('../output/junit.ts')).toJunit(await ciResult(judged, options, context))
    case 'github':
      return (await import('../output/github.ts')).toGithub(await ciResult(judged, options, context))
    case 'mermaid':
    case 'dot':
      return drawing(judged, await ciResult(judged, options, context), options.format)
    case 'html':
      return page(judged)
  }
}

async function ciResult(
  judged: AnswerResult,
  { failOn }: OutputOptions,
  { version }: CommandContext,
): Promise<CiResult> {
  return (await import('./ci-result.ts')).ciResultOf(judged, failOn, version)
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

async function page(judged: AnswerResult): Promise<string> {
  const { frame, shown } = judged
  if (frame.page === undefined) throw new TypeError(`${frame.kind} has no page`)
  return frame.page({ report: machineReport(judged), shown, unknowns: unknownsOf(judged) })
}

/** What could not be read or was not given may change all that follows, and an answer about nothing is none: that comes first. */
function viewWhole(judged: AnswerResult, layout: Layout): Block {
  const { frame, shown, suppressed, aboutSuppressions } = judged
  const view = [...frame.view(layout, shown), ...viewSuppressions(suppressed, aboutSuppressions, layout)]
  const head = [
    ...(judged.isEmpty
      ? judged.problems.map(({ why }) => line(MARKS.warn, ` nothing was judged: ${why}`))
      : []),
    ...(layout.incomplete === true
      ? [line(MARKS.warn, ' not everything could be read, and what could not may change this answer')]
      : []),
    ...viewAssumptions(judged.assumptions),
  ]
  if (head.length === 0) return view
  const isSettled = judged.assumptions.length === 0 && !judged.isEmpty
  return [
    ...head.flatMap((row) => wrap(row, { width: layout.width, hang: 4 })),
    BLANK,
    // No view can forget it: nothing is simply fine while it depends on what was not given, or is about nothing.
    ...(isSettled ? view : view.map(doubted)),
  ]
}

function doubted(row: Line): Line {
  const [first, ...rest] = row
  return first?.text === MARKS.ok.text ? [MARKS.warn, ...rest] : row
}

function viewAssumptions(assumptions: readonly Assumption[]): Block {
  if (assumptions.length === 0) return []
  return [
    line(MARKS.warn, ' this depends on what was not given'),
    ...assumptions.map(({ what, assumed, otherwise, fix }) =>
      line(`  ${what}: ${assumed}; ${otherwise} (${fix})`),
    ),
  ]
}
