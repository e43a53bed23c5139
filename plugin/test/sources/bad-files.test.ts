// What a person is shown of a file that cannot be read: the line, if it can hold no secret; and that a binary file is one.
import { expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const BINDING = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: chat, namespace: team-a }
spec:
  poolRef: { name: llama
  mode: PoolOnly
`

const errorsOf = async (files: Readonly<Record<string, string | Uint8Array>>): Promise<string> => {
  const cwd = await workspace(files)
  return (await inProcess(['explain', '-A', '--offline', '-f', '.'], cwd)).stderr
}

test('a line of a binding that cannot be read is shown, with a mark under the place', async () => {
  const stderr = await errorsOf({ 'a.yaml': `${BINDING.replace('chat', 'other')}---\n${BINDING}` })
  expect(stderr).toContain('  5 |   poolRef: { name: llama\n    |                         ^\n  why:')
  expect(stderr).toContain('  12 |   poolRef: { name: llama\n     |                         ^\n  why:')
})

test.each([
  [
    'a ConfigMap',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { manager.conf: s3cret\n  b: c\n',
  ],
  ['a pod', 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { env: s3cret\n  b: c\n'],
  ['what may be anything', `${BINDING.replace('kind: ', 'kinds: ')}  token: s3cret\n  x: { y\n`],
])('no line of %s is', async (_, text) => {
  const stderr = await errorsOf({ 'a.yaml': text })
  expect(stderr).toContain('a { or [ is not closed')
  expect(stderr).not.toMatch(/s3cret|llama/)
})

test('a binary file is called so, and may hold anything', async () => {
  const gzip = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c, 0x24, 0x28, 0x49, 0x29)
  const stderr = await errorsOf({ 'a.yaml': gzip })
  expect(stderr).toContain('why:  the file is binary\n')
})
