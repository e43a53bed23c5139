// The answer of `kubectl kleym test`.
import { getOrCreate } from '@kleym/shared/core/get-or-create.ts'
import { subjectGap } from '@kleym/shared/core/snapshot/unread.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { missingOf } from '../../frame/missing.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { kindNamed } from '../../sources/kind-name.ts'
import type { ProblemReach } from '../../sources/problem.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { POD_KINDS } from '../who-selects/target.ts'
import { testFrame } from './frame.ts'
import { loadTests, type LoadedTests, type TestPaths } from './load-tests.ts'
import { runTests, type AssertionResult } from './model.ts'

/** What `test` is asked. */
export interface TestOptions extends CommonOptions {
  /** Files and folders of tests; empty: those of `-f`. */
  readonly tests: readonly string[]
  readonly mode: 'run' | 'generate' | 'update'
}

/** Runs identity tests, or writes them. */
export async function run(options: TestOptions, context: CommandContext): Promise<CommandResult> {
  const paths = options.mode === 'generate' ? { paths: [], areNamed: false } : testPaths(options)
  // What an assertion states may be true of any namespace.
  const question = { allNamespaces: true, named: [undefined] }
  const input = await gather({ ...options, allNamespaces: true }, question, context)
  if (options.mode === 'generate') return (await import('./generate.ts')).generated(input, context)
  const loaded = await loadIdentityTests(paths, input, context)
  const results = resultsOf(loaded, input)
  if (options.mode === 'update') return (await import('./update.ts')).updated(loaded, results, input)
  const withProblems = { ...input, problems: [...input.problems, ...loaded.problems] }
  return finish(
    testFrame(results, missingForTests(input), subjectsIn(input)),
    withProblems,
    options.output,
    context,
  )
}

/** Reads the tests of files, as an install understands them. */
export function loadIdentityTests(
  paths: TestPaths,
  { after, operator }: AnswerInput,
  context: CommandContext,
): Promise<LoadedTests> {
  const { trustDomain } = operator.config
  const pods = [...after.snapshot.templates, ...after.podsInQuestion]
  // A kind that kleym does not read stands there with its group.
  const kinds = [...new Set([...POD_KINDS, ...pods.map(({ ref }) => ref.kind)])]
  const reading = {
    workloadKinds: kinds.map((kind) => kind.toLowerCase()),
    kindOf: (written: string) => {
      const named = (kindNamed(written) ?? written).toLowerCase()
      return kinds.find((kind) => kind.toLowerCase() === named || kind.toLowerCase().startsWith(`${named}.`))
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
  // There may be ten thousand assertions, and a hundred namespaces.
  const known = new Map<string | undefined, { readonly text: string | undefined }>()
  const incomplete = (namespace: string | undefined): string | undefined =>
    getOrCreate(known, namespace, () => ({ text: incompleteText(input, namespace) })).text
  return runTests(tests, input.after, { drive: input.drive, incomplete })
}

/**
 * Why there may be more than was read of a namespace, or other objects: an assertion about it holds as far as was read, and is
 * not known to hold. Undefined where all of it was read.
 */
export function incompleteText(input: AnswerInput, namespace?: string): string | undefined {
  const reaches = ({ namespace: reached }: ProblemReach): boolean =>
    namespace === undefined || reached === undefined || reached === namespace
  const problem = input.problems.find(({ reach }) => reach === undefined || reach.some(reaches))
  if (problem !== undefined) return `${problem.what} (${problem.where}): ${problem.why}`
  const { snapshot } = input.after
  const notRead = missingForTests(input)[0] ?? subjectGap(snapshot, namespace)
  return notRead === undefined ? undefined : unknownReasonText(notRead)
}

/** What could not be read. Pods that may be there are no part of it: each assertion says what depends on them. */
function missingForTests(input: AnswerInput): readonly UnknownReason[] {
  return missingOf(input, input.after.settled.judgements.values(), { pods: new Set() })
}

function testPaths({ tests, sources }: TestOptions): TestPaths {
  if (
    tests.filter((path) => path === STDIN_ARGUMENT).length > 0 &&
    sources.files.files.includes(STDIN_ARGUMENT)
  )
    throw usage('stdin is given twice', 'it can be read only once', 'write - once: for the tests or for -f')
  if (tests.length > 0) return { paths: tests, areNamed: true }
  const files = sources.files.files.filter((path) => path !== STDIN_ARGUMENT)
  if (files.length > 0) return { paths: files, areNamed: false }
  throw usage(
    'no tests are named',
    'test runs the IdentityTests of files',
    'name them: kubectl kleym test tests/ --offline -R -f DIR, or write some with --generate',
  )
}

function subjectsIn({ after }: AnswerInput): number {
  const { bindings, clusterSpiffeIds, staticEntries } = after.snapshot
  return bindings.length + clusterSpiffeIds.length + staticEntries.length + after.podsInQuestion.length
}

function usage(what: string, why: string, fix: string): KleymError {
  return new KleymError({ code: 'usage', what, why, fix, docs: 'kubectl kleym test --help' })
}
