// The six commands that people begin with, on one small repository: with no setting at all, with a settings file, and with flags. How long
// each answer is and how it ends is a table of docs/settings.md.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM as SCM } from '../support/chat-world.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const APP = `${CHAT_BINDING}---\n${CHAT_OBJECTS}`

/** A registration that a person wrote for a pod of its own. */
const LEGACY = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: legacy}
spec: {className: spire, spiffeIDTemplate: 'spiffe://acme.example/legacy', podSelector: {matchLabels: {app: llama}}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: demo}}}
`

const COMMANDS: readonly (readonly [written: string, args: readonly string[]])[] = [
  ['explain demo/chat', ['explain', 'demo/chat', '-f', 'app']],
  ['conflicts -A', ['conflicts', '-A', '-f', 'app']],
  ['who-selects -A', ['who-selects', '-A', '-f', 'app']],
  ['suggest -A', ['suggest', '-A', '-f', 'app']],
  ['diff --base before', ['diff', '--base', 'before', '-f', 'app']],
  ['migrate -A', ['migrate', '-A', '-f', 'app', '-f', 'legacy.yaml']],
]

function linesIn(text: string): number {
  return text === '' ? 0 : text.trimEnd().split('\n').length
}

const FLAGS = ['--trust-domain=acme.example', '--clusterspiffeid-class-name=spire', '--scm-config=scm.yaml']

test('the table of docs/settings.md is what the six commands print: lines and exit codes', async () => {
  const root = await workspace({
    'app/app.yaml': APP,
    'before/app.yaml': APP.replace('containerName: vllm', 'containerName: other'),
    'legacy.yaml': LEGACY,
    'scm.yaml': SCM,
    '.git/HEAD': 'ref: refs/heads/main\n',
  })
  const settings = 'trustDomain: acme.example\nclassName: spire\nscmConfig: scm.yaml\n'
  const cell = async (args: readonly string[], ...flags: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await inProcess([...args, '--offline', ...flags], root)
    return `${linesIn(stdout) + linesIn(stderr)} lines, ${code}`
  }
  const without = new Map<string, string>()
  for (const [written, args] of COMMANDS) without.set(written, await cell(args))
  await writeFile(join(root, '.kleym.yaml'), settings)
  const rows: string[] = []
  for (const [written, args] of COMMANDS) {
    const withFile = await cell(args)
    const withFlags = await cell(args, '--no-config', ...FLAGS)
    // What a person is to type next repeats the flags, so it may take a line more.
    expect(withFile.split(', ')[1]).toBe(withFlags.split(', ')[1])
    rows.push(`| \`${written}\` | ${without.get(written) ?? ''} | ${withFile} | ${withFlags} |`)
  }
  const page = await readFile(join(PROJECT_ROOT, 'docs/settings.md'), 'utf8')
  expect(page).toContain(rows.join('\n'))
})
