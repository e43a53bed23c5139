// `kubectl kleym test` as people run it: the places of what fails, files that are wrong, every source, and what must never pass.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { built, ESTATE, kleym, ROOT, type Run } from './plugin.ts'
import { workspace } from './workspace.ts'

const BASE = join(ROOT, 'examples/pull-request/base')
const HEAD = join(ROOT, 'examples/pull-request/head')
const TESTS = join(ROOT, 'examples/identity-tests/team-c.yaml')
const HEADER = `apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: { name: one }
`
const PASSES = `${HEADER}spec:
  containers:
    - subject: { namespace: team-c, workload: deployment/qwen, container: vllm }
      holds: { exactly: [spiffe://example.org/ns/team-c/objective/search] }
`

beforeAll(async () => {
  await built()
})

/** Runs tests of a text against the files of the pull request's base, with more files beside them. */
async function run(
  text: string,
  {
    files = {},
    args = [],
  }: { readonly files?: Readonly<Record<string, string>>; readonly args?: readonly string[] } = {},
): Promise<Run> {
  const cwd = workspace({ 'tests.yaml': text, ...files })
  const more = Object.keys(files).flatMap((name) => ['-f', name])
  return kleym(['test', 'tests.yaml', '--offline', '-R', '-f', BASE, ...more, ...args], { cwd })
}

test('a test that holds passes', async () => {
  const { code, stdout, stderr } = await run(PASSES)
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '✓ 1 assertion passed\n', stderr: '' })
})

describe('a file that is wrong is reported with its place, and never passes', () => {
  test.each<readonly [says: string, text: string, told: readonly string[]]>([
    [
      'an unknown field',
      PASSES.replace('container: vllm', 'contaner: vllm'),
      [
        'tests.yaml:6, spec.containers[0].subject.contaner',
        'there is no field contaner',
        'did you mean container?',
      ],
    ],
    [
      'a reason that is none',
      `${PASSES}  bindings:\n    - { name: team-c/search, ready: false, reason: IdentityColision }\n`,
      ['spec.bindings[0].reason', 'and is "IdentityColision"', 'fix:  did you mean IdentityCollision?'],
    ],
    [
      'a wrong type',
      PASSES.replace('[spiffe://example.org/ns/team-c/objective/search]', 'chat'),
      [
        'tests.yaml:7, spec.containers[0].holds.exactly',
        'it must be a list, and is "chat"',
        'fix:  write it as a list: [chat]',
      ],
    ],
    [
      'an ID of another trust domain',
      PASSES.replace('spiffe://example.org', 'spiffe://example.com'),
      [
        'tests.yaml:7',
        'of trust domain example.com, and that of this install is example.org',
        '--trust-domain',
      ],
    ],
    [
      'an empty rule',
      `${HEADER}spec:\n  rules:\n    -\n      description: x\n`,
      ['tests.yaml:7, spec.rules[0]', 'identitiesBelow or spiffeID with onlyIn or neverIn'],
    ],
    ['no assertion', `${HEADER}spec: {}\n`, ['spec', 'it must hold an assertion']],
    ['broken YAML', `${PASSES}---\na: [\n`, ['cannot read document 2 of tests.yaml']],
    [
      'a misspelled kind',
      PASSES.replace('IdentityTest', 'IdentityTset'),
      ['tests.yaml:2, kind', 'it must be IdentityTest, and is "IdentityTset"'],
    ],
    [
      'a misspelled kind of another group',
      PASSES.replace('test.kleym.sonda.red', 'tests.kleym.sonda.red').replace(
        'IdentityTest',
        'IdentityTests',
      ),
      ['a test may be misspelled', 'did you mean kind: IdentityTest of test.kleym.sonda.red/v1alpha1?'],
    ],
    ['another version', PASSES.replace('v1alpha1', 'v1'), ['it must be test.kleym.sonda.red/v1alpha1']],
    [
      'a test within a List',
      `${PASSES}---\napiVersion: v1\nkind: List\nitems:\n  - kind: IdentityTest\n    metadata: { name: two }\n`,
      ['it stands in a list or in another object'],
    ],
    ['two tests of one name', `${PASSES}---\n${PASSES}`, ['a second test is called one', 'tests.yaml:3']],
    [
      'a template',
      PASSES.replace('name: one', 'name: {{ .Values.name }}'),
      ['cannot read document 1 of tests.yaml'],
    ],
  ])('%s', async (_says, text, told) => {
    const { code, stdout, stderr } = await run(text)
    for (const one of told) expect(stderr).toContain(one)
    expect(stdout).not.toMatch(/^✓/m)
    expect(code).toBe(4)
  })

  test('no such namespace: the assertion fails, with what may have been meant', async () => {
    const { code, stdout } = await run(PASSES.replace('namespace: team-c,', 'namespace: team-cc,'))
    expect(stdout).toContain('there is no namespace team-cc')
    expect(stdout).toContain('fix: did you mean team-c?')
    expect(code).toBe(1)
  })

  test('a path that is not there is wrong usage', async () => {
    const { code, stderr } = await kleym(['test', 'gone.yaml', ...ESTATE])
    expect(stderr).toContain('gone.yaml')
    expect(code).toBe(2)
  })

  test('one of two files holds no test', async () => {
    const cwd = workspace({ 'tests.yaml': PASSES, 'empty.yaml': '# later\n' })
    const args = ['test', 'tests.yaml', 'empty.yaml', '--offline', '-R', '-f', BASE]
    const { code, stderr } = await kleym(args, { cwd })
    expect(stderr).toContain('nothing there is a test (empty.yaml)')
    expect(code).toBe(4)
  })

  test('no test at all', async () => {
    const cwd = workspace({ 'tests.yaml': '# later\n' })
    const { code, stderr } = await kleym(['test', 'tests.yaml', '--offline', '-R', '-f', BASE], { cwd })
    expect(stderr).toContain('there is no identity test')
    expect(code).toBe(3)
  })

  test('no path: those of -f', async () => {
    const cwd = workspace({ 'tests.yaml': PASSES })
    const { code, stdout } = await kleym(['test', '--offline', '-R', '-f', BASE, '-f', 'tests.yaml'], { cwd })
    expect(stdout).toBe('✓ 1 assertion passed\n')
    expect(code).toBe(0)
  })
})

const NONE = `${HEADER}spec:
  rules:
    - everyContainer: { namespace: elsewhere }
      holds: { none: true }
      absent: true
`

describe('what is not known never passes', () => {
  test.each<readonly [says: string, files: Readonly<Record<string, string>>, args: readonly string[]]>([
    ['a document that cannot be read', { 'broken.yaml': 'kind: [\n' }, []],
    [
      'a workload that cannot be read',
      {
        'broken.yaml':
          'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x, namespace: team-c }\nspec: [\n',
      },
      [],
    ],
    [
      'a template that is not filled in',
      {
        'template.yaml':
          'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: "{{ .Values.name }}", namespace: team-c }\nspec: {{ .Values.spec }}\n',
      },
      [],
    ],
    [
      'a registration that stands twice',
      {
        'twice.yaml':
          readFileSync(join(BASE, 'install.yaml'), 'utf8')
            .split('---')[0]
            ?.replace('fallback: true', 'fallback: false') ?? '',
      },
      [],
    ],
    [
      'pods of a controller that is not read',
      {
        'rollout.yaml': `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: { name: qwen, namespace: team-c }
spec:
  template:
    metadata: { labels: { app: qwen } }
    spec: { serviceAccountName: runner, containers: [{ name: vllm, image: x }] }
`,
      },
      [],
    ],
  ])('%s', async (_says, files, args) => {
    const held = `${HEADER}spec:
  identities:
    - spiffeID: spiffe://example.org/ns/team-c/objective/search
      heldBy: { exactly: [{ namespace: team-c, workload: deployment/qwen, container: vllm }] }
`
    const { code, stdout } = await run(held, { files, args })
    expect(stdout).toContain('1 assertion is not known')
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
    for (const format of ['json', 'junit', 'github', 'sarif', 'markdown', 'name'])
      expect((await run(held, { files, args: [...args, '-o', format] })).code).toBe(4)
    expect((await run(held, { files, args: [...args, '--fail-on', 'never'] })).code).toBe(4)
  })

  test("SCM's settings were not given", async () => {
    const cwd = workspace({ 'tests.yaml': PASSES })
    const files = ['-f', join(BASE, 'bindings.yaml'), '-f', join(BASE, 'models.yaml')]
    const args = ['test', 'tests.yaml', '--offline', ...files, '--trust-domain', 'example.org']
    const { code, stdout } = await kleym(args, { cwd })
    expect(stdout).toContain('1 assertion is not known')
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
    expect((await kleym([...args, '--fail-on', 'never'], { cwd })).code).toBe(4)
  })

  test('the trust domain was not given', async () => {
    const cwd = workspace({ 'tests.yaml': PASSES })
    const files = ['-f', join(BASE, 'bindings.yaml'), '-f', join(BASE, 'models.yaml')]
    const { code, stdout } = await kleym(['test', 'tests.yaml', '--offline', ...files], { cwd })
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
  })

  test('nothing was read that a test could be about', async () => {
    const cwd = workspace({
      'tests.yaml': NONE,
      'other.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\n',
    })
    const args = ['test', 'tests.yaml', '--offline', '-f', 'other.yaml']
    const { code, stdout } = await kleym(args, { cwd })
    expect(stdout).toContain('nothing was checked')
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
    expect((await kleym([...args, '--allow-empty'], { cwd })).code).toBe(0)
  })
})

describe('the sources', () => {
  test('a dump, and files over it', async () => {
    const live = ['--offline', '--live', BASE]
    expect((await kleym(['test', TESTS, ...live])).code).toBe(0)
    const renamed = readFileSync(join(BASE, 'models.yaml'), 'utf8').replaceAll(
      'serviceAccountName: runner',
      'serviceAccountName: other',
    )
    const cwd = workspace({ 'models.yaml': renamed.slice(renamed.indexOf('kind: Deployment') - 20) })
    const { code, stdout } = await kleym(['test', TESTS, ...live, '-f', 'models.yaml'], { cwd })
    expect(stdout).toContain('3 of 5 assertions failed')
    expect(code).toBe(1)
  })

  test('stdin', async () => {
    const { code } = await kleym(['test', '-', '--offline', '-R', '-f', BASE], { stdin: PASSES })
    expect(code).toBe(0)
    const twice = await kleym(['test', '-', '--offline', '-f', '-'], { stdin: PASSES })
    expect(twice.stderr).toContain('stdin is given twice')
    expect(twice.code).toBe(2)
  })

  test('other commands take no offence at the kind', async () => {
    const conflicts = await kleym(['conflicts', '-A', '--offline', '-R', '-f', BASE, '-f', TESTS])
    expect(conflicts.stdout + conflicts.stderr).not.toMatch(/IdentityTest|KLM551/)
    expect(conflicts.code).toBe(0)
  })
})

describe('--generate', () => {
  test.each([
    ['the pull request', ['--offline', '-R', '-f', BASE]],
    ['the whole estate', ['--offline', '-R', '-f', join(ROOT, 'examples/estate')]],
    [
      'a mesh',
      [
        '--offline',
        '-R',
        '-f',
        join(ROOT, 'examples/sidecars'),
        '--trust-domain',
        'example.org',
        '--scm-config',
        join(ROOT, 'examples/scm-config.yaml'),
        '--clusterspiffeid-class-name',
        'spire-mgmt-spire',
      ],
    ],
  ])('what it writes for %s holds there, and is the same each time', async (_says, source) => {
    const { stdout } = await kleym(['test', '--generate', ...source])
    expect((await kleym(['test', '--generate', ...source])).stdout).toBe(stdout)
    const { stdout: answer } = await kleym(['test', '-', ...source], { stdin: stdout })
    expect(answer).toMatch(/^✓ \d+ assertions? passed\n$/)
  })

  test('what it pins is broken by the change', async () => {
    const { stdout } = await kleym(['test', '--generate', '--offline', '-R', '-f', BASE])
    expect((await kleym(['test', '-', '--offline', '-R', '-f', HEAD], { stdin: stdout })).code).toBe(1)
  })

  test('nothing to pin is no success', async () => {
    const { code, stderr } = await kleym(['test', '--generate', '--offline', '-f', '-'], { stdin: '' })
    expect(stderr).toContain('nothing was read that a test could be about')
    expect(code).toBe(4)
  })

  test('what cannot be pinned is reported, with exit code 4', async () => {
    const cwd = workspace({ 'broken.yaml': 'kind: [\n' })
    const { code, stderr } = await kleym(
      ['test', '--generate', '--offline', '-R', '-f', BASE, '-f', 'broken.yaml'],
      { cwd },
    )
    expect(stderr).toContain('not known')
    expect(code).toBe(4)
  })
})

describe('--update', () => {
  test('its patch makes what was meant true, and leaves every other byte', async () => {
    const cwd = workspace({})
    const text = readFileSync(TESTS, 'utf8')
    mkdirSync(join(cwd, 'tests'))
    writeFileSync(join(cwd, 'tests/team-c.yaml'), text)
    const source = ['--offline', '-R', '-f', HEAD]
    const { code, stdout, stderr } = await kleym(['test', 'tests', '--update', ...source], { cwd })
    expect(code).toBe(1)
    // A rule that forbids something is for a person to change.
    expect(stderr).toContain('not updated: tests/team-c.yaml:31, tenancy/rules[1]: change it by hand')
    const applied = runToEnd('git', ['apply', '-'], { cwd, input: stdout })
    expect(applied.stderr).toBe('')
    const after = readFileSync(join(cwd, 'tests/team-c.yaml'), 'utf8')
    expect(after).not.toBe(text)
    const changed = after.split('\n').filter((row, at) => row !== text.split('\n')[at])
    expect(changed).toEqual(['      holds: { none: true }'])
    const { stdout: now } = await kleym(['test', 'tests', ...source], { cwd })
    expect(now).toContain('1 of 5 assertions failed')
  })

  test('nothing fails: no patch', async () => {
    const { code, stdout } = await kleym(['test', TESTS, '--update', '--offline', '-R', '-f', BASE])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  })
})

describe('diff --tests', () => {
  const sides = ['--offline', '--base', BASE, '-R', '-f', HEAD]

  test('names what the change breaks, at its place in every format', async () => {
    const text = await kleym(['diff', ...sides, '--tests', TESTS])
    expect(text.stdout).toContain('the change breaks 2 assertions of identity tests, 3 passing')
    expect(text.code).toBe(1)
    const github = await kleym(['diff', ...sides, '--tests', TESTS, '-o', 'github'])
    expect(github.stdout).toMatch(/^::error file=.*team-c\.yaml,line=14,title=KLM701/m)
    const json: unknown = JSON.parse((await kleym(['diff', ...sides, '--tests', TESTS, '-o', 'json'])).stdout)
    expect(json).toMatchObject({ tests: { broken: 2, failingAlready: 0, passed: 3 } })
  })

  test('what fails before the change too is no news', async () => {
    const cwd = workspace({ 'tests.yaml': PASSES.replace('objective/search', 'objective/other') })
    const { stdout } = await kleym(['diff', ...sides, '--tests', 'tests.yaml'], { cwd })
    expect(stdout).toContain('the change breaks no identity test, 1 failing before it too')
    expect(stdout).not.toContain('KLM701')
  })

  test('a test that cannot be read makes the diff incomplete', async () => {
    const cwd = workspace({ 'tests.yaml': PASSES.replace('holds', 'hold') })
    const { code, stderr } = await kleym(['diff', ...sides, '--tests', 'tests.yaml'], { cwd })
    expect(stderr).toContain('there is no field hold here')
    expect(code).toBe(4)
  })
})
