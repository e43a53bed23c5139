// `migrate` as a person runs it: the bindings that can be applied, the steps, what names the old ID in files of identity tests, and
// names that lead nowhere.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describe, expect, test } from 'vitest'
import { dig, listAt } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../support/estate.ts'
import { workspace } from '../../support/workspace.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'

const SETTINGS = '--trust-domain example.org --clusterspiffeid-class-name= --scm-config scm.yaml'.split(' ')
const WORLD = `apiVersion: v1
kind: Namespace
metadata: { name: team-a, labels: { kubernetes.io/metadata.name: team-a } }
---
apiVersion: v1
kind: Node
metadata: { name: n1, uid: 11111111-0000-4000-8000-000000000001 }
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: llama, namespace: team-a }
spec: { selector: { matchLabels: { app: llama } } }
---
apiVersion: v1
kind: Pod
metadata: { name: llama-0, namespace: team-a, uid: 22222222-0000-4000-8000-000000000001, labels: { app: llama } }
spec: { nodeName: n1, serviceAccountName: runner, containers: [{ name: vllm }] }
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: old, uid: 33333333-0000-4000-8000-000000000001 }
spec: { spiffeIDTemplate: 'spiffe://example.org/llama', podSelector: { matchLabels: { app: llama } } }
`
const OLD = 'spiffe://example.org/llama'
const NEW = 'spiffe://example.org/ns/team-a/pool/llama'
const FILES = { 'scm.yaml': SCM_CONFIG, 'world.yaml': WORLD }

async function migrate(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
  read: readonly string[] = ['world.yaml'],
): Promise<Ran> {
  const cwd = await workspace({ ...FILES, ...files })
  const sources = read.flatMap((name) => ['-f', name])
  return inProcess(['migrate', ...args, '--offline', ...sources, ...SETTINGS], cwd)
}

test('the first line says what takes whose place, and the steps end with the deletion of the old one', async () => {
  const { stdout, code } = await migrate(['clusterspiffeid/old'])
  expect(code).toBe(0)
  expect(stdout.split('\n')[0]).toBe('! bindings can take the place of 1 ClusterSPIFFEID: old')
  expect(stdout.replace(/\s+/g, ' ')).toContain(`${OLD} → ${OLD} and ${NEW} → ${NEW}`)
  const steps = [
    '1. Let consumers accept both IDs',
    '2. Apply the bindings',
    '3. Delete the old registration',
  ]
  expect(stdout.match(/^ +\d\. .*/gm)?.map((line) => line.trim())).toEqual(steps)
})

test.each([
  ['the registration is ignored only as assumed', WORLD],
  [
    'the registration is issued only as assumed',
    WORLD.replace("'spiffe://example.org/llama',", '$& className: x,'),
  ],
])("SCM's settings were not given: no step deletes what may be needed, since %s", async (_why, world) => {
  const cwd = await workspace({ 'world.yaml': world })
  const args = [
    'migrate',
    'clusterspiffeid/old',
    '--offline',
    '-f',
    'world.yaml',
    '--trust-domain',
    'example.org',
  ]
  const { stdout, code } = await inProcess(args, cwd)
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toMatch(/^! whether 1 ClusterSPIFFEID can go is not certain: old/)
  expect(text).toContain('Settle what is not certain before you delete the old registration')
  expect(text).toContain(`perhaps ${OLD} `)
  for (const claim of [
    'no container holds',
    'no container is left',
    'give no',
    'kubectl delete',
    '✓ bindings can take the place',
  ])
    expect(text).not.toContain(claim)
  expect(code).toBe(4)
})

test.each([
  ['without a class', WORLD, SCM_CONFIG, ''],
  [
    'with a class',
    WORLD.replace('spec: { spiffeIDTemplate', 'spec: { className: blue, spiffeIDTemplate'),
    SCM_CONFIG.replace('watchClassless: true', 'className: blue'),
    'blue',
  ],
])(
  'the command to look first agrees with the step that it stands in: %s',
  async (_, world, scm, className) => {
    const cwd = await workspace({ 'scm.yaml': scm, 'world.yaml': world })
    const settings = `--trust-domain example.org --clusterspiffeid-class-name=${className} --scm-config scm.yaml`
    const ask = (words: string): Promise<Ran> =>
      inProcess(
        words.split(' ').map((word) => (word === "''" ? '' : word)),
        cwd,
      )
    const { stdout } = await ask(`migrate clusterspiffeid/old --offline -f world.yaml ${settings}`)
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toContain('no container is left without an identity')
    const [, bindings = '', diff = ''] =
      /look first: kubectl kleym (migrate .*?) \| kubectl kleym (diff .*?) kubectl delete/.exec(text) ?? []
    await writeFile(join(cwd, 'bindings.yaml'), (await ask(bindings)).stdout)
    const looked = await ask(diff.replace(' -f - ', ' -f bindings.yaml '))
    expect(looked.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `1 container of team-a loses ${OLD} and keeps ${NEW}`,
    )
    expect(looked.stdout).not.toContain('without an identity')
  },
)

test('the first lines say that containers without the old ID hold the new one', async () => {
  const said = 'containers without the old ID hold the new one: old'
  const two = WORLD.replace('[{ name: vllm }]', '[{ name: vllm }, { name: proxy }]')
  const whole = await migrate(['clusterspiffeid/old'], { 'world.yaml': two })
  expect(whole.stdout).not.toContain(said)
  const one = two.replace(
    'podSelector: { matchLabels: { app: llama } } }',
    "podSelector: { matchLabels: { app: llama } }, workloadSelectorTemplates: ['k8s:container-name:vllm'] }",
  )
  const { stdout } = await migrate(['clusterspiffeid/old'], { 'world.yaml': one })
  expect(stdout).toContain(said)
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'holders containers with the old ID → proxy of pod team-a/llama-0 too: whoever accepts the new ID accepts these too',
  )
})

test('-o yaml is the binding alone, and where it is applied nothing is left to apply', async () => {
  const { stdout } = await migrate(['clusterspiffeid/old', '-o', 'yaml'])
  expect(parseAllDocuments(stdout).map((one): unknown => one.toJS())).toEqual([
    {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata: { name: 'llama', namespace: 'team-a' },
      spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
    },
  ])
  const again = await migrate(['clusterspiffeid/old'], { 'new.yaml': stdout }, ['world.yaml', 'new.yaml'])
  expect(again.code).toBe(0)
  expect(again.stdout).toContain('1. Let consumers accept both IDs')
  expect(again.stdout).not.toContain('Apply the bindings')
})

test('a registration whose pods no pool selects is not covered, and must stay', async () => {
  const poolless = WORLD.replace(
    'matchLabels: { app: llama } } }\n---\napiVersion: v1',
    'matchLabels: { app: other } } }\n---\napiVersion: v1',
  )
  expect(poolless).not.toBe(WORLD)
  const { stdout } = await migrate(['clusterspiffeid/old', '-o', 'json'], { 'world.yaml': poolless })
  const [report] = listAt(JSON.parse(stdout), 'registrations')
  expect(dig(report, 'bindings')).toEqual([])
  expect(listAt(report, 'uncovered').map((one) => dig(one, 'container'))).toEqual(['vllm'])
})

describe('names', () => {
  test.each([
    ['one that is not there', 'clusterspiffeid/odl', 3, 'did you mean old?'],
    ['of another kind', 'pool/llama', 2, 'clusterspiffeid/NAME'],
  ])('%s', async (_, name, code, says) => {
    const ran = await migrate([name])
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain(says)
  })

  test('what kleym has written itself is not for it', async () => {
    const own = 'clusterspiffeid/kleym-lab-blue-objective-95f0bf53a2b1f80e26fd'
    const ran = await inProcess(['migrate', own, ...ESTATE_FLAGS], PROJECT_ROOT)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain('it is the output of binding lab/blue')
  })
})

/** An identity test with a spec. */
function identityTest(spec: string): string {
  return `apiVersion: test.kleym.sonda.red/v1alpha1\nkind: IdentityTest\nmetadata: { name: tenancy }\nspec:\n${spec}`
}
const VLLM = '{ namespace: team-a, pod: llama-0, container: vllm }'

/** What `--tests` names of the files. */
async function named(files: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const { stdout } = await migrate(['clusterspiffeid/old', '--tests', 'tests', '-o', 'json'], files)
  return listAt(listAt(JSON.parse(stdout), 'registrations')[0], 'tests')
}

describe('--tests', () => {
  test('the lines that name an old ID, and the assertions that would fail without it', async () => {
    const file = identityTest(
      `  containers:\n    - subject: ${VLLM}\n      holds: { exactly: [${OLD}] }\n    - subject: ${VLLM}\n      holds: { atLeast: ['${OLD}'] }\n`,
    )
    expect(await named({ 'tests/who.yaml': file })).toEqual([
      { file: 'tests/who.yaml', line: 7, what: OLD, how: 'names' },
      { file: 'tests/who.yaml', line: 9, what: OLD, how: 'names' },
      { file: 'tests/who.yaml', line: 6, what: 'tenancy/containers[0]', how: 'breaks' },
      { file: 'tests/who.yaml', line: 8, what: 'tenancy/containers[1]', how: 'breaks' },
    ])
  })

  test('an assertion that breaks without naming it: a pattern, or a number', async () => {
    const file = identityTest(
      `  rules:\n    - everyContainer: { namespace: team-a }\n      holds: { only: ['spiffe://example.org/*'] }\n`,
    )
    expect(await named({ 'tests/who.yaml': file })).toEqual([
      { file: 'tests/who.yaml', line: 6, what: 'tenancy/rules[0]', how: 'breaks' },
    ])
  })

  test('not those of a longer ID, and not an assertion that fails already', async () => {
    const file = identityTest(
      `  containers:
    - subject: ${VLLM}
      holds: { exactly: [${OLD}-2] }
  rules:
    - spiffeID: ${OLD}/more
      neverIn: { namespace: team-a }
`,
    )
    expect(await named({ 'tests/who.yaml': file })).toEqual([])
  })

  test('the text of the answer has the places', async () => {
    const file = identityTest(`  containers:\n    - subject: ${VLLM}\n      holds: { exactly: [${OLD}] }\n`)
    const { stdout } = await migrate(['clusterspiffeid/old', '--tests', 'tests'], { 'tests/who.yaml': file })
    expect(stdout).toContain(`  Identity tests
    tests/who.yaml:7 names ${OLD}
    tests/who.yaml:6 would break: tenancy/containers[0]
`)
  })

  test('a file of tests that cannot be read is an incomplete answer; a folder that is not there, an error', async () => {
    const broken = identityTest('  containers: 7\n')
    const half = await migrate(['clusterspiffeid/old', '--tests', 'tests'], { 'tests/who.yaml': broken })
    expect(half.code).toBe(4)
    expect(half.stderr).toContain('tests/who.yaml')
    const none = await migrate(['clusterspiffeid/old', '--tests', 'nowhere'])
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('nowhere')
  })
})

describe('who names the old ID', () => {
  const CONSUMERS = `apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: callers, namespace: web }
spec: { action: ALLOW, rules: [{ from: [{ source: { principals: ['example.org/lla*'] } }] }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: peers, namespace: web }
data: { allowed: '${OLD}' }
`
  const WITH = ['world.yaml', 'consumers.yaml']

  test('by a pattern or in any string: each has to accept the new one, and what a string does is not known', async () => {
    const files = { 'consumers.yaml': CONSUMERS }
    const { stdout, code } = await migrate(['clusterspiffeid/old'], files, WITH)
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toContain(
      'AuthorizationPolicy web/callers: add example.org/ns/team-a/pool/llama beside example.org/lla*',
    )
    expect(text).toContain(`ConfigMap web/peers: .data.allowed holds the old ID`)
    expect(text).toContain(
      'not known: ConfigMap web/peers .data.allowed holds the old ID, and whether it can hold two is not known',
    )
    expect(code).toBe(4)
    const json = await migrate(['clusterspiffeid/old', '-o', 'json'], files, WITH)
    const [registration] = listAt(JSON.parse(json.stdout), 'registrations')
    expect(listAt(registration, 'consumers')).toEqual([
      expect.objectContaining({
        consumer: 'web/callers',
        way: 'value',
        oldID: OLD,
        newID: NEW,
        isCertain: true,
      }),
      expect.objectContaining({ consumer: 'web/peers', way: 'text', isCertain: false }),
    ])
    expect(listAt(registration, 'cutOffs')).toEqual([
      { text: expect.stringContaining('ConfigMap web/peers'), isCertain: false },
    ])
  })

  test('in a role of --names, which holds one name: its clients are cut off', async () => {
    const role = JSON.stringify({ data: { name: 'reader', bound_subject: OLD } })
    const { stdout } = await migrate(['clusterspiffeid/old', '--names', 'role.json'], { 'role.json': role })
    expect(stdout).toMatch(/^! bindings can take the place of 1 ClusterSPIFFEID: old\n/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /cut off: \S.* holds one name, so that it cannot accept both IDs/,
    )
  })

  test('in a policy that could not be read: the answer is not complete', async () => {
    const files = { 'consumers.yaml': CONSUMERS.replace('spec: {', 'spec: [').replace(/---[^]*/, '') }
    const { code, stderr } = await migrate(['clusterspiffeid/old'], files, WITH)
    expect(stderr).toContain('consumers.yaml')
    expect(code).toBe(4)
  })
})

test('a workload that was not read may hold the old ID: no step deletes the registration', async () => {
  const files = {
    'unread.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: other, namespace: team-b }\nspec: [\n',
  }
  const { stdout, code } = await migrate(['clusterspiffeid/old'], files, ['world.yaml', 'unread.yaml'])
  expect(stdout).toMatch(/^! whether 1 ClusterSPIFFEID can go is not certain: old/)
  expect(stdout).not.toContain('kubectl delete')
  expect(code).toBe(4)
})

test('what a controller makes of a template holds the old ID perhaps, never certainly', async () => {
  const pod = /kind: Pod\nmetadata: .*\nspec: .*\n/.exec(WORLD)?.[0] ?? ''
  const rollout = `kind: Rollout
metadata: { name: llama, namespace: team-a }
spec: { template: { metadata: { labels: { app: llama } }, spec: { serviceAccountName: runner, containers: [{ name: vllm }] } } }
`
  const world = WORLD.replace(`apiVersion: v1\n${pod}`, `apiVersion: argoproj.io/v1alpha1\n${rollout}`)
  const { stdout, code } = await migrate(['clusterspiffeid/old'], { 'world.yaml': world })
  expect(stdout).not.toContain('kubectl delete')
  expect(stdout).toContain('not certain')
  expect(code).toBe(4)
})

test('a string that holds an ID which the old one may become is a place to look at', async () => {
  const world = `${WORLD.replace('spiffe://example.org/llama', 'spiffe://example.org/{{ .PodMeta.Name }}')
    .replace('kind: Pod\n', 'kind: StatefulSet\n')
    .replace('apiVersion: v1\nkind: StatefulSet', 'apiVersion: apps/v1\nkind: StatefulSet')
    .replace(
      /spec: { nodeName.*\n/,
      'spec: { selector: { matchLabels: { app: llama } }, template: { metadata: { labels: { app: llama } }, spec: { serviceAccountName: runner, containers: [{ name: vllm }] } } }\n',
    )}---
apiVersion: v1
kind: ConfigMap
metadata: { name: peers, namespace: team-b }
data: { one: 'spiffe://example.org/llama-0-0', other: 'spiffe://example.net/llama-0-0' }
`
  const { stdout, code } = await migrate(['clusterspiffeid/old'], { 'world.yaml': world })
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('ConfigMap team-b/peers: .data.one holds the old ID')
  expect(stdout).not.toContain('.data.other')
  expect(code).toBe(4)
})

test('what is not known of several registrations is said once', async () => {
  const { stdout } = await inProcess(['migrate', '-A', ...ESTATE_FLAGS], PROJECT_ROOT)
  expect(stdout.match(/^ {2}not known: whether the old ID is named by/gm)).toHaveLength(1)
})

const TWICE = `apiVersion: v1
kind: Pod
metadata: { name: web-0, namespace: team-a, uid: 22222222-0000-4000-8000-000000000002, labels: { app: web } }
spec: { nodeName: n1, serviceAccountName: web, containers: [{ name: web }] }
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: twice, uid: 33333333-0000-4000-8000-000000000002 }
spec: { spiffeIDTemplate: 'spiffe://example.org/web', podSelector: { matchLabels: { app: web } } }
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: once, uid: 33333333-0000-4000-8000-000000000003 }
spec:
  spiffeIDTemplate: 'spiffe://example.org/web'
  podSelector: { matchLabels: { app: web } }
  workloadSelectorTemplates: ['k8s:container-name:web']
`

test('of two registrations that give one ID one has to stay, and no binding takes the place of the other', async () => {
  const { stdout, code } = await migrate(['-A'], { 'twice.yaml': TWICE }, ['world.yaml', 'twice.yaml'])
  const text = stdout.replace(/\s+/g, ' ')
  expect(text).toContain('bindings can take the place of 1 ClusterSPIFFEID: old')
  expect(text).toContain('1 ClusterSPIFFEID can go, since others give the same IDs: once')
  expect(text).toContain('1 ClusterSPIFFEID must stay, at least in part: twice')
  expect(stdout.match(/as it is once the steps above are taken/g)).toHaveLength(2)
  expect(stdout.match(/kubectl delete clusterspiffeid \S+/g)).toEqual([
    'kubectl delete clusterspiffeid old',
    'kubectl delete clusterspiffeid once',
  ])
  expect(code).toBe(0)
})

test('a registration that is named twice has one plan', async () => {
  const once = await migrate(['clusterspiffeid/old'])
  const { stdout } = await migrate(['clusterspiffeid/old', 'clusterspiffeid/old'])
  expect(stdout).toBe(once.stdout)
})

test.each([
  [2, 0],
  [12, 12],
])('of %i registrations the worlds are given back %i times', async (count, times) => {
  const many = Array.from({ length: count }, (_, at) => TWICE.replaceAll('twice', `n${at}`).split('---')[1])
  const cwd = await workspace({
    ...FILES,
    'world.yaml': WORLD.split('---').slice(0, -1).join('---'),
    'many.yaml': many.join('---'),
  })
  const asked: string[] = []
  const args = ['migrate', '-A', '--offline', '-f', 'world.yaml', '-f', 'many.yaml', ...SETTINGS]
  await inProcess(args, cwd, {}, { collectGarbage: (which) => void asked.push(which) })
  expect(asked.filter((which) => which === 'as needed')).toHaveLength(times)
})
