// What is not known is never shown as fine: for each way of not knowing, what an answer must say, and what it must not.
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

const DEFAULT = foreign(
  'default',
  'spiffe://example.org/sa/{{ .PodSpec.ServiceAccountName }}',
  'fallback: true',
)
const UNFOLLOWED = foreign('by-owner', 'spiffe://example.org/{{ .PodMeta.OwnerReferences }}')
const OWNED = POD.replace(
  '  labels: {app: llama}\n',
  '  labels: {app: llama}\n  ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: "1", controller: true}]\n',
)

/** A policy whose rule names the ID of binding team-a/chat, and one whose rule names what nothing here gives. */
const POLICY = `apiVersion: agentic.networking.x-k8s.io/v1alpha1
kind: XAccessPolicy
metadata: {name: tools, namespace: team-a}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  action: Allow
  rules:
    - {name: chat, source: {type: SPIFFE, spiffe: spiffe://example.org/ns/team-a/objective/chat}}
    - {name: other, source: {type: SPIFFE, spiffe: spiffe://example.org/other}}
`

function foreign(name: string, template: string, more = 'fallback: false'): string {
  return `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: ${name}, uid: uid-of-${name}, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  spiffeIDTemplate: '${template}'
  ${more}
`
}

interface Situation {
  readonly name: string
  readonly manifests: readonly string[]
  readonly args: readonly string[]
  /** Without SCM's settings or without the class, where that is the situation. */
  readonly settings?: readonly string[]
  readonly code: number
  readonly says: readonly RegExp[]
  readonly never: readonly RegExp[]
}

const BROKEN = 'kind: [\n'
const WELL = /^ *✓/m

const SITUATIONS: readonly Situation[] = [
  {
    name: 'a document cannot be read: nothing is known to clash',
    manifests: [SMALL, BROKEN],
    args: ['conflicts'],
    code: 4,
    says: [/^! incomplete: not everything is known/m, /nothing is known to clash/],
    never: [WELL, /nothing clashes/],
  },
  {
    name: 'a document cannot be read, and findings do not matter: still 4',
    manifests: [SMALL, BROKEN],
    args: ['conflicts', '--fail-on', 'never'],
    code: 4,
    says: [/^! incomplete: not everything is known/m],
    never: [WELL],
  },
  {
    name: 'a document cannot be read: it may hold what selects a pod',
    manifests: [SMALL, BROKEN],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 4,
    says: [/^! incomplete: not everything is known/m, /spiffe:\/\/example\.org\/ns\/team-a\/objective\/chat/],
    never: [],
  },
  {
    name: 'a document cannot be read: no container is known to gain or lose an identity',
    manifests: [POD, NODE, BROKEN],
    args: ['diff'],
    code: 4,
    says: [/^! incomplete: not everything is known/m, /no container is known to gain or lose/],
    never: [WELL, /no container gains or loses/],
  },
  {
    name: 'the pool may be in a document that cannot be read',
    manifests: [OBJECTIVE, BINDING, BROKEN],
    args: ['explain', 'team-a/chat'],
    code: 4,
    says: [/is undetermined/],
    never: [/is refused/, /is ready/],
  },
  {
    name: 'a pool of the other group may be in a document that cannot be read',
    manifests: [POOL, OBJECTIVE, BINDING.replace(', group: inference.networking.k8s.io', ''), BROKEN],
    args: ['explain', 'team-a/chat'],
    code: 4,
    says: [/is undetermined/],
    never: [/is refused/, /is ready/],
  },
  {
    name: 'a template is not followed: the default that it may displace is not certain',
    manifests: [OWNED, NODE, DEFAULT, UNFOLLOWED],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 4,
    says: [
      /identity undetermined/,
      /depends: ClusterSPIFFEID\/default is a fallback/,
      /unknown: .*OwnerReferences|unknown:/,
    ],
    never: [WELL, /no identity$/m],
  },
  {
    name: 'a template is not followed: conflicts says so, and does not exit with 0',
    manifests: [OWNED, NODE, UNFOLLOWED],
    args: ['conflicts'],
    code: 4,
    says: [/KLM413/],
    never: [WELL, /nothing clashes/],
  },
  {
    name: 'a template is not followed on the pods of a binding: explain says so',
    manifests: [POOL, OBJECTIVE, BINDING, OWNED, NODE, UNFOLLOWED],
    args: ['explain', 'team-a/chat'],
    code: 4,
    says: [/KLM413/],
    never: [],
  },
  {
    name: 'a template is not followed: it may give the ID that is asked for',
    manifests: [OWNED, NODE, UNFOLLOWED],
    args: ['who-selects', '--spiffe-id', 'spiffe://example.org/x'],
    code: 4,
    says: [/ClusterSPIFFEID\/by-owner/],
    never: [/no container holds it/],
  },
  {
    name: 'a template is not followed: there may be more entries',
    manifests: [OWNED, NODE, UNFOLLOWED],
    args: ['who-selects', '-A', '--entries'],
    code: 4,
    says: [/SPIRE would hold no entry, and perhaps more/, /KLM413/],
    never: [WELL],
  },
  {
    name: 'a document cannot be read: it may hold the identity of a container that has none',
    manifests: [POD, NODE, BROKEN],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 4,
    says: [/vllm +! identity undetermined/],
    never: [WELL, /no identity/],
  },
  {
    name: 'a document cannot be read: a pod in it may hold the ID that is asked for',
    manifests: [POD, NODE, BROKEN],
    args: ['who-selects', '--spiffe-id', 'spiffe://example.org/x'],
    code: 4,
    says: [/no container is known to hold/],
    never: [WELL, /would hold/],
  },
  {
    name: 'a document cannot be read: it may give the ID that a policy names, and hold more policies',
    manifests: [SMALL, POLICY, BROKEN],
    args: ['policies'],
    code: 4,
    says: [
      /^! incomplete: not everything is known/m,
      /^! policy team-a\/tools, and perhaps more: /,
      /unknown: whether anything gives it/,
    ],
    never: [/dangling/],
  },
  {
    name: 'a document cannot be read: no identity is reported as named by no policy',
    manifests: [SMALL, POLICY.replace('objective/chat', 'objective/x'), BROKEN],
    args: ['explain', 'team-a/chat'],
    code: 4,
    says: [/named by +not known: cannot read/],
    never: [/no rule of any policy/, /KLM604/],
  },
  {
    name: 'a document cannot be read: who selects a pod, and no rule is known to name what it gets',
    manifests: [SMALL, POLICY.replace('objective/chat', 'objective/x'), BROKEN],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 4,
    says: [/no known rule names spiffe:/, /not known: cannot read/],
    never: [/no rule names/],
  },
  {
    name: 'a template is not followed: it may give the ID that a policy names',
    manifests: [SMALL, OWNED.replaceAll('llama-0', 'llama-9'), POLICY, UNFOLLOWED],
    args: ['policies'],
    code: 4,
    says: [/unknown: ClusterSPIFFEID\/by-owner may give it/],
    never: [/dangling/],
  },
  {
    name: 'the trust domain is not known: whether an ID is one of ours is not known',
    manifests: [SMALL, POLICY],
    args: ['policies'],
    settings: ['--clusterspiffeid-class-name', ''],
    code: 4,
    says: [/unknown: the trust domain/, /not known: missing kleym's trust domain; pass --trust-domain/],
    never: [WELL, /dangling/, /foreign/],
  },
  {
    name: 'nodes are not given: the parent of an entry is shown as unknown',
    manifests: [POOL, OBJECTIVE, BINDING, POD],
    args: ['who-selects', 'pod/team-a/llama-0', '--entries'],
    code: 0,
    says: [/parent +spiffe:\/\/example\.org\/spire\/agent\/k8s_psat\/prod\/<node UID>/],
    never: [],
  },
  {
    name: 'nodes are given, and not the one of the pod: nothing is issued',
    manifests: [SMALL.replace('metadata: {name: gpu-1,', 'metadata: {name: gpu-2,')],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 0,
    says: [/no identity|identity undetermined/],
    never: [WELL],
  },
  {
    name: 'endpoints are not given: DNS names that come from Services are not shown as none',
    manifests: [POD, NODE, foreign('mesh', 'spiffe://example.org/mesh', 'autoPopulateDNSNames: true')],
    args: ['who-selects', 'pod/team-a/llama-0', '--entries'],
    code: 0,
    says: [/<[^>]*(?:DNS|Service|Endpoints)[^>]*>/i],
    never: [],
  },
  {
    name: "SCM's settings are assumed: the output would be ignored, which is said and not issued",
    manifests: [SMALL],
    args: ['explain', 'team-a/chat', '--fail-on', 'warning'],
    settings: ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', ''],
    code: 4,
    says: [
      /KLM410/,
      /reaches no container among these files/,
      /^ {2}SCM's settings: they are assumed to be/m,
    ],
    never: [WELL],
  },
  {
    name: 'the class is not known: that SCM handles it is taken for granted, and said',
    manifests: [SMALL],
    args: ['explain', 'team-a/chat'],
    settings: ['--trust-domain', 'example.org', '--scm-config', 'scm.yaml'],
    code: 0,
    says: [/assuming\s+that\s+SCM\s+handles\s+kleym's\s+outputs/],
    never: [WELL],
  },
  {
    name: 'the class is not known, and nothing may be taken for granted: that is said',
    manifests: [SMALL],
    args: ['explain', 'team-a/chat', '--strict'],
    settings: ['--trust-domain', 'example.org', '--scm-config', 'scm.yaml'],
    code: 4,
    says: [
      /kleym's class: it is assumed to be SCM's, which has none; [^(]*\(pass\s+--clusterspiffeid-class-name/,
    ],
    never: [WELL],
  },
  ...['explain team-a/chat', 'who-selects pod/team-a/llama-0', 'conflicts', 'who-selects -A --entries'].map(
    (command): Situation => ({
      name: `an object that Go cannot decode stops SCM for every object: ${command}`,
      manifests: [SMALL, foreign('reports', 'spiffe://example.org/x', 'ttl: 1d')],
      args: command.split(' '),
      code: 1,
      says: [/KLM406/],
      never: [/nothing clashes/],
    }),
  ),
  {
    name: 'an entry that is no UTF-8 stops new entries: nothing is certain',
    manifests: [SMALL, foreign('cut', 'spiffe://example.org/x', `dnsNameTemplates: ['{{ slice "é" 0 1 }}']`)],
    args: ['who-selects', 'pod/team-a/llama-0'],
    code: 1,
    says: [/KLM407/],
    never: [WELL],
  },
]

test.each(SITUATIONS)('$name', async ({ manifests, args, settings = SETTINGS, code, says, never }) => {
  const cwd = workspace({ 'all.yaml': documents(...manifests), 'scm.yaml': SCM_CONFIG })
  const run = await kleym([...args, '--offline', '-f', 'all.yaml', ...settings], { cwd })
  for (const words of says) expect(run.stdout + run.stderr).toMatch(words)
  for (const words of never) expect(run.stdout).not.toMatch(words)
  expect(run.code).toBe(code)
})

describe('a template that is not followed changes into another', () => {
  test('diff does not say that nothing changes', async () => {
    const other = foreign('by-owner', 'spiffe://example.org/other/{{ .PodMeta.OwnerReferences }}')
    const cwd = workspace({
      'live/all.yaml': documents(OWNED, NODE, UNFOLLOWED),
      'same.yaml': UNFOLLOWED,
      'other.yaml': other,
      'scm.yaml': SCM_CONFIG,
    })
    const diff = async (file: string): Promise<Run> =>
      kleym(['diff', '--offline', '--live', 'live', '-f', file, ...SETTINGS], { cwd })
    const [same, changed] = [await diff('same.yaml'), await diff('other.yaml')]
    expect(same.code).toBe(0)
    expect(same.stdout).toContain('no container gains or loses an identity')
    expect(changed.code).toBe(4)
    expect(changed.stdout).not.toContain('no container gains or loses an identity')
    expect(changed.stdout).toContain('! 1 container undetermined')
  })
})
