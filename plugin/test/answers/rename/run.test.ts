// `rename` as a person runs it: the first line, the steps, what each consumer has to accept, and the objects of the next step.
import { parseAllDocuments } from 'yaml'
import { describe, expect, test } from 'vitest'
import { dig, listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
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
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: { name: chat, namespace: team-a }
spec: { poolRef: { name: llama } }
---
apiVersion: v1
kind: Pod
metadata: { name: llama-0, namespace: team-a, uid: 22222222-0000-4000-8000-000000000001, labels: { app: llama } }
spec: { nodeName: n1, serviceAccountName: runner, containers: [{ name: vllm }] }
`
const CHAT = `---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: chat, namespace: team-a, uid: 33333333-0000-4000-8000-000000000001 }
spec:
  mode: PerObjective
  poolRef: { name: llama }
  objectiveRef: { name: chat }
  serviceAccountName: runner
  containerName: vllm
`
const POOLED = `---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: llama, namespace: team-a, uid: 33333333-0000-4000-8000-000000000002 }
spec: { mode: PoolOnly, poolRef: { name: llama }, serviceAccountName: runner }
`
const OLD = 'spiffe://example.org/ns/team-a/objective/chat'
const NEW = 'spiffe://example.org/ns/team-a/objective/assistant'

async function rename(
  args: readonly string[],
  world: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const cwd = await workspace({ 'scm.yaml': SCM_CONFIG, 'world.yaml': `${WORLD}${world}`, ...files })
  return inProcess(['rename', ...args, '--offline', '-f', 'world.yaml', ...SETTINGS], cwd)
}

/** An object that names an ID, by its kind. */
function naming(apiVersion: string, kind: string, spec: string): string {
  return `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: peers, namespace: web }\nspec: ${spec}\n`
}

const ISTIO = naming(
  'security.istio.io/v1',
  'AuthorizationPolicy',
  '{ rules: [{ from: [{ source: { principals: [example.org/ns/team-a/objective/chat] } }] }] }',
)

function titles({ stdout }: Ran): readonly string[] {
  return stdout.split('\n').flatMap((row) => /^\d\. (.*)/.exec(row)?.[1] ?? [])
}

test('where two bindings cannot stand, a registration by hand bridges, and its removal is a step', async () => {
  const ran = await rename(['objective/team-a/chat', 'assistant'], `${CHAT}${ISTIO}`)
  expect(ran.code).toBe(0)
  expect(ran.stdout.split('\n').slice(0, 2).join('')).toBe(
    '✓ InferenceObjective team-a/chat to assistant: no container is cut off by a  consumer that was read',
  )
  expect(titles(ran)).toEqual([
    'Let consumers accept both IDs',
    'Issue both IDs',
    'Switch to the new ID',
    'Remove the registration by hand',
    'Take the old name away',
  ])
  const text = ran.stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain(
    'AuthorizationPolicy web/peers: add example.org/ns/team-a/objective/assistant beside spiffe://example.org/ns/team-a/objective/chat in .spec.rules[0].from[0].source.principals',
  )
  expect(text).toContain('two bindings there would be refused (IdentityCollision)')
  expect(text).toContain('two SVIDs: from here to the switch 1 container may present either ID')
  expect(text.match(/check: /g)).toHaveLength(5)
  expect(text.match(/breaks if skipped: /g)).toHaveLength(5)
})

test('a step of another name for a binding breaks nobody if it is skipped: the binding keeps its name', async () => {
  const { stdout } = await rename(['iib/team-a/chat', 'other'], CHAT)
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain('breaks if skipped: nobody: binding chat keeps its name')
  expect(text).not.toContain('are refused once chat goes')
})

test('where no ID changes, the old pool goes last all the same', async () => {
  const ran = await rename(['pool/team-a/llama', 'llama-70b'], CHAT)
  expect(titles(ran)).toEqual([
    'Keep the ID while bindings are edited',
    'Edit the bindings',
    'Remove the registration by hand',
    'Take the old name away',
  ])
  const text = ran.stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain('no ID changes, 4 steps')
  expect(text).toContain('kubectl delete inferencepools.inference.networking.k8s.io llama -n team-a')
  expect(text).toContain('check: kubectl get iib -n team-a: Ready for each of them')
  expect(text).toContain('breaks if skipped: nobody: InferencePool llama stays, and no binding names it')
})

test('an ID that goes without another one is no ID that stays as it is', async () => {
  const { stdout } = await rename(['objective/team-a/chat', 'x'.repeat(253)], CHAT)
  expect(stdout).toContain('1 binding would give no ID, 1 step')
  expect(stdout).not.toContain('no ID changes')
})

test('where two bindings can stand, the second one is applied, and nothing is written by hand', async () => {
  const ran = await rename(['pool/llama', 'llama-70b', '-n', 'team-a'], POOLED)
  expect(titles(ran)).toEqual([
    'Let consumers accept both IDs',
    'Issue both IDs',
    'Switch to the new ID',
    'Take the old name away',
  ])
  expect(ran.stdout).toContain('kubectl delete iib llama -n team-a')
  expect(ran.stdout).toContain('make InferencePool team-a/llama-70b with the spec of llama')
  expect(ran.stdout).not.toContain('by hand')
})

test('two SVIDs have one hint only where a registration by hand gives another ID than its binding', async () => {
  const ONE_HINT = 'both have one hint'
  const objective = await rename(['objective/team-a/chat', 'assistant'], CHAT)
  expect(objective.stdout).toContain(ONE_HINT)
  const kept = await rename(['pool/team-a/llama', 'llama-70b'], `${CHAT}${POOLED}`)
  expect(kept.stdout).toContain('rename.team-a.chat')
  expect(kept.stdout).not.toContain(ONE_HINT)
})

test('-o yaml is what the next step applies: first the bridge, and once that is there the binding', async () => {
  const args = ['iib/team-a/chat', 'other', '-o', 'yaml']
  const first = await rename(args, CHAT)
  const [bridge] = parseAllDocuments(first.stdout).map((one): unknown => one.toJS())
  expect(stringAt(bridge, 'spec', 'spiffeIDTemplate')).toBe(OLD)
  expect(stringAt(bridge, 'metadata', 'name')).toBe('rename.team-a.other')
  const second = await rename(args, `${CHAT}${first.stdout}`)
  const [binding] = parseAllDocuments(second.stdout).map((one): unknown => one.toJS())
  expect(dig(binding, 'metadata')).toEqual({ name: 'other', namespace: 'team-a' })
  expect(stringAt(binding, 'spec', 'objectiveRef', 'name')).toBe('chat')
})

test('a plan asked again says what is done', async () => {
  const accepted = ISTIO.replace(
    'objective/chat]',
    'objective/chat, example.org/ns/team-a/objective/assistant]',
  )
  const { stdout: bridge } = await rename(['objective/team-a/chat', 'assistant', '-o', 'yaml'], CHAT)
  const ran = await rename(['objective/team-a/chat', 'assistant'], `${CHAT}${accepted}${bridge}`)
  expect(ran.stdout).toContain('nothing that was read is left to be changed')
  expect(ran.stdout).toContain('what it takes is there')
  expect(ran.stdout).toMatch(/^✓ /)
})

const consumers: readonly (readonly [name: string, object: string, add: string, way: string])[] = [
  ['AuthorizationPolicy', ISTIO, 'example.org/ns/team-a/objective/assistant', 'value'],
  [
    'DestinationRule',
    naming(
      'networking.istio.io/v1',
      'DestinationRule',
      `{ trafficPolicy: { tls: { subjectAltNames: ["${OLD}"] } } }`,
    ),
    NEW,
    'value',
  ],
  [
    'BackendTLSPolicy',
    naming(
      'gateway.networking.k8s.io/v1',
      'BackendTLSPolicy',
      `{ validation: { subjectAltNames: [{ type: URI, uri: "${OLD}" }] } }`,
    ),
    `{ type: URI, uri: ${NEW} }`,
    'value',
  ],
  [
    'MeshTLSAuthentication',
    naming('policy.linkerd.io/v1alpha1', 'MeshTLSAuthentication', `{ identities: ["${OLD}"] }`),
    NEW,
    'value',
  ],
  [
    'XAccessPolicy',
    naming(
      'agentic.networking.x-k8s.io/v1alpha1',
      'XAccessPolicy',
      `{ action: Allow, targetRefs: [], rules: [{ name: chat, source: { type: SPIFFE, spiffe: "${OLD}" } }] }`,
    ),
    NEW,
    'rule',
  ],
  [
    'ConfigMap',
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: peers, namespace: web }\ndata: { peer: "${OLD}" }\n`,
    NEW,
    'text',
  ],
]

test.each(consumers)('%s: what it has to accept in addition', async (kind, object, add, way) => {
  const { stdout } = await rename(['objective/team-a/chat', 'assistant', '-o', 'json'], `${CHAT}${object}`)
  const [edit, ...more] = listAt(JSON.parse(stdout), 'consumers')
  expect(more).toEqual([])
  expect(edit).toMatchObject({ kind, consumer: 'web/peers', add, way, oldID: OLD, newID: NEW })
})

/** The last step of a rename beside other objects. */
async function lastStep(more: string): Promise<string> {
  const { stdout } = await rename(['objective/team-a/chat', 'assistant'], `${CHAT}${ISTIO}${more}`)
  return stdout.replaceAll(/\s+/g, ' ').replace(/^.* Take the old name away/, '')
}

test('an ID that others give, too, is left where it is named', async () => {
  const other = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: other }
spec: { spiffeIDTemplate: "${OLD}", podSelector: { matchLabels: { app: other } } }
---
apiVersion: v1
kind: Pod
metadata: { name: other, namespace: team-b, uid: 22222222-0000-4000-8000-000000000002, labels: { app: other } }
spec: { nodeName: n1, containers: [{ name: web }] }
`
  const [alone, beside] = [await lastStep(''), await lastStep(other)]
  expect(alone).toContain('take the old ID out of .spec.rules[0]')
  expect(beside).not.toContain('take the old ID out')
  expect(beside).toContain(`leave ${OLD} in what names it as long as something else gives it`)
})

test.each<[string, unknown, string]>([
  ['both in one list of claims', { bound_claims: { sub: [OLD, NEW] } }, ''],
  [
    'the new one in another field, which must hold too',
    { bound_subject: NEW, bound_claims: { sub: OLD } },
    'add',
  ],
  [
    'the new one among those that are left out',
    { Condition: { StringEquals: { 'a:sub': [OLD] }, StringNotEquals: { 'a:sub': [NEW] } } },
    'add',
  ],
  [
    'a workload ID without its trust domain',
    { workload_id_patterns: ['/ns/team-a/objective/chat'] },
    'add /ns/team-a/objective/assistant beside',
  ],
  [
    'a workload ID whose segment may be any',
    { workload_id_patterns: ['ns/team-a/+/assistant', 'ns/+/objective/chat'] },
    '',
  ],
  [
    'the new one in another role',
    [{ bound_claims: { sub: [OLD] } }, { bound_claims: { sub: [NEW] } }],
    'add',
  ],
  [
    'the new one in another document',
    `bound_claims: { sub: ["${OLD}"] }\n---\nbound_claims: { sub: ["${NEW}"] }\n`,
    'add',
  ],
])('a role takes the new ID: %s', async (_, role, says) => {
  const ran = await rename(['objective/team-a/chat', 'assistant', '--names', 'role.json'], CHAT, {
    'role.json': typeof role === 'string' ? role : JSON.stringify(role),
  })
  const step = /\n1\. [^]*?\n\n/.exec(ran.stdout)?.[0] ?? ''
  const [, edit = ''] = /NamesFile role\.json: (.*)/.exec(step) ?? []
  expect(edit.slice(0, says.length)).toBe(says)
  expect(edit === '').toBe(says === '')
})

test('a workload ID of a role goes at the end', async () => {
  const ran = await rename(['objective/team-a/chat', 'assistant', '--names', 'role.json'], CHAT, {
    'role.json': JSON.stringify({ workload_id_patterns: ['ns/team-a/objective/chat', 'ns/team-b/*'] }),
  })
  expect(ran.stdout).toMatch(/NamesFile role\.json: take the old ID out of\s+\.workload_id_patterns\[0\]/)
})

describe('the first line', () => {
  test.each([
    [
      'a string, which may hold two',
      consumers[5]?.[1] ?? '',
      [],
      4,
      /^! .*it is not known whether a container is cut off.* not known: ConfigMap web\/peers/,
    ],
    [
      'a regular expression, which may take in the old ID alone',
      (consumers[5]?.[1] ?? '').replace(OLD, OLD.replace('chat', '(chat|draft)')),
      [],
      4,
      /^! .*it is not known .* holds spiffe:\/\/example\.org\/ns\/team-a\/objective\/\*, which may be the old ID/,
    ],
    [
      'a role of Vault, which cannot',
      '',
      ['--names', 'role.json'],
      0,
      /^! .*a container is cut off .* cut off: NamesFile role\.json/,
    ],
    [
      'a policy that denies the new ID',
      ISTIO.replace('spec: {', 'spec: { action: DENY,').replace('chat', 'assistant'),
      [],
      4,
      /^! .*AuthorizationPolicy web\/peers .* refuses spiffe:\/\/example\.org\/ns\/team-a\/objective\/assistant/,
    ],
    [
      'a pod without the labels of the new pool',
      naming('inference.networking.k8s.io/v1', 'InferencePool', '{}')
        .replace('name: peers, namespace: web', 'name: none, namespace: team-a')
        .replace('spec: {}', 'spec: { selector: { matchLabels: { app: none } } }'),
      [],
      0,
      /^! .*a container is cut off .* cut off: /,
    ],
  ] as const)('says so for %s', async (_, object, flags, code, says) => {
    const isPool = object.includes('name: none')
    const asked = isPool ? ['pool/team-a/llama', 'none'] : ['objective/team-a/chat', 'assistant']
    const ran = await rename([...asked, ...flags], `${isPool ? POOLED : CHAT}${object}`, {
      'role.json': JSON.stringify({ bound_subject: OLD }),
    })
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).toMatch(says)
    expect(ran.code).toBe(code)
  })

  test('nothing is renamed that no binding names', async () => {
    const { stdout, code } = await rename(
      ['pool/team-a/phi', 'llama'],
      `${POOLED}${WORLD.replace(/[\s\S]*(kind: InferencePool[\s\S]*?)---[\s\S]*/, '---\napiVersion: inference.networking.k8s.io/v1\n$1').replace('name: llama', 'name: phi')}`,
    )
    expect(stdout).toMatch(/^· InferencePool team-a\/phi to llama: no binding names it, so no ID changes/)
    expect(code).toBe(0)
  })
})

test.each<[string, string, RegExp]>([
  [
    'of Azure, with one subject in each',
    JSON.stringify([{ subject: OLD }, { subject: NEW }]),
    /^! .*not known/,
  ],
  [
    'in members of GCP',
    JSON.stringify({ members: [`principal://iam.googleapis.com/p/subject/${OLD}`] }),
    /^✓ .* add principal:\S+\/subject\/spiffe:\S+assistant beside spiffe:\S+chat in \.members /,
  ],
  [
    'in members of GCP, where the new one is in another pool',
    JSON.stringify({ members: [`principal://g/p/subject/${OLD}`, `principal://g/q/subject/${NEW}`] }),
    /^✓ .* add principal:\/\/g\/p\/subject\/spiffe:\S+assistant beside /,
  ],
  [
    'in a list of conditions',
    JSON.stringify({ all: [`sub != '${OLD}'`] }),
    /^! .*not known: NamesFile names \.all/,
  ],
  ['as keys', JSON.stringify({ roles: { [OLD]: 'admin' } }), /^! .*not known/],
  ['in a list of principals of Kafka', `User:${OLD}\n`, /^✓ .* add User:spiffe:\S+assistant beside /],
  ['in a list with the new one behind other words', `User:${OLD}\n${NEW}\n`, /^✓ .* add User:spiffe/],
  ['in a list with CRLF and comments', `# ours\r\n${OLD}\r\n`, /^✓ .* beside spiffe:\S+chat in line 2/],
  [
    'in a policy that denies the new one',
    JSON.stringify({
      Statement: [
        { Effect: 'Allow', Condition: { StringLike: { 'x:sub': 'spiffe://example.org/*' } } },
        { Effect: 'Deny', Condition: { StringEquals: { 'x:sub': NEW } } },
      ],
    }),
    /^! .* refuses spiffe:\S+assistant/,
  ],
])('--names with IDs %s', async (_, names, says) => {
  const args = ['objective/team-a/chat', 'assistant', '--names', 'names']
  const { stdout } = await rename(args, CHAT, { names })
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(says)
})

test('two fields of one list are no list', async () => {
  const spec = `{ env: [{ name: A, value: "${OLD}" }, { name: B, value: "${NEW}" }] }`
  const { stdout } = await rename(
    ['objective/team-a/chat', 'assistant'],
    `${CHAT}${naming('example.com/v1', 'Client', spec)}`,
  )
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/^! .*not known: Client web\/peers \.spec\.env\[0\]\.value/)
})

/** More than what is compared of a line. */
const LONG = 'x'.repeat(300)

test.each<[string, unknown, boolean]>([
  ['in a list of IDs', { peers: ['spiffe://a/b', OLD, 'spiffe://a/c', NEW] }, true],
  ['in arguments for another purpose', { args: ['--allow', OLD, '--own-id', NEW] }, false],
  ['in such arguments with their names', { args: [`--allow=${OLD}`, `--own-id=${NEW}`] }, false],
  ['in a line that is the same otherwise', { a: `san:\n- exact: ${OLD},\n- exact: ${NEW}\n` }, true],
  ['in the same line', { a: `allow = ["${OLD}", "${NEW}"]` }, true],
  ['in another line', { a: `allow: ${OLD}\nown: ${NEW}\n` }, false],
  ['in another line, alike for long', { a: `allow: ${LONG}${OLD}\nown: ${LONG}${NEW}\n` }, false],
  ['for one of two lines', { a: `allow: ${OLD}\nallow: ${NEW}\nrelay: ${OLD}\n` }, false],
  ['in the same line, and longer', { a: `allow = ["${OLD}", "${NEW}-2"]` }, false],
])('a string names the new ID %s', async (_, spec, isAccepted) => {
  const objects = [
    [naming('example.com/v1', 'Client', JSON.stringify(spec)), ''],
    ['', JSON.stringify(spec)],
  ]
  for (const [object = '', names = ''] of objects) {
    const flags = names === '' ? [] : ['--names', 'names.json']
    const ran = await rename(['objective/team-a/chat', 'assistant', ...flags], `${CHAT}${object}`, {
      'names.json': names,
    })
    // In a file a list is one of names.
    expect(/^ {3}nothing that was read is left/m.test(ran.stdout)).toBe(
      isAccepted || (names !== '' && names.includes('["--allow",')),
    )
  }
})

describe('arguments', () => {
  test.each([
    ['no new name', ['pool/llama'], 'rename needs two words: the object, and its new name'],
    ['no kind', ['llama', 'phi'], 'write iib/llama, pool/llama or objective/llama'],
    [
      'another kind',
      ['deployment/llama', 'phi'],
      'name a binding, an InferencePool or an InferenceObjective',
    ],
    ['two kinds', ['pool/llama', 'objective/chat'], 'name two objects of one kind'],
    ['two namespaces', ['pool/team-a/llama', 'pool/team-b/llama'], 'name two objects of one namespace'],
    ['one name twice', ['pool/llama', 'llama'], 'name the new one'],
    ['a name that none can have', ['pool/llama', 'Llama 70B'], 'lower-case letters'],
  ])('%s', async (_, args, says) => {
    const ran = await rename(args, POOLED)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(says)
  })

  test('the kind may be a word of its own, and what is not there is said', async () => {
    expect((await rename(['pool', 'llama', 'phi'], POOLED)).code).toBe(0)
    const ran = await rename(['pool/team-a/lama', 'phi'], POOLED)
    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('did you mean team-a/llama?')
    expect((await rename(['pool/team-a/x', 'phi'], POOLED)).stderr).toContain('name one of team-a/llama')
  })
})

test('a step counts the containers that hold both IDs, not those that the new pool leaves out', async () => {
  const narrower = `---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: fast, namespace: team-a }
spec: { selector: { matchLabels: { app: llama, tier: fast } } }
---
apiVersion: v1
kind: Pod
metadata: { name: llama-1, namespace: team-a, uid: 22222222-0000-4000-8000-000000000002, labels: { app: llama, tier: fast } }
spec: { nodeName: n1, serviceAccountName: runner, containers: [{ name: vllm }] }
`
  const { stdout } = await rename(['pool/team-a/llama', 'fast'], `${POOLED}${narrower}`)
  expect(stdout).toContain('two SVIDs: from here to the switch 1 container may present either ID')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(': 1 container with it breaks if skipped')
})

test('a container is not cut off where the new ID was open before and is certain after', async () => {
  const entry = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: { name: by-hand, uid: 33333333-0000-4000-8000-000000000009 }
spec: { spiffeID: ${NEW}, parentID: spiffe://example.org/node/x, selectors: ['unix:uid:0'] }
`
  const { stdout } = await rename(['objective/team-a/chat', 'assistant'], `${CHAT}${entry}`)
  expect(stdout).not.toContain('is lost, and nothing takes its place')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('not known: what is held by vllm of pod team-a/llama-0')
})

describe('words that can be pasted and believed', () => {
  const ARGS = ['objective/team-a/chat', 'assistant', '-o', 'wide']

  test('the old object is deleted in its own group, since kubectl would look in the first that has the kind', async () => {
    const namesake = `---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceObjective
metadata: { name: chat, namespace: team-a }
spec: { poolRef: { name: llama } }
`
    const one = await rename(ARGS, CHAT)
    expect(one.stdout.match(/kubectl delete inference\S+/g)).toEqual([
      'kubectl delete inferenceobjectives.llm-d.ai',
    ])
    const two = await rename(ARGS, `${CHAT}${namesake}`)
    expect(two.stdout.match(/kubectl delete inference\S+/g)?.toSorted()).toEqual([
      'kubectl delete inferenceobjectives.inference.networking.x-k8s.io',
      'kubectl delete inferenceobjectives.llm-d.ai',
    ])
  })

  test('a place that names the old ID twice is listed once', async () => {
    const both = `{ data: { a: ${JSON.stringify(`${OLD} ${OLD}`)}, b: ${JSON.stringify(`"${OLD}" == x || ${OLD}`)} } }`
    const map = `---\n${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'web' }, data: { rego: `x == "${OLD}"\nstartswith(x, "${OLD}")\nregex.match("^spiffe://example.org/ns/team-a/.*", x)\nregex.match("^spiffe://example.org/ns/.*", x)` } })}\n`
    const intentions = naming(
      'consul.hashicorp.com/v1alpha1',
      'ServiceIntentions',
      `{ sources: [{ name: "${OLD}" }] }`,
    )
    const { stdout } = await rename(ARGS, `${CHAT}${map}${intentions}${naming('v1', 'ConfigMap', both)}`)
    const rows = stdout.split('\n').filter((row) => /take the old ID out|first ConfigMap/.test(row))
    expect(rows.length).toBeGreaterThan(1)
    expect(rows).toEqual([...new Set(rows)])
  })

  test('a static entry that perhaps applies is the same before and after', async () => {
    const entry = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: { name: vm, uid: 44444444-0000-4000-8000-000000000001 }
spec:
  spiffeID: spiffe://example.org/vm
  parentID: spiffe://example.org/spire/agent/x509pop/vm
  selectors: ['unix:uid:1001']
`
    const { code, stdout } = await rename(ARGS, `${CHAT}${entry}`)
    expect(stdout).not.toContain('what is held by')
    expect(code).toBe(0)
  })
})
