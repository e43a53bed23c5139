// Every command that people are told to type, by help and by the pages: those that need no cluster answer, on the examples; the
// others are command lines that kleym takes (test/control-plane/documented-commands.test.ts runs those of the pages).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandsRunBy } from '../../../scripts/docs/commands.ts'
import { COMMANDS } from '../../src/answers/all-commands.ts'
import { EXIT } from '../../src/io/errors.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'

const PAGES = ['docs/ci.md', 'docs/gitops.md', 'docs/completion.md', 'docs/identity-tests.md'] as const

/** Help names folders that a person may have; here they are those of the examples. */
function onExamples(line: string): string {
  return line
    .replace('--base base/manifests', '--base examples/estate')
    .replace('--base base -R -f head', '--base examples/pull-request/base -R -f examples/pull-request/head')
    .replace(
      '--compare base -R -f head',
      '--compare examples/pull-request/base -R -f examples/pull-request/head',
    )
    .replace('--tests tests', '--tests examples/identity-tests/team-c.yaml')
    .replace(/^test tests/, 'test examples/identity-tests/estate.yaml')
    .replace(
      '--live dump -R -f manifests',
      '--live examples/estate -R -f examples/changes --trust-domain x.org',
    )
    .replace(/-R -f (?:manifests|deploy)\b|-f cluster\.yaml/, '-R -f examples/estate')
    .replace('--entries entries.json', '--entries examples/server/entries.json')
}

/** The examples of all help pages that are one plain command, up to a redirection. */
const HELP = [...COMMANDS.values()].flatMap(({ examples }) =>
  examples
    .map((example) => (typeof example === 'string' ? example : example.command))
    .filter((line) => line.startsWith('<%= config.bin %> '))
    .map((line) => line.split(/ +>/, 1)[0] ?? '')
    .map((line) => [onExamples(line.replace('<%= config.bin %> ', '')), 'help'] as const),
)

/** The command lines in the fenced blocks of a page, up to a redirection, a pipe or a comment. */
function commandsOf(page: string): readonly string[] {
  const blocks = readFileSync(join(PROJECT_ROOT, page), 'utf8')
    .split(/^```/m)
    .filter((_, at) => at % 2 === 1)
  return (
    blocks
      .flatMap((block) => block.split('\n'))
      .flatMap((line) => /^\s*(?:- |run: )*kubectl[ -]kleym (.*)$/.exec(line)?.[1] ?? [])
      .map((line) => line.split(/ +(?:>|\||#)/, 1)[0] ?? '')
      // What a workflow has checked out beside the change.
      .map((line) => line.replaceAll('base/examples', 'examples'))
  )
}

/** What the other pages say of files. */
const OF_FILES = commandsRunBy(PROJECT_ROOT, 'files').map(
  ({ page, command }) =>
    [
      onExamples((command.split(/ +(?:>|\|)/, 1)[0] ?? '').replace(/^(?:dist\/)?kubectl[ -]kleym /, '')),
      page,
    ] as const,
)

const LINES = [
  ...HELP,
  ...PAGES.flatMap((page) => commandsOf(page).map((line) => [line, page] as const)),
  ...OF_FILES,
].filter(([line, page], at, all) => all.findIndex((one) => one[0] === line && one[1] === page) === at)

/** The words of a line; a quoted one holds no blank. */
function words(line: string): readonly string[] {
  return line.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'))
}

test('help names no folder of this repository, which an installed user has not', () => {
  const lines = [...COMMANDS.values()].flatMap(({ examples }) =>
    examples.map((example) => (typeof example === 'string' ? example : example.command)),
  )
  expect(lines.filter((line) => line.includes('examples/'))).toEqual([])
})

/** One would write a file, one answers on the lines of a protocol (test/e2e/mcp.test.ts), one answers until it is stopped. */
const NOT_RUN = /^(?:completion install|mcp\b|watch --offline)/
const NEEDS_NO_CLUSTER = /--offline|^explain [A-Z]|^completion/

beforeAll(() => import('../../src/cluster/connect.ts'))

test('there are commands on every page', () => {
  expect(PAGES.filter((page) => commandsOf(page).length < 2)).toEqual([])
})

test('a recipe of CI judges a change by files from before it', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'docs/ci.md'), 'utf8')
  const files = [...text.matchAll(/kubectl[ -]kleym .*? --(?:scm-config|config|tests)[ =](\S+)/g)].map(
    ([, file]) => file,
  )
  expect(files.length).toBeGreaterThan(4)
  expect(files.filter((file) => file?.startsWith('base/') !== true)).toEqual([])
})

test('a recipe of CI runs for a change of the settings file alone', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'docs/ci.md'), 'utf8')
  const filters = [...text.matchAll(/^ +(?:paths|changes): (\[.*\])/gm)].map(([, list]) => list)
  expect(filters).toHaveLength(2)
  expect(filters.filter((list) => list?.includes("'.kleym.yaml'") !== true)).toEqual([])
})

describe('without a cluster', () => {
  test.each(LINES.filter(([line]) => NEEDS_NO_CLUSTER.test(line) && !NOT_RUN.test(line)))(
    '`kubectl kleym %s` (%s) answers',
    async (line) => {
      const ran = await inProcess(words(line), PROJECT_ROOT)
      // What stderr says shows up when this fails.
      const answered = ran.code === EXIT.ok || ran.code === EXIT.findings || ran.code === EXIT.incomplete
      expect({ ...ran, stdout: ran.stdout !== '', answered }).toMatchObject({ stdout: true, answered: true })
    },
  )
})

describe('with a cluster', () => {
  test.each(LINES.filter(([line]) => !NEEDS_NO_CLUSTER.test(line) && !NOT_RUN.test(line)))(
    '`kubectl kleym %s` (%s) is a command line, and says that there is no cluster here',
    async (line) => {
      const { code, stderr } = await inProcess(words(line), PROJECT_ROOT)
      expect({ code, stderr }).toEqual({
        code: EXIT.incomplete,
        stderr: expect.stringContaining('no cluster to talk to'),
      })
    },
  )
})
