// `test --generate`: tests of what is true now, as YAML.
import {
  generating,
  type WrittenTest,
  fieldText,
  readIdentityTest,
} from '@kleym/shared/core/answers/index.ts'
import { stringify } from 'yaml'
import type { CommandResult } from '../../io/context.ts'
import { EXIT, formatError } from '../../io/errors.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { problemError } from '../../sources/problem.ts'
import type { FilePlace } from '../../output/ci.ts'
import { incompleteText, readingOf, resultsOf, subjectsIn } from '../parts/assertion-results.ts'

const HEADER = `# Who holds which identity, written by kubectl kleym test --generate; edit it as you like. Keep it out of folders that
# are applied: no API server knows the kind. The fields: docs/reference/identity-test.md of kleym.
`

/** Writes the tests of all namespaces; `isLimited`: one was asked for. What is not certain cannot be pinned, and ends with exit code 4. */
export function generated(input: AnswerInput, isLimited: boolean): CommandResult {
  const made = input.drive(generating(input.after))
  const { tests, notPinned } = thatHold(made.tests, input)
  const leftOut = [...made.leftOut, ...made.unsure, ...notPinned]
  const incomplete = incompleteText(input) ?? nothingRead(input)
  const texts = tests.map((one) => `---\n${stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })}`)
  return {
    answer: HEADER + texts.join(''),
    notes: [
      ...input.notes,
      ...(isLimited ? ['-n limits nothing here: these are the tests of all namespaces'] : []),
      ...leftOut.map((text) => `not pinned: ${text}`),
      ...(incomplete === undefined ? [] : [`not known: ${incomplete}`]),
    ],
    errors: input.problems.map((problem) => formatError(problemError(problem))),
    exitCode: incomplete === undefined && leftOut.length === 0 ? EXIT.ok : EXIT.incomplete,
  }
}

/** The tests with those assertions that a run of the same input finds to hold: nothing else is pinned. */
function thatHold(
  tests: readonly WrittenTest[],
  input: AnswerInput,
): { readonly tests: readonly WrittenTest[]; readonly notPinned: readonly string[] } {
  const reading = readingOf(input)
  const runnable = tests.map((written) => {
    const test = readIdentityTest(written, reading)
    if (!('assertions' in test)) throw new Error(`${written.metadata.name} cannot be read: ${test[0]?.why}`)
    return { test, placeOf: nowhere }
  })
  const notHeld = resultsOf({ tests: runnable }, input).filter(({ outcome }) => outcome.state !== 'passed')
  const byTest = Map.groupBy(notHeld, ({ test }) => test)
  const kept = tests.flatMap((written): readonly WrittenTest[] => {
    const open = new Set(byTest.get(written.metadata.name)?.map(({ assertion }) => fieldText(assertion.path)))
    if (open.size === 0) return [written]
    const spec = Object.fromEntries(
      Object.entries(written.spec)
        .map(
          ([field, list = []]) =>
            [field, list.filter((_one, at) => !open.has(fieldText(['spec', field, at])))] as const,
        )
        .filter(([, list]) => list.length > 0),
    )
    return Object.keys(spec).length === 0 ? [] : [{ ...written, spec }]
  })
  const notPinned = notHeld.map(({ outcome }) => `${outcome.claim}: ${outcome.why}`)
  return { tests: kept, notPinned }
}

const nowhere = (): FilePlace => ({ file: '', line: 0 })

/** Tests of nothing would pin nothing: the command before a pipe may have failed. */
function nothingRead(input: AnswerInput): string | undefined {
  return subjectsIn(input.after) > 0 ? undefined : 'nothing was read that a test could be about'
}
