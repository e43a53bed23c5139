// Which files hold tests: what may be one and is not run leaves the answer open, wherever it stands.
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, CHAT_OBJECTS, SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const SETTINGS = [
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name=',
  '--scm-config',
  'scm.yaml',
]
const FILES = { 'scm.yaml': SCM_CONFIG, 'world.yaml': `${CHAT_OBJECTS}---\n${CHAT_BINDING}` }

function identityTest(name: string, ready: boolean): string {
  return `apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: { name: ${name} }
spec: { bindings: [{ name: demo/chat, ready: ${String(ready)} }] }
`
}

function indented(text: string, by: number): string {
  const [first = '', ...others] = text.trimEnd().split('\n')
  return [first, ...others.map((one) => ' '.repeat(by) + one)].join('\n')
}

const HOLDS = { 'tests/good.yaml': identityTest('good', true) }
const WRONG = identityTest('wrong', false)

async function run(files: Readonly<Record<string, string | Uint8Array>>): Promise<Ran> {
  return runIn(await workspace({ ...FILES, ...HOLDS, ...files }))
}

function runIn(cwd: string, paths: readonly string[] = ['tests']): Promise<Ran> {
  return inProcess(['test', ...paths, '--offline', '-f', 'world.yaml', ...SETTINGS], cwd)
}

test('the tests that can be read hold', async () => {
  expect((await run({})).code).toBe(0)
})

test.each<[string, string, string | Uint8Array, string]>([
  ['in UTF-16', 'tests/b.yaml', Buffer.from(`\uFEFF${WRONG}`, 'utf16le'), 'the file is UTF-16'],
  ['encrypted', 'tests/b.yaml', Buffer.from('\0GITCRYPT\0\xff', 'latin1'), 'encrypted by git-crypt'],
  ['elsewhere', 'tests/b.yaml', 'version https://git-lfs.github.com/spec/v1\n', 'a pointer of Git LFS'],
  ['in a list without a kind', 'tests/b.yaml', `- ${indented(WRONG, 2)}\n`, 'it stands in a list'],
  [
    'in a List of Lists',
    'tests/b.yaml',
    `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - ${indented(WRONG, 4)}\n`,
    'it stands in a list',
  ],
  [
    'in a List, with a slip in its kind',
    'tests/b.yaml',
    `apiVersion: v1\nkind: List\nitems:\n- ${indented(WRONG.replace('IdentityTest', 'IdentityTesst'), 2)}\n`,
    'it stands in a list',
  ],
  [
    'a template by its name',
    'tests/b.yaml.j2',
    `{% if x %}\n${WRONG}{% endif %}\n`,
    'cannot read document 1',
  ],
])('a test that cannot be run leaves the answer open: %s', async (_, name, content, why) => {
  const { stdout, code } = await run({ [name]: content })
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(why)
  expect(code).toBe(4)
})

test.each(['tests/.github/b.yaml', 'tests/kustomization.yaml', 'tests/ci/b.yaml'])(
  'a test is run wherever it stands: %s',
  async (name) => {
    const chart = { 'tests/Chart.yaml': 'apiVersion: v2\nname: tests\nversion: 0.1.0\n' }
    const { stdout, code } = await run({ ...(name.includes('/ci/') ? chart : {}), [name]: WRONG })
    expect(stdout).toContain('wrong/bindings[0]')
    expect(code).toBe(1)
  },
)

async function linked(target: string): Promise<string> {
  const cwd = await workspace({ ...FILES, ...HOLDS, 'shared/b.yaml': WRONG })
  await mkdir(join(cwd, 'tests/of-all'))
  await symlink(target, join(cwd, 'tests/more'))
  return cwd
}

describe('a link to a folder', () => {
  test('is not followed, so the answer is open', async () => {
    const { stdout, code } = await runIn(await linked('../shared'))
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('it is a link to a folder, which is not followed')
    expect(code).toBe(4)
  })

  test('is nothing to say where the folder is read anyway', async () => {
    expect((await runIn(await linked('of-all'))).code).toBe(0)
    expect((await runIn(await linked('../shared'), ['tests', 'shared'])).code).toBe(1)
  })
})

test('of the files of -f, what cannot be read is reported once', async () => {
  const cwd = await workspace({
    ...FILES,
    ...HOLDS,
    'tests/b.yaml': Buffer.from('\0GITCRYPT\0\xff', 'latin1'),
  })
  const { stderr, code } = await inProcess(['test', '--offline', '-R', '-f', '.', ...SETTINGS], cwd)
  expect(stderr.match(/the file is encrypted by git-crypt/g)).toHaveLength(1)
  expect(code).toBe(4)
})
