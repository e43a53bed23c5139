// From a hand-written ClusterSPIFFEID to bindings: which containers they cover, what they cannot say, and the order of steps.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { noPlansBefore, plansAfter } from '../../src/core/answers/migrate/in-a-row.ts'
import { migrating, type Migration } from '../../src/core/answers/migrate/migrate.ts'
import { migrationSteps } from '../../src/core/answers/migrate/order.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { account, foreign, NODE, pod, policyOf, spiffe } from '@kleym/testing/access-policies.ts'
import { got, objective, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { toolsFor } from '../suggest/suggestions-for.ts'

const OLD = 'spiffe://example.org/old'
const NEW = 'spiffe://example.org/ns/team-a/pool/llama'

function old(spec: JsonRecord = {}): JsonRecord {
  return foreign('old', { spiffeIDTemplate: OLD, podSelector: { matchLabels: { app: 'llama' } }, ...spec })
}

function migrationOf(objects: readonly JsonRecord[]): Migration {
  const analysis = analysisOf([NODE, ...objects])
  const object = got([...analysis.snapshot.clusterSpiffeIds.read].find(({ meta }) => meta.name === 'old'))
  return driveAtOnce(migrating(noPlansBefore(analysis), object, toolsFor(analysis)))
}

function waiting(serviceAccountName: string): JsonRecord {
  return pod({ name: 'queued', spec: { serviceAccountName, nodeName: undefined } })
}

function boundaries({ suggestions }: Migration): readonly string[] {
  return suggestions.pools.flatMap(({ suggested }) =>
    suggested.map(({ candidate: { boundary } }) => Object.values(boundary).join(' ')),
  )
}

function moves({ moves: all }: Migration): readonly string[] {
  return all.map(({ container, before, during, after }) =>
    [container, before.ids.join('+'), during.ids.join('+'), after.ids.join('+')].join(' '),
  )
}

function titles(migration: Migration): readonly string[] {
  return migrationSteps(migration).map(({ title }) => title)
}

describe('the bindings', () => {
  test('PoolOnly for an ID of all containers; they hold both, and never none', () => {
    const migration = migrationOf([pool(), objective(), pod(), old()])
    expect(boundaries(migration)).toEqual(['PoolOnly'])
    expect(moves(migration)).toEqual([
      `vllm ${OLD} ${NEW}+${OLD} ${NEW}`,
      `proxy ${OLD} ${NEW}+${OLD} ${NEW}`,
    ])
    expect(migration.uncovered).toEqual([])
    expect(titles(migration)).toEqual([
      'Let consumers accept both IDs',
      'Apply the bindings',
      'Delete the old registration',
    ])
  })

  test('PerObjective for an ID of one container', () => {
    const one = old({ workloadSelectorTemplates: ['k8s:container-name:vllm'] })
    expect(boundaries(migrationOf([pool(), objective(), pod(), one]))).toEqual(['PerObjective chat vllm'])
    expect(boundaries(migrationOf([pool(), pod(), one]))).toEqual(['PoolOnly'])
  })

  test('one for each service account, with one ID', () => {
    const other = pod({ name: 'llama-1', spec: { serviceAccountName: 'other' } })
    const migration = migrationOf([pool(), pod(), other, old()])
    expect(boundaries(migration)).toEqual(['PoolOnly', 'PoolOnly'])
    expect(migration.uncovered).toEqual([])
  })

  test('a pod that waits for a node counts as what it will be: one that no binding is for keeps the registration', () => {
    const covered = migrationOf([pool(), pod(), waiting('runner'), old()])
    expect([covered.uncovered, covered.open]).toEqual([[], []])
    expect(titles(covered).at(-1)).toBe('Delete the old registration')
    const migration = migrationOf([pool(), pod(), waiting('other'), old()])
    expect(migration.uncovered.map(({ container, pods }) => `${container} ${pods.text()}`)).toEqual([
      'vllm pod team-a/queued',
      'proxy pod team-a/queued',
    ])
    expect(titles(migration).at(-1)).not.toBe('Delete the old registration')
  })

  test('containers that a binding gives an identity already are covered', () => {
    const migration = migrationOf([pool(), pod(), poolOnly(), old()])
    expect(boundaries(migration)).toEqual([])
    expect(migration.uncovered).toEqual([])
    expect(titles(migration)).toEqual(['Let consumers accept both IDs', 'Delete the old registration'])
  })

  test('pools are never invented: what none selects is not covered, and the registration is narrowed', () => {
    const alone = pod({ name: 'alone', labels: { app: 'llama', kind: 'alone' } })
    const narrow = pool({ labels: { app: 'llama', kind: 'served' } })
    const served = pod({ labels: { app: 'llama', kind: 'served' } })
    const migration = migrationOf([narrow, served, alone, old()])
    expect(migration.uncovered.map(({ container, pods }) => `${container} ${pods.text()}`)).toEqual([
      'vllm pod team-a/alone',
      'proxy pod team-a/alone',
    ])
    expect(titles(migration).at(-1)).toBe('Narrow the old registration, do not delete it')
  })
})

test('bindings that give the same ID bring no second one, and their entries may be masked until the end', () => {
  const same = migrationSteps(migrationOf([pool(), pod(), old({ spiffeIDTemplate: NEW })]))
  expect(same.map(({ title }) => title)).toEqual(['Apply the bindings', 'Delete the old registration'])
  const [apply] = same
  expect(apply?.lines.join('. ')).not.toMatch(/hold both|and in force/)
  expect(apply?.lines.join('. ')).toContain('InForce may say Masked until the old registration is gone')
  const other = migrationSteps(migrationOf([pool(), pod(), old()]))
  expect(other[1]?.lines.join('. ')).toMatch(/in force.*hold both identities/)
})

test('a registration of whose containers no binding covers one is kept, and nothing is to be done', () => {
  const migration = migrationOf([pod(), old()])
  expect(migration.newIds).toEqual([])
  expect(titles(migration)).toEqual(['Keep the old registration'])
})

test.each([
  ['the same', 'team-a/llama', 'hint team-a/llama: the Workload API hands out only the older one'],
  ['another', 'old', 'hold both identities'],
])('the step that applies the bindings, where the hint of the registration is %s', (_says, hint, said) => {
  const migration = migrationOf([pool(), pod(), old({ hint })])
  expect(got(migrationSteps(migration)[1]).lines.at(-1)).toContain(said)
})

describe('a fallback', () => {
  test('gives way at once', () => {
    const migration = migrationOf([pool(), pod(), old({ fallback: true })])
    expect(moves(migration)).toEqual([`vllm ${OLD} ${NEW} ${NEW}`, `proxy ${OLD} ${NEW} ${NEW}`])
    expect(titles(migration)).toEqual([
      'Let consumers accept both IDs',
      'Apply the bindings',
      'Delete the old registration',
    ])
  })
})

describe('what no binding can say', () => {
  test.each<[string, JsonRecord, readonly string[]]>([
    ['lifetimes', { ttl: '1h', jwtTtl: '5m' }, ['SPIFFE ID', 'ttl', 'jwtTtl', 'hint']],
    ['DNS names', { dnsNameTemplates: ['a.b'] }, ['SPIFFE ID', 'dnsNameTemplates', 'hint']],
    ['names of Services', { autoPopulateDNSNames: true }, ['SPIFFE ID', 'autoPopulateDNSNames', 'hint']],
    ['federation', { federatesWith: ['example.com'] }, ['SPIFFE ID', 'federatesWith', 'hint']],
    [
      'what SPIRE itself is given',
      { admin: true, downstream: true },
      ['SPIFFE ID', 'admin', 'downstream', 'hint'],
    ],
    [
      'other selectors',
      { workloadSelectorTemplates: ['k8s:pod-name:llama-0'] },
      ['SPIFFE ID', 'hint', 'workload selectors'],
    ],
  ])('%s', (_what, spec, expected) => {
    const migration = migrationOf([pool(), pod(), old(spec)])
    expect(migration.remainder.map(({ what }) => what)).toEqual(expected)
  })

  test.each<[string, readonly JsonRecord[], string | undefined]>([
    ['nobody else', [pod(), old()], undefined],
    [
      'the other container, if the ID was of one alone',
      [pod(), old({ workloadSelectorTemplates: ['k8s:container-name:vllm'] })],
      'proxy of pod team-a/llama-0 too',
    ],
    [
      'the other container, if the ID was that of the binding',
      [pod(), old({ spiffeIDTemplate: NEW, workloadSelectorTemplates: ['k8s:container-name:vllm'] })],
      'proxy of pod team-a/llama-0 too',
    ],
    [
      'the other pods of the pool, if the registration selects some',
      [
        pod({ labels: { app: 'llama', tier: 'gold' } }),
        pod({ name: 'llama-1' }),
        old({ podSelector: { matchLabels: { tier: 'gold' } } }),
      ],
      'proxy of pod team-a/llama-1, vllm of pod team-a/llama-1 too',
    ],
    [
      'all of them, if each pod had an ID of its own',
      [
        pod(),
        pod({ name: 'llama-1' }),
        old({ spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}' }),
      ],
      'proxy of pod team-a/llama-0, proxy of pod team-a/llama-1, vllm of pod team-a/llama-0, vllm of pod team-a/llama-1 too',
    ],
  ])('who holds the ID: %s', (_, objects, next) => {
    const { remainder } = migrationOf([pool(), ...objects])
    expect(remainder.find(({ what }) => what === 'holders')?.next).toBe(next)
  })

  test('a registration of an administrator is kept', () => {
    expect(titles(migrationOf([pool(), pod(), old({ admin: true })])).at(-1)).toBe(
      'Keep the old registration',
    )
  })
})

function istio(name: string, action: 'ALLOW' | 'DENY', source: JsonRecord): JsonRecord {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace: 'agents' },
    spec: { action, rules: [{ from: [{ source }] }] },
  }
}

test.each([
  ['exactly', policyOf(spiffe(OLD)), 'XAccessPolicy agents/tools'],
  [
    'by a prefix',
    istio('one', 'ALLOW', { principals: ['example.org/ol*'] }),
    'AuthorizationPolicy agents/one',
  ],
  ['by a suffix', istio('one', 'ALLOW', { principals: ['*/old'] }), 'AuthorizationPolicy agents/one'],
  [
    'as the one that is not refused',
    istio('one', 'DENY', { notPrincipals: ['example.org/old'] }),
    'AuthorizationPolicy agents/one',
  ],
])('a consumer that names the old ID %s has to accept the new one', (_, consumer, who) => {
  const migration = migrationOf([pool(), pod(), old(), consumer])
  expect(migration.consumers.edits).toEqual([expect.objectContaining({ oldId: OLD, newId: NEW })])
  const [first] = migrationSteps(migration)
  expect(got(first).lines).toContainEqual(expect.stringContaining(`${who}: `))
  expect(migration.cutOffs).toEqual([])
})

test.each([
  ['any principal', istio('one', 'ALLOW', { principals: ['*'] })],
  ['both IDs', istio('one', 'ALLOW', { principals: ['example.org/old', '*/pool/llama'] })],
  ['another ID', policyOf(spiffe('spiffe://example.org/x'))],
])('a consumer that names %s needs no change', (_, consumer) => {
  const migration = migrationOf([pool(), pod(), old(), consumer])
  expect(migration.consumers.edits).toEqual([])
  expect(got(migrationSteps(migration)[0]).lines).toContain('nothing that was read is left to be changed')
})

describe('an old ID that is of a service account', () => {
  const ACCOUNT = 'spiffe://example.org/ns/team-a/sa/runner'
  const ofAccount = old({
    spiffeIDTemplate:
      'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
  })
  const NEW_SOURCE = { principals: ['example.org/ns/team-a/pool/llama'] }
  const GET = [{ operation: { methods: ['GET'] } }]
  const BESIDE = 'rule #1: principals: [example.org/ns/team-a/pool/llama]'

  function added(consumer: JsonRecord): readonly string[] {
    const { consumers } = migrationOf([pool(), pod(), ofAccount, consumer])
    return consumers.edits.map(({ where, add }) => `${where}: ${add ?? ''}`)
  }

  function last(...more: readonly JsonRecord[]): readonly string[] {
    return got(migrationSteps(migrationOf([pool(), pod(), ofAccount, ...more])).at(-1)).lines.slice(-1)
  }

  test('is named by a source of that account', () => {
    expect(added(policyOf(account('runner', 'team-a')))).toEqual([`rule callers: ${NEW}`])
    expect(added(policyOf(account('other', 'team-a')))).toEqual([])
  })

  test.each<[string, JsonRecord, readonly string[]]>([
    [
      'of accounts',
      { from: [{ source: { serviceAccounts: ['team-a/runner'] } }] },
      ['.spec.rules[0].from: { source: { principals: [example.org/ns/team-a/pool/llama] } }'],
    ],
    [
      'of accounts that are left out',
      { from: [{ source: { notServiceAccounts: ['team-a/runner'] } }] },
      ['.spec.rules[0].from[0].source: notPrincipals: [example.org/ns/team-a/pool/llama]'],
    ],
    [
      'of accounts in a condition',
      { when: [{ key: 'source.serviceAccount', values: ['team-a/runner'] }] },
      ['rule #1: principals: [example.org/ns/team-a/pool/llama]'],
    ],
    [
      'of accounts that a condition leaves out',
      { when: [{ key: 'source.serviceAccount', notValues: ['team-a/runner'] }] },
      ['.spec.rules[0].when: { key: source.principal, notValues: [example.org/ns/team-a/pool/llama] }'],
    ],
    [
      'of accounts, and a source of the new ID',
      { from: [{ source: { serviceAccounts: ['team-a/runner'] } }, { source: NEW_SOURCE }] },
      [],
    ],
    [
      'of accounts, and a source of the new ID in another namespace, which lets nobody in',
      {
        from: [
          { source: { serviceAccounts: ['team-a/runner'] } },
          { source: { ...NEW_SOURCE, namespaces: ['team-b'] } },
        ],
      },
      ['.spec.rules[0].from: { source: { principals: [example.org/ns/team-a/pool/llama] } }'],
    ],
    ['of namespaces, which has the new ID as well', { from: [{ source: { namespaces: ['team-a'] } }] }, []],
  ])('in a list %s: the new one stands where IDs are asked for', (_, rule, expected) => {
    expect(added({ ...istio('one', 'ALLOW', {}), spec: { action: 'ALLOW', rules: [rule] } })).toEqual(
      expected,
    )
  })

  test.each<[string, JsonRecord, readonly string[]]>([
    ['asks the same', { from: [{ source: NEW_SOURCE }], to: GET }, []],
    ['asks for something else', { from: [{ source: NEW_SOURCE }] }, [BESIDE]],
    ['leaves it out', { from: [{ source: { notPrincipals: NEW_SOURCE['principals'] } }], to: GET }, [BESIDE]],
    [
      'takes it in from another namespace alone',
      { from: [{ source: { ...NEW_SOURCE, namespaces: ['team-b'] } }], to: GET },
      [BESIDE],
    ],
  ])(
    'a condition on accounts is done with once another rule takes the new ID in that %s',
    (_, other, left) => {
      const when = [{ key: 'source.serviceAccount', values: ['team-a/runner'] }]
      const rules = [{ when, to: GET }, other]
      expect(added({ ...istio('one', 'ALLOW', {}), spec: { action: 'ALLOW', rules } })).toEqual(left)
    },
  )

  test('stays where it is named as long as something else gives it', () => {
    expect(last()).toEqual(['then take the old ID out of what names it'])
    const other = foreign('other', {
      spiffeIDTemplate: ACCOUNT,
      podSelector: { matchLabels: { app: 'other' } },
    })
    expect(last(other, pod({ name: 'other-0', labels: { app: 'other' } }))).toEqual([
      `leave ${ACCOUNT} in what names it as long as something else gives it: kubectl kleym who-selects -A --spiffe-id ${ACCOUNT}`,
    ])
  })
})

test('IDs that have one in their place are named in one sentence, the first few', () => {
  const byName = old({ spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}' })
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const migration = migrationOf([
    pool(),
    ...names.map((name) => pod({ name })),
    byName,
    istio('one', 'ALLOW', { principals: ['example.org/*'], notPrincipals: ['*/pool/llama'] }),
  ])
  expect(migration.changes).toHaveLength(7)
  expect(got(migrationSteps(migration)[0]).lines.slice(0, -1)).toEqual([
    `where spiffe://example.org/a, spiffe://example.org/b, spiffe://example.org/c, spiffe://example.org/d, spiffe://example.org/e and 2 more are named, name ${NEW} beside them`,
    expect.stringMatching(/^AuthorizationPolicy agents\/one .* refuses /),
  ])
})

describe('an old ID that holds the name of a pod to come', () => {
  const template: JsonRecord = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'llama', namespace: 'team-a' },
    spec: {
      selector: { matchLabels: { app: 'llama' } },
      template: {
        metadata: { labels: { app: 'llama' } },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
      },
    },
  }
  const naming = (...consumers: readonly JsonRecord[]): Migration =>
    migrationOf([
      pool(),
      template,
      old({ spiffeIDTemplate: 'spiffe://example.org/pod/{{ .PodMeta.Name }}' }),
      ...consumers,
    ])

  test.each<[says: string, consumer: JsonRecord, written: string]>([
    [
      'one that it may become',
      istio('one', 'ALLOW', { principals: ['example.org/pod/llama-0'] }),
      'spiffe://example.org/pod/llama-0',
    ],
    ['the end of one', istio('one', 'ALLOW', { principals: ['*/llama-0'] }), '*/llama-0'],
    [
      'all but one',
      istio('one', 'ALLOW', { notPrincipals: ['example.org/pod/llama-0'] }),
      'all but spiffe://example.org/pod/llama-0',
    ],
    ['all but those that end so', istio('one', 'ALLOW', { notPrincipals: ['*-0'] }), 'all but *-0'],
  ])('is perhaps named by what names %s', (_says, consumer, written) => {
    const { consumers, cutOffs } = naming(consumer)
    expect(consumers.edits).toMatchObject([{ written, newId: NEW, whyOpen: expect.any(String) }])
    expect(cutOffs).toMatchObject([{ isOpen: true }])
  })

  test('is certainly named by what takes in whatever it becomes', () => {
    const { consumers, cutOffs } = naming(istio('one', 'ALLOW', { principals: ['example.org/pod/*'] }))
    expect(consumers.edits).toMatchObject([{ written: 'example.org/pod/*', whyOpen: undefined }])
    expect(cutOffs).toEqual([])
  })

  test('is not named by what names another', () => {
    for (const other of ['example.org/other/llama-0', 'example.org/other/*'])
      expect(naming(istio('one', 'ALLOW', { principals: [other] })).consumers.edits).toEqual([])
  })
})

test('a policy that refuses the new ID alone cuts containers off, and the first step names it', () => {
  const refusing = istio('one', 'DENY', { principals: ['*/pool/llama'] })
  const migration = migrationOf([pool(), pod(), old(), refusing])
  const text = `AuthorizationPolicy agents/one .spec.rules[0].from[0].source.principals refuses ${NEW}, and not the old ID`
  expect(migration.cutOffs).toEqual([{ text, isOpen: true }])
  expect(got(migrationSteps(migration)[0]).lines).toContain(text)
})

test('each ID is paired with the one that takes its place, and one that stays is not to be changed', () => {
  const byName = 'spiffe://example.org/{{ .PodMeta.Labels.app }}'
  const migration = migrationOf([
    pool(),
    pod(),
    pod({ name: 'other-0', labels: { app: 'other' } }),
    old({ spiffeIDTemplate: byName, podSelector: {} }),
    istio('one', 'ALLOW', { principals: ['example.org/other'] }),
  ])
  expect(migration.oldIds).toEqual(['spiffe://example.org/llama', 'spiffe://example.org/other'])
  expect(migration.changes).toEqual([{ oldId: 'spiffe://example.org/llama', newId: NEW }])
  expect(migration.consumers.edits).toEqual([])
})

test('what a registration gives is not certain: nothing is deleted', () => {
  const migration = migrationOf([pool(), pod(), old({ federatesWith: ['example.com'] })])
  expect(migration.open.length).toBeGreaterThan(0)
  expect(boundaries(migration)).toEqual(['PoolOnly'])
  expect(titles(migration).at(-1)).toBe('Settle what is not certain before you delete the old registration')
})

/** The plans of registrations, in the order of their names. */
function migrationsOf(names: readonly string[], objects: readonly JsonRecord[]): readonly Migration[] {
  const analysis = analysisOf([NODE, ...objects])
  const { read } = analysis.snapshot.clusterSpiffeIds
  let before = noPlansBefore(analysis)
  return names.map((name) => {
    const object = got([...read].find(({ meta }) => meta.name === name))
    const migration = driveAtOnce(migrating(before, object, toolsFor(analysis)))
    before = plansAfter(before, migration)
    return migration
  })
}

function uncoveredIn({ uncovered: all }: Migration): readonly string[] {
  return all.map(({ container, pods, why }) => `${container} of ${pods.text()}: ${why}`)
}

function ofContainer(name: string, container: string): JsonRecord {
  return foreign(name, {
    spiffeIDTemplate: `spiffe://example.org/${name}`,
    workloadSelectorTemplates: [`k8s:container-name:${container}`],
  })
}

describe('several registrations: each plan begins where those before it end', () => {
  test.each([
    ['Delete the old registration', ['first', 'second']],
    ['Ask whether the old registration is needed', ['second', 'first']],
  ])('one of two that give one ID stays, if the first masks the second: %s', (title, names) => {
    const both = ['first', 'second'].map((name) => foreign(name, { spiffeIDTemplate: OLD }))
    const [one, other] = migrationsOf(names, [pod(), ...both])
    expect(titles(got(one))).toEqual([title])
    expect(got(one).remainder).toEqual([])
    expect(titles(got(other))).toEqual(['Keep the old registration'])
    expect(uncoveredIn(got(other))).toHaveLength(2)
  })

  test('what the first is narrowed by, because the second gives it, the second has to keep', () => {
    const web = pod({ name: 'web-0', labels: { app: 'web' } })
    const alone = pod({ name: 'alone', labels: { app: 'alone' } })
    const wide = foreign('a', { spiffeIDTemplate: OLD })
    const narrow = foreign('b', { spiffeIDTemplate: OLD, podSelector: { matchLabels: { app: 'web' } } })
    const [one, other] = migrationsOf(['a', 'b'], [pool(), pod(), web, alone, wide, narrow])
    expect(titles(got(one)).at(-1)).toBe('Narrow the old registration, do not delete it')
    expect(uncoveredIn(got(one)).map((text) => text.split(':')[0])).toEqual([
      'vllm of pod team-a/alone',
      'proxy of pod team-a/alone',
    ])
    expect(titles(got(other))).toEqual(['Keep the old registration'])
    const why = 'beside it ClusterSPIFFEID/a alone gives the ID, and by its plan that one may go'
    expect(uncoveredIn(got(other))).toEqual([
      `vllm of pod team-a/web-0: ${why}`,
      `proxy of pod team-a/web-0: ${why}`,
    ])
  })

  test('two containers of one pool: no second binding takes the name of the first', () => {
    const objects = [pool(), objective(), pod(), ofContainer('log', 'proxy'), ofContainer('serve', 'vllm')]
    const [log, serve] = migrationsOf(['log', 'serve'], objects)
    expect(boundaries(got(log))).toEqual(['PerObjective chat proxy'])
    expect(boundaries(got(serve))).toEqual([])
    expect(uncoveredIn(got(serve)).map((text) => text.split(':')[0])).toEqual(['vllm of pod team-a/llama-0'])
    expect(titles(got(serve))).toEqual(['Keep the old registration'])
  })

  test('the command of a step names those whose bindings were applied before: names of bindings depend on them', () => {
    const labels = { app: 'other' }
    const objects = [
      pool(),
      pod(),
      old(),
      pool({ name: 'other', labels }),
      pod({ name: 'other-0', labels }),
      foreign('other', { spiffeIDTemplate: OLD, podSelector: { matchLabels: labels } }),
    ]
    const commands = migrationsOf(['old', 'other'], objects).map(
      (one) => got(migrationSteps(one).find(({ title }) => title === 'Apply the bindings')).lines[0],
    )
    expect(commands).toEqual([
      'kubectl kleym migrate clusterspiffeid/old -o yaml | kubectl apply -f -',
      'kubectl kleym migrate clusterspiffeid/old clusterspiffeid/other -o yaml | kubectl apply -f -',
    ])
  })
})
