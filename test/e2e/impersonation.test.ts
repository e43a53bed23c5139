// A foreign ClusterSPIFFEID that gives the identity of a binding to pods of another tenant: the worst that can happen to an
// identity, so an answer about that binding must say so.
import { beforeAll, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built, kleym } from './plugin.ts'
import { documents, POD, SMALL } from './workspace.ts'

const STOLEN = 'spiffe://example.org/ns/team-a/objective/chat'
const WORLD = `
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: thief, uid: 6f1d2c3b-0000-4000-8000-000000000001, creationTimestamp: 2026-01-01T00:00:00Z }
spec:
  className: spire-mgmt-spire
  spiffeIDTemplate: ${STOLEN}
  namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: team-b } }
  podSelector: { matchLabels: { app: llama } }
`

beforeAll(built)

test('explain of the binding names the thief and the pods that it serves', async () => {
  const args = ['explain', 'team-a/chat', '--offline', '-R', '-f', 'examples/estate', '-f', '-', '-o', 'json']
  const { stdout, code } = await kleym(args, { stdin: WORLD })
  expect(code).toBe(1)
  const report: unknown = JSON.parse(stdout)
  expect(report).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({
        code: 'KLM308',
        severity: 'error',
        subject: { kind: 'InferenceIdentityBinding', namespace: 'team-a', name: 'chat' },
        related: [{ kind: 'ClusterSPIFFEID', namespace: '', name: 'thief' }],
        evidence: expect.arrayContaining([expect.stringContaining('pod team-b/llama')]),
      }),
    ]),
  })
})

test('who-selects --spiffe-id finds the other tenant beside the rightful holders', async () => {
  const args = [
    'who-selects',
    '--spiffe-id',
    STOLEN,
    '--offline',
    '-R',
    '-f',
    'examples/estate',
    '-f',
    '-',
    '-o',
    'json',
  ]
  const { stdout } = await kleym(args, { stdin: WORLD })
  expect(stdout).toContain('"pod": "pod team-b/llama')
  expect(stdout).toContain('"pod": "pod team-a/llama')
})

/** The small world, with pods like its own in other namespaces, and a registration for all of them. */
function elsewhere(namespaces: readonly string[]): string {
  return documents(
    SMALL,
    ...namespaces.map((name) => POD.replace('namespace: team-a', `namespace: ${name}`)),
    'apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: thief}\n' +
      `spec: {spiffeIDTemplate: "${STOLEN}", podSelector: {matchLabels: {app: llama}}}\n`,
  )
}

test('a registration that gives the identity to many namespaces: some are named, the rest is counted', async () => {
  const few = await ask(elsewhere(['team-c', 'team-b']), 'conflicts')
  expect(few.stdout).toContain('gives the identity to 2 pods of namespaces team-b, team-c')
  const names = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => `team-${letter}`)
  const many = await ask(elsewhere(names), 'explain', 'team-a/chat')
  expect(many.stdout).toContain(
    'gives the identity to 7 pods of namespaces team-b, team-c, team-d, team-e, team-f and 2 more',
  )
  expect(many.code).toBe(1)
})
