// A change that gives away an identity, and hides it by settings of its own: each is caught, whichever way the settings come
// (docs/settings.md, "A pull request cannot wave itself through").
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  CHAT_BINDING,
  CHAT_OBJECTS,
  CHAT_SCM,
  CHAT_THEFT,
  operatorDeployment,
} from '../support/chat-world.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

type Files = Readonly<Record<string, string>>

const SETTINGS = 'trustDomain: acme.example\nclassName: spire\nscmConfig: scm.yaml\n'
const APP: Files = { 'files/chat.yaml': CHAT_BINDING, 'files/objects.yaml': CHAT_OBJECTS }
const THEFT: Files = { 'files/thief.yaml': CHAT_THEFT }
/** Settings from a file, as most repositories have them. */
const BY_FILE: Files = { '.kleym.yaml': SETTINGS, 'scm.yaml': CHAT_SCM }

function scmConfigMap(config: string, namespace: string): string {
  const text = config.replaceAll(/^/gm, '    ')
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-controller-manager, namespace: ${namespace}}
data:
  controller-manager-config.yaml: |
${text}`
}

/** Settings from the objects themselves. */
const BY_OBJECTS: Files = {
  'files/operator.yaml': operatorDeployment('acme.example', 'spire'),
  'files/scm.yaml': scmConfigMap(CHAT_SCM, 'spire-server'),
}

/** A repository before a change, with the change in it. */
function repository(before: Files, change: Files): Promise<string> {
  const base = Object.fromEntries(Object.entries(before).map(([name, text]) => [`base/${name}`, text]))
  return workspace({ ...base, ...before, ...change, '.git/HEAD': 'ref: refs/heads/change\n' })
}

const DIFF = ['diff', '--base', 'base/files', '--offline', '-R', '-f', 'files']
/** Nothing is said of where the repository ends: its own files are no part of the question. */
async function differ(root: string, folder = '.', args = DIFF): Promise<Ran> {
  return inProcess(args, join(root, folder))
}

const OTHER_SCM = CHAT_SCM.replace('className: spire', 'className: none')
const ELSEWHERE_SCM = CHAT_SCM.replace('acme.example', 'evil.example')
const ATTACKS: readonly (readonly [name: string, change: Files])[] = [
  ['a settings file below the folder', { 'files/.kleym.yaml': 'className: none\n' }],
  [
    'an operator of another class',
    { 'files/other.yaml': operatorDeployment('acme.example', 'none', { name: 'a' }) },
  ],
  [
    'an operator of another trust domain',
    { 'files/other.yaml': operatorDeployment('evil.example', 'spire', { name: 'a' }) },
  ],
  [
    'many operators',
    Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map((name) => [
        `files/${name}.yaml`,
        operatorDeployment(`${name}.example`, name, { name }),
      ]),
    ),
  ],
  [
    'an operator in a namespace that comes first',
    { 'files/other.yaml': operatorDeployment('evil.example', 'none', { name: 'kleym', namespace: 'a' }) },
  ],
  [
    'an SCM of another class in its usual place',
    { 'files/other.yaml': scmConfigMap(OTHER_SCM, 'spire-system') },
  ],
  ['an SCM of another class elsewhere', { 'files/other.yaml': scmConfigMap(OTHER_SCM, 'a') }],
  ['an SCM of another trust domain', { 'files/other.yaml': scmConfigMap(ELSEWHERE_SCM, 'spire-system') }],
  [
    'an SCM that ignores the thief',
    { 'files/other.yaml': scmConfigMap(`${CHAT_SCM}ignoreNamespaces: [other]\n`, 'spire-system') },
  ],
]

describe.each([
  ['the settings file', BY_FILE],
  ['the objects', BY_OBJECTS],
])('with settings from %s', (_where, settings) => {
  test('the theft alone is an error', async () => {
    const { code, stdout } = await differ(await repository({ ...APP, ...settings }, THEFT))
    expect(stdout).toContain('KLM308')
    expect(code).toBe(1)
  })

  test.each(ATTACKS)('diff: a theft beside %s', async (_name, change) => {
    const { code, stdout } = await differ(await repository({ ...APP, ...settings }, { ...THEFT, ...change }))
    expect(stdout).toContain('KLM308')
    expect(code).not.toBe(0)
  })

  test.each(ATTACKS)('conflicts: a theft beside %s', async (_name, change) => {
    const root = await repository({ ...APP, ...settings }, { ...THEFT, ...change })
    const { code, stdout } = await inProcess(['conflicts', '-A', '--offline', '-R', '-f', 'files'], root)
    expect(stdout).toContain('KLM308')
    expect(code).not.toBe(0)
  })
})

describe('a change that chooses the settings by which the next one is judged', () => {
  const NESTED = 'trustDomain: acme.example\nclassName: none\n'

  test('a settings file of its own for the folder that was given is reported', async () => {
    const root = await repository({ ...APP, ...BY_FILE }, { 'files/.kleym.yaml': NESTED })
    const { code, stdout } = await differ(root)
    expect(stdout).toContain('KLM520')
    expect(code).toBe(4)
  })

  test('the folder of --base through a link has the settings of what the link leads to', async () => {
    const change = { ...THEFT, '.kleym.yaml': NESTED }
    const root = await repository({ ...APP, ...BY_FILE, '.git/HEAD': 'ref: refs/heads/main\n' }, change)
    await symlink('base/files', join(root, 'link'))
    const { code, stdout } = await differ(root, '.', DIFF.with(2, 'link'))
    expect(stdout).toContain('KLM308')
    expect(stdout).toContain('KLM520')
    expect(code).toBe(1)
  })

  test('a change that is elsewhere is asked for its settings file too', async () => {
    const root = await repository({ ...APP, ...BY_FILE, '.git/HEAD': 'ref: refs/heads/main\n' }, THEFT)
    const change = await repository({}, { ...APP, ...THEFT, '.kleym.yaml': NESTED })
    const args = ['diff', '--base', 'files', '--offline', '-R', '-f', join(change, 'files')]
    const { code, stdout } = await differ(root, 'base', args)
    expect(stdout).toContain('KLM520')
    expect(code).toBe(1)
  })
})
