// `.kleym.yaml` and the environment: where the file is found, what counts before what, and what a hostile file can do.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { isRecord, own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'
import {
  CHAT_BINDING,
  CHAT_OBJECTS,
  CHAT_SCM as SCM,
  CHAT_THEFT as THEFT,
  operatorDeployment,
} from '../support/chat-world.ts'

const SETTINGS = 'trustDomain: acme.example\nclassName: spire\nscmConfig: scm.yaml\n'

const FILES = {
  'files/chat.yaml': CHAT_BINDING,
  'files/objects.yaml': CHAT_OBJECTS,
  'scm.yaml': SCM,
  '.git/HEAD': 'ref: refs/heads/main\n',
}
const EXPLAIN = ['explain', 'demo/chat', '--offline', '-f', 'files', '-o', 'json']

function settingsOf(ran: Ran): unknown {
  return own(reportOf(ran), 'settings')
}

function reportOf({ stdout }: Ran): JsonRecord {
  const report: unknown = JSON.parse(stdout)
  if (!isRecord(report)) throw new TypeError('the answer is no report')
  return report
}

describe('a settings file', () => {
  test('stands for the flags: without it the answer rests on a premise, with it or with flags it is the same', async () => {
    const root = await workspace(FILES)
    expect(own(reportOf(await inProcess(EXPLAIN, root)), 'premises')).not.toEqual([])
    expect((await inProcess([...EXPLAIN, '--strict'], root)).code).toBe(4)
    await writeFile(join(root, '.kleym.yaml'), SETTINGS)
    const withFile = await inProcess(EXPLAIN, root)
    expect(withFile.code).toBe(0)
    const flags = [
      '--trust-domain=acme.example',
      '--clusterspiffeid-class-name=spire',
      '--scm-config=scm.yaml',
    ]
    const withFlags = await inProcess([...EXPLAIN, '--no-config', ...flags], root)
    expect(withFlags.code).toBe(0)
    expect({ ...reportOf(withFile), settings: {} }).toEqual({ ...reportOf(withFlags), settings: {} })
  })

  test('is found in a folder above, up to the root of the repository', async () => {
    const root = await workspace({ ...FILES, '.kleym.yaml': SETTINGS })
    const below = ['explain', 'demo/chat', '--offline', '-f', '.', '-o', 'json']
    const ran = await inProcess(below, join(root, 'files'))
    expect(settingsOf(ran)).toMatchObject({ trustDomainSource: '../.kleym.yaml' })
    expect(ran.code).toBe(0)
  })

  test('outside of the repository, or above a folder that is in none, is not read', async () => {
    const root = await workspace({ ...FILES, '.kleym.yaml': SETTINGS, 'files/.git': 'gitdir: x\n' })
    const below = ['explain', 'demo/chat', '--offline', '-f', '.', '-o', 'json']
    expect(settingsOf(await inProcess(below, join(root, 'files')))).toMatchObject({ trustDomainSource: null })
    const { '.git/HEAD': _, ...outside } = FILES
    const other = await workspace({ ...outside, '.kleym.yaml': SETTINGS })
    expect(settingsOf(await inProcess(below, join(other, 'files')))).toMatchObject({
      trustDomainSource: null,
    })
    expect(settingsOf(await inProcess(EXPLAIN, other))).toMatchObject({ trustDomainSource: '.kleym.yaml' })
  })

  test('gives way to a flag, an object and a variable, and a difference is reported and open', async () => {
    const root = await workspace({ ...FILES, '.kleym.yaml': SETTINGS })
    const flag = await inProcess([...EXPLAIN, '--trust-domain', 'flag.example'], root)
    expect(settingsOf(flag)).toMatchObject({ trustDomain: 'flag.example' })
    const variable = await inProcess(EXPLAIN, root, { KLEYM_TRUST_DOMAIN: 'env.example' })
    expect(settingsOf(variable)).toMatchObject({
      trustDomain: 'env.example',
      trustDomainSource: 'the environment',
    })
    const deployment = operatorDeployment('object.example', 'spire')
    await writeFile(join(root, 'files', 'operator.yaml'), deployment)
    const object = await inProcess(EXPLAIN, root)
    expect(settingsOf(object)).toMatchObject({ trustDomain: 'object.example' })
    for (const { stdout, code } of [variable, object]) {
      expect(stdout).toContain('acme.example')
      expect(code).not.toBe(0)
    }
    const conflicts = await inProcess(['conflicts', '-A', '--offline', '-f', 'files'], root)
    expect(conflicts.stdout).toContain('KLM520')
    expect(conflicts.stdout.replaceAll(/\s+/g, ' ')).toContain(
      "kleym's trust domain: it is assumed to be object.example, as Deployment kleym-system/kleym says",
    )
  })

  test('whose class is disputed leaves open what the class decides, though no finding is certain', async () => {
    const root = await workspace({
      ...FILES,
      '.kleym.yaml': SETTINGS,
      'scm.yaml': SCM.replace('className: spire', 'className: ""\nwatchClassless: true'),
    })
    expect((await inProcess(EXPLAIN, root)).code).toBe(1)
    const disputed = await inProcess([...EXPLAIN, '--clusterspiffeid-class-name', ''], root)
    expect(disputed.code).toBe(4)
  })

  test('has sections for kube contexts', async () => {
    const contexts = 'contexts: {staging: {trustDomain: staging.example}}\n'
    const root = await workspace({ ...FILES, '.kleym.yaml': `${SETTINGS}${contexts}` })
    expect(settingsOf(await inProcess(EXPLAIN, root))).toMatchObject({ trustDomain: 'acme.example' })
    expect(settingsOf(await inProcess([...EXPLAIN, '--context', 'staging'], root))).toEqual(
      expect.objectContaining({
        trustDomain: 'staging.example',
        trustDomainSource: '.kleym.yaml, context staging',
      }),
    )
    const { code, stderr } = await inProcess([...EXPLAIN, '--context', 'stagin'], root)
    expect(stderr).toContain('did you mean staging?')
    expect(code).toBe(2)
  })

  test('that names another SCM than the environment does leaves open which one serves', async () => {
    const root = await workspace({
      ...FILES,
      '.kleym.yaml': SETTINGS,
      'other.yaml': SCM.replace('className: spire', 'className: other'),
    })
    const ran = await inProcess(['conflicts', '-A', '--offline', '-f', 'files', '-o', 'json'], root, {
      KLEYM_SCM_CONFIG: 'other.yaml',
    })
    expect(ran.stdout).toContain('KLM520')
    expect(ran.stdout).toContain('scm.yaml (.kleym.yaml) makes other entries than other.yaml, which is used')
    expect(ran.code).toBe(4)
  })

  test('may hold several configurations of SCM, as files or as they are', async () => {
    const other =
      'apiVersion: spire.spiffe.io/v1alpha1, kind: ControllerManagerConfig, className: other, trustDomain: acme.example'
    const root = await workspace({
      ...FILES,
      '.kleym.yaml': `trustDomain: acme.example\nclassName: spire\nscmConfig: [{${other}}, scm.yaml]\n`,
    })
    expect((await inProcess(EXPLAIN, root)).code).toBe(0)
    await writeFile(
      join(root, '.kleym.yaml'),
      `trustDomain: acme.example\nclassName: spire\nscmConfig: {${other}}\n`,
    )
    expect((await inProcess(EXPLAIN, root)).code).toBe(1)
  })
})

describe('a wrong settings file is an error that says where and why', () => {
  test.each([
    ['a misspelt field', 'trustdomain: a.example\n', '.kleym.yaml:1:14', 'did you mean trustDomain?'],
    ['a wrong type', 'className: spire\noutputLabels:\n  team: 1\n', '.kleym.yaml:3:9', 'must be a string'],
    ['no trust domain', 'trustDomain: https://a\n', '.kleym.yaml:1:14', 'a trust domain holds'],
    ['a threshold', 'failOn: never\n', '.kleym.yaml:1:9', 'could decide by it whether it passes'],
    ['files to leave out', 'exclude: [files]\n', '.kleym.yaml:1:10', 'give it on the command line'],
    ['an alias', 'className: &a spire\nvariantLabelKey: *a\n', '.kleym.yaml:1:15', 'an anchor or an alias'],
    ['a circle', 'contexts: &a {x: *a}\n', '.kleym.yaml:1:14', 'an anchor or an alias'],
    ['broken YAML', 'className: [\n', '.kleym.yaml:2:1', 'correct the YAML'],
    ['a duplicate field', 'className: a\nclassName: b\n', '.kleym.yaml:2:1', 'Map keys must be unique'],
    [
      'a second document',
      'className: a\n---\nclassName: b\n',
      '.kleym.yaml:2:1',
      'it holds a second document',
    ],
    [
      'brackets in brackets',
      `scmConfig: ${'['.repeat(60_000)}${']'.repeat(60_000)}\n`,
      '.kleym.yaml:1:',
      'levels deep',
    ],
    [
      'mappings in mappings',
      `scmConfig: ${'{a: '.repeat(3000)}1${'}'.repeat(3000)}\n`,
      '.kleym.yaml:1:',
      'levels deep',
    ],
    ['a field of every object', '__proto__: {className: a}\n', '.kleym.yaml:1:1', 'no key may be __proto__'],
    ['it as a context', 'contexts: {__proto__: {}}\n', '.kleym.yaml:1:12', 'no key may be __proto__'],
    ['it as a label', 'outputLabels:\n  "__proto__": x\n', '.kleym.yaml:2:3', 'no key may be __proto__'],
    ['a context that is null', 'contexts:\n  null: {}\n', '.kleym.yaml:2:3', 'a key that is no text'],
    ['a context that is a number', 'contexts:\n  0x10: {}\n', '.kleym.yaml:2:3', 'a key that is no text'],
    ['no context', 'contexts:\n  : {}\n', '.kleym.yaml:2:3', 'a key that is no text'],
    [
      'a tag that runs code',
      'className: !!js/function "x"\n',
      '.kleym.yaml:1:',
      'it has a tag (tag:yaml.org,2002:js/function)',
    ],
    ['a tag of its own', '!foo\nclassName: x\n', '.kleym.yaml:2:1', 'it has a tag (!foo)'],
    ['a list', '- className: a\n', '.kleym.yaml', 'must be a mapping of settings'],
    ['a path outside', 'scmConfig: ../scm.yaml\n', '.kleym.yaml:1:12, scmConfig ../scm.yaml', 'no such file'],
    [
      'an absolute path',
      'scmConfig: /etc/hostname\n',
      '.kleym.yaml:1:12, scmConfig /etc/hostname',
      'leads out of the folder',
    ],
    [
      'a link outside',
      'scmConfig: link.yaml\n',
      '.kleym.yaml:1:12, scmConfig link.yaml',
      'leads out of the folder',
    ],
    ['256 KiB of comments', `#${'x'.repeat(300_000)}\n`, '.kleym.yaml', 'larger than 256 KiB'],
    ['bytes that are no UTF-8', new Uint8Array([0x61, 0xff, 0x62]), '.kleym.yaml', 'not UTF-8'],
  ])('%s', async (_name, content, where, why) => {
    const root = await workspace({ ...FILES, '.kleym.yaml': content })
    await symlink('/etc/hostname', join(root, 'link.yaml'))
    const { code, stderr, stdout } = await inProcess(EXPLAIN, root)
    expect(stdout).toBe('')
    expect(stderr).toContain(where)
    expect(stderr).toContain(why)
    expect(code).toBe(2)
  })

  test('a folder in its place, and a file with another ending', async () => {
    const root = await workspace(FILES)
    await mkdir(join(root, '.kleym.yaml'))
    expect((await inProcess(EXPLAIN, root)).stderr).toContain('it is a folder')
    expect((await inProcess(EXPLAIN, root)).code).toBe(2)
    for (const name of ['.kleym.yml', '.Kleym.yaml']) {
      const { code, stderr } = await inProcess(EXPLAIN, await workspace({ ...FILES, [name]: SETTINGS }))
      expect(stderr).toContain(name)
      expect(stderr).toContain('rename it to .kleym.yaml')
      expect(code).toBe(2)
    }
  })

  test('what is no file, and a link out of the repository, are not read', async () => {
    const root = await workspace(FILES)
    printedBy('mkfifo', [join(root, '.kleym.yaml')])
    const pipe = await inProcess(EXPLAIN, root)
    expect(pipe.stderr).toContain('it is no file')
    expect(pipe.code).toBe(2)
    await writeFile(join(root, 'settings.yaml'), 'scmConfig: .kleym.yaml\n')
    for (const args of [['settings.yaml'], ['.kleym.yaml'], ['settings.yaml', '--scm-config=.kleym.yaml']]) {
      const { code, stderr } = await inProcess([...EXPLAIN, '--config', ...args], root)
      expect(stderr).toContain('a pipe or a device')
      expect(code).toBe(2)
    }
    expect(
      await inProcess(['conflicts', '--no-config', '--offline', '-f', '.kleym.yaml'], root),
    ).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('a pipe or a device'),
    })
    const other = await workspace(FILES)
    await symlink('/etc/hostname', join(other, '.kleym.yaml'))
    const link = await inProcess(EXPLAIN, other)
    expect(link.stderr).toContain('leads out of the repository')
    expect(link.code).toBe(2)
    const within = await workspace({ ...FILES, 'platform/settings.yaml': 'trustDomain: acme.example\n' })
    await symlink('platform/settings.yaml', join(within, '.kleym.yaml'))
    expect(settingsOf(await inProcess(EXPLAIN, within))).toMatchObject({ trustDomain: 'acme.example' })
  })

  test.each([
    [{ KLEYM_TRUST_DOMAIN: 'A B' }, 'KLEYM_TRUST_DOMAIN=A B'],
    [{ KLEYM_OUTPUT_LABELS: 'a' }, 'KLEYM_OUTPUT_LABELS=a'],
    [{ KLEYM_VARIANT_LABEL_KEY: '/' }, 'KLEYM_VARIANT_LABEL_KEY=/'],
    [{ KLEYM_SCM_CONFIG: 'nowhere.yaml' }, 'KLEYM_SCM_CONFIG=nowhere.yaml'],
  ])('a wrong variable: %j', async (env, where) => {
    const { code, stderr } = await inProcess(EXPLAIN, await workspace(FILES), env)
    expect(stderr).toContain(where)
    expect(code).toBe(2)
  })
})

describe('the first lines say what a person may not expect of the settings', () => {
  const TEXT = ['conflicts', '-A', '--offline', '-f', 'files']
  const scmInFiles = { 'files/scm.yaml': SCM }
  test.each<[name: string, files: Readonly<Record<string, string>>, args: readonly string[], said: string]>([
    [
      'a context, without a settings file',
      {},
      ['--context', 'nope'],
      '--context nope chooses nothing: no settings file is read',
    ],
    [
      'a context, and a settings file without contexts',
      { '.kleym.yaml': SETTINGS },
      ['--context', 'nope'],
      '--context nope chooses nothing: .kleym.yaml has no contexts',
    ],
    [
      'no context, and a settings file with some',
      { '.kleym.yaml': `${SETTINGS}contexts: {prod: {}, staging: {}}\n` },
      [],
      'no section of .kleym.yaml counts, since --context chooses none: it has prod; staging',
    ],
    [
      "SCM's configuration among the files, and a settings file without one",
      { '.kleym.yaml': 'className: spire\n', ...scmInFiles },
      [],
      "SCM's configuration is that of the files (ControllerManagerConfig (files/scm.yaml:1)), since .kleym.yaml gives none",
    ],
  ])('%s', async (_name, files, args, said) => {
    const root = await workspace({ ...FILES, ...files })
    const { stdout } = await inProcess([...TEXT, ...args], root)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`· ${said}`)
    expect((await inProcess([...TEXT, ...args, '--summary'], root)).stdout).toContain(said.slice(0, 30))
    expect((await inProcess([...TEXT, ...args, '-o', 'json'], root)).stderr).toContain(said)
  })

  test('a variable that is nearly one of those that are read', async () => {
    const ran = await inProcess(TEXT, await workspace(FILES), {
      KLEYM_TRUSTDOMAIN: 'a',
      KLEYM_CLASS_NAME: 'b',
      KLEYM_VERSION: '1',
    })
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toContain(
      '· the variable KLEYM_TRUSTDOMAIN is not read: did you mean KLEYM_TRUST_DOMAIN?',
    )
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toContain('did you mean KLEYM_CLUSTERSPIFFEID_CLASS_NAME?')
    expect(ran.stdout).not.toContain('KLEYM_VERSION')
  })

  test('and nothing where a context has its section, or the settings file gives all', async () => {
    const file = `${SETTINGS}contexts: {prod: {}}\n`
    const root = await workspace({ ...FILES, ...scmInFiles, '.kleym.yaml': file })
    expect((await inProcess([...TEXT, '--context', 'prod'], root)).stdout).not.toContain('· ')
  })
})

test('settings --write keeps that the operator sets no output labels, and without it they are open if SCM asks for some', async () => {
  const platform = `${operatorDeployment('acme.example', 'spire')}---
apiVersion: v1
kind: ConfigMap
metadata: {name: spire-controller-manager, namespace: spire-server}
data:
  controller-manager-config.yaml: |
    apiVersion: spire.spiffe.io/v1alpha1
    kind: ControllerManagerConfig
    trustDomain: acme.example
    className: spire
    clusterName: acme
    clusterSPIFFEIDLabelSelector: {team: platform}
`
  const root = await workspace({ ...FILES, 'platform/all.yaml': platform })
  const about = async (command: string, from: string): Promise<Ran> =>
    inProcess([...command.split(' '), '--offline', '-f', from], root)
  await about('settings --write', 'platform')
  const text = await readFile(join(root, '.kleym.yaml'), 'utf8')
  expect((await about('conflicts -A', 'files')).code).toBe(1)
  await writeFile(join(root, '.kleym.yaml'), text.replace('outputLabels: {}\n', ''))
  expect((await about('conflicts -A', 'files')).code).toBe(4)
  expect((await about('settings', 'files')).stdout).toContain('1 setting not given: output labels')
})

test('settings --write writes nothing that cannot be read', async () => {
  const root = await workspace({ 'operator.yaml': operatorDeployment('acme.example', 'spire') })
  const args = ['settings', '--write', '--offline', '-f', '.', '--context']
  const { code, stderr } = await inProcess([...args, '__proto__'], root)
  expect(stderr).toContain('no key may be __proto__')
  expect(code).toBe(2)
  for (const context of ['null', '0x10']) {
    expect((await inProcess([...args, context], root)).code).toBe(0)
    const asked = await inProcess(
      ['settings', '--offline', '--context', context, '-f', '.', '-o', 'json'],
      root,
    )
    expect(asked.code).toBe(0)
  }
})

describe('diff --base', () => {
  function repository(edits: Readonly<Record<string, string>>): Promise<string> {
    const base = Object.fromEntries(
      Object.entries({ ...FILES, '.kleym.yaml': SETTINGS }).map(([name, text]) => [`base/${name}`, text]),
    )
    return workspace({ ...base, ...FILES, '.kleym.yaml': SETTINGS, 'files/thief.yaml': THEFT, ...edits })
  }
  const DIFF = ['diff', '--base', 'base/files', '--offline', '-f', 'files']

  test.each([
    ['leaves the settings alone', {}],
    ['edits the class', { '.kleym.yaml': SETTINGS.replace('className: spire', 'className: none') }],
    [
      'edits the file that the settings name',
      { 'scm.yaml': SCM.replace('className: spire', 'className: none') },
    ],
    ['removes the settings', { '.kleym.yaml': '{}\n' }],
  ])('a change that steals an identity and %s is caught', async (_name, edits) => {
    const { code, stdout } = await inProcess(DIFF, await repository(edits))
    expect(stdout).toContain('KLM308')
    expect(code).toBe(1)
    expect(stdout.includes('KLM520')).toBe(Object.keys(edits).length > 0)
  })

  test('of a folder without a settings file of its own says that the one of the change counts', async () => {
    const files = { ...FILES, 'before/chat.yaml': CHAT_BINDING, 'before/objects.yaml': CHAT_OBJECTS }
    const root = await workspace({ ...files, '.kleym.yaml': SETTINGS })
    const args = ['diff', '--base', 'before', '--offline', '-f', 'files']
    const said = '--base before has no settings file of its own: that of the change counts for both sides'
    const { code, stdout } = await inProcess(args, root)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`· ${said}`)
    expect(code).toBe(0)
    const named = await inProcess([...args, '--config', '.kleym.yaml'], root)
    expect(named.stdout).not.toContain('of its own')
    expect((await inProcess(DIFF, await repository({}))).stdout).not.toContain('of its own')
  })

  test('of several folders with settings files that differ says which counts', async () => {
    const second = { 'second/.git/HEAD': '', 'second/ns.yaml': '', 'second/.kleym.yaml': 'className: none\n' }
    const args = [...DIFF, '--base', 'second']
    const { code, stdout } = await inProcess(args, await repository({ ...second, 'files/thief.yaml': '' }))
    expect(stdout).toContain('KLM520')
    expect(stdout).toContain('not used: second/.kleym.yaml')
    expect(code).toBe(4)
    const same = await repository({ ...second, 'second/.kleym.yaml': SETTINGS, 'second/scm.yaml': SCM })
    expect((await inProcess(args, same)).stdout).not.toContain('KLM520')
  })

  test.each(['--base', '-f'])('does not take an empty path for the working folder: %s', async (flag) => {
    const args = [...DIFF.slice(0, 1), ...DIFF.slice(3), '--base', 'files', flag, '']
    const { code, stderr } = await inProcess(args, await repository({}))
    expect(stderr).toContain('a path is empty')
    expect(code).toBe(2)
  })

  test('reads a file once that thousands of sections name', async () => {
    const scm = `${'# x\n'.repeat(250_000)}${SCM}`
    const section = `{scmConfig: [${Array.from({ length: 16 }, () => 'scm.yaml').join(',')}]}`
    const sections = Array.from({ length: 1500 }, (_, at) => ` c${at}: ${section}\n`).join('')
    const edits = { '.kleym.yaml': `contexts:\n${sections}`, 'scm.yaml': scm, 'files/thief.yaml': '' }
    const { code, stdout } = await inProcess(DIFF, await repository(edits))
    expect(stdout).toContain('! the change edits the settings file; this answer uses')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('; the settings files differ (KLM520)')
    expect(code).toBe(4)
  }, 30_000)

  test('map --compare says in its first lines that the settings differ, too', async () => {
    const root = await repository({ '.kleym.yaml': 'className: none\n', 'files/thief.yaml': '' })
    const { code, stdout } = await inProcess(['map', '--compare', ...DIFF.slice(2)], root)
    expect(stdout.split('\n').slice(0, 3).join(' ')).toContain('settings disagree (KLM520)')
    expect(code).toBe(4)
    const args = ['map', '--compare', 'files', '--offline', '-f', 'files']
    expect((await inProcess(args, root)).stdout).toContain('--compare files has no settings file of its own')
  })

  test('works with a worktree of the branch, as docs/settings.md has it', async () => {
    const { '.git/HEAD': _, ...files } = FILES
    const root = await workspace({ ...files, '.kleym.yaml': SETTINGS })
    const git = (...args: readonly string[]): void => {
      const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
      printedBy('git', [...identity, ...args], { cwd: root })
    }
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-q', '-m', 'before')
    git('checkout', '-q', '-b', 'change')
    await writeFile(join(root, 'files', 'thief.yaml'), THEFT)
    await writeFile(join(root, '.kleym.yaml'), 'trustDomain: acme.example\nclassName: none\n')
    git('worktree', 'add', '-q', 'base', 'main')
    const { code, stdout } = await inProcess(DIFF, root)
    expect(stdout).toContain('KLM308')
    expect(stdout).toContain('KLM520')
    expect(code).toBe(1)
  })
})
