// Every command of every page is run by a suite, or stands among the exceptions with its reason: scripts/docs/commands.ts.
import { expect, test } from 'vitest'
import {
  commandsOf,
  commandsRunBy,
  documentedCommands,
  howRun,
  NOT_RUN,
  RUNNERS,
} from '../../scripts/docs/commands.ts'
import { own, stringAt } from '../../shared/src/core/base/json.ts'
import { ROOT, textOf } from '../house/files.ts'

const COMMANDS = documentedCommands(ROOT)

test('there are commands, on many pages', () => {
  expect(COMMANDS.length).toBeGreaterThan(150)
  expect(new Set(COMMANDS.map(({ page }) => page)).size).toBeGreaterThan(20)
})

test('none is unaccounted for', () => {
  expect(COMMANDS.filter((one) => howRun(one) === 'unaccounted')).toEqual([])
})

test('no exception is left without a command', () => {
  const idle = NOT_RUN.filter(
    ({ pages, commands }) =>
      !COMMANDS.some(({ page, command }) => pages.test(page) && commands.test(command)),
  )
  expect(idle.map(({ why }) => why)).toEqual([])
})

test('the exceptions are counted', () => {
  const exceptions = COMMANDS.filter((one) => {
    const how = howRun(one)
    return how !== 'unaccounted' && 'why' in how
  })
  expect(exceptions.length).toBe(78)
})

/** What must stand in the test of a suite: it takes its commands from the pages, or (the gate and the suite of `watch`) has its own. */
const TAKEN: Readonly<Record<keyof typeof RUNNERS, string>> = {
  files: "commandsRunBy(PROJECT_ROOT, 'files')",
  cluster: "commandsRunBy(ROOT, 'cluster')",
  chart: "commandsIn('install.md')",
  quickStart: "commandsRunBy(ROOT, 'quickStart')",
  plugin: "commandsRunBy(ROOT, 'plugin')",
  settings: "commandsRunBy(PROJECT_ROOT, 'settings')",
  watch: "'watch'",
  watchFiles: "['watch', '--offline', '-R', '-f', 'app'",
  mcp: "commandsRunBy(ROOT, 'mcp')",
  tryIt: "commandsRunBy(ROOT, 'tryIt')",
  gate: "'scripts/demo.ts'",
}

test.each(Object.entries(TAKEN))('the suite %s takes its commands from the pages', (name, text) => {
  const [, runner] = Object.entries(RUNNERS).find(([one]) => one === name) ?? []
  expect(textOf(runner?.test ?? '')).toContain(text)
})

test('what the gate runs, it does run', () => {
  const gate = textOf('scripts/gate/parts.ts')
  const scripts = own(JSON.parse(textOf('package.json')), 'scripts')
  const files = commandsRunBy(ROOT, 'gate').flatMap(({ command }) => {
    const name = command.replace(/^npm (?:run )?/, '').split(' ')[0] ?? ''
    // The gate itself and its first part; the release begins with what the build does.
    if (name === 'test' || name === 'gate') return []
    return name === 'build' ? ['scripts/release.ts'] : [(stringAt(scripts, name) ?? '').replace('node ', '')]
  })
  expect(files.length).toBeGreaterThan(3)
  expect(files.filter((file) => !gate.includes(`'${file}'`))).toEqual([])
})

test('the suite of `watch` starts what the pages say', () => {
  const watched = commandsRunBy(ROOT, 'watch').map(({ command }) => command)
  expect(watched.length).toBeGreaterThan(1)
  expect(watched.filter((one) => !/^kubectl kleym watch (?:-A|-n \S+)(?: --plain)?$/.test(one))).toEqual([])
  const ofFiles = commandsRunBy(ROOT, 'watchFiles').map(({ command }) => command)
  expect(ofFiles.length).toBeGreaterThan(0)
  expect(ofFiles.filter((one) => !/^kubectl kleym watch --offline -R -f \S+$/.test(one))).toEqual([])
})

test.each([
  [
    'a block of a shell',
    '```sh\nkubectl get pods   # all\n\n# no command\nkubectl get ns\n```\n',
    ['kubectl get pods', 'kubectl get ns'],
  ],
  ['a block with output', '```console\n$ kubectl get pods\nNAME\n```\n', ['kubectl get pods']],
  [
    'a command of two lines',
    '```sh\nkubectl get pods \\\n  | wc -l   # how many\n```\n',
    ['kubectl get pods | wc -l'],
  ],
  ['a number sign within a word', "```sh\nkubectl get pods -l 'a#b'\n```\n", ["kubectl get pods -l 'a#b'"]],
  ['a block of another language', '```yaml\nrun: kubectl get pods\n```\n', []],
])('%s', (_, text, commands) => {
  expect(commandsOf('x.md', text).map(({ command }) => command)).toEqual(commands)
})
