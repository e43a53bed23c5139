// The identity tests that speak of an ID which goes: those whose text holds it, and those that break without it.
import type { MigrationInWorlds } from '@kleym/shared/core/answers/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import type { InputProblem } from '../../sources/problem.ts'
import { assertionName } from '../parts/assertions.ts'
import { loadIdentityTests, resultsOf } from '../parts/assertion-results.ts'

/** One place in a file of tests. */
export interface NamedInTest {
  readonly file: string
  readonly line: number
  /** The old ID that stands there, or the assertion that breaks: `tenancy/containers[0]`. */
  readonly what: string
  readonly how: 'names' | 'breaks'
}

/** Tells the places of a migration, and what is wrong with the files. */
export interface TestsNaming {
  readonly of: (migration: Pick<MigrationInWorlds, 'oldIds' | 'after'>) => readonly NamedInTest[]
  readonly problems: readonly InputProblem[]
}

/** Reads tests, and runs them before and after each migration that is asked about. */
export async function testsNaming(
  paths: readonly string[],
  input: AnswerInput,
  context: CommandContext,
): Promise<TestsNaming> {
  if (paths.length === 0) return { of: () => [], problems: [] }
  const loaded = await loadIdentityTests({ paths, areNamed: true }, input, context)
  // Those that fail before the first plan, and those that a plan before another breaks.
  const failed = new Set(failedOf(resultsOf(loaded, input)))
  const of: TestsNaming['of'] = ({ oldIds, after }) => {
    const named = loaded.texts.flatMap(({ name, text }) =>
      text
        .split('\n')
        .flatMap((row, at) =>
          oldIds
            .filter((id) => holdsId(row, id))
            .map((id): NamedInTest => ({ file: name, line: at + 1, what: id, how: 'names' })),
        ),
    )
    const results = resultsOf(loaded, { ...input, after })
    const broken = failedOf(results).flatMap((at): readonly NamedInTest[] => {
      const one = results[at]
      if (one === undefined || failed.has(at)) return []
      failed.add(at)
      const { file, line } = one.place()
      return [{ file, line, what: assertionName(one), how: 'breaks' }]
    })
    return [...named, ...broken]
  }
  return { of, problems: loaded.problems }
}

function failedOf(results: ReturnType<typeof resultsOf>): readonly number[] {
  return results.flatMap(({ outcome }, at) => (outcome.state === 'failed' ? [at] : []))
}

/** Whether a line holds an ID as a whole: what follows it belongs to no longer one. */
function holdsId(row: string, id: string): boolean {
  for (let at = row.indexOf(id); at !== -1; at = row.indexOf(id, at + 1))
    if (!/^[\w./-]/.test(row.slice(at + id.length))) return true
  return false
}
