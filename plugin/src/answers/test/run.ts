// The answer of `kubectl kleym test`.
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { missingOf } from '../../frame/missing.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { kindNamed } from '../../sources/kind-name.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { POD_KINDS } from '../who-selects/target.ts'
import { testFrame } from './frame.ts'
import { loadTests, type LoadedTests } from './load-tests.ts'
import { runTests, type AssertionResult } from './model.ts'

/** What `test` is asked. */
export interface TestOptions extends CommonOptions {
  /** Files and folders of tests; empty: those of `-f`. */
  readonly tests: readonly string[]
  readonly mode: 'run' | 'generate' | 'update'
}

/** Runs identity tests, or writes them. */
export async function run(options: TestOptions, context: CommandContext): Promise<CommandResult> {
  const paths = options.mode === 'generate' ? [] : testPaths(options)
  // What an assertion states may be true of any namespace.
  const question = { allNamespaces: true, named: [undefined] }
  const input = await gather({ ...options, allNamespaces: true }, question, context)
  if (options.mode === 'generate') return (await import('./generate.ts')).generated(input, context)
  const loaded = await loadIdentityTests(paths, input, context)
  const results = resultsOf(loaded, input)
  if (options.mode === 'update') return (await import('./update.ts')).updated(loaded, results, input)
  const withProblems = { ...input, problems: [...input.problems, ...loaded.problems] }
  return finish(testFrame(results, missingForTests(input)), withProblems, options.output, context)
}

/** Reads the tests of files, as an install understands them. */
export function loadIdentityTests(
  paths: readonly string[],
  { after, operator }: AnswerInput,
  context: CommandContext,
): Promise<LoadedTests> {
  const { trustDomain } = operator.config
  const kinds = [...new Set([...POD_KINDS, ...after.snapshot.templates.map(({ ref }) => ref.kind)])]
  const reading = {
    workloadKinds: kinds.map((kind) => kind.toLowerCase()),
    kindOf: (written: string) => {
      const named = kindNamed(written) ?? written
      return kinds.find((kind) => kind.toLowerCase() === named.toLowerCase())
    },
    trustDomain: trustDomain.kind === 'set' ? trustDomain.value : undefined,
  }
  return loadTests(paths, reading, context)
}

/** Runs tests against the state that an answer is about. */
export function resultsOf(
  { tests }: Pick<LoadedTests, 'tests'>,
  input: AnswerInput,
): readonly AssertionResult[] {
  return runTests(tests, input.after, { drive: input.drive, incomplete: incompleteText(input) })
}

/** Why there may be more than was read; undefined where all of it was. */
export function incompleteText(input: AnswerInput): string | undefined {
  const [problem] = input.problems.filter(({ reach }) => reach === undefined)
  if (problem !== undefined) return `${problem.what} (${problem.where}): ${problem.why}`
  const [missing] = missingForTests(input)
  return missing === undefined ? undefined : unknownReasonText(missing)
}

/** What could not be read. Pods that may be there are no part of it: each assertion says what depends on them. */
function missingForTests(input: AnswerInput): readonly UnknownReason[] {
  return missingOf(input, input.after.settled.judgements.values(), { pods: new Set() })
}

function testPaths({ tests, sources }: TestOptions): readonly string[] {
  if (
    tests.filter((path) => path === STDIN_ARGUMENT).length > 0 &&
    sources.files.files.includes(STDIN_ARGUMENT)
  )
    throw usage('stdin is given twice', 'it can be read only once', 'write - once: for the tests or for -f')
  if (tests.length > 0) return tests
  const files = sources.files.files.filter((path) => path !== STDIN_ARGUMENT)
  if (files.length > 0) return files
  throw usage(
    'no tests are named',
    'test runs the IdentityTests of files',
    'name them: kubectl kleym test tests/ --offline -R -f DIR, or write some with --generate',
  )
}

function usage(what: string, why: string, fix: string): KleymError {
  return new KleymError({ code: 'usage', what, why, fix, docs: 'kubectl kleym test --help' })
}
