// `who-selects --spiffe-id`: the look-up in reverse. Nobody holds an ID only where nobody may; what gives it to nobody, and
// what is nearly it, is said. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { built, ESTATE, kleym, type Run } from './plugin.ts'
import { documents, SCM_CONFIG, SETTINGS, SMALL, workspace } from './workspace.ts'

beforeAll(built)

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

/** A ClusterSPIFFEID with a selector of which kleym does not follow the template. */
function unfollowed(template: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: by-owner, uid: uid-of-by-owner, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  spiffeIDTemplate: '${template}'
  workloadSelectorTemplates: ['k8s:pod-owner:{{ .PodMeta.OwnerReferences }}']
`
}

const OWNED = SMALL.replace(
  '  labels: {app: llama}\n',
  '  labels: {app: llama}\n  ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: "1", controller: true}]\n',
)

/** Asks who holds an ID in one file of manifests. */
function ask(id: string, manifests: string, ...flags: readonly string[]): Promise<Run> {
  const cwd = workspace({ 'all.yaml': manifests, 'scm.yaml': SCM_CONFIG })
  return kleym(['who-selects', '--spiffe-id', id, '--offline', '-f', 'all.yaml', ...SETTINGS, ...flags], {
    cwd,
  })
}

describe('on the estate, where one pod has a selector that is not followed', () => {
  test('the containers that hold an ID are listed, and no other: the answer is complete', async () => {
    const { code, stdout } = await kleym(['who-selects', '--spiffe-id', CHAT, ...ESTATE])
    expect(stdout).toMatch(/^✓ .*: 3 containers hold it\n/)
    expect(stdout).not.toContain('lab/owned')
    expect(code).toBe(0)
  })

  test('an ID that nobody holds is held by nobody: the answer is complete', async () => {
    const { code, stdout } = await kleym(['who-selects', '--spiffe-id', `${CHAT}-x-y-z`, ...ESTATE])
    expect(stdout).toMatch(/^· .*: no container holds it/)
    expect(stdout).toContain('nothing gives it')
    expect(code).toBe(0)
  })

  test('the ID that the pod is given is not certain: 4', async () => {
    const id = 'spiffe://example.org/lab/owned/owned-0'
    const { code, stdout } = await kleym(['who-selects', '--spiffe-id', id, ...ESTATE])
    expect(stdout).toContain('pod lab/owned-0')
    expect(stdout).toContain('unknown: .spec.workloadSelectorTemplates[0]')
    expect(code).toBe(4)
  })
})

describe('a registration of which a selector is not followed', () => {
  test('that renders another ID for this pod is none of the answer, though its template could', async () => {
    const by = unfollowed('spiffe://example.org/ns/{{ .PodMeta.Namespace }}')
    const { code, stdout } = await ask('spiffe://example.org/ns/team-b', documents(OWNED, by))
    expect(stdout).toMatch(/^· .*: no container holds it/)
    expect(code).toBe(0)
  })

  test('that renders this ID may give it', async () => {
    const by = unfollowed('spiffe://example.org/ns/{{ .PodMeta.Namespace }}')
    const { code, stdout } = await ask('spiffe://example.org/ns/team-a', documents(OWNED, by))
    expect(stdout).toContain('! by ClusterSPIFFEID/by-owner')
    expect(code).toBe(4)
  })

  test('of which the ID is not followed either may give any that its text allows, and no other', async () => {
    const by = unfollowed('spiffe://example.org/owner/{{ .PodMeta.OwnerReferences }}')
    expect((await ask('spiffe://example.org/owner/x', documents(OWNED, by))).code).toBe(4)
    const other = await ask('spiffe://example.org/other/x', documents(OWNED, by))
    expect(other.stdout).toMatch(/^· .*: no container holds it/)
    expect(other.code).toBe(0)
  })
})

describe('an ID that nobody holds', () => {
  test('and a binding declares, which reaches no container: the binding is named', async () => {
    const { code, stdout } = await ask(
      CHAT,
      SMALL.replace('containers: [{name: vllm}]', 'containers: [{name: vlm}]'),
    )
    expect(stdout).toMatch(/^· .*: no container holds it/)
    expect(stdout).toMatch(
      /binding team-a\/chat of pool llama gives it, and no container holds it now:\s+k8s:container-name:vllm does not match/,
    )
    expect(code).toBe(0)
  })

  test('and a refused binding asks for: that is said', async () => {
    const { stdout } = await ask(CHAT, SMALL.replace('poolRef: {name: llama,', 'poolRef: {name: lama,'))
    expect(stdout).toMatch(/binding team-a\/chat asks for it and is\s+refused\s+\(TargetPoolNotFound\)/)
  })

  test('and differs from one that is held by two letters: did you mean', async () => {
    const { stdout } = await ask(CHAT.replace('chat', 'caht'), SMALL)
    expect(stdout).toContain(`did you mean ${CHAT}?`)
    const json = await ask(CHAT.replace('chat', 'caht'), SMALL, '-o', 'json')
    expect(JSON.parse(json.stdout)).toMatchObject({ lookup: { state: 'dangling', near: [CHAT] } })
  })

  test('and is of another trust domain: that is said, with the same path in ours', async () => {
    const { code, stdout } = await ask(CHAT.replace('example.org', 'other.org'), SMALL)
    expect(stdout).toContain('other.org is another trust domain')
    expect(stdout).toMatch(/objective\/chat has the same path, in another\s+trust\s+domain/)
    expect(code).toBe(0)
  })

  test('in scope, and somebody holds out of it: both are said', async () => {
    const elsewhere = SMALL.replaceAll('team-a', 'team-b').replaceAll('3d0f', '4d0f')
    const { stdout } = await ask(
      CHAT,
      documents(SMALL, elsewhere.split('---\n').slice(0, 4).join('---\n')),
      '-n',
      'team-b',
    )
    expect(stdout).toMatch(/^· .*: no container in scope\s+holds\s+it/)
    expect(stdout).toMatch(/out of scope, 1 container will hold it, .*by binding team-a\/chat/s)
  })
})

test('without the trust domain the path decides, and the rest is open', async () => {
  const cwd = workspace({ 'all.yaml': SMALL })
  const holds = (id: string): Promise<Run> =>
    kleym(['who-selects', '--spiffe-id', id, '--offline', '-f', 'all.yaml'], { cwd })
  const same = await holds(CHAT)
  expect(same.stdout).toContain('spiffe://<trust-domain>/ns/team-a/objective/chat')
  expect(same.code).toBe(4)
  const other = await holds('spiffe://example.org/ns/team-a/objective/else')
  expect(other.stdout).not.toContain('<trust-domain>/ns/team-a/objective/chat')
})

describe('what is no SPIFFE ID is a wrong command line: exit code 2', () => {
  test.each([
    ['/ns/team-a/objective/chat', `did you mean ${CHAT}?`],
    ['ns/team-a/objective/chat', `did you mean ${CHAT}?`],
    ['spiffe://example.org', 'it has no path'],
    ['spiffe://Example.org/ns/a', 'a trust domain holds a-z'],
    ['https://example.org/ns/a', 'write it whole'],
    ['', 'it is empty'],
  ])('%s', async (id, says) => {
    const { code, stdout, stderr } = await ask(id, SMALL)
    expect(stderr).toContain(says)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
