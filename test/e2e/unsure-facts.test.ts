// No answer is surer than what was given, at the edges of what SCM, policies and objectives may hold: each with the executable
// that ships, on manifests alone.
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

beforeAll(built)

const CHAT_ID = 'spiffe://example.org/ns/team-a/objective/chat'

/** Runs a command on these manifests, with SCM's settings and `more` of them. */
async function on(all: string, args: readonly string[], more = ''): Promise<Run> {
  const cwd = workspace({ 'all.yaml': all, 'scm.yaml': `${SCM_CONFIG}${more}` })
  return kleym([...args, '--offline', '-f', 'all.yaml', ...SETTINGS], { cwd })
}

/** A ClusterSPIFFEID that selects the pod of `SMALL`. */
function clusterSpiffeId(name: string, spec: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: ${name}, uid: uid-of-${name}, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: ${spec}
`
}

const CACHE = 'enableEntryRenderCache: true\n'
const WHO = ['who-selects', 'pod/llama-0', '-n', 'team-a'] as const

describe("SCM's render cache", () => {
  const NUMBERED = clusterSpiffeId(
    'mesh',
    "{spiffeIDTemplate: 'spiffe://example.org/{{ slice .PodMeta.Name 0 }}'}",
  )
  const TWINS = ['one', 'two'].map((path) =>
    clusterSpiffeId(
      `mesh-${path}`,
      `{spiffeIDTemplate: '{{ define "t" }}${path}{{ end }}spiffe://example.org/{{ template "t" }}'}`,
    ),
  )

  test('off: an object with a number is served', async () => {
    const { stdout, code } = await on(documents(SMALL, NUMBERED), WHO)
    expect(stdout).toMatch(/✓ spiffe:\/\/example\.org\/llama-0/)
    expect(code).toBe(0)
  })

  test('on: an object with a number is dropped, and a finding says why', async () => {
    const { stdout } = await on(documents(SMALL, NUMBERED), [...WHO, '-o', 'json'], CACHE)
    expect(JSON.parse(stdout)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          code: 'KLM408',
          evidence: expect.arrayContaining([
            expect.stringContaining("which SCM's render cache cannot keep: SCM drops the object"),
          ]),
        }),
      ]),
    })
    const shown = await on(documents(SMALL, NUMBERED), WHO, CACHE)
    expect(shown.stdout).not.toMatch(/✓ spiffe:\/\/example\.org\/llama-0/)
  })

  test('on: of two objects whose definitions alone differ, it is open which is served', async () => {
    const without = await on(documents(SMALL, ...TWINS), WHO)
    expect(without).toMatchObject({ code: 0 })
    const { stdout } = await on(documents(SMALL, ...TWINS), WHO, CACHE)
    expect(stdout).not.toMatch(/✓ spiffe:\/\/example\.org\/(one|two)/)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      "uses a definition, and SCM's render cache compares none",
    )
  })
})

test("an entry in a trust domain that is not SCM's depends on the server's", async () => {
  const entry = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: far, uid: uid-of-far, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {spiffeID: 'spiffe://far.example/db', parentID: 'spiffe://far.example/spire/agent/x', selectors: ['k8s:ns:team-a']}
`
  const { stdout } = await on(documents(SMALL, entry), [...WHO, '-o', 'json'])
  expect(stdout).not.toContain('"refused"')
  expect(stdout).toContain('the SPIRE server takes it only in its own trust domain, and .spec.spiffeID')
})

/** A policy on the Gateway `tools`, of one rule. */
function policy(rule: string, kind = 'XAccessPolicy'): string {
  return `apiVersion: agentic.networking.x-k8s.io/v1alpha1
kind: ${kind}
metadata: {name: tools, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  action: Allow
  rules:
  - ${rule}
`
}

/** One whose rule asks for this of MCP. */
function inline(mcp: string): string {
  const source = `{type: SPIFFE, spiffe: '${CHAT_ID}'}`
  return policy(`{name: callers, source: ${source}, authorization: {type: Inline, mcp: ${mcp}}}`)
}

const POLICIES = ['policies', '-A', '-o', 'json'] as const

describe('access policies', () => {
  test("a rule that lets the base protocol's methods through does not ask for nothing", async () => {
    const base = await on(
      documents(SMALL, inline('{mcpBaseProtocolMethodsOption: MATCH_BASE_PROTOCOL_METHODS}')),
      POLICIES,
    )
    expect(base.stdout).not.toContain('KLM607')
    const nothing = await on(documents(SMALL, inline('{}')), POLICIES)
    expect(nothing.stdout).toContain('KLM607')
  })

  test('the ID of a service account is written out, also where the trust domain is not known', async () => {
    const cwd = workspace({
      'all.yaml': policy('{name: callers, source: {type: ServiceAccount, serviceAccount: {name: planner}}}'),
    })
    const { stdout } = await kleym(['policies', '-A', '--offline', '-f', 'all.yaml'], { cwd })
    expect(stdout).toContain('it means spiffe://<trust-domain>/ns/agents/sa/planner')
    expect(stdout).not.toContain('<namespace>')
  })

  test('kind AccessPolicy of v1alpha1: the kind is what differs, and its list of SPIFFE IDs is read', async () => {
    const rule = `{name: callers, source: {type: SPIFFE, spiffe: ['${CHAT_ID}', 'spiffe://example.org/x']}}`
    const { stdout } = await on(documents(SMALL, policy(rule, 'AccessPolicy')), POLICIES)
    expect(JSON.parse(stdout)).toMatchObject({
      policies: [
        {
          kind: 'AccessPolicy',
          interpreted: true,
          problems: [
            'its kind is AccessPolicy, and agentic.networking.x-k8s.io/v1alpha1 calls it XAccessPolicy: its CRD serves no AccessPolicy',
          ],
          rules: [{ sources: [{ source: CHAT_ID }, { source: 'spiffe://example.org/x' }] }],
        },
      ],
    })
    expect(stdout).not.toContain('too old')
  })

  test('an ID within a CEL text is mentioned in CEL, not interpreted', async () => {
    const rule = `{name: callers, source: {type: ServiceAccount, serviceAccount: {name: planner}}, authorization: {type: CEL, cel: {expression: 'source.id == "${CHAT_ID}"'}}}`
    const all = documents(SMALL, policy(rule))
    const { stdout } = await on(all, ['policies', '-A'])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${CHAT_ID} is mentioned in CEL, not interpreted`)
    const explained = await on(all, ['explain', 'team-a/chat'])
    expect(explained.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `perhaps, since ${CHAT_ID} is mentioned in CEL, which is not interpreted: agents/tools rule callers`,
    )
    expect(explained.stdout).not.toContain('no rule of any policy')
  })
})

describe('JSON that is no JSON is placed where it is wrong', () => {
  test.each<[string, string, number, number, string]>([
    [
      'a trailing comma, lines before the bracket that shows it',
      '{"apiVersion": "v1",\n"kind": "Pod",\n\n}',
      2,
      14,
      'a comma stands before the end of a list or mapping',
    ],
    ['a word without quotes', '{"apiVersion": "v1",\n"kind": Pod}', 2, 9, 'here stands what is no value'],
    ['a missing comma', '{"apiVersion": "v1"\n"kind": "Pod"}', 2, 1, 'a "," is missing between two values'],
    ['an end too early', '{"apiVersion": "v1",\n"kind": "Pod"', 2, 14, 'the JSON ends too early'],
  ])('%s', async (_, text, line, column, why) => {
    const cwd = workspace({ 'all.yaml': SMALL, 'pod.json': text, 'scm.yaml': SCM_CONFIG })
    const args = ['explain', 'team-a/chat', '--offline', '-f', 'all.yaml', '-f', 'pod.json', ...SETTINGS]
    const { stderr, code } = await kleym(args, { cwd })
    expect(stderr).toContain(`document 1 of pod.json (line ${line}, column ${column})`)
    expect(stderr).toContain(why)
    expect(code).toBe(4)
  })
})

/** `SMALL` with another spec of the objective. */
function withObjective(spec: string): string {
  return documents(POOL, OBJECTIVE.replace(/^spec: .*$/m, `spec: ${spec}`), BINDING, POD, NODE)
}

describe('what an objective and a pool may leave out', () => {
  test.each<[string, string, string]>([
    ['poolRefs with one entry that leads to the pool', '{poolRefs: [{name: other}, {name: llama}]}', '✓'],
    // The API server drops the field.
    ['an empty namespace in poolRef', '{poolRef: {name: llama, namespace: ""}}', '!'],
  ])('%s: the binding is ready', async (_, spec, mark) => {
    const { stdout, code } = await on(withObjective(spec), ['explain', 'team-a/chat'])
    expect(stdout).toContain(`${mark} team-a/chat is ready: 1 container gets`)
    expect(code).toBe(0)
  })

  test('poolRefs that cannot be read: it is not known, and nothing is refused', async () => {
    const { stdout, code } = await on(withObjective('{poolRefs: [{pool: llama}]}'), [
      'explain',
      'team-a/chat',
    ])
    expect(stdout).toContain('team-a/chat is undetermined')
    expect(stdout).toContain('cannot read poolRefs of InferenceObjective.llm-d.ai')
    expect(code).toBe(4)
  })

  test('poolRefs that lead elsewhere: it is refused', async () => {
    const { stdout, code } = await on(withObjective('{poolRefs: [{name: other}]}'), [
      'explain',
      'team-a/chat',
    ])
    expect(stdout).toContain('InvalidObjectiveRef')
    expect(code).toBe(1)
  })

  test('an empty list of matchExpressions selects as none does', async () => {
    const pool = POOL.replace(
      '{matchLabels: {app: llama}}',
      '{matchLabels: {app: llama}, matchExpressions: []}',
    )
    expect(pool).not.toBe(POOL)
    const { stdout, code } = await on(documents(pool, OBJECTIVE, BINDING, POD, NODE), [
      'explain',
      'team-a/chat',
    ])
    // The API server drops the field, which is a warning.
    expect(stdout).toMatch(/! team-a\/chat is ready: 1 container gets/)
    expect(code).toBe(0)
  })
})
