// What people type who know kubectl: it works, or the error names the right form.
import { describe, expect, test } from 'vitest'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

describe('a kind and a name are two words, or one', () => {
  test.each([
    [
      ['who-selects', 'deployment', 'llama'],
      ['who-selects', 'deployment/llama'],
    ],
    [
      ['explain', 'iib', 'chat'],
      ['explain', 'iib/chat'],
    ],
    [
      ['suggest', 'pool', 'llama'],
      ['suggest', 'pool/llama'],
    ],
    [
      ['suggest', 'inferencepool.inference.networking.k8s.io', 'llama'],
      ['suggest', 'pool/llama'],
    ],
    [
      ['suggest', 'deployment', 'llama'],
      ['suggest', 'deploy/llama'],
    ],
    [
      ['migrate', 'clusterspiffeid', 'mesh'],
      ['migrate', 'clusterspiffeid/mesh'],
    ],
  ])('%j', async (words, same) => {
    const ran = await inProcess([...words, '-n', 'team-a', '--summary', ...ESTATE_FLAGS], PROJECT_ROOT)
    expect(ran).toEqual(
      await inProcess([...same, '-n', 'team-a', '--summary', ...ESTATE_FLAGS], PROJECT_ROOT),
    )
    expect(ran.stdout).toMatch(/^[✓!✗·] /)
  })
})

describe('the error names the right form', () => {
  test.each<[words: readonly string[], code: number, fix: string | RegExp]>([
    [['explain', 'pool/llama'], 3, 'did you mean: kubectl kleym who-selects pool/team-a/llama -f'],
    [['explain', 'pool', 'llama'], 3, 'did you mean: kubectl kleym who-selects pool/team-a/NAME -f'],
    [['explain', 'pod/team-a/chat'], 2, 'did you mean: kubectl kleym who-selects pod/team-a/chat'],
    [['explain', 'clusterspiffeid/mesh'], 3, 'did you mean: kubectl kleym migrate clusterspiffeid/mesh -f'],
    [['explain', 'iib'], 3, 'write iib/team-a/NAME, or leave it out for all bindings in scope'],
    [['explain', 'iib/chatt'], 3, 'did you mean team-a/chat?'],
    [['conflicts', 'KLM301'], 3, /kubectl kleym conflicts -A .* --code KLM301$/m],
    [['explain', 'unsafeselector'], 3, 'its page: kubectl kleym explain UnsafeSelector'],
    [['who-selects', CHAT.slice('spiffe://'.length)], 2, `did you mean ${CHAT}?`],
    [['who-selects', '/ns/team-a/objective/chat'], 2, 'did you mean spiffe://<trust-domain>/ns/team-a'],
    [['suggest', 'pool'], 2, 'write pool/NAME, or -A for all pools'],
    [['get', 'iib'], 2, 'did you mean: kubectl kleym explain'],
    [['explain', '-o', 'jsonpath={.items}'], 2, 'use -o json, and take the fields that you need with jq'],
  ])('%j', async (words, code, fix) => {
    const ran = await inProcess([...words, '-n', 'team-a', ...ESTATE_FLAGS], PROJECT_ROOT)
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(/^error: /)
    expect(ran.stderr.split('  fix:  ')[1]).toMatch(fix)
  })

  test('of the formats that a command has', async () => {
    const { stderr } = await inProcess(['status', '-o', 'jsn'], PROJECT_ROOT)
    expect(stderr).toContain('it takes one of text, wide, json, yaml, name, sarif, junit, github, markdown\n')
    expect(stderr).toContain('did you mean json?')
  })
})

describe('where there is no binding yet', () => {
  const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: llama, namespace: team-a }
spec: { selector: { matchLabels: { app: llama } } }
`

  test('explain tells how to find the first one', async () => {
    const cwd = await workspace({ 'pool.yaml': POOL })
    const refused = await inProcess(['explain', '-A', '--offline', '-f', 'pool.yaml'], cwd)
    expect(refused.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'kubectl kleym suggest -A -f pool.yaml --offline;',
    )
    const allowed = ['explain', '-A', '--offline', '-f', 'pool.yaml', '--allow-empty']
    const { stdout } = await inProcess(allowed, cwd)
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      '· no bindings found',
      '  see which there could be: kubectl kleym suggest -A -f pool.yaml --offline',
    ])
  })
})

test('the command that applies what is suggested asks in the same namespace', async () => {
  const { stdout } = await inProcess(
    ['suggest', 'pool/llama', '-n', 'team-b', ...ESTATE_FLAGS],
    PROJECT_ROOT,
    {
      COLUMNS: '160',
    },
  )
  expect(stdout).toContain('apply them: kubectl kleym suggest inferencepool/llama -n team-b -f')
})
