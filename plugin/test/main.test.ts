// The executable in its own process: exit codes, and what goes to which stream.
import { beforeAll, describe, expect, test } from 'vitest'
import { built, kleym } from '../../test/e2e/plugin.ts'
import { workspace } from './support/workspace.ts'
import { inProcess } from './support/in-process.ts'

beforeAll(built)

describe('help and version go to stdout and exit with 0', () => {
  test.each([
    ['nothing at all', []],
    ['--help', ['--help']],
    ['-h', ['-h']],
    ['help', ['help']],
  ])('%s lists the questions first', async (_, args) => {
    const { code, stdout, stderr } = await kleym(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      /^ {2}explain .*\n {2}diff .*\n {2}who-selects .*\n {2}why .*\n {2}conflicts .*\n {2}policies .*$/m,
    )
  })

  test.each(['explain', 'diff', 'who-selects', 'conflicts', 'policies'])(
    '%s --help has flags and examples in 80 columns',
    async (command) => {
      const { code, stdout, stderr } = await kleym([command, '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`$ kubectl kleym ${command}`)
      expect(stdout).toContain('--offline')
      expect(stdout).toContain('EXAMPLES')
      expect(stdout).not.toMatch(/\u001b/)
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
      expect((await kleym(['help', command])).stdout).toBe(stdout)
    },
  )

  test('--version', async () => {
    const { code, stdout } = await kleym(['--version'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^kubectl-kleym \d+\.\d+\.\d+\n$/)
  })
})

describe('wrong usage exits with 2, says what, why and how to fix it on stderr, and leaves stdout empty', () => {
  test.each<[string, readonly string[], string, string]>([
    ['an unknown command', ['exlpain'], 'there is no command exlpain', 'did you mean: kubectl kleym explain'],
    [
      'an unknown command in help',
      ['help', 'dif'],
      'there is no command dif',
      'did you mean: kubectl kleym diff',
    ],
    [
      'a flag before the command',
      ['-n', 'x', 'explain'],
      'a flag comes before the command',
      'kubectl kleym explain -n',
    ],
    [
      'a property of every object as command',
      ['constructor'],
      'there is no command constructor',
      'use one of them',
    ],
    ['an unknown flag', ['diff', '--offlin'], 'unknown flag --offlin', 'did you mean --offline?'],
    [
      'an unknown flag with a value',
      ['diff', '--outptu=json'],
      'unknown flag --outptu',
      'did you mean --output?',
    ],
    [
      'a flag with one dash',
      ['diff', '-offline'],
      '--output does not take ffline',
      'did you mean --offline?',
    ],
    ['a flag without its value', ['diff', '-f'], '--filename needs a value', 'write --filename=VALUE'],
    ['an option without its value', ['diff', '-o'], '--output needs a value', 'write --output=VALUE'],
    [
      'a value that is not offered',
      ['diff', '-o', 'jsn'],
      '--output does not take jsn',
      'did you mean json?',
    ],
    [
      'a wrong threshold',
      ['diff', '--fail-on', 'everything'],
      '--fail-on does not take everything',
      'use one of them',
    ],
    ['a text for a number', ['diff', '-v', 'x'], '--v has a wrong value', 'correct the value'],
    ['the same flag twice', ['diff', '-n', 'a', '-n', 'b'], '--namespace is given twice', 'give it once'],
    [
      'an argument too many',
      ['diff', 'x.yaml'],
      'unexpected argument x.yaml',
      'give each file its own -f: -f x.yaml',
    ],
    [
      'a diagram of what is no graph',
      ['status', '-o', 'mermaid'],
      'status draws no diagram',
      'ask one of them: kubectl kleym explain -o mermaid',
    ],
    [
      '--live without --offline',
      ['explain', '--live', 'dump'],
      '--live cannot be used with a cluster',
      'add --offline, or leave --live out',
    ],
    ['no files', ['conflicts', '--offline'], 'nothing to read', 'conflicts --offline -R -f DIR'],
    ['stdin twice', ['diff', '--offline', '-f', '-', '-f', '-'], 'stdin is given twice', 'write -f - once'],
    [
      'a target that is no KIND/NAME',
      ['who-selects', 'llama-0'],
      'cannot tell which object is meant',
      'write pod/llama-0',
    ],
    ['a target without pods', ['who-selects', 'ns/x'], 'a Namespace runs no containers', 'name one of Pod'],
    [
      'a target without pods',
      ['who-selects', 'infobj/x'],
      'an InferenceObjective runs no containers',
      'name one of',
    ],
    [
      'a wrong --without',
      ['diff', '--offline', '-f', '.', '--without', 'x'],
      'cannot tell which object --without means',
      'write it like',
    ],
    [
      'a missing file',
      ['explain', '--offline', '-f', 'gone.yaml'],
      'cannot read gone.yaml',
      'correct the path',
    ],
  ])('%s', async (_, args, what, fix) => {
    const { code, stdout, stderr } = await inProcess(args, await workspace({}))
    expect(stderr).toMatch(/^error: .*\n {2}why: {2}[^]*\n {2}fix: {2}/)
    expect(stderr).toContain(what)
    expect(stderr).toContain(fix)
    expect(stderr).not.toMatch(/^ +at /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('the real process says the same', async () => {
    const { code, stdout, stderr } = await kleym(['exlpain'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('did you mean: kubectl kleym explain')
  })

  test('a stack comes with -v=6 only', async () => {
    expect((await kleym(['diff', '-v=6', '--nonsense'])).stderr).toMatch(/^ +at /m)
    expect((await kleym(['diff', '-v=5', '--nonsense'])).stderr).not.toMatch(/^ +at /m)
  })

  test('hostile words on the command line come out escaped', async () => {
    const { stderr } = await kleym(['\u001b[2J\n::error::x'])
    expect(stderr).not.toMatch(/\u001b|^::/m)
    expect(stderr).toContain(String.raw`\x1b[2J\n::error::x`)
  })
})

const pool =
  'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {name: llama}\nspec: {selector: {matchLabels: {app: llama}}}\n'

describe('files', () => {
  test('a malformed document is named on stderr, the answer for the rest stands on stdout, and the exit code is 4', async () => {
    const cwd = await workspace({ 'f.yaml': `${pool}---\nkind: [\n` })
    const { code, stdout, stderr } = await kleym(
      ['explain', '--offline', '-f', 'f.yaml', '-A', '-o', 'json'],
      { cwd },
    )
    expect(stderr).toContain('cannot read document 2 of f.yaml (line 7')
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'kleym.sonda.red/report/v1alpha1' })
    expect(code).toBe(4)
  })

  test('stdin is read for -f -', async () => {
    const args = ['conflicts', '--offline', '-f', '-', '--allow-empty', '-o', 'json']
    const { code, stdout } = await kleym(args, { stdin: pool })
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'kleym.sonda.red/report/v1alpha1' })
    expect(code).toBe(0)
  })

  test('skipped kinds are counted on stderr', async () => {
    const { stderr } = await kleym(['conflicts', '--offline', '-f', '-'], {
      stdin: `${pool}---\napiVersion: v1\nkind: Secret\n`,
    })
    expect(stderr).toMatch(/Secret/)
  })
})

describe('colours', () => {
  const args = ['explain', 'KLM201']
  test.each<[string, readonly string[], Record<string, string>, boolean]>([
    ['none in a pipe', args, {}, false],
    ['--color always', [...args, '--color', 'always'], {}, true],
    ['FORCE_COLOR', args, { FORCE_COLOR: '1' }, true],
    ['NO_COLOR beats FORCE_COLOR', args, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('%s', async (_, line, env, coloured) => {
    const { code, stdout } = await kleym(line, { env })
    expect(code).toBe(0)
    expect(stdout.includes('\u001b[')).toBe(coloured)
  })
})

describe('the process', () => {
  test('a long answer into a pipe is complete', async () => {
    const pods = Array.from(
      { length: 3000 },
      (_, at) =>
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p${at}"},"spec":{"containers":[{"name":"c"}]}}`,
    )
    const { stdout, code } = await kleym(['who-selects', '-A', '--offline', '-f', '-', '-o', 'json'], {
      stdin: pods.join('\n'),
    })
    expect(stdout.length).toBeGreaterThan(128 * 1024)
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'kleym.sonda.red/report/v1alpha1' })
    expect([0, 4]).toContain(code)
  })
})
