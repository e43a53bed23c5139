// The answer of `kubectl kleym diff`.
import type { CommandContext, CommandResult } from '../../io/context.ts'
import type { InputProblem } from '../../sources/problem.ts'
import { gatherSides, type DiffInput } from '../parts/base.ts'
import type { DiffOptions } from '../parts/base-flag.ts'
import { objectChanges, sidesOf, type ObjectChange, type Sides } from './changes.ts'
import { isChangeShown, narrowedTo } from './narrow.ts'
import { diffFrame, statesOf } from './frame.ts'
import type { DiffTests } from './tests.ts'
import { finish } from '../../frame/finish.ts'
import { WHOM_ALL_NAME } from '../../gather/question.ts'

/** Tells what would change. */
export async function run(options: DiffOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces } = options
  const about = { allNamespaces, named: [undefined], aboutFiles: true, federation: 'changed' } as const
  const input = await gatherSides(options, { ...about, ...WHOM_ALL_NAME }, context)
  const changes = objectChanges(input)
  const caused = changes.filter(({ dueAlready }) => !dueAlready)
  const narrowed = narrowedTo(input, statesOf(input), options)
  const meant = caused.filter((one) => isChangeShown(narrowed, one))
  const shown = meant.length === 0 ? '' : await show(meant, sidesOf(input), context)
  const { tests, problems } = await runTests(options.tests, input, context)
  const withProblems = { ...input, problems: [...input.problems, ...problems] }
  const parts = { changes, shown, tests, narrowed, isAllThereIs: areFilesAll(options, input) }
  return finish(diffFrame(input, parts), withProblems, options.output, context)
}

/** Whether the files are all there is: nothing says what was there before them, but for the ClusterSPIFFEIDs among them. */
function areFilesAll({ sources }: DiffOptions, { base, before, after, isLive }: DiffInput): boolean {
  return base === undefined && before === after && !isLive && sources.live === undefined
}

/** Loaded where it is asked for. */
async function runTests(
  paths: readonly string[],
  input: DiffInput,
  context: CommandContext,
): Promise<{ readonly tests: DiffTests | undefined; readonly problems: readonly InputProblem[] }> {
  if (paths.length === 0) return { tests: undefined, problems: [] }
  const { testsOfChange } = await import('./tests.ts')
  return testsOfChange(paths, input, context)
}

async function show(
  changes: readonly ObjectChange[],
  sides: Sides,
  { env }: CommandContext,
): Promise<string> {
  const { externalDiff, unifiedDiff } = await import('./unified.ts')
  const external = env['KUBECTL_EXTERNAL_DIFF'] ?? ''
  return external.trim() === ''
    ? unifiedDiff(changes, sides)
    : externalDiff(changes, sides, { command: external, env })
}
