// Identity tests run on an answer's input: read as the install understands them, and decided as far as the input shows.
import type { Assertion, TestReading } from '@kleym/shared/core/answers/index.ts'
import { trustDomainsOf } from '@kleym/shared/core/analysis/index.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { causesOf, missingOf, type CausesAsked } from '../../frame/causes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import { kindNamed, POD_KINDS } from '../../sources/kind-name.ts'
import { problemText, type ProblemReach } from '../../sources/problem.ts'
import { loadTests, type LoadedTests, type TestPaths } from './load-tests.ts'
import { runTests, type AssertionResult, type RunnableTest } from './assertions.ts'

/** Reads the tests of files, as an install understands them. */
export function loadIdentityTests(
  paths: TestPaths,
  input: AnswerInput,
  context: CommandContext,
): Promise<LoadedTests> {
  return loadTests(paths, readingOf(input), context)
}

/** How tests are read: the kinds of workloads that there are, and the trust domain. */
export function readingOf({ after }: AnswerInput): TestReading {
  const pods = [...after.snapshot.templates.read, ...after.podsInQuestion]
  // A kind that kleym does not read stands there with its group.
  const kinds = [...new Set([...POD_KINDS, ...pods.map(({ ref }) => ref.kind)])]
  return {
    workloadKinds: kinds.map((kind) => kind.toLowerCase()),
    kindOf: (written: string) => {
      const named = (kindNamed(written) ?? written).toLowerCase()
      return kinds.find((kind) => kind.toLowerCase() === named || kind.toLowerCase().startsWith(`${named}.`))
    },
    trustDomains: trustDomainsOf(after.settled),
  }
}

/** Runs tests against the state that an answer is about. */
export function resultsOf(
  { tests }: { readonly tests: readonly RunnableTest[] },
  input: AnswerInput,
  isUnaskedNever = false,
): readonly AssertionResult[] {
  // There may be ten thousand assertions, and a hundred namespaces.
  const known = new Map<string | undefined, { readonly text: string | undefined }>()
  const notRead = lazy(() => notReadForTests(input))
  const incomplete = (namespace: string | undefined): string | undefined =>
    getOrCreate(known, namespace, () => ({ text: incompleteText(input, namespace, notRead) })).text
  return runTests(tests, input.after, { drive: input.drive, incomplete, isUnaskedNever })
}

/**
 * Runs tests, and takes for granted that a Namespace which was not given asks for no sidecar where an assertion only asks whether each
 * container holds something. Who holds an ID and no other, and that there is none, never rests on that.
 */
export function resultsUnderPremise(
  loaded: Pick<LoadedTests, 'tests'>,
  input: AnswerInput,
): readonly (AssertionResult & { readonly isPremised?: true })[] {
  const results = resultsOf(loaded, input)
  if (!results.some(mayRest)) return results
  const assuming = resultsOf(loaded, input, true)
  return results.map((one, at) => {
    const other = assuming[at]
    return mayRest(one) && other?.outcome.state === 'passed' ? { ...other, isPremised: true } : one
  })
}

/** Whether a result that is not known may rest on the premise. */
function mayRest({ assertion, outcome }: AssertionResult): boolean {
  return outcome.state === 'unknown' && isOfAvailability(assertion)
}

/** Whether an assertion only asks that containers hold something: one container more could make it false, and harm nobody. */
function isOfAvailability(assertion: Assertion): boolean {
  if (assertion.kind === 'containers') return assertion.mode === 'atLeast' && assertion.wanted.length > 0
  return assertion.kind === 'every' && assertion.atMost === undefined && assertion.only === undefined
}

/**
 * Why there may be more than was read of a namespace, or other objects: an assertion about it holds as far as was read, and is
 * not known to hold. Undefined where all of it was read.
 */
export function incompleteText(
  input: AnswerInput,
  namespace?: string,
  notRead = () => notReadForTests(input),
): string | undefined {
  const reaches = ({ namespace: reached }: ProblemReach): boolean =>
    namespace === undefined || reached === undefined || reached === namespace
  const problem = input.problems.find(({ reach }) => reach === undefined || reach.some(reaches))
  if (problem !== undefined) return problemText(problem)
  const { snapshot } = input.after
  const why = notRead()[0] ?? snapshot.rest.pods(namespace)
  return why === undefined ? undefined : unknownReasonText(why)
}

function notReadForTests(input: AnswerInput): ReturnType<typeof missingOf> {
  return missingOf(causesOf(input, askedByTests(input)))
}

/** What all assertions are about. Pods that may be there are no part of it: each assertion says what depends on them. */
export function askedByTests({ after }: AnswerInput): CausesAsked {
  return { judgements: after.settled.judgements.values(), pods: new Set() }
}

/** How many objects an assertion could be about. */
export function subjectsIn({ snapshot, podsInQuestion }: AnswerInput['after']): number {
  const { bindings, clusterSpiffeIds, staticEntries } = snapshot
  return (
    bindings.read.length + clusterSpiffeIds.read.length + staticEntries.read.length + podsInQuestion.length
  )
}
