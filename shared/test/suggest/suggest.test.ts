// Which bindings are suggested for which pools, and what is said where there is none.
import { describe, expect, test } from 'vitest'
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { binding, CONFIG, objective, perVariant, pool, poolOnly, X_GROUP } from '@kleym/testing/manifests.ts'
import { pod } from '@kleym/testing/access-policies.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { suggestedLines, suggestionsFor, suggestionsOf } from './suggestions-for.ts'

const KEY = 'identity.kleym.sonda.red/variant'

function deployment(name: string, labels: JsonRecord, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'team-a' },
    spec: {
      template: {
        metadata: { labels },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }], ...spec },
      },
    },
  }
}

/** A pod with one container. */
const LONE = pod({ spec: { containers: [{ name: 'vllm' }] } })

function linesFor(...objects: readonly JsonRecord[]): readonly string[] {
  return suggestedLines(suggestionsFor(objects).answer)
}

function notFor(...objects: readonly JsonRecord[]): readonly string[] {
  return suggestionsFor(objects).answer.pools.flatMap(({ not }) =>
    not.map(({ state, what, reason, why }) => `${state} ${what} ${reason ?? '-'}: ${why}`),
  )
}

const withAccount = (of: string): JsonRecord =>
  deployment(of, { app: 'llama', [KEY]: of }, { serviceAccountName: of })

describe('which binding is suggested', () => {
  test('PoolOnly where no objective leads to the pool, for pods and for templates', () => {
    expect(linesFor(pool(), pod())).toEqual(['team-a/llama PoolOnly runner'])
    expect(linesFor(pool(), deployment('llama', { app: 'llama' }))).toEqual(['team-a/llama PoolOnly runner'])
  })

  test('PerObjective where one objective leads to the pool and its pods run one regular container', () => {
    expect(linesFor(pool(), objective(), LONE)).toEqual(['team-a/llama-chat PerObjective chat vllm runner'])
  })

  test('PerVariant where every pod carries the label of the install with one of several values', () => {
    const roles = ['prefill', 'decode'].map((role) => deployment(role, { app: 'llama', [KEY]: role }))
    expect(linesFor(pool(), objective(), ...roles)).toEqual([
      'team-a/llama-decode PerVariant decode runner',
      'team-a/llama-prefill PerVariant prefill runner',
    ])
  })

  describe('PerVariant where every pod of the pool carries the label, also if each role has an account of its own', () => {
    const decode = 'team-a/llama-decode PerVariant decode decode'
    const prefill = 'team-a/llama-prefill PerVariant prefill prefill'

    test('for pods that have no binding', () => {
      expect(linesFor(pool(), withAccount('prefill'), withAccount('decode'))).toEqual([decode, prefill])
      const [first] = suggestionsFor([pool(), withAccount('prefill'), withAccount('decode')]).answer.pools
      expect(first?.remarks).toEqual([])
    })

    test('beside a binding for the variant of another account', () => {
      const spec = { serviceAccountName: 'decode', identityBoundary: { variant: 'decode' } }
      const mine = perVariant({ name: 'mine', spec })
      expect(linesFor(pool(), withAccount('prefill'), withAccount('decode'), mine)).toEqual([prefill])
    })

    test('but not if one account has pods without it', () => {
      const bare = deployment('bare', { app: 'llama' }, { serviceAccountName: 'bare' })
      expect(linesFor(pool(), withAccount('prefill'), withAccount('decode'), bare)).not.toContain(decode)
    })
  })

  test('PoolOnly where several objectives lead to the pool, with the refusal of the operator', () => {
    const objects = [pool(), objective(), objective({ name: 'code' }), LONE]
    expect(linesFor(...objects)).toEqual(['team-a/llama PoolOnly runner'])
    expect(notFor(...objects)).toEqual([
      expect.stringMatching(
        /^impossible PerObjective chat for container vllm, PerObjective code for container vllm IdentityCollision: at most one of them can be Ready: PerObjective bindings/,
      ),
    ])
    const [first] = suggestionsFor(objects).answer.pools
    expect(first?.remarks.join()).toContain('an objective is a header of a request')
  })

  test('PoolOnly where no object says which of several containers serves the objective', () => {
    const two = deployment('llama', { app: 'llama' }, { containers: [{ name: 'vllm' }, { name: 'proxy' }] })
    expect(linesFor(pool(), objective(), two)).toEqual(['team-a/llama PoolOnly runner'])
    expect(notFor(pool(), objective(), two)).toEqual([
      'open PerObjective -: its pods run 2 containers (proxy, vllm), and nothing says which of them serves objective chat',
    ])
  })

  test('one for each service account, by the name of the account', () => {
    const other = deployment('other', { app: 'llama' }, { serviceAccountName: 'other' })
    expect(linesFor(pool(), deployment('llama', { app: 'llama' }), other)).toEqual([
      'team-a/llama-other PoolOnly other',
      'team-a/llama-runner PoolOnly runner',
    ])
  })

  test('a pool in both groups counts once where both select the same pods', () => {
    expect(linesFor(pool(), pool({ group: X_GROUP }), pod())).toEqual(['team-a/llama PoolOnly runner'])
  })

  test('two pools on one pod, whose claims hold one another, get PoolOnly both', () => {
    const inner = pool({ name: 'inner', labels: { app: 'llama', tier: 'gold' } })
    const objectives = [objective(), objective({ name: 'code', poolRef: { name: 'inner' } })]
    const shared = pod({
      labels: { app: 'llama', tier: 'gold' },
      spec: { containers: [{ name: 'vllm' }] },
    })
    expect(linesFor(pool(), inner, ...objectives, shared)).toEqual([
      'team-a/inner PoolOnly runner',
      'team-a/llama PoolOnly runner',
    ])
  })
})

describe('names', () => {
  test('are valid labels however the pool is named', () => {
    const long = 'a.'.repeat(100) + 'b'
    const [line] = linesFor(pool({ name: long }), pod())
    expect(line).toMatch(/^team-a\/[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])? PoolOnly runner$/)
  })

  test('avoid those of bindings that exist, and stay the same', () => {
    const taken = poolOnly({ name: 'llama', spec: { poolRef: { name: 'other' } } })
    const lines = linesFor(pool(), taken, pod())
    expect(lines).toEqual([expect.stringMatching(/^team-a\/llama-[0-9a-f]{8} PoolOnly runner$/)])
    expect(linesFor(pod(), taken, pool())).toEqual(lines)
  })
})

describe('what there is already', () => {
  test.each([
    ['PoolOnly', poolOnly({ name: 'mine' })],
    ['PerObjective', binding({ name: 'mine' })],
    ['a refused one', binding({ name: 'mine', spec: { objectiveRef: { name: 'none' } } })],
  ])('a pool with a binding is reported as having one: %s', (_what, mine) => {
    const { answer } = suggestionsFor([pool(), objective(), pod(), mine])
    expect(suggestedLines(answer)).toEqual([])
    expect(answer.pools.flatMap(({ existing }) => existing.map(({ key }) => key))).toEqual(['team-a/mine'])
  })

  test('variants that no binding names get one beside those that have one', () => {
    const roles = ['prefill', 'decode'].map((role) => deployment(role, { app: 'llama', [KEY]: role }))
    expect(linesFor(pool(), ...roles, perVariant({ name: 'mine' }))).toEqual([
      'team-a/llama-decode PerVariant decode runner',
    ])
  })

  test('pods under another service account than that of the binding are left to a person', () => {
    const other = poolOnly({ name: 'mine', spec: { serviceAccountName: 'other' } })
    expect(linesFor(pool(), pod(), other)).toEqual([])
    expect(notFor(pool(), pod(), other)).toEqual([
      expect.stringMatching(/^open a binding for service account runner -: team-a\/mine binds another/),
    ])
  })

  test('a binding that is being deleted counts as none', () => {
    const going = poolOnly({ name: 'llama', deletedAt: '2026-01-01T00:00:00Z' })
    expect(linesFor(pool(), pod(), going)).toEqual([expect.stringMatching(/^team-a\/llama-/)])
  })
})

const DELETED = '2026-01-01T00:00:00Z'

function beingDeleted(object: JsonRecord): JsonRecord {
  const { metadata } = object
  return {
    ...object,
    metadata: { ...(isRecord(metadata) ? metadata : {}), deletionTimestamp: DELETED },
  }
}

describe('where there is none', () => {
  test('a namespace that is being deleted takes no new object', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team-a', uid: 'team-a', deletionTimestamp: DELETED },
    }
    const why = 'namespace team-a is being deleted, and the API server takes no new object there'
    expect(notFor(namespace, pool(), pod())).toEqual([`impossible  -: ${why}`])
    expect(linesFor(namespace, pool(), pod())).toEqual([])
    expect(notFor(namespace, pool(), pod(), poolOnly())).toEqual([])
  })

  test('a pool that is being deleted, and what is proven without an objective that is', () => {
    const why = 'InferencePool llama is being deleted, and a binding is refused once it is gone'
    expect(notFor(beingDeleted(pool()), pod())).toEqual([`impossible  -: ${why}`])
    expect(linesFor(pool(), LONE, objective())).toEqual([expect.stringContaining('PerObjective')])
    expect(linesFor(pool(), LONE, beingDeleted(objective()))).toEqual([expect.stringContaining('PoolOnly')])
  })

  test('a pool that selects nothing: in a cluster there are no pods, and among files there may be others', () => {
    const objects = [pool(), pod({ labels: { app: 'other' } })]
    const lacking = 'no pod and no pod template has its labels (app=llama)'
    expect(notFor(...objects)).toEqual([expect.stringContaining(`impossible  -: ${lacking}`)])
    const files = readSnapshot({ objects: objects.map((value) => ({ value })) })
    const [first] = suggestionsOf(analyse(files, CONFIG, HANDLES_EVERYTHING)).pools
    const why = `its pods are not among the files: ${lacking}`
    expect(first?.not).toMatchObject([{ state: 'unproven' }])
    expect(first?.not[0]?.why).toContain(why)
  })

  test('a pool that the operator refuses, for the reason that it gives', () => {
    const unsafe = pool({ spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } })
    expect(notFor(unsafe, pod())).toEqual([expect.stringMatching(/^impossible PoolOnly UnsafeSelector: /)])
    const two = pool({ group: X_GROUP, labels: { app: 'other' } })
    expect(notFor(pool(), two, pod())).toEqual([
      expect.stringMatching(/^impossible PoolOnly AmbiguousPoolRef: /),
    ])
  })

  test('pods of a kind that is not read: it depends, and what would settle it is named', () => {
    const rollout = {
      ...deployment('llama', { app: 'llama' }),
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Rollout',
    }
    const snapshot = readSnapshot({ objects: [{ value: pool() }, { value: rollout, isUnread: true }] })
    const answer = suggestionsOf(analyse(snapshot, CONFIG, HANDLES_EVERYTHING))
    expect(suggestedLines(answer)).toEqual([])
    expect(answer.pools[0]?.not[0]?.state).toBe('unproven')
    expect(answer.missing.map(({ what }) => what)).toEqual([expect.stringContaining('Rollout')])
  })

  test('bindings that could not be read: one of them may have the name', () => {
    const { answer } = suggestionsFor(
      [pool(), pod()],
      {},
      { forbidden: ['InferenceIdentityBinding.kleym.sonda.red'] },
    )
    expect(suggestedLines(answer)).toEqual([])
    expect(answer.missing).toHaveLength(1)
  })

  test('the label key of variants is not known: the pods may have roles, so nothing is suggested in their place', () => {
    const roles = ['prefill', 'decode'].map((role) => deployment(role, { app: 'llama', [KEY]: role }))
    const config = { trustDomain: { kind: 'set' as const, value: 'example.org' }, className: '' }
    const { answer } = suggestionsFor([pool(), ...roles], {}, { config })
    expect(suggestedLines(answer)).toEqual([])
    expect(answer.pools[0]?.not[0]?.why).toContain('--variant-label-key')
    expect(answer.missing).toHaveLength(1)
  })

  test('no trust domain is configured', () => {
    const config = { trustDomain: { kind: 'missing' as const }, className: '' }
    const { answer } = suggestionsFor([pool(), pod()], {}, { config })
    expect(answer.pools[0]?.not[0]?.reason).toBe('MissingTrustDomain')
  })
})

describe('what cannot be had', () => {
  test('roles that only their containers tell apart: a label would', () => {
    const decode = deployment(
      'decode',
      { app: 'llama' },
      { containers: [{ name: 'vllm' }, { name: 'proxy' }] },
    )
    const { answer } = suggestionsFor([pool(), deployment('prefill', { app: 'llama' }), decode])
    expect(suggestedLines(answer)).toEqual(['team-a/llama PoolOnly runner'])
    expect(answer.pools[0]?.remarks.join()).toMatch(/label their templates with .*routing needs one pool/)
  })

  test('roles by the label of llm-d, where the install has another key', () => {
    const roles = ['prefill', 'decode'].map((role) =>
      deployment(role, { app: 'llama', 'llm-d.ai/role': role }),
    )
    const { answer } = suggestionsFor([pool(), ...roles])
    expect(suggestedLines(answer)).toEqual(['team-a/llama PoolOnly runner'])
    expect(answer.pools[0]?.remarks.join()).toContain('--variant-label-key llm-d.ai/role')
  })
})

describe('what is asked about', () => {
  const two = [
    pool(),
    pool({ name: 'gemma', labels: { app: 'gemma' } }),
    pod(),
    deployment('gemma', { app: 'gemma' }),
  ]

  test('one pool', () => {
    const { answer } = suggestionsFor(two, { isPool: ({ meta }) => meta.name === 'gemma' })
    expect(suggestedLines(answer)).toEqual(['team-a/gemma PoolOnly runner'])
  })

  test('one workload: the pools that select its pods', () => {
    const { answer } = suggestionsFor(two, { isPod: ({ ref }) => ref.name === 'gemma' })
    expect(answer.pools.map(({ pool: { name } }) => name)).toEqual(['gemma'])
  })

  test('an objective beside another that has the container: the operator refuses it', () => {
    const objects = [pool(), objective(), objective({ name: 'code' }), binding(), LONE]
    const { answer } = suggestionsFor(objects, { isObjective: ({ meta }) => meta.name === 'code' })
    expect(suggestedLines(answer)).toEqual([])
    expect(answer.pools[0]?.not.map(({ reason }) => reason)).toEqual(['IdentityCollision'])
  })
})

describe('what it does to pods', () => {
  test('a fallback that gives way is a loss', () => {
    const fallback = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'default', uid: 'uid-of-default' },
      spec: {
        spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/sa/{{ .PodSpec.ServiceAccountName }}',
        fallback: true,
      },
    }
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } }
    const { answer } = suggestionsFor([pool(), pod(), node, fallback])
    const [first] = answer.pools[0]?.suggested ?? []
    expect(first?.reach.reached).toHaveLength(1)
    expect(answer.effect.gained.map(({ spiffeId }) => spiffeId)).toEqual([
      'spiffe://example.org/ns/team-a/pool/llama',
    ])
    expect(answer.effect.lost.map(({ spiffeId }) => spiffeId)).toEqual(['spiffe://example.org/sa/runner'])
  })
})
