// The mark follows the answer, the exit code the threshold: the table of docs/reference/output.md, held over all commands.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRecord, own } from '@kleym/shared/core/base/json.ts'
import { COMMAND_IDS } from '../../src/answers/commands.ts'
import { FAIL_ON } from '../../src/flags/flags.ts'
import { OUTCOMES } from '../../src/frame/outcome.ts'
import { MARKS } from '../../src/text/line.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { outcomePairs } from '../support/outcome-pairs.ts'

const PAGE = join(PROJECT_ROOT, 'docs/reference/output.md')

test('the page has every row of the table', async () => {
  const rows = OUTCOMES.map(({ what, mark, codes }) => {
    const shown = mark === undefined ? "the answer's" : `\`${MARKS[mark].text}\``
    return `| ${[what, shown, ...FAIL_ON.map((failOn) => codes[failOn])].join(' | ')} |`
  })
  const rest = `| none of these | the answer's | ${FAIL_ON.map(() => 0).join(' | ')} |`
  expect(await readFile(PAGE, 'utf8')).toContain(`${[...rows, rest].join('\n')}\n`)
})

const CHANGE = (name: string): readonly string[] => [
  'diff',
  '--offline',
  '--live',
  'examples/estate',
  '-f',
  `examples/changes/${name}`,
]
const PULL_REQUEST = ['--offline', '-R', '-f', 'examples/pull-request/head']

const QUESTIONS: readonly (readonly string[])[] = [
  ['explain', '-A', ...ESTATE_FLAGS],
  ['explain', 'team-a/chat', ...ESTATE_FLAGS],
  ['explain', 'serving/edge', ...ESTATE_FLAGS],
  ['explain', 'playground/phi', ...ESTATE_FLAGS],
  ['explain', 'playground/phi', ...ESTATE_FLAGS, '--suppress', 'KLM301=iib/playground/phi'],
  ['explain', 'playground/olmo', ...ESTATE_FLAGS],
  ['conflicts', '-A', ...ESTATE_FLAGS],
  ['conflicts', '-n', 'team-b', ...ESTATE_FLAGS],
  ['conflicts', '-A', ...ESTATE_FLAGS, '--code', 'KLM402'],
  ['who-selects', '-A', ...ESTATE_FLAGS],
  ['who-selects', 'pod/lab/sim', ...ESTATE_FLAGS],
  ['who-selects', 'pod/lab/owned-0', ...ESTATE_FLAGS],
  ['who-selects', '--spiffe-id', 'spiffe://example.org/nobody', ...ESTATE_FLAGS],
  ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE_FLAGS],
  ['policies', '-A', ...ESTATE_FLAGS],
  ['map', '-A', ...ESTATE_FLAGS],
  ['map', '-n', 'team-a', ...ESTATE_FLAGS],
  ['suggest', '-A', ...ESTATE_FLAGS],
  ['suggest', 'pool/team-b/llama', ...ESTATE_FLAGS],
  ['migrate', '-A', ...ESTATE_FLAGS],
  ['rename', 'objective/team-a/chat', 'assistant', ...ESTATE_FLAGS],
  ['test', 'examples/identity-tests/estate.yaml', ...ESTATE_FLAGS],
  ['test', 'examples/identity-tests/team-c.yaml', ...PULL_REQUEST],
  ['verify', '--entries', 'examples/server/entries.json', ...ESTATE_FLAGS],
  ['why', 'pod/lab/sim', ...ESTATE_FLAGS],
  ['why', 'pod/lab/sim', '--entries', 'examples/server/entries.json', ...ESTATE_FLAGS],
  ['settings', '--offline', '-f', 'examples/estate', '-R'],
  ['settings', ...PULL_REQUEST],
  ['explain', '-A', ...PULL_REQUEST],
  ['conflicts', '-A', ...PULL_REQUEST],
  CHANGE('add-collision'),
  CHANGE('steal-identity'),
  CHANGE('narrow-pool'),
  CHANGE('rename-objective'),
  ['diff', '--base', 'examples/pull-request/base', ...PULL_REQUEST],
  ['who-selects', '-A', ...PULL_REQUEST],
  ['map', '-A', ...PULL_REQUEST],
  ['suggest', '-A', ...PULL_REQUEST],
  ['migrate', '-A', ...PULL_REQUEST],
]

/** They end with no report; `status`, which asks a cluster, stands in its own test. */
const WITHOUT = ['completion', 'mcp', 'status', 'watch']

test('every command is asked', () => {
  const asked = new Set(QUESTIONS.map(([name = '']) => name))
  expect([...asked, ...WITHOUT].toSorted()).toEqual(COMMAND_IDS.toSorted())
})

describe('the first line of every command', () => {
  test.each(QUESTIONS.map((args) => [args.join(' '), args] as const))(
    '%s: it is marked ✗ if an error counts and only then, and mark and exit code are a pair of the table',
    async (_, args) => {
      // What is not shown counts all the same.
      const whole = args.filter((one, at) => one !== '--code' && args[at - 1] !== '--code')
      const { stdout } = await inProcess([...whole, '-o', 'json'], PROJECT_ROOT)
      const report: unknown = JSON.parse(stdout)
      expect(isRecord(report)).toBe(true)
      const errors = Number(own(own(report, 'summary'), 'error'))
      for (const failOn of FAIL_ON) {
        const { stdout: text, code } = await inProcess([...args, '--fail-on', failOn], PROJECT_ROOT)
        const mark = text.slice(0, 1)
        expect(mark === '✗').toBe(errors > 0)
        expect(outcomePairs()).toContain(`${mark} ${failOn} ${code}`)
      }
    },
  )
})
