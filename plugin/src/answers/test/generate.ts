// `test --generate`: tests of what is true now, as YAML.
import { generating } from '@kleym/shared/core/identity-tests/generate.ts'
import { stringify } from 'yaml'
import type { CommandResult } from '../../io/context.ts'
import { EXIT } from '../../io/errors.ts'
import { formatError } from '../../io/errors.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { problemError } from '../../sources/problem.ts'
import { incompleteText, subjectsIn } from './results.ts'

const HEADER = `# Who holds which identity, written by kubectl kleym test --generate; edit it as you like. Keep it out of folders that
# are applied: no API server knows the kind. The fields: docs/reference/identity-test.md of kleym.
`

/** Writes the tests of all namespaces; `isLimited`: one was asked for. What is not certain cannot be pinned, and ends with exit code 4. */
export function generated(input: AnswerInput, isLimited: boolean): CommandResult {
  const { tests, leftOut } = input.drive(generating(input.after))
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

/** Tests of nothing would pin nothing: the command before a pipe may have failed. */
function nothingRead(input: AnswerInput): string | undefined {
  return subjectsIn(input) > 0 ? undefined : 'nothing was read that a test could be about'
}
