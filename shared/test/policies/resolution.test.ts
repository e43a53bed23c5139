// Each line of docs/gaie-facts.md §B3: what a rule's source comes to, and what kleym must not say where it does not know.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { UnknownReason } from '../../src/core/model/unknown-reason.ts'
import type { Resolution } from '../../src/core/analysis/policies/resolution.ts'
import { binding, live, objective, orphanOf, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import {
  account,
  analysisOf,
  CHAT_ID,
  DEFAULT_ID,
  foreign,
  TEAM_A,
  NODE,
  pod,
  policyOf,
  resolution,
  spiffe,
  staticEntry,
  type AnalysisSetting,
} from '@kleym/testing/access-policies.ts'

const gap = (what: string): UnknownReason => ({ verb: 'list', what, cause: 'forbidden' })
const PODS_UNKNOWN: AnalysisSetting = { gaps: { Pod: gap('Pod') } }
const CSID = 'ClusterSPIFFEID.spire.spiffe.io'
const REFUSED = binding({ spec: { objectiveRef: { name: 'sql' } } })

const DEPLOYMENT: JsonRecord = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'llama', namespace: 'team-a', uid: 'uid-of-llama' },
  spec: {
    template: {
      metadata: { labels: { app: 'llama' } },
      spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
    },
  },
}

/** An output of a binding elsewhere, which was not read, on the container of the binding here. */
const PEER = orphanOf(outputOf([pool(), objective(), binding()]), 'team-z/gone', {
  spec: { spiffeIDTemplate: 'spiffe://example.org/ns/team-z/objective/other' },
})

/** What kleym has written for the binding. */
const OUTPUT = live(outputOf(TEAM_A))

interface Case {
  readonly says: string
  readonly source: unknown
  readonly objects?: readonly JsonRecord[]
  readonly setting?: AnalysisSetting
  readonly state: Resolution['state']
  /** Parts of the sentence. */
  readonly text?: readonly string[]
  /** What it must not say. */
  readonly never?: readonly string[]
}

const id = (path: string, domain = 'example.org'): JsonRecord => spiffe(`spiffe://${domain}${path}`)

const CASES: readonly Case[] = [
  // 1. Resolved.
  {
    says: 'an ID of a binding whose pod is there is resolved to binding, pool and container',
    source: spiffe(CHAT_ID),
    objects: [...TEAM_A, OUTPUT],
    state: 'resolved',
    text: ['1 container holds it', 'binding team-a/llama of pool llama'],
  },
  {
    says: 'an ID that a template renders for a pod that is there is resolved',
    source: id('/ns/agents/sa/planner'),
    objects: [
      NODE,
      DEFAULT_ID,
      pod({ namespace: 'agents', name: 'planner-0', spec: { serviceAccountName: 'planner' } }),
    ],
    state: 'resolved',
    text: ['2 containers hold it, by ClusterSPIFFEID/default'],
  },
  {
    says: 'an ephemeral container holds nothing, since SPIRE never attests one',
    source: id('/ns/team-a/sa/runner'),
    objects: [NODE, DEFAULT_ID, pod({ spec: { ephemeralContainers: [{ name: 'debugger' }] } })],
    state: 'resolved',
    text: ['2 containers hold it'],
  },
  {
    says: 'an ID of a static entry whose selectors match a pod is resolved',
    source: id('/agents/planner'),
    objects: [
      NODE,
      staticEntry('planner', { spiffeID: 'spiffe://example.org/agents/planner' }),
      pod({ namespace: 'agents', name: 'planner-0', spec: { serviceAccountName: 'planner' } }),
    ],
    state: 'resolved',
    text: ['by ClusterStaticEntry/planner'],
  },
  {
    says: 'an ID that a container holds may be held by one of a pod that waits for a node',
    source: id('/ns/team-a/sa/runner'),
    objects: [
      NODE,
      DEFAULT_ID,
      pod(),
      pod({ name: 'llama-1', spec: { nodeName: undefined, containers: [{ name: 'main' }] } }),
    ],
    state: 'resolved',
    text: [
      '2 containers hold it, by ClusterSPIFFEID/default; perhaps others: not certain whether ClusterSPIFFEID/default gives it to others: the pod is not scheduled to a node yet',
    ],
  },
  {
    says: 'an ID that only a pod which waits for a node will be given is not known to be held by none',
    source: spiffe(CHAT_ID),
    objects: [pool(), objective(), binding(), OUTPUT, NODE, pod({ spec: { nodeName: undefined } })],
    state: 'unknown',
    text: ['the pod is not scheduled to a node yet'],
    never: ['it selects no pod here'],
  },
  {
    says: 'an ID that is held is resolved even where other pods are not known',
    source: spiffe(CHAT_ID),
    setting: PODS_UNKNOWN,
    state: 'resolved',
  },
  {
    says: 'an ID that a workload will hold is resolved, and its pods are not there yet',
    source: spiffe(CHAT_ID),
    objects: [NODE, pool(), objective(), binding(), DEPLOYMENT],
    state: 'resolved',
    text: [
      '1 container will hold it, once the pods are there and kleym has written its ClusterSPIFFEID, ' +
        'by binding team-a/llama of pool llama',
    ],
  },
  {
    says: 'an ID whose output kleym must still write is not held now',
    source: spiffe(CHAT_ID),
    state: 'resolved',
    text: ['1 container will hold it, once kleym has written its ClusterSPIFFEID, by binding team-a/llama'],
  },
  // 2. Declared, unheld.
  {
    says: 'an ID of a static entry that matches no container here may be held outside',
    source: id('/gateways/edge'),
    objects: [
      NODE,
      staticEntry('edge', { spiffeID: 'spiffe://example.org/gateways/edge', selectors: ['unix:uid:1000'] }),
    ],
    state: 'unheld',
    text: ['a workload outside of the cluster is not seen'],
  },
  {
    says: 'an ID of a binding without a pod is declared and unheld',
    source: spiffe(CHAT_ID),
    objects: [NODE, pool(), objective(), binding()],
    state: 'unheld',
    text: ['binding team-a/llama of pool llama gives it', 'it selects no pod here'],
  },
  {
    says: 'an ID of a binding whose pod has no such container is unheld, with the reason',
    source: spiffe(CHAT_ID),
    objects: [NODE, pool(), objective(), binding({ spec: { containerName: 'nobody' } }), pod()],
    state: 'unheld',
    text: ['no container holds it now: k8s:container-name:nobody does not match'],
  },
  {
    says: 'an ID of an output that SCM ignores is unheld, with the reason',
    source: id('/agents/planner'),
    objects: [
      NODE,
      pod(),
      foreign('planner', { spiffeIDTemplate: 'spiffe://example.org/agents/planner', className: 'other' }),
    ],
    state: 'unheld',
    text: ['no container holds it now: .spec.className of ClusterSPIFFEID/planner is other'],
  },
  {
    says: 'an ID that stands literally in a ClusterSPIFFEID which selects no pod is unheld',
    source: id('/agents/planner'),
    objects: [
      NODE,
      foreign('planner', {
        spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/agents/planner',
        podSelector: { matchLabels: { app: 'planner' } },
      }),
    ],
    state: 'unheld',
    text: ['ClusterSPIFFEID/planner gives it, and no container holds it now: it selects no pod here'],
  },
  {
    says: 'an ID of a binding is unheld where SCM serves another trust domain',
    source: spiffe(CHAT_ID),
    setting: { scmTrustDomain: 'elsewhere.org' },
    state: 'unheld',
    text: ['no container holds it now: SCM serves elsewhere.org and renders no ID of example.org'],
  },
  // 3. Dangling.
  {
    says: 'an ID that nothing gives is dangling',
    source: id('/agents/planner'),
    state: 'dangling',
    text: ['nothing gives it'],
  },
  {
    says: 'a dangling ID names the one that differs only in case',
    source: id('/ns/team-a/objective/Chat'),
    state: 'dangling',
    text: [`${CHAT_ID} differs only in the case of letters`],
  },
  {
    says: 'a trust domain in capital letters is ours, and no registration can have it',
    source: spiffe('spiffe://Example.org/ns/team-a/objective/chat'),
    state: 'dangling',
    text: ['no registration can', `${CHAT_ID} differs only in the case`],
  },
  {
    says: 'a dangling ID names the one below it, since people expect a prefix to match',
    source: id('/ns/team-a'),
    state: 'dangling',
    text: [`${CHAT_ID} lies below it, and an ID is compared as a whole`],
  },
  {
    says: 'a dangling ID names the one above it',
    source: id('/ns/team-a/objective/chat/adapter'),
    state: 'dangling',
    text: [`${CHAT_ID} lies above it`],
  },
  {
    says: 'a trust domain alone is dangling: no entry can have it',
    source: spiffe('spiffe://example.org'),
    state: 'dangling',
    text: ['no registration can: it has no path', CHAT_ID],
  },
  {
    says: 'an ID with dots for segments, which the CRD takes, is dangling',
    source: id('/ns/team-a/../chat'),
    state: 'dangling',
    text: ['no registration can: it has the path segment ".."'],
  },
  {
    says: 'an ID that a refused binding asks for is dangling, and names it',
    source: id('/ns/team-a/objective/sql'),
    objects: [NODE, pool(), REFUSED, pod()],
    state: 'dangling',
    text: ['binding team-a/llama asks for it and is refused (TargetObjectiveNotFound)'],
  },
  {
    says: 'an ID of the pool is dangling where the binding is for an objective',
    source: id('/ns/team-a/pool/llama'),
    state: 'dangling',
  },
  {
    says: 'an ID of the pool is resolved where the binding is for the pool',
    source: id('/ns/team-a/pool/llama'),
    objects: [NODE, pool(), poolOnly(), pod()],
    state: 'resolved',
  },
  // 4. Foreign.
  {
    says: 'an ID of another trust domain is foreign, and no registration federates with it',
    source: id('/x', 'elsewhere.org'),
    state: 'foreign',
    text: ['elsewhere.org is another trust domain', 'no ClusterSPIFFEID federates with it'],
  },
  {
    says: 'a foreign ID says who federates with its trust domain',
    source: id('/x', 'elsewhere.org'),
    objects: [
      ...TEAM_A,
      foreign('partner', { spiffeIDTemplate: 'spiffe://example.org/p', federatesWith: ['elsewhere.org'] }),
    ],
    state: 'foreign',
    text: ['ClusterSPIFFEID/partner federates with it'],
  },
  {
    says: 'a foreign ID with the path of ours names ours',
    source: id('/ns/team-a/objective/chat', 'cluster.local'),
    state: 'foreign',
    text: [`${CHAT_ID} has the same path, in another trust domain`],
  },
  {
    says: 'whether anything federates is not known where ClusterSPIFFEIDs are not',
    source: id('/x', 'elsewhere.org'),
    setting: { gaps: { [CSID]: gap(CSID) } },
    state: 'foreign',
    text: ['whether anything federates with it is not known'],
  },
  {
    says: 'a foreign ID that stands in a ClusterSPIFFEID is no near miss of itself',
    source: id('/x', 'elsewhere.org'),
    objects: [...TEAM_A, foreign('stray', { spiffeIDTemplate: 'spiffe://elsewhere.org/x' })],
    state: 'foreign',
    text: ['no ClusterSPIFFEID federates with it'],
    never: ['has the same path', 'lies below', 'lies above', 'differs only'],
  },
  // 5. Unbounded: absent, untyped, or without its member (trap 16: there is no wildcard).
  {
    says: 'a rule without a source is unbounded',
    source: undefined,
    state: 'unbounded',
    text: ['any principal: it has no source'],
  },
  { says: 'a source that is null is none', source: null, state: 'unbounded' },
  { says: 'an empty source is unbounded', source: {}, state: 'unbounded', text: ['its source is empty'] },
  {
    says: 'a source without a type is unbounded, whatever it fills',
    source: { spiffe: CHAT_ID },
    state: 'unbounded',
    text: ['its source has no type, without which spiffe does not count'],
  },
  {
    says: 'a type without its member is unbounded',
    source: { type: 'SPIFFE' },
    state: 'unbounded',
    text: ['its source is of type SPIFFE, and has no spiffe'],
  },
  {
    says: 'a service account without its member is unbounded',
    source: { type: 'ServiceAccount' },
    state: 'unbounded',
  },
  // 6. Member mismatch.
  {
    says: 'a type beside the member of another is a mismatch',
    source: { type: 'SPIFFE', serviceAccount: { name: 'planner' } },
    state: 'type mismatch',
    text: ['its source has type SPIFFE but fills serviceAccount, and only the type counts'],
  },
  {
    says: 'a service account that fills spiffe is a mismatch',
    source: { type: 'ServiceAccount', spiffe: CHAT_ID },
    state: 'type mismatch',
  },
  // 7. Service accounts.
  {
    says: 'a service account that no pod uses says so',
    source: account('planner'),
    state: 'service account',
    text: [
      'no pod here runs under it',
      "it means spiffe://example.org/ns/agents/sa/planner if KAN's trust domain is the same",
    ],
  },
  {
    says: 'a service account whose pods hold only an ID of kleym is not what they present',
    source: account('runner', 'team-a'),
    state: 'service account',
    text: ['1 pod runs under it', `they may present ${CHAT_ID}, which it does not name`],
  },
  {
    says: 'a service account whose pods hold no ID of kleym presents none',
    source: account('runner', 'team-a'),
    objects: [NODE, pool(), objective(), binding({ spec: { containerName: 'nobody' } }), pod()],
    state: 'service account',
    text: ['1 pod runs under it'],
    never: ['they present'],
  },
  {
    says: 'a service account whose pods hold the default identity says so',
    source: account('planner', 'agents'),
    objects: [
      NODE,
      DEFAULT_ID,
      pod({ namespace: 'agents', name: 'planner-0', spec: { serviceAccountName: 'planner' } }),
    ],
    state: 'service account',
    text: ['1 pod holds that ID'],
  },
  {
    says: 'a service account says that pods are not known, where they are not',
    source: account('planner'),
    setting: PODS_UNKNOWN,
    state: 'service account',
    text: ['pods are not known here'],
  },
  {
    says: 'a service account of a namespace that was not read is not known',
    source: account('planner'),
    setting: { namespacesRead: ['team-a'] },
    state: 'service account',
    text: ['pods are not known here'],
  },
  {
    says: 'of a service account in a namespace that was not read, the pods that are there are the least',
    source: account('runner', 'team-a'),
    setting: { namespacesRead: ['agents'] },
    state: 'service account',
    text: ['at least 1 pod runs under it'],
  },
  {
    says: 'who holds the ID of a service account is not known where registrations are not',
    source: account('runner', 'team-a'),
    setting: { gaps: { [CSID]: gap(CSID) } },
    state: 'service account',
    text: [`whether any other pod of it holds that ID is not known: cannot list ${CSID}: forbidden`],
  },
  // The proposal 0017.
  {
    says: 'an OIDC source is no SPIFFE ID, and names no principal by accident',
    source: { type: 'OIDC', oidc: { issuerUrl: 'x' } },
    state: 'not SPIFFE',
    text: ['OIDC is not read as a SPIFFE ID'],
  },
  {
    says: 'a JWT source without a type is no SPIFFE ID',
    source: { jwt: { issuer: 'x' } },
    state: 'not SPIFFE',
  },
  // Unknown stays unknown.
  {
    says: 'an ID that nothing gives is unknown where ClusterSPIFFEIDs could not be read',
    source: id('/agents/planner'),
    setting: { gaps: { [CSID]: gap(CSID) } },
    state: 'unknown',
    text: ['whether anything gives it is not known: cannot list ClusterSPIFFEID.spire.spiffe.io: forbidden'],
  },
  {
    says: 'an ID that nothing gives is unknown where static entries could not be read',
    source: id('/agents/planner'),
    setting: { gaps: { 'ClusterStaticEntry.spire.spiffe.io': gap('ClusterStaticEntry.spire.spiffe.io') } },
    state: 'unknown',
  },
  {
    says: 'an ID that nothing gives is unknown where a file could not be read',
    source: id('/agents/planner'),
    setting: { gaps: { '*': { verb: 'read', what: 'a.yaml', cause: 'malformed' } } },
    state: 'unknown',
    text: ['whether anything gives it is not known: cannot read a.yaml: malformed'],
  },
  {
    says: 'an ID that only a binding could give is unknown where bindings could not be read',
    source: id('/ns/team-b/objective/chat'),
    setting: {
      gaps: { 'InferenceIdentityBinding.kleym.sonda.red': gap('InferenceIdentityBinding.kleym.sonda.red') },
    },
    state: 'unknown',
  },
  {
    says: 'an ID that no binding could give is dangling even where bindings could not be read',
    source: id('/agents/planner'),
    setting: {
      gaps: { 'InferenceIdentityBinding.kleym.sonda.red': gap('InferenceIdentityBinding.kleym.sonda.red') },
    },
    state: 'dangling',
  },
  {
    says: 'an ID of another namespace is unknown where only one was read',
    source: id('/ns/team-b/objective/chat'),
    setting: { namespacesRead: ['team-a'] },
    state: 'unknown',
  },
  {
    says: 'an ID of the namespace that was read is dangling without the others',
    source: id('/ns/team-a/objective/other'),
    setting: { namespacesRead: ['team-a'] },
    state: 'dangling',
  },
  {
    says: 'an ID that is given is unknown, not unheld, where pods could not be read',
    source: spiffe(CHAT_ID),
    objects: [NODE, pool(), objective(), binding()],
    setting: PODS_UNKNOWN,
    state: 'unknown',
    text: ['whether a container holds it is unknown: cannot list Pod: forbidden'],
  },
  {
    says: 'an ID of a foreign object is unknown, not unheld, where only one namespace was read',
    source: id('/agents/planner'),
    objects: [
      ...TEAM_A,
      foreign('planner', {
        spiffeIDTemplate: 'spiffe://example.org/agents/planner',
        podSelector: { matchLabels: { app: 'planner' } },
      }),
    ],
    setting: { namespacesRead: ['team-a'] },
    state: 'unknown',
  },
  {
    says: 'an ID that a template may give to a pod that is not there is neither dangling nor resolved',
    source: id('/ns/agents/sa/planner'),
    objects: [...TEAM_A, DEFAULT_ID],
    state: 'unknown',
    text: ['nothing renders it now; ClusterSPIFFEID/default may, for a pod that is not there'],
  },
  ...[
    { setting: PODS_UNKNOWN, why: 'cannot list Pod: forbidden' },
    { setting: { namespacesRead: ['team-a'] }, why: 'missing Pod' },
  ].map(({ setting, why }): Case => ({
    says: `what a template renders is not known where pods are not (${Object.keys(setting).join()})`,
    source: id('/ns/agents/sa/planner'),
    objects: [...TEAM_A, DEFAULT_ID],
    setting,
    state: 'unknown',
    text: [`whether anything gives it is not known: ${why}`],
    never: ['nothing renders it now'],
  })),
  {
    says: 'an ID that is given, but to no pod here, is unknown where other registrations could not be read',
    source: spiffe(CHAT_ID),
    objects: [NODE, pool(), objective(), binding()],
    setting: { gaps: { 'ClusterStaticEntry.spire.spiffe.io': gap('ClusterStaticEntry.spire.spiffe.io') } },
    state: 'unknown',
    text: ['binding team-a/llama of pool llama gives it; whether a container holds it is unknown'],
  },
  {
    says: 'an ID that is given, but to no pod here, is unknown beside a template that kleym does not support',
    source: spiffe(CHAT_ID),
    objects: [
      NODE,
      pool(),
      objective(),
      binding(),
      pod({ labels: { app: 'other' } }),
      foreign('odd', { spiffeIDTemplate: 'spiffe://example.org/ns/{{ printf "%v" .PodSpec }}' }),
    ],
    state: 'unknown',
    text: ['ClusterSPIFFEID/odd may give it; its template is not supported'],
  },
  {
    says: 'an ID that a template cannot give is dangling beside it',
    source: id('/ns/agents/objective/planner'),
    objects: [...TEAM_A, DEFAULT_ID],
    state: 'dangling',
  },
  {
    says: 'an ID that a template of an ignored class could give is dangling',
    source: id('/ns/agents/sa/planner'),
    objects: [
      ...TEAM_A,
      foreign('other', {
        spiffeIDTemplate: 'spiffe://example.org/ns/agents/sa/{{ .PodSpec.ServiceAccountName }}',
        className: 'other',
      }),
    ],
    state: 'dangling',
  },
  {
    says: 'an ID that a template may give which kleym does not follow is unknown',
    source: id('/agents/planner'),
    objects: [
      ...TEAM_A,
      foreign('odd', { spiffeIDTemplate: 'spiffe://example.org/agents/{{ printf "%v" .PodSpec }}' }),
    ],
    state: 'unknown',
    text: ['ClusterSPIFFEID/odd may give it; its template is not supported'],
  },
  {
    says: 'an ID that hangs on what only the node knows is unknown',
    source: id('/agents/planner'),
    objects: [
      ...TEAM_A,
      foreign('image', {
        spiffeIDTemplate: 'spiffe://example.org/agents/planner',
        workloadSelectorTemplates: ['k8s:container-image:registry/x'],
      }),
    ],
    state: 'unknown',
    text: ['not certain whether ClusterSPIFFEID/image gives it'],
  },
  {
    says: 'nothing is said where the trust domain is not known, but for the path',
    source: spiffe(CHAT_ID),
    setting: { trustDomain: undefined },
    state: 'unknown',
    text: [
      'the trust domain of SPIRE is not known here; its path is that of binding team-a/llama of pool llama',
    ],
  },
  {
    says: 'an ID that an undecided binding asks for is unknown',
    source: id('/ns/team-a/objective/sql'),
    objects: [NODE, pool(), REFUSED, pod()],
    setting: { gaps: { 'InferenceObjective.llm-d.ai': gap('InferenceObjective.llm-d.ai') } },
    state: 'unknown',
  },
  {
    says: 'an ID that a binding asks for which waits for a peer is unknown',
    source: spiffe(CHAT_ID),
    objects: [...TEAM_A, PEER],
    setting: { namespacesRead: ['team-a'] },
    state: 'unknown',
    text: ['binding team-a/llama asks for it and is waiting (WaitingForPeer)'],
  },
  {
    says: 'an ID of a static entry that hangs on a bundle of the server is unknown',
    source: id('/gateways/edge'),
    objects: [
      NODE,
      staticEntry('edge', {
        spiffeID: 'spiffe://example.org/gateways/edge',
        federatesWith: ['elsewhere.org'],
      }),
    ],
    state: 'unknown',
    text: ['not certain whether ClusterStaticEntry/edge gives it'],
  },
  {
    says: 'an ID of an object that Go cannot decode is unknown: SCM goes on with what it read before',
    source: id('/agents/planner'),
    objects: [
      NODE,
      foreign('planner', { spiffeIDTemplate: 'spiffe://example.org/agents/planner', ttl: '1d' }),
    ],
    state: 'unknown',
    text: ['not certain whether ClusterSPIFFEID/planner gives it'],
  },
  {
    says: "IDs below /spire are SPIRE's own, and kleym does not look for them",
    source: id('/spire/agent/k8s_psat/prod/uid-of-n1'),
    state: 'unknown',
    text: ['the IDs of SPIRE servers and agents'],
  },
  // Unreadable.
  {
    says: 'a text that is no SPIFFE ID is unreadable',
    source: spiffe('*'),
    state: 'unreadable',
    text: ['.spec.rules[0].source.spiffe is "*"'],
  },
  {
    says: 'an empty SPIFFE ID is unreadable, not unbounded',
    source: spiffe(''),
    state: 'unreadable',
    text: ['is empty'],
  },
  {
    says: 'an empty list of SPIFFE IDs is unreadable, not unbounded',
    source: spiffe([]),
    state: 'unreadable',
    text: ['is an empty list'],
  },
  {
    says: 'a number for an ID is unreadable',
    source: spiffe(7),
    state: 'unreadable',
    text: ['is a number, not a string'],
  },
  {
    says: 'a type that kleym does not know is unreadable, not unbounded',
    source: { type: 'X509' },
    state: 'unreadable',
    text: ['.source.type is "X509", which kleym does not know'],
  },
  {
    says: 'a type in other letters is unreadable',
    source: { type: 'spiffe', spiffe: CHAT_ID },
    state: 'unreadable',
  },
  {
    says: 'a field that kleym does not know may name a principal: unreadable, not unbounded',
    source: { type: 'SPIFFE', spiffeIDs: [CHAT_ID] },
    state: 'unreadable',
    text: ['a field "spiffeIDs" that kleym does not know'],
  },
  {
    says: 'a field that kleym does not know may name a principal without a type too',
    source: { spiffeIDs: [CHAT_ID] },
    state: 'unreadable',
    text: ['has no type, and a field "spiffeIDs" that kleym does not know'],
  },
  {
    says: 'a source that is a text is unreadable',
    source: CHAT_ID,
    state: 'unreadable',
    text: ['is a string, not a mapping'],
  },
  {
    says: 'a service account without a name is unreadable',
    source: { type: 'ServiceAccount', serviceAccount: {} },
    state: 'unreadable',
  },
]

describe('what a source comes to', () => {
  test.each(CASES)('$says', ({ source, objects = TEAM_A, setting = {}, state, text = [], never = [] }) => {
    const found = resolution(analysisOf([...objects, policyOf(source)], setting))
    expect(found).toMatchObject({ state })
    for (const part of text) expect(found.text).toContain(part)
    for (const part of never) expect(found.text).not.toContain(part)
  })

  test('several SPIFFE IDs in a list are several sources, each with an answer of its own', () => {
    const analysis = analysisOf([...TEAM_A, policyOf(spiffe([CHAT_ID, 'spiffe://example.org/nobody', 7]))])
    const [first] = analysis.settled.policies().list
    expect(first?.rules[0]?.sources.map((one) => one.resolution.state)).toEqual([
      'resolved',
      'dangling',
      'unreadable',
    ])
  })

  test('at most five near misses are named, the likeliest kind first', () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
      foreign(name, { spiffeIDTemplate: `spiffe://example.org/agents/planner/${name}`, className: '' }),
    )
    const upper = foreign('upper', { spiffeIDTemplate: 'spiffe://example.org/agents/Planner' })
    const found = resolution(
      analysisOf([NODE, upper, ...others, policyOf(spiffe('spiffe://example.org/agents/planner'))]),
    )
    expect(found.state).toBe('dangling')
    expect(
      'nearMisses' in found ? found.nearMisses.map(({ how, source }) => `${how} ${source.name}`) : [],
    ).toEqual(['case upper', 'prefix a', 'prefix b', 'prefix c', 'prefix d'])
  })
})
