// Cases that campaigns have found, one of each sort: answers that were surer than their input.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { show, type Case } from './case.ts'
import { ALL_GIVEN, type Estate } from './estates.ts'
import {
  accessPolicy,
  binding,
  deployment,
  namers,
  namespaceWith,
  NODE,
  objective,
  pod,
  pool,
  registration,
  staticEntry,
} from './manifests.ts'

const QUIET = {
  hint: '',
  env: undefined,
  ttl: undefined,
  selectors: [],
  labelled: false,
  className: '',
  fallback: false,
} as const
const CHAT = 'spiffe://{{ .TrustDomain }}/ns/team-a/objective/chat'
const THIEF = pod('kube-system', 'thief', 'thief', ['main'])
const PREFILL = pod('team-a', 'llama-1', 'llama', ['vllm'], { role: 'prefill' })
const TEAM_B = namespaceWith('team-b', 'dev')
const TEAM_B_PROD = namespaceWith('team-b', 'prod')
const ALL: Estate = [
  pool('llama'),
  objective('chat'),
  accessPolicy(),
  TEAM_B,
  ...['team-a', 'kube-system'].map((name) => namespaceWith(name, 'dev')),
  NODE,
]
/** A thief, with an ID that no binding has, and a pod with none. */
const WITH_THIEF: Estate = [
  ...ALL,
  THIEF,
  pod('team-b', 'idle', 'nobody', ['main']),
  registration('of-thieves', { ...QUIET, app: 'thief', id: 'spiffe://{{ .TrustDomain }}/thief' }),
]
const SERVER = deployment('team-a', 'server', 'llama', ['vllm'])
const CHAT_BINDING = binding('chat', { objectiveRef: { name: 'chat' }, containerName: 'vllm' })
const THIEVES = deployment('team-b', 'thief', 'thief', ['main'])
const TWIN = binding('twin', { objectiveRef: { name: 'chat' }, containerName: 'vllm' })
/** It gives the ID of the binding chat, and SCM does not act on its class. */
const IGNORED = registration('ignored', { ...QUIET, className: 'other', id: CHAT, app: undefined })
const TEAM_A_PROD = namespaceWith('team-a', 'prod')
const SHARED: Estate = [
  pool('llama'),
  objective('chat'),
  accessPolicy(),
  CHAT_BINDING,
  pod('team-a', 'llama-0', 'llama', ['vllm', 'proxy'], { role: 'prefill' }),
  registration('foreign-0', {
    ...QUIET,
    app: 'llama',
    env: 'prod',
    id: 'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
  }),
  registration('foreign-1', { ...QUIET, app: undefined, env: 'prod', id: CHAT }),
  TEAM_A_PROD,
  TEAM_B,
  NODE,
]
const PREFILL_BINDING = binding('prefill', { mode: 'PerVariant', identityBoundary: { variant: 'prefill' } })
const DECODE_BINDING = binding('decode', { mode: 'PerVariant', identityBoundary: { variant: 'decode' } })
const VARIANTS: Estate = [
  ...ALL,
  PREFILL_BINDING,
  pod('team-a', 'llama-0', 'llama', ['vllm'], { role: 'decode' }),
  PREFILL,
]
const NOTHING: Omit<Case, 'estate' | 'base' | 'commands' | 'completions'> = {
  isInBase: false,
  hidden: [],
  values: ALL_GIVEN,
  without: [],
  isStrict: false,
  failOn: 'info',
}
/** SCM with the settings of `ALL_GIVEN`, but for these. */
const scmWith = (others: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.assign(JSON.parse(ALL_GIVEN.scm), others))

/** Variants differ by a label that no pod has. */
const NO_LABEL = { ...ALL_GIVEN, 'variant label key': 'none' }
const OTHER_DOMAIN = { ...ALL_GIVEN, scm: scmWith({ trustDomain: 'other.org' }) }

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-certainty-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const FOUND: Readonly<Record<string, Case>> = {
  'tests pinned an ID of the trust domain that was assumed of SCM': {
    ...NOTHING,
    estate: WITH_THIEF,
    base: ALL,
    without: ['scm'],
    commands: ['test --generate'],
    completions: [
      {
        objects: [],
        values: { ...ALL_GIVEN, scm: scmWith({ trustDomain: 'other.org' }) },
        left: [],
      },
    ],
  },
  'a policy that names an unheld identity was fixed, where the holder was not read on one side': {
    ...NOTHING,
    estate: [...ALL, THIEF, registration('of-thieves', { ...QUIET, app: 'thief', id: CHAT, env: 'prod' })],
    base: [...ALL, THIEF, registration('of-thieves', { ...QUIET, app: 'thief', id: CHAT, env: 'prod' })],
    hidden: [{ shell: 'SOPS', objects: [THIEF] }],
    commands: ['diff --base', 'diff --base, the other way'],
    completions: [{ objects: [[THIEF]], values: ALL_GIVEN, left: [] }],
  },
  'a variant that pods of another kind may carry was carried by none': {
    ...NOTHING,
    estate: VARIANTS,
    base: VARIANTS,
    hidden: [{ shell: 'kind with a pod template', objects: [PREFILL] }],
    commands: ['diff --base'],
    completions: [
      {
        objects: [[pod('team-a', 'llama-1-made', 'llama', ['vllm'], { role: 'prefill' })]],
        values: ALL_GIVEN,
        left: [],
      },
    ],
  },
  'no pod had the labels of a pool, where a file that may hold one was not read': {
    ...NOTHING,
    estate: [...ALL, CHAT_BINDING, SERVER],
    base: ALL,
    hidden: [{ shell: 'git-crypt', objects: [SERVER] }],
    commands: ['diff --base'],
    completions: [{ objects: [[SERVER]], values: ALL_GIVEN, left: [] }],
  },
  'a container of a workload that is defined twice held nothing': {
    ...NOTHING,
    estate: [
      ...ALL,
      deployment('team-b', 'thief', 'thief', ['main']),
      registration('llamas', { ...QUIET, app: 'llama', id: 'spiffe://{{ .TrustDomain }}/llama' }),
    ],
    base: ALL,
    hidden: [{ shell: 'defined twice', objects: [deployment('team-b', 'thief', 'thief', ['main'])] }],
    commands: ['who-selects'],
    completions: [
      {
        objects: [[deployment('team-b', 'thief', 'llama', ['main'])]],
        values: ALL_GIVEN,
        left: [],
      },
    ],
  },
  'several identities of a container were new of another first registration': {
    ...NOTHING,
    estate: [
      ...ALL,
      binding('prefill', { mode: 'PerVariant', identityBoundary: { variant: 'prefill' } }),
      binding('whole', { mode: 'PoolOnly' }),
      pod('team-a', 'llama-0', 'llama', ['vllm', 'proxy'], { role: 'prefill' }),
      registration('other', { ...QUIET, app: 'nobody', id: 'spiffe://{{ .TrustDomain }}/first' }),
    ],
    base: ALL,
    isInBase: true,
    hidden: [
      {
        shell: 'array',
        objects: [
          registration('other', { ...QUIET, app: 'nobody', id: 'spiffe://{{ .TrustDomain }}/first' }),
        ],
      },
    ],
    commands: ['diff --base', 'diff --base, the other way'],
    completions: [
      {
        objects: [
          [registration('other', { ...QUIET, app: undefined, id: 'spiffe://{{ .TrustDomain }}/first' })],
        ],
        values: ALL_GIVEN,
        left: [],
      },
    ],
  },
  'a rule that no pod of a namespace holds an ID was about something, where only a maker of pods stands there':
    {
      ...NOTHING,
      estate: [...ALL.filter((one) => one !== TEAM_B), CHAT_BINDING, SERVER, THIEVES],
      base: ALL,
      hidden: [{ shell: 'kind with a pod template', objects: [THIEVES] }],
      commands: ['test'],
      completions: [{ objects: [[]], values: ALL_GIVEN, left: [] }],
    },
  'SCM and kleym had other trust domains only while a binding was ready': {
    ...NOTHING,
    values: OTHER_DOMAIN,
    estate: [...ALL, CHAT_BINDING, SERVER],
    base: ALL,
    hidden: [{ shell: 'git-crypt', objects: [SERVER] }],
    commands: ['explain'],
    completions: [{ objects: [[SERVER, TWIN]], values: OTHER_DOMAIN, left: [] }],
  },
  'several identities of a container were new where a Namespace before the change leaves open whether it had them':
    {
      ...NOTHING,
      estate: SHARED,
      base: SHARED,
      hidden: [{ shell: 'left out', objects: [TEAM_A_PROD] }],
      failOn: 'warning',
      commands: ['diff --base, the other way'],
      completions: [{ objects: [[TEAM_A_PROD]], values: ALL_GIVEN, left: [] }],
    },
  'several identities of a container were new where a registration that is unsure after the change was told first':
    {
      ...NOTHING,
      estate: [...SHARED, PREFILL_BINDING],
      base: [...SHARED, PREFILL_BINDING],
      hidden: [{ shell: 'left out', objects: [TEAM_A_PROD] }],
      failOn: 'warning',
      commands: ['diff --base'],
      completions: [{ objects: [[TEAM_A_PROD]], values: ALL_GIVEN, left: [] }],
    },
  'nothing clashed beside a RayCluster whose pods get the ID of a binding': {
    ...NOTHING,
    estate: [...ALL, CHAT_BINDING, THIEVES, registration('of-thieves', { ...QUIET, app: 'thief', id: CHAT })],
    base: ALL,
    hidden: [{ shell: 'RayCluster', objects: [THIEVES] }],
    failOn: 'error',
    commands: ['conflicts', 'explain'],
    completions: [
      { objects: [[pod('team-b', 'thief-made', 'thief', ['main'])]], values: ALL_GIVEN, left: [] },
    ],
  },
  'a registration that gives away the ID of a binding in a Namespace that was not given ended with 0': {
    ...NOTHING,
    estate: [
      ...ALL.filter((one) => one !== TEAM_B),
      CHAT_BINDING,
      THIEVES,
      registration('of-thieves', { ...QUIET, app: 'thief', env: 'prod', id: CHAT }),
      TEAM_B_PROD,
    ],
    base: ALL,
    hidden: [{ shell: 'left out', objects: [TEAM_B_PROD] }],
    failOn: 'error',
    commands: ['conflicts', 'explain'],
    completions: [{ objects: [[TEAM_B_PROD]], values: ALL_GIVEN, left: [] }],
  },
  'a fallback was refused for certain where what was not read may displace it first': {
    ...NOTHING,
    estate: [
      ...ALL,
      CHAT_BINDING,
      SERVER,
      registration('all', { ...QUIET, fallback: true, app: undefined, id: CHAT, ttl: '-5s' }),
    ],
    base: ALL,
    hidden: [{ shell: 'git-crypt', objects: [CHAT_BINDING] }],
    commands: ['who-selects', 'conflicts', 'map'],
    completions: [{ objects: [[CHAT_BINDING]], values: ALL_GIVEN, left: [] }],
  },
  'no registration of others was among files of which one could not be read': {
    ...NOTHING,
    estate: [...ALL, CHAT_BINDING, SERVER, THIEF],
    base: ALL,
    hidden: [{ shell: 'git-crypt', objects: [THIEF] }],
    commands: ['explain', 'migrate', 'who-selects --spiffe-id'],
    completions: [{ objects: [[THIEF, IGNORED]], values: ALL_GIVEN, left: [] }],
  },
  'containers held for certain what a binding that was not read may claim as well': {
    ...NOTHING,
    estate: [...ALL, CHAT_BINDING, SERVER, IGNORED],
    base: ALL,
    isInBase: true,
    hidden: [{ shell: 'git-crypt', objects: [IGNORED] }],
    commands: ['policies', 'map', 'who-selects', 'who-selects --spiffe-id', 'diff --base'],
    completions: [{ objects: [[IGNORED, TWIN]], values: ALL_GIVEN, left: [] }],
  },
  'a pattern took in for certain the ID of a fallback that may not apply': {
    ...NOTHING,
    estate: [
      ...ALL,
      ...namers(),
      CHAT_BINDING,
      SERVER,
      registration('of-accounts', {
        ...QUIET,
        fallback: true,
        app: undefined,
        env: 'prod',
        id: 'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
      }),
    ],
    base: ALL,
    hidden: [{ shell: 'left out', objects: [namespaceWith('team-a', 'dev')] }],
    commands: ['policies', 'diff --base'],
    completions: [{ objects: [[namespaceWith('team-a', 'dev')]], values: ALL_GIVEN, left: [] }],
  },
  'an ID was given by nothing for certain that the SCM of another class may give': {
    ...NOTHING,
    estate: [
      ...namers(),
      registration('unfollowed', {
        ...QUIET,
        app: undefined,
        className: 'other',
        id: `{{ define "who" }}x{{ end }}${CHAT.slice(0, -4)}{{ template "who" }}`,
      }),
      registration('of-the-charts', {
        ...QUIET,
        fallback: true,
        className: 'spire-mgmt-spire',
        labelled: true,
        env: 'prod',
        app: undefined,
        id: 'spiffe://other.org/ns/team-a/pool/llama',
      }),
    ],
    base: [...namers(), staticEntry('other', 'team-b')],
    without: ['class', 'scm'],
    commands: ['diff --base'],
    completions: [
      {
        objects: [],
        values: { ...ALL_GIVEN, scm: scmWith({ className: 'other', watchClassless: true }) },
        left: [],
      },
    ],
  },
  'an ID was held by nobody for certain that a template may give to a pod that was not read': {
    ...NOTHING,
    estate: [
      ...ALL,
      THIEF,
      registration('ignored', { ...QUIET, className: 'other', app: undefined, id: CHAT }),
      registration('by-name', {
        ...QUIET,
        app: 'thief',
        id: `${CHAT.slice(0, -4)}{{ slice .PodMeta.Labels.app 0 0 }}chat`,
      }),
    ],
    base: ALL,
    hidden: [{ shell: 'page of a list', objects: [THIEF] }],
    commands: ['policies'],
    completions: [{ objects: [[THIEF]], values: ALL_GIVEN, left: [] }],
  },
  'pods that no variant covers were new, and pods of another kind may have been such before': {
    ...NOTHING,
    estate: [pool('llama'), DECODE_BINDING, SERVER, PREFILL],
    base: [pool('llama'), PREFILL_BINDING],
    isInBase: true,
    hidden: [{ shell: 'kind with a pod template', objects: [PREFILL] }],
    values: NO_LABEL,
    commands: ['diff --base'],
    completions: [
      {
        objects: [[pod('team-a', 'llama-1-made', 'llama', ['vllm'], { role: 'prefill' })]],
        values: NO_LABEL,
        left: [],
      },
    ],
  },
  "tests pinned IDs in SCM's trust domain, and were refused in an install whose own is another one": {
    ...NOTHING,
    estate: WITH_THIEF,
    base: ALL,
    without: ['trust domain'],
    commands: ['test --generate'],
    completions: [{ objects: [], values: { ...ALL_GIVEN, 'trust domain': 'other.org' }, left: [] }],
  },
  'taking a registration away gave an identity to a thief, where it was open whether it can go': {
    ...NOTHING,
    estate: [
      pool('llama'),
      objective('chat'),
      CHAT_BINDING,
      DECODE_BINDING,
      pod('team-a', 'llama-0', 'llama', ['vllm', 'proxy'], { role: 'prefill' }),
      pod('team-b', 'thief', 'thief', ['main']),
      registration('foreign-0', { ...QUIET, app: undefined, env: 'prod', id: CHAT }),
      registration('foreign-1', { ...QUIET, fallback: true, app: 'thief', env: 'prod', id: CHAT }),
      TEAM_B_PROD,
    ],
    base: [],
    without: ['variant label key'],
    failOn: 'error',
    commands: ['migrate'],
    completions: [{ objects: [], values: ALL_GIVEN, left: [] }],
  },
  'no policy was affected, and a pod of another kind is registered in vain for an ID that nobody holds': {
    ...NOTHING,
    estate: [
      accessPolicy(),
      SERVER,
      THIEVES,
      staticEntry('other', 'team-a'),
      registration('ignored', {
        ...QUIET,
        className: 'other',
        app: 'thief',
        id: '{{ define "who" }}chat{{ end }}spiffe://{{ .TrustDomain }}/ns/team-a/objective/{{ template "who" }}',
      }),
    ],
    base: [accessPolicy(), staticEntry('other', 'team-a')],
    hidden: [{ shell: 'RayCluster', objects: [THIEVES] }],
    failOn: 'error',
    commands: ['diff --base', 'diff --base, the other way'],
    completions: [
      { objects: [[pod('team-b', 'thief-made', 'thief', ['main'])]], values: ALL_GIVEN, left: [] },
    ],
  },
}

test.each(Object.entries(FOUND))('%s', async (_name, one) => {
  const { contradictions, lessSure, compared } = await show(one, folder)
  expect([...contradictions, ...lessSure].map(({ command, what }) => `${command}: ${what}`)).toEqual([])
  expect(compared).toBeGreaterThan(0)
})
