// A trust domain that only SCM's configuration shows is the same in every command: kleym's is assumed to be SCM's.
import { describe, expect, test } from 'vitest'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM } from '../support/chat-world.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const OBJECTS = `${CHAT_OBJECTS}---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: hand, uid: c1}
spec: {className: spire, spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/hand', podSelector: {matchLabels: {app: llama}}}
`

const FILES = { 'files/chat.yaml': CHAT_BINDING, 'files/objects.yaml': OBJECTS, 'scm.yaml': CHAT_SCM }
const ID = 'spiffe://acme.example/ns/demo/objective/chat'

describe('a trust domain that only SCM shows', () => {
  test.each([
    ['explain demo/chat', [ID]],
    ['who-selects -A', [ID, 'spiffe://acme.example/hand']],
    ['conflicts -A', [ID]],
    ['diff --base base -A', [ID]],
    ['migrate clusterspiffeid/hand', ['spiffe://acme.example/hand']],
    ['suggest -A -f unbound', ['spiffe://acme.example/ns/demo/pool/llama']],
  ])('%s shows it, and nothing else in its place', async (command, ids) => {
    const root = await workspace({ ...FILES, 'base/objects.yaml': OBJECTS, 'unbound/objects.yaml': OBJECTS })
    const files = command.includes('-f ') ? [] : ['-f', 'files']
    const args = ['--offline', '-R', ...files, '--scm-config', 'scm.yaml', '-o', 'wide']
    const { code, stdout, stderr } = await inProcess([...command.split(' '), ...args], root)
    for (const id of ids) expect(stdout + stderr).toContain(id)
    expect(stdout).not.toContain('<trust-domain>')
    expect(code).not.toBe(2)
  })

  test('is an assumption still: kleym may be set to another one', async () => {
    const root = await workspace(FILES)
    const args = ['explain', 'demo/chat', '--offline', '-R', '-f', 'files', '--scm-config', 'scm.yaml']
    const { code, stdout } = await inProcess(args, root)
    expect(stdout).toContain("kleym's trust domain: it is assumed to be SCM's, acme.example")
    expect(code).toBe(4)
    const given = await inProcess([...args, '--trust-domain', 'other.example'], root)
    expect(given.stdout).toContain('KLM411')
    expect(given.code).toBe(1)
  })
})
