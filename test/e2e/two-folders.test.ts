// `diff` between two desired states, and over a dump: what a deletion looks like in each, and which findings a change has
// fixed rather than made pointless. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { built, kleym, type Run } from './plugin.ts'
import {
  BINDING,
  documents,
  NODE,
  OBJECTIVE,
  POD,
  POOL,
  SCM_CONFIG,
  SETTINGS,
  SMALL,
  workspace,
} from './workspace.ts'
import { leftWithNone } from './loss-words.ts'

beforeAll(built)

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'

/** The default identity of every pod. */
const FALLBACK = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: default}
spec:
  spiffeIDTemplate: 'spiffe://example.org/sa/{{ .PodSpec.ServiceAccountName }}'
  fallback: true
`
/** The same pod, with a container that no binding is about. */
/** With a way to the Workload API: what else the binding needs is not asked here. */
const TWO_CONTAINERS = POD.replace(
  '[{name: vllm}]',
  '[{name: vllm, volumeMounts: [{name: socket, mountPath: /spiffe}]}, {name: sidecar}]\n  volumes: [{name: socket, csi: {driver: csi.spiffe.io, readOnly: true}}]',
)

/** The operator, which tells its trust domain. */
function operator(domain: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: kleym-operator, namespace: kleym-system}
spec: {selector: {matchLabels: {app: kleym}}, template: {metadata: {labels: {app: kleym}}, spec: {containers: [{name: operator, image: kleym-operator:1, args: [--trust-domain=${domain}, --clusterspiffeid-class-name=]}]}}}
`
}

/** Compares two folders of one file each. */
function between(base: string, head: string, ...flags: readonly string[]): Promise<Run> {
  const cwd = workspace({ 'base/all.yaml': base, 'head/all.yaml': head, 'scm.yaml': SCM_CONFIG })
  return kleym(['diff', '--offline', '--base', 'base', '-f', 'head', ...SETTINGS, ...flags], { cwd })
}

describe('diff --base: two desired states', () => {
  test('identical folders are no difference: exit code 0', async () => {
    const { code, stdout } = await between(SMALL, SMALL)
    expect(stdout).toContain("✓ no ClusterSPIFFEID of kleym's changes")
    expect(stdout).toContain('no container gains or loses an identity')
    expect(code).toBe(0)
  })

  test('identical folders are no difference whatever SCM is set to: 0 where nothing tells that', async () => {
    const cwd = workspace({ 'base/all.yaml': SMALL, 'head/some.yaml': SMALL })
    const args = ['diff', '--offline', '--base', 'base', '-f', 'head', '--trust-domain', 'example.org']
    const { code, stdout } = await kleym(args, { cwd })
    expect(stdout).toContain("✓ no ClusterSPIFFEID of kleym's changes")
    expect(stdout).not.toContain('some settings are unknown; parts of this answer are assumptions')
    expect(code).toBe(0)
  })

  test('folders that differ depend on what was not given: 4', async () => {
    const cwd = workspace({ 'base/all.yaml': SMALL, 'head/all.yaml': documents(SMALL, FALLBACK) })
    const args = ['diff', '--offline', '--base', 'base', '-f', 'head', '--trust-domain', 'example.org']
    const { code, stdout } = await kleym(args, { cwd })
    expect(stdout).toContain('some settings are unknown; parts of this answer are assumptions')
    expect(code).toBe(4)
  })

  test('the estate against itself is no difference, whatever dumps stand in it: exit code 0', async () => {
    const folders = ['--base', 'examples/estate', '-R', '-f', 'examples/estate']
    const { code, stdout } = await kleym(['diff', '--offline', ...folders])
    expect(stdout).toContain('no container gains or loses an identity')
    expect(code).toBe(0)
  })

  test.each<[string, string]>([
    ['binding', documents(POOL, OBJECTIVE, POD, NODE)],
    ['pool', documents(OBJECTIVE, BINDING, POD, NODE)],
    ['objective', documents(POOL, BINDING, POD, NODE)],
  ])('a deleted %s deletes the output, and the container loses its identity', async (_, head) => {
    const { code, stdout } = await between(SMALL, head)
    expect(stdout).toContain('1 to delete')
    expect(stdout).toContain(`- 1 container loses ${CHAT}: vllm of\n    team-a/llama-0`)
    expect(code).toBe(1)
  })

  test('a renamed binding is a deletion and a creation, and nobody loses the ID', async () => {
    const { code, stdout } = await between(
      SMALL,
      SMALL.replace(
        '{name: chat, namespace: team-a}\nspec:\n  poolRef',
        '{name: talk, namespace: team-a}\nspec:\n  poolRef',
      ),
    )
    expect(stdout).toContain('1 to create, 1 to delete')
    expect(stdout).toContain('binding team-a/chat is gone')
    expect(stdout).toContain('binding team-a/talk is new')
    expect(stdout).not.toContain('container loses')
    expect(code).toBe(1)
  })

  test('a base alone is wrong usage', async () => {
    const cwd = workspace({ 'base/all.yaml': SMALL })
    const { code, stderr } = await kleym(['diff', '--offline', '--base', 'base'], { cwd })
    expect(stderr).toContain('fix:  name the files: kubectl kleym diff --offline -R -f DIR')
    expect(code).toBe(2)
  })

  test('the examples: one binding renamed, one deleted', async () => {
    const folder = 'examples/pull-request'
    const { code, stdout } = await kleym([
      'diff',
      '--offline',
      '--base',
      `${folder}/base`,
      '-f',
      `${folder}/head`,
    ])
    expect(stdout).toContain('1 to create, 2 to delete')
    expect(stdout).toContain('loses spiffe://example.org/ns/team-c/objective/tagging')
    expect(stdout).not.toContain('objective/search:')
    expect(code).toBe(1)
  })

  test('somebody else’s ClusterSPIFFEID that goes is a difference, though no object of kleym’s changes', async () => {
    const pods = documents(POD, NODE)
    const { code, stdout } = await between(documents(FALLBACK, pods), pods)
    expect(stdout).toContain("no ClusterSPIFFEID of kleym's changes")
    expect(stdout).toContain('- 1 container loses spiffe://example.org/sa/runner')
    expect(code).toBe(1)
    const report = await between(documents(FALLBACK, pods), pods, '-o', 'junit')
    expect(report.code).toBe(1)
    expect(report.stdout).toContain('no longer with spiffe://example.org/sa/runner')
  })

  test('a change of the trust domain in the operator’s Deployment is reported first, and changes every ID', async () => {
    const cwd = workspace({
      'base/all.yaml': documents(SMALL, operator('old.org')),
      'head/all.yaml': documents(SMALL, operator('new.org')),
    })
    const { code, stdout } = await kleym(['diff', '--offline', '--base', 'base', '-f', 'head'], { cwd })
    expect(stdout).toMatch(/! the two sides have different settings: trust domain old\.org → new\.org/)
    expect(stdout).toContain('+  spiffeIDTemplate: spiffe://new.org/ns/team-a/objective/chat')
    // SCM's settings are not given: what it makes of either side is not known.
    expect(code).toBe(4)
  })

  test('a status that a pull request brings counts on neither side', async () => {
    const forged = BINDING.replace(
      '{name: chat, namespace: team-a}',
      '{name: chat, namespace: team-a, uid: forged, creationTimestamp: "2026-01-01T00:00:00Z"}',
    )
    const status = 'status: {trustDomain: forged.org}\n'
    const head = documents(POOL, OBJECTIVE, `${forged}${status}`, POD, NODE)
    const { code, stdout, stderr } = await between(SMALL, head)
    expect(stdout + stderr).not.toContain('forged')
    expect(code).toBe(0)
  })

  test('what cannot be read of the base makes the answer incomplete: exit code 4', async () => {
    const { code, stdout, stderr } = await between(documents(SMALL, 'kind: [\n'), SMALL)
    expect(stdout).toMatch(/^! incomplete: not everything is known/m)
    expect(stderr).toContain('base/all.yaml')
    expect(code).toBe(4)
  })

  test('a trust domain that neither side tells needs no flag: what changes nothing changes nothing in any', async () => {
    const cwd = workspace({ 'base/all.yaml': SMALL, 'head/all.yaml': SMALL })
    const { code, stdout } = await kleym(['diff', '--offline', '--base', 'base', '-f', 'head'], { cwd })
    expect(stdout).toMatch(/^✓ no container gains or loses an identity/)
    expect(code).toBe(0)
  })

  test('a trust domain that one side alone tells is a difference of settings, and not known: exit code 4', async () => {
    const cwd = workspace({
      'base/all.yaml': SMALL,
      'head/all.yaml': SMALL,
      'head/operator.yaml': operator('example.org'),
    })
    const { code, stdout } = await kleym(['diff', '--offline', '--base', 'base', '-f', 'head'], { cwd })
    expect(stdout).toContain('the two sides have different settings: trust domain (not known) → example.org')
    expect(code).toBe(4)
  })

  test.each<[string, readonly string[], string]>([
    ['beside a cluster', ['--base', 'base', '-f', 'head'], '--base cannot be used with a cluster'],
    [
      'beside --live',
      ['--offline', '--live', 'base', '--base', 'base', '-f', 'head'],
      '--base cannot be used with --live',
    ],
    ['with stdin on both sides', ['--offline', '--base', '-', '-f', '-'], 'stdin is given twice'],
    ['with a folder that is not there', ['--offline', '--base', 'gone', '-f', 'head'], 'cannot read gone'],
  ])('is wrong %s: exit code 2', async (_, flags, says) => {
    const cwd = workspace({ 'base/all.yaml': SMALL, 'head/all.yaml': SMALL })
    const { code, stderr } = await kleym(['diff', ...flags, '--trust-domain', 'example.org'], { cwd })
    expect(stderr).toContain(says)
    expect(code).toBe(2)
  })
})

describe('diff --live: what no file holds is treated as unchanged', () => {
  test('and that stands in the first line, and by name with -o wide', async () => {
    const cwd = workspace({ 'live/all.yaml': SMALL, 'head/pool.yaml': POOL, 'scm.yaml': SCM_CONFIG })
    const args = ['diff', '--offline', '--live', 'live', '-f', 'head', ...SETTINGS]
    const { stdout } = await kleym(args, { cwd })
    expect(stdout).toMatch(
      /^· no container gains or loses an identity, as long as 2 objects of --live stay\n\n! 2 live objects are not in your files; treated as unchanged\. A deletion does\s+not\s+show here; to compare two desired states, use --base\n/,
    )
    const wide = await kleym([...args, '-o', 'wide'], { cwd })
    expect(wide.stdout).toMatch(/1 {2}InferenceIdentityBinding +team-a\/chat\n/)
    expect(stdout).not.toContain('✓')
    const report: unknown = JSON.parse((await kleym([...args, '-o', 'json'], { cwd })).stdout)
    expect(report).toMatchObject({
      takenToStay: [
        { kind: 'InferenceIdentityBinding', count: 1, named: ['team-a/chat'] },
        { kind: 'InferenceObjective', count: 1, named: ['team-a/chat'] },
      ],
    })
  })

  test('files that hold all of it leave nothing to say', async () => {
    const cwd = workspace({ 'live/all.yaml': SMALL, 'head/all.yaml': SMALL, 'scm.yaml': SCM_CONFIG })
    const { stdout } = await kleym(['diff', '--offline', '--live', 'live', '-f', 'head', ...SETTINGS], {
      cwd,
    })
    expect(stdout).not.toContain('treated as unchanged')
    expect(stdout).toContain('no container gains or loses an identity among these files')
  })
})

describe('what a change has fixed, and what only lost its ground', () => {
  const WITH_LOSS = documents(POOL, OBJECTIVE, BINDING, TWO_CONTAINERS, NODE, FALLBACK)

  test('without the fallback nobody has lost it: the container that had no identity still has none', async () => {
    const { stdout } = await between(WITH_LOSS, documents(POOL, OBJECTIVE, BINDING, TWO_CONTAINERS, NODE))
    expect(stdout).toMatch(/fixed: none {3}no longer apply: 1 warning, 1 info/)
    expect(stdout).toMatch(leftWithNone('· no longer applies: sidecar of 1 pod'))
    expect(stdout).not.toContain('✓ fixed')
  })

  test('without the binding the container gets its default identity again: fixed', async () => {
    const { stdout } = await between(WITH_LOSS, documents(POOL, OBJECTIVE, TWO_CONTAINERS, NODE, FALLBACK))
    expect(stdout).toMatch(leftWithNone('✓ fixed: sidecar of 1 pod'))
    expect(stdout).toMatch(/fixed: 1 warning {3}no longer apply: 1 info/)
  })

  test('without the pod nobody is better off', async () => {
    const { stdout } = await between(WITH_LOSS, documents(POOL, OBJECTIVE, BINDING, NODE, FALLBACK))
    expect(stdout).toContain('· no longer applies: sidecar of 1 pod')
  })

  test('the estate without its default identity: no finding about a lost default is fixed', async () => {
    const gone = ['--without', 'clusterspiffeid/default']
    const run = await kleym(['diff', '--offline', '-R', '-f', 'examples/estate', ...gone, '-o', 'json'])
    const { effect }: { effect: Record<string, readonly { readonly code: string }[]> } = JSON.parse(
      run.stdout,
    )
    const codes = (field: string): readonly string[] => (effect[field] ?? []).map(({ code }) => code)
    expect(codes('noLongerApplyingFindings').filter((code) => code === 'KLM402').length).toBeGreaterThan(4)
    expect(codes('fixedFindings')).not.toContain('KLM402')
  })

  const REFUSED = SMALL.replace('objectiveRef: {name: chat}', 'objectiveRef: {name: caht}')

  test('a binding that becomes ready is fixed', async () => {
    const { stdout } = await between(REFUSED, SMALL)
    expect(stdout).toMatch(/✓ fixed: .*KLM106/s)
  })

  test('a refused binding that is deleted is not', async () => {
    const { stdout } = await between(REFUSED, documents(POOL, OBJECTIVE, POD, NODE))
    expect(stdout).toMatch(/· no longer applies: .*KLM106/s)
    expect(stdout).not.toContain('✓ fixed')
  })
})

/** A registration that gives the identity to pods by their label. */
function thief(name: string, app: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: ${name}}
spec: {spiffeIDTemplate: "${CHAT}", podSelector: {matchLabels: {app: "${app}"}}}
`
}

describe('an identity that is given to another namespace', () => {
  const OTHER = POD.replace('team-a', 'team-b').replace('app: llama', 'app: web')
  const STOLEN = documents(SMALL, OTHER, thief('thief', 'web'))

  test('by the same registration under another name is not fixed', async () => {
    const { code, stdout } = await between(STOLEN, documents(SMALL, OTHER, thief('other', 'web')))
    expect(stdout).toContain('· no longer applies: ClusterSPIFFEID/thief gives the identity to 1 pod')
    expect(stdout).not.toContain('✓ fixed')
    expect(code).toBe(1)
  })

  test('without the registration is fixed', async () => {
    const { stdout } = await between(STOLEN, documents(SMALL, OTHER))
    expect(stdout).toContain('✓ fixed: ClusterSPIFFEID/thief gives the identity to 1 pod')
  })

  test('by a registration that is a template now is neither fixed nor lost for certain, and none that it had before gained', async () => {
    const template = documents(SMALL, OTHER, thief('thief', '${APP}'))
    for (const [base, head] of [
      [STOLEN, template],
      [template, STOLEN],
    ] as const) {
      const { code, stdout } = await between(base, head)
      expect(stdout).toContain('no container is known to gain or lose an identity')
      expect(stdout).not.toMatch(/✓ fixed|left without|container (?:gains|loses)/)
      expect(code).toBe(4)
    }
  })
})

describe('an identity that was perhaps given away before', () => {
  const OTHER = POD.replace('team-a', 'team-b').replace('app: llama', 'app: web')
  const inProduction = thief('thief', 'web').replace(
    'podSelector',
    'namespaceSelector: {matchLabels: {env: prod}}, podSelector',
  )
  const head = documents(SMALL, OTHER, thief('thief', 'web'))

  test('and is given away now: no error rests on whether that is new, and the exit code is 4', async () => {
    const { code, stdout } = await between(documents(SMALL, OTHER, inProduction), head)
    expect(stdout).toContain('depends: it may have been so before this change')
    expect(stdout).toMatch(/^findings +new: \d+ warnings? /m)
    expect(code).toBe(4)
  })

  const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-b, labels: {env: ENV}}\n'
  test.each([
    ['was, is no new error', 'prod', 'new: 1 warning '],
    ['was not, is a new error', 'dev', 'new: 1 error'],
  ])('and %s, once the Namespace tells', async (_, env, text) => {
    const namespace = NAMESPACE.replace('ENV', env)
    const base = documents(SMALL, OTHER, inProduction, namespace)
    const { stdout } = await between(base, documents(head, namespace))
    expect(stdout).toMatch(new RegExp(`^findings +${text}`, 'm'))
  })
})

describe('diff --base: a flag beside what the files say', () => {
  const AS_BEFORE = documents(SMALL, operator('example.org'))
  const CHANGED = AS_BEFORE.replace('class-name=', 'class-name=other')
  const CLASS = ['--clusterspiffeid-class-name', 'other'] as const
  const [DOMAIN, NO_CLASS, SCM] = [SETTINGS.slice(0, 2), SETTINGS.slice(2, 4), SETTINGS.slice(4)]

  async function asked(base: string, head: string, ...flags: readonly string[]): Promise<Run> {
    const cwd = workspace({ 'base/all.yaml': base, 'head/all.yaml': head, 'scm.yaml': SCM_CONFIG })
    return kleym(['diff', '--offline', '--base', 'base', '-f', 'head', ...DOMAIN, ...flags], { cwd })
  }

  test('is that of the files after the change: it hides no change of the install', async () => {
    const { code, stdout } = await asked(AS_BEFORE, CHANGED, ...SCM, ...CLASS)
    expect(stdout).toContain("the two sides have different settings: kleym's class (none) → other")
    expect(stdout).toContain('1 to update')
    expect(code).toBe(1)
  })

  test('that is not what the change sets calls nothing unchanged', async () => {
    const { code, stdout } = await asked(AS_BEFORE, CHANGED, ...SCM, ...NO_CLASS)
    expect(stdout).toMatch(/^! the settings of this answer differ from those of the objects {2}KLM520/m)
    expect(stdout).not.toMatch(/✓|no container gains or loses/)
    expect(code).toBe(4)
  })

  test("that gives SCM's configuration does not hide that the files change it", async () => {
    const before = documents(AS_BEFORE, SCM_CONFIG)
    const after = before.replace('ignoreNamespaces: []', 'ignoreNamespaces: [team-a]')
    const { code, stdout } = await asked(before, after, ...SCM)
    expect(stdout).toMatch(/^! the settings of this answer differ from those of the objects {2}KLM520/m)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('makes other entries than scm.yaml, which is given')
    expect(code).toBe(4)
    const told = await asked(before, after)
    expect(told.stdout).toContain('SCM ignores the namespace')
    expect(told.code).toBe(1)
  })
})
