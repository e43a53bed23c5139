// What an object that is not among the files decides: a Namespace whose labels a selector asks for, the node of a pod that
// does not run yet, the age of two registrations that want one entry. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built, kleym } from './plugin.ts'
import {
  BINDING,
  documents,
  NODE,
  OBJECTIVE,
  POOL,
  SCM_CONFIG,
  SETTINGS,
  SMALL,
  workspace,
  registration,
} from './workspace.ts'
import { leftWithNone } from './loss-words.ts'

beforeAll(built)

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

function deployment(namespace: string, app: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${app}, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: ${app}}}
  template:
    metadata: {labels: {app: ${app}}}
    spec:
      serviceAccountName: runner
      containers: [{name: vllm, volumeMounts: [{name: spiffe, mountPath: /spiffe}]}]
      volumes: [{name: spiffe, csi: {driver: csi.spiffe.io, readOnly: true}}]
`
}

/** A binding that is ready, its pods, and a workload of another namespace. No Namespace and no Node. */
const WORLD = documents(
  POOL,
  OBJECTIVE,
  BINDING,
  deployment('team-a', 'llama'),
  deployment('team-b', 'other'),
)
const OF_OTHER = 'podSelector: {matchLabels: {app: other}}'
const OF_PROD = 'namespaceSelector: {matchLabels: {env: prod}}'

function namespaceOf(name: string, labels: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {${labels}}}\n`
}

const STATIC = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: by-hand}
spec: {spiffeID: '${CHAT}', parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/node-uid', selectors: ['k8s:ns:team-b']}
`

async function between(
  base: string,
  head: string,
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  const cwd = workspace({ 'base/all.yaml': base, 'head/all.yaml': head, 'scm.yaml': SCM_CONFIG })
  return kleym(['diff', '--offline', '--base', 'base', '-f', 'head', ...SETTINGS], { cwd })
}

describe('a registration that may give the identity to another namespace is no "nothing clashes"', () => {
  test.each([
    ['whose Namespace is not among the files', [registration('thief', CHAT, OF_OTHER, OF_PROD)]],
    [
      'whose pods may have a label that their template has not',
      [registration('thief', CHAT, 'podSelector: {matchLabels: {app: other, pod-template-hash: abc}}')],
    ],
    ['whose pods may come to the node of a static entry', [STATIC]],
    [
      'where another registration may displace the fallback that gives it',
      [
        registration('thief', CHAT, OF_OTHER, 'fallback: true'),
        registration('other', 'spiffe://example.org/other', OF_PROD),
      ],
    ],
    [
      'whose node may have the name that makes the ID',
      [registration('thief', 'spiffe://example.org/ns/team-a/objective/{{ .NodeMeta.Name }}', OF_OTHER)],
    ],
  ] as const)('%s', async (_where, others) => {
    const world = documents(WORLD, ...others)
    const answers = await Promise.all(
      [['conflicts'], ['explain', '-A'], ['who-selects', '-A']].map((command) => ask(world, ...command)),
    )
    expect(answers.map(({ code }) => code)).toEqual([4, 4, 4])
    for (const { stdout, stderr } of answers) {
      expect(stdout).not.toContain('nothing clashes')
      expect(stdout.replaceAll(/\s+/g, ' ') + stderr).toMatch(/(?:whether|what) Cluster/)
    }
    const { stdout } = await ask(world, 'conflicts')
    expect(stdout).toContain('identity given to another namespace KLM308')
    expect(stdout).toContain('depends: ')
  })

  test('and a label of a node that is not among the files is not known to be absent', async () => {
    const id =
      'spiffe://example.org/ns/team-a/objective/{{ with index .NodeMeta.Labels "x" }}{{ . }}{{ else }}u{{ end }}'
    const { code, stdout } = await ask(documents(WORLD, registration('by-node', id, OF_OTHER)), 'conflicts')
    expect(stdout).toContain('the node labels, which is not known yet')
    expect(code).toBe(4)
  })

  test('but for the Namespace that shows it: then it is an error, or nothing', async () => {
    const thief = registration('thief', CHAT, OF_OTHER, OF_PROD)
    const bad = await ask(documents(WORLD, thief, namespaceOf('team-b', 'env: prod')), 'conflicts')
    expect(bad.stdout).toContain('KLM308')
    expect(bad.code).toBe(1)
    const good = await ask(documents(WORLD, thief, namespaceOf('team-b', 'env: dev')), 'conflicts')
    expect(good.stdout).toContain('✓ nothing clashes')
    expect(good.code).toBe(0)
  })

  test('nor at another threshold: --fail-on never ends with 0, a suppressed finding too', async () => {
    const world = documents(WORLD, registration('thief', CHAT, OF_OTHER, OF_PROD))
    expect((await ask(world, 'conflicts', '--fail-on', 'never')).code).toBe(0)
    const suppressed = await ask(
      world,
      'conflicts',
      '--suppress',
      'KLM308=InferenceIdentityBinding/team-a/chat',
    )
    expect(suppressed.code).toBe(0)
  })
})

test('two registrations that want one entry give the identity away, whichever of them gets it', async () => {
  const thieves = ['one', 'two'].map((name) => registration(name, CHAT, OF_OTHER))
  const { code, stdout } = await ask(documents(WORLD, ...thieves), 'conflicts')
  expect(stdout).toContain('2 errors')
  expect(stdout).toContain('ClusterSPIFFEID/one gives the identity to 1 pod template of namespace team-b')
  expect(code).toBe(1)
})

describe('a second identity that a container may hold', () => {
  const SECOND = registration('second', 'spiffe://example.org/second', OF_PROD)

  test('is reported with what it depends on, and is no error', async () => {
    const { code, stdout } = await ask(documents(WORLD, SECOND), 'conflicts')
    expect(stdout).toContain('several identities on one container KLM303')
    expect(stdout).toContain("asks for more than is known of the namespace's labels")
    expect(code).toBe(0)
  })

  test('is not known where warnings count: 4', async () => {
    const { code } = await ask(documents(WORLD, SECOND), 'conflicts', '--fail-on', 'warning')
    expect(code).toBe(4)
  })

  test('is nothing where the agent of a virtual machine holds it for its own processes', async () => {
    const entry = STATIC.replace('k8s_psat/prod/node-uid', 'x509pop/vm').replace(
      CHAT,
      'spiffe://example.org/vm',
    )
    const { code, stdout } = await ask(
      documents(WORLD, entry.replace('k8s:ns:team-b', 'unix:uid:1000'), NODE),
      'conflicts',
    )
    expect(stdout).toContain('✓ nothing clashes')
    expect(code).toBe(0)
  })
})

describe('a default identity that a container may have lost', () => {
  const fallback = registration('default', 'spiffe://example.org/default', 'fallback: true', OF_PROD)
  const world = documents(SMALL.replace('[{name: vllm}]', '[{name: vllm}, {name: proxy}]'), fallback)

  test('depends on whether the fallback would apply, whose Namespace is not among the files', async () => {
    const { stdout } = await ask(world, 'conflicts')
    expect(stdout).toMatch(leftWithNone('proxy of 1 pod'))
    expect(stdout).toContain(
      'depends: .spec.namespaceSelector of ClusterSPIFFEID/default asks for more than is known',
    )
    expect((await ask(world, 'conflicts', '--fail-on', 'warning')).code).toBe(4)
  })

  test('is certain, or none, where the Namespace is there', async () => {
    const lost = await ask(
      documents(world, namespaceOf('team-a', 'env: prod')),
      'conflicts',
      '--fail-on',
      'warning',
    )
    expect(lost.stdout).toMatch(leftWithNone('proxy of 1 pod'))
    expect(lost.stdout).not.toContain('depends')
    expect(lost.code).toBe(1)
    const kept = await ask(
      documents(world, namespaceOf('team-a', 'env: dev')),
      'conflicts',
      '--fail-on',
      'warning',
    )
    expect(kept.stdout).not.toContain('left without')
    expect(kept.code).toBe(0)
  })
})

describe('diff --base over a registration whose Namespace is not among the files', () => {
  const PROD = documents(WORLD, registration('thief', CHAT, OF_OTHER, OF_PROD))

  test('that asks for another label than before is not known to change nothing', async () => {
    const { code, stdout } = await between(PROD, PROD.replace('env: prod', 'env: dev'))
    expect(stdout).not.toContain('no container gains or loses')
    expect(stdout).toMatch(/depends on what is not known|no container is known to gain/)
    expect(code).toBe(4)
  })

  test('that is as before changes nothing', async () => {
    const { code, stdout } = await between(PROD, PROD)
    expect(stdout).toContain('no container gains or loses')
    expect(code).toBe(0)
  })

  test('is perhaps new where the change makes it certain: the Namespace may have had the label before', async () => {
    const { code, stdout } = await between(PROD, documents(PROD, namespaceOf('team-b', 'env: prod')))
    expect(stdout).toContain('depends: it may have been so before this change')
    expect(stdout).not.toContain('no container gains or loses')
    expect(code).toBe(4)
  })
})

test('a policy is not resolved without reserve where nothing tells what SCM is set to', async () => {
  const policy = `apiVersion: agentic.networking.x-k8s.io/v1alpha1
kind: XAccessPolicy
metadata: {name: tools, namespace: team-a}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  action: Allow
  rules: [{name: chat, source: {type: SPIFFE, spiffe: "${CHAT}"}}]
`
  const cwd = workspace({ 'all.yaml': documents(WORLD, policy), 'scm.yaml': SCM_CONFIG })
  const asked = ['policies', '-A', '--offline', '-f', 'all.yaml']
  const open = await kleym([...asked, '--trust-domain', 'example.org'], { cwd })
  expect(open.stdout).toContain('resolved (default settings assumed): ')
  expect(open.stdout).not.toContain('✓')
  expect(open.code).toBe(4)
  const told = await kleym([...asked, ...SETTINGS], { cwd })
  expect(told.stdout).toContain(`✓ ${CHAT}`)
  expect(told.code).toBe(0)
})

describe('a theft whose pod is made otherwise is not fixed', () => {
  const thief = registration('thief', CHAT, OF_OTHER)
  const base = documents(POOL, OBJECTIVE, BINDING, deployment('team-a', 'llama'), NODE, thief)
  const rollout = deployment('team-b', 'other')
    .replace('apps/v1', 'argoproj.io/v1alpha1')
    .replace('Deployment', 'Rollout')
  const workspaceOfKaito =
    'apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata: {name: other, namespace: team-b}\n'

  test.each([
    ['by a kind with a template that is not read', rollout],
    ['by a kind without a template', workspaceOfKaito],
  ])('%s', async (_, maker) => {
    const { code, stdout } = await between(
      documents(base, deployment('team-b', 'other')),
      documents(base, maker),
    )
    expect(code).toBe(4)
    expect(stdout).toMatch(/not known: 1 error/)
    expect(stdout).toMatch(/! perhaps still so: ClusterSPIFFEID\/thief/)
    expect(stdout).not.toMatch(/✓ fixed/)
  })

  test('without them its only pods were deleted, and nobody is better off', async () => {
    const { stdout } = await between(documents(base, deployment('team-b', 'other')), base)
    expect(stdout).toMatch(/no longer applies: ClusterSPIFFEID\/thief/)
    expect(stdout).not.toMatch(/✓ fixed/)
  })
})

test('a theft that ends because SCM handles nothing of kleym any more is not fixed', async () => {
  const thief = registration('thief', CHAT, OF_OTHER)
  const all = documents(
    POOL,
    OBJECTIVE,
    BINDING,
    deployment('team-a', 'llama'),
    deployment('team-b', 'other'),
    NODE,
    thief,
  )
  const deaf = SCM_CONFIG.replace('watchClassless: true', 'watchClassless: false\nclassName: other')
  const cwd = workspace({
    'base/all.yaml': all,
    'base/scm.yaml': SCM_CONFIG,
    'head/all.yaml': all,
    'head/scm.yaml': deaf,
  })
  const args = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const { code, stdout } = await kleym(['diff', '--offline', '--base', 'base', '-f', 'head', ...args], {
    cwd,
  })
  expect(code).toBe(1)
  expect(stdout).toMatch(/new: 1 error/)
  expect(stdout).not.toMatch(/✓ fixed/)
})
