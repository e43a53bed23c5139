// The answer of `kubectl kleym test`.
import { gather } from '../../gather/gather.ts'
import { noSummary, type CommonOptions, type OutputOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { wrongUsage, type KleymError } from '../../io/errors.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { testFrame } from './frame.ts'
import type { TestPaths } from '../parts/load-tests.ts'
import { loadIdentityTests, resultsOf, resultsUnderPremise, subjectsIn } from '../parts/assertion-results.ts'

/** What `test` is asked. */
export interface TestOptions extends CommonOptions {
  /** Files and folders of tests; empty: those of `-f`. */
  readonly tests: readonly string[]
  readonly mode: 'run' | 'generate' | 'update'
}

/** Runs identity tests, or writes them. */
export async function run(options: TestOptions, context: CommandContext): Promise<CommandResult> {
  if (options.mode !== 'run') requirePlainOutput(options.mode, options.output)
  const paths = options.mode === 'generate' ? { paths: [], areNamed: false } : testPaths(options)
  // What an assertion states may be true of any namespace.
  const question = { allNamespaces: true, named: [undefined], workloads: options.mode !== 'generate' }
  const input = await gather({ ...options, allNamespaces: true }, question, context)
  if (options.mode === 'generate')
    return (await import('./generate.ts')).generated(input, options.sources.namespace !== undefined)
  const loaded = await loadIdentityTests(paths, input, context)
  const isStrict = options.output.strict === true || input.isLive
  const results = isStrict ? resultsOf(loaded, input) : resultsUnderPremise(loaded, input)
  if (options.mode === 'update') return (await import('./update.ts')).updated(loaded, results, input)
  const withProblems = { ...input, problems: [...input.problems, ...loaded.problems] }
  return finish(
    {
      ...testFrame(results, input, {
        subjects: subjectsIn(input.after),
        faults: loaded.problems,
      }),
      premises: results.some((one) => 'isPremised' in one) ? ['no sidecar unless asked'] : [],
    },
    withProblems,
    options.output,
    context,
  )
}

/** What these modes print has one form: YAML, or a patch of it. */
function requirePlainOutput(mode: 'generate' | 'update', { format, summary }: OutputOptions): void {
  if (summary === true)
    throw noSummary(`--${mode}`, 'what it prints is a file or a patch', 'leave --summary out')
  if (format === 'text' || (format === 'yaml' && mode === 'generate')) return
  throw usage(
    `--${mode} has no -o ${format}`,
    mode === 'generate' ? 'it prints IdentityTests as YAML' : 'it prints a patch of the test files',
    'leave -o out',
  )
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

function usage(what: string, why: string, fix: string): KleymError {
  return wrongUsage('test', { what, why, fix })
}
