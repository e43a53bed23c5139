// The live side against a cluster in memory: what it shows, what it says that it does not know, and how it comes back.
import { DEFAULT_VARIANT_LABEL_KEY } from '@kleym/shared/core/model/names.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { analyse } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readScmSettings } from '@kleym/shared/core/model/objects/scm-config.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import {
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  CLUSTER_STATIC_ENTRIES,
  OBJECTIVES,
  PODS,
  POOLS,
} from '@kleym/shared/kube/resources.ts'
import { CONFIG, binding, estate, got, live, objective, outputOf, pool } from '@kleym/testing/manifests.ts'
import { randomCluster } from '@kleym/testing/random-bindings.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { missingOf } from '../../../../src/frame/causes.ts'
import { missingText } from '../../../../src/answers/watch/live/knowledge.ts'
import {
  LiveState,
  FIRST_READ_TIMEOUT_MS,
  SETTINGS_AGE_MS,
  type Picture,
} from '../../../../src/answers/watch/live/live-state.ts'
import type { LearntSettings } from '../../../../src/answers/watch/live/settings.ts'
import { rowsOf, verdictText, type Row } from '../../../../src/answers/watch/live/rows.ts'
import { FakeCluster, settle } from '../../../support/fake-cluster.ts'

const DEBOUNCED_MS = 200
const CONTACT_MS = 5_000

interface Sitting {
  readonly cluster: FakeCluster
  readonly clock: FakeClock
  readonly live: LiveState
  /** Lets time pass, and all that is due happen. */
  readonly pass: (ms: number) => Promise<void>
  readonly picture: () => Picture
  readonly pictures: Picture[]
  readonly bugs: unknown[]
}

interface Options {
  readonly namespace?: string
  /** Undefined: no flag gives it. */
  readonly trustDomain?: string | undefined
  readonly prepare?: (cluster: FakeCluster) => void
  readonly learn?: () => Promise<LearntSettings>
}

/** Settings that only the command line tells, and Deployments if there are any. */
function learntFrom(
  given: LearntSettings['options'],
  deployments: LearntSettings['deployments'] = [],
): LearntSettings {
  return {
    options: given,
    deployments,
    scm: { given: undefined, fallbacks: [], found: [], containers: [], unread: [] },
  }
}

async function watching(objects: readonly JsonRecord[], options: Options = {}): Promise<Sitting> {
  const cluster = new FakeCluster(objects)
  const { namespace, prepare, learn } = options
  prepare?.(cluster)
  const clock = new FakeClock()
  const pictures: Picture[] = []
  const bugs: unknown[] = []
  const state = new LiveState(
    { client: cluster, clock, random: () => 0.5 },
    {
      namespace,
      settings: learntFrom({
        trustDomain: 'trustDomain' in options ? options.trustDomain : 'example.org',
        className: '',
        outputLabels: undefined,
        variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
        scmConfig: undefined,
      }),
      ...(learn === undefined ? {} : { learn }),
      onPicture: (picture) => pictures.push(picture),
      onBug: (error) => bugs.push(error),
    },
  )
  state.start()
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 50) {
      await settle()
      clock.advance(Math.min(left, 50))
    }
    await settle()
  }
  await pass(DEBOUNCED_MS)
  return {
    cluster,
    clock,
    live: state,
    pass,
    pictures,
    bugs,
    picture: () => got(pictures.at(-1), 'a picture'),
  }
}

const shown = ({ rows }: Picture): readonly string[] => rows.map((row) => `${row.key} ${verdictText(row)}`)
const unknown = ({ knowledge }: Picture): readonly string[] => knowledge.missing.map(missingText)

/** A ClusterStaticEntry for the pods of team-a. */
function staticEntry(spiffeID: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: 'static' },
    spec: { spiffeID, parentID: 'spiffe://example.org/nodes', selectors: ['k8s:ns:team-a'] },
  }
}

/** A foreign ClusterSPIFFEID, for every pod. */
function foreign(spiffeIDTemplate: string): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'foreign' },
    spec: { spiffeIDTemplate },
  }
}

const TEAM_A = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } }

describe('what it shows', () => {
  test('a binding whose output is not there yet is ready, and due', async () => {
    const { picture } = await watching(estate(binding()))
    expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
    expect(picture().knowledge).toEqual({
      lostSince: undefined,
      missing: [],
      bindingsKnown: true,
      operator: undefined,
      operatorDown: 'no Deployment of the operator is there',
      disagreements: [],
      problems: [],
      settled: true,
    })
  })

  test('a binding whose output is in force is ready', async () => {
    const objects = estate(binding())
    const { picture } = await watching([...objects, live(outputOf(objects))])
    expect(shown(picture())).toEqual(['team-a/llama ready'])
  })

  test('a pool that is deleted refuses its binding, and one that comes back makes it ready', async () => {
    const { picture, cluster, pass, clock } = await watching(estate(binding()))
    expect(picture().rows[0]?.since).toBeUndefined()
    cluster.remove(pool())
    const before = clock.now()
    await pass(DEBOUNCED_MS)
    expect(shown(picture())).toEqual(['team-a/llama TargetPoolNotFound'])
    expect(picture().rows[0]?.since?.getTime()).toBeGreaterThanOrEqual(before.getTime())
    cluster.put(pool())
    await pass(DEBOUNCED_MS)
    expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
  })

  test('a burst of changes is worked out once', async () => {
    const { cluster, pass, pictures } = await watching(estate(binding()))
    const before = pictures.length
    for (let at = 0; at < 20; at++)
      cluster.put(binding({ name: `more-${at}`, spec: { containerName: `c-${at}` } }))
    await pass(DEBOUNCED_MS)
    const sizes = new Set(pictures.slice(before).map(({ rows }) => rows.length))
    expect([...sizes]).toEqual([21])
  })

  test('a binding of another namespace than the one watched is not there', async () => {
    const other = binding({ namespace: 'team-b' })
    const { picture } = await watching([...estate(binding()), other], { namespace: 'team-b' })
    expect(shown(picture())).toEqual(['team-b/llama TargetPoolNotFound'])
  })

  test.each([
    ['a flag wins over it', 'example.org', 'spiffe://example.org/ns/team-a/objective/chat'],
    ['no flag gives it', undefined, 'spiffe://other.example/ns/team-a/objective/chat'],
  ])('the trust domain of every row where a status says one and %s', async (_, trustDomain, spiffeId) => {
    const { picture, cluster, pass } = await watching(estate(binding()), { trustDomain })
    const status = { trustDomain: 'other.example' }
    for (const namespace of ['team-b', 'team-c'])
      cluster.put(binding({ namespace, status, spec: { containerName: 'x' } }))
    await pass(2 * DEBOUNCED_MS)
    expect(picture().rows[0]?.spiffeId).toBe(spiffeId)
    const isDisputed = trustDomain !== undefined
    expect(picture().knowledge.disagreements).toEqual(
      isDisputed
        ? [
            'settings disagree at team-b/llama and others: the trust domain is other.example here, and example.org by the command line (KLM520)',
          ]
        : [],
    )
  })

  test('how many pods SCM selects comes from the status of the output', async () => {
    const objects = estate(binding())
    const output = { ...live(outputOf(objects)), status: { stats: { podsSelected: 3 } } }
    const { picture } = await watching([...objects, output])
    expect(picture().rows[0]?.pods).toBe(3)
  })
})

describe('what it does not know', () => {
  test('bindings that may not be listed are unknown, and no empty list', async () => {
    const { picture } = await watching([], { prepare: (cluster) => cluster.serve(BINDINGS, 'forbidden') })
    expect(picture().knowledge).toMatchObject({ bindingsKnown: false, settled: true })
    expect(unknown(picture())).toEqual(['cannot list InferenceIdentityBinding.kleym.sonda.red: forbidden'])
  })

  test.each([
    ['pool', POOLS, 'cannot list InferencePool.inference.networking.k8s.io: forbidden', objective()],
    ['objective', OBJECTIVES, 'cannot list InferenceObjective.llm-d.ai: forbidden', pool()],
  ] as const)(
    'a binding whose %s may not be listed is undetermined, and decided when it may',
    async (_, kinds, text, other) => {
      const forbidden = got(kinds[0], 'a kind')
      const { picture, cluster, pass } = await watching([binding(), other], {
        prepare: (one) => one.serve(forbidden, 'forbidden'),
      })
      expect(shown(picture())).toEqual(['team-a/llama Undetermined'])
      expect(unknown(picture())).toEqual([text])
      for (const object of estate()) cluster.put(object)
      cluster.serve(forbidden, 'served')
      await pass(40_000)
      expect(unknown(picture())).toEqual([])
      expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
    },
  )

  test('without the ClusterSPIFFEIDs nothing is said to be in force', async () => {
    const { picture } = await watching(estate(binding()), {
      prepare: (cluster) => cluster.serve(CLUSTER_SPIFFE_IDS, 'forbidden'),
    })
    expect(shown(picture())).toEqual(['team-a/llama Undetermined'])
  })

  test('a kind that the API server does not serve is absent, and nothing to speak of for pools', async () => {
    const { picture } = await watching(estate(binding()), {
      prepare: (cluster) => cluster.serve(got(POOLS[1], 'a kind'), 'absent'),
    })
    expect(unknown(picture())).toEqual([])
    expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
  })

  test('bindings that the API server does not serve are worth a line', async () => {
    const { picture } = await watching([], { prepare: (cluster) => cluster.serve(BINDINGS, 'absent') })
    expect(unknown(picture())).toEqual([
      'cannot list InferenceIdentityBinding.kleym.sonda.red: absent (is its CRD installed?)',
    ])
    expect(picture().knowledge.bindingsKnown).toBe(false)
  })

  test('a kind that may not be read any more is shown as it was, and said to be old', async () => {
    const { picture, cluster, pass } = await watching(estate(binding()))
    cluster.serve(got(POOLS[0], 'a kind'), 'forbidden')
    await pass(8_000)
    expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
    expect(unknown(picture())).toEqual([
      expect.stringMatching(
        /^cannot (list|watch) InferencePool\.inference\.networking\.k8s\.io: forbidden; shown as of \d\d:\d\d:\d\d$/,
      ),
    ])
  })

  test('a kind that never answers holds the others up for a while, and no longer', async () => {
    const { picture, pictures, pass } = await watching(estate(binding()), {
      prepare: (cluster) => cluster.fallSilent(),
    })
    expect(pictures.every(({ knowledge }) => !knowledge.settled)).toBe(true)
    await pass(FIRST_READ_TIMEOUT_MS + DEBOUNCED_MS)
    expect(picture().knowledge).toMatchObject({ settled: true, bindingsKnown: false })
  })
})

describe('when the API server no longer answers', () => {
  test('the picture stays, and says since when it is old; afterwards it shows what has happened meanwhile', async () => {
    const { picture, cluster, clock, pass } = await watching(estate(binding()))
    const heard = clock.now()
    cluster.fallSilent()
    await pass(3 * CONTACT_MS)
    const { lostSince } = picture().knowledge
    expect(lostSince?.getTime()).toBeGreaterThanOrEqual(heard.getTime() - CONTACT_MS)
    expect(lostSince?.getTime()).toBeLessThanOrEqual(heard.getTime())
    expect(shown(picture())).toEqual(['team-a/llama ready, to be created'])
    cluster.remove(pool())
    cluster.speak()
    await pass(2 * CONTACT_MS)
    expect(picture().knowledge.lostSince).toBeUndefined()
    expect(shown(picture())).toEqual(['team-a/llama TargetPoolNotFound'])
  })

  test('nothing is asked or shown after stop', async () => {
    const { live: state, cluster, clock, pictures, pass, bugs } = await watching(estate(binding()))
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    state.stop()
    await settle()
    const [calls, shownBefore] = [cluster.calls.length, pictures.length]
    cluster.put(binding({ name: 'late' }))
    await pass(60_000)
    expect([cluster.calls.length, pictures.length, clock.timers, bugs]).toEqual([calls, shownBefore, 0, []])
  })
})

describe('the derivation of the chosen binding', () => {
  test('it reads the pods of its namespace alone, and only when it is chosen', async () => {
    const { live: state, cluster, picture, pass } = await watching(estate(binding()))
    expect(cluster.calls.some((call) => call.includes('pods.'))).toBe(false)
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    expect(picture().detail).toMatchObject({ state: 'shown', key: 'team-a/llama', podGap: undefined })
    expect(cluster.calls.filter((call) => call === 'list pods.')).toHaveLength(1)
    state.choose(undefined)
    expect(state.picture.detail).toEqual({ state: 'closed' })
  })

  test('pods that may not be listed are a gap of the derivation', async () => {
    const {
      live: state,
      picture,
      pass,
    } = await watching(estate(binding()), {
      prepare: (cluster) => cluster.serve(PODS, 'forbidden'),
    })
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    expect(picture().detail).toMatchObject({ state: 'shown', podGap: { what: 'Pod', cause: 'forbidden' } })
    expect(unknown(picture())).toEqual(['cannot list Pod: forbidden'])
  })

  test('static entries that may not be listed are missing from it', async () => {
    const {
      live: state,
      picture,
      pass,
    } = await watching(estate(binding()), {
      prepare: (cluster) => cluster.serve(CLUSTER_STATIC_ENTRIES, 'forbidden'),
    })
    expect(unknown(picture())).toEqual([])
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    expect(unknown(picture())).toEqual(['cannot list ClusterStaticEntry.spire.spiffe.io: forbidden'])
    const { detail } = picture()
    expect(detail.state === 'shown' && missingOf(detail.frame.causes)).toMatchObject([{ cause: 'forbidden' }])
  })

  test.each([
    ['served, and has no object here', 'served' as const, ['KLM111']],
    ['not served', 'absent' as const, []],
  ])('an objective of an older group, where that of llm-d is %s', async (_says, served, codes) => {
    const older = objective({ group: 'inference.networking.x-k8s.io' })
    const {
      live: state,
      picture,
      pass,
    } = await watching([pool(), older, binding()], {
      prepare: (cluster) => {
        cluster.serve(got(OBJECTIVES[0], 'a kind'), served)
      },
    })
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    const { detail } = picture()
    const found = detail.state === 'shown' ? detail.frame.findings : []
    expect(found.map(({ code }) => code).filter((code) => code === 'KLM111')).toEqual(codes)
  })

  test.each([
    ['nothing, where nothing else decides', [], undefined],
    [
      'nothing of nodes, where no pod is there that a static entry for some of them could be for',
      [staticEntry('spiffe://example.org/other')],
      undefined,
    ],
    [
      'other namespaces, where a registration may give its identity to pods there',
      [foreign('spiffe://example.org/ns/team-a/{{ .PodMeta.Name }}/chat')],
      'other namespaces: not followed here, and may change the answer; kubectl kleym explain llama -n team-a reads on',
    ],
  ])('what it does not follow is said: %s', async (_, objects, note) => {
    const { live: state, cluster, picture, pass } = await watching([...estate(binding()), TEAM_A])
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    for (const object of objects) cluster.put(object)
    await pass(DEBOUNCED_MS)
    const { detail } = picture()
    const assumptions = detail.state === 'shown' ? detail.assumptions : ['no derivation']
    expect(assumptions.find((one) => one.includes('not followed') || one.startsWith('no '))).toBe(note)
  })

  test('the labels of its namespace are asked for again when the connection is back', async () => {
    const { live: state, cluster, pass } = await watching(estate(binding()))
    const asked = (): number => cluster.calls.filter((call) => call === 'get namespaces.').length
    cluster.fallSilent()
    state.choose('team-a/llama')
    await pass(3 * CONTACT_MS)
    const before = asked()
    cluster.speak()
    await pass(2 * CONTACT_MS)
    expect(asked()).toBe(before + 1)
  })

  test('a chosen binding that is deleted is shown as deleted', async () => {
    const { live: state, cluster, picture, pass } = await watching(estate(binding()))
    state.choose('team-a/llama')
    await pass(DEBOUNCED_MS)
    cluster.remove(binding())
    await pass(DEBOUNCED_MS)
    expect(picture().detail).toEqual({ state: 'deleted', key: 'team-a/llama' })
  })
})

test('the rows of each namespace by itself are those of all of them together', async () => {
  await fc.assert(
    fc.asyncProperty(randomCluster, async ({ inputs, outputs }) => {
      const objects = [...inputs, ...outputs]
      const { picture, live: state } = await watching(objects)
      const rows = picture().rows
      state.stop()
      expect(rows).toEqual(rowsTogether(objects))
    }),
    { numRuns: runs(60) },
  )
})

function rowsTogether(objects: readonly JsonRecord[]): readonly Row[] {
  const snapshot = readSnapshot({ objects: objects.map((value) => ({ value })) })
  const { settings } = readScmSettings(undefined, 'the SPIRE chart', {
    trustDomain: 'example.org',
    className: '',
    clusterSpiffeIdClasses: [],
  })
  return rowsOf(analyse(snapshot, CONFIG, settings), () => undefined)
}

describe('settings that are not followed', () => {
  const NOT_GIVEN = {
    trustDomain: undefined,
    className: undefined,
    outputLabels: undefined,
    variantLabelKey: undefined,
    scmConfig: undefined,
  }
  const args = ['--trust-domain=learnt.org', '--clusterspiffeid-class-name=']
  const operator: RawObject = {
    value: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'kleym', namespace: 'kleym-system' },
      spec: { template: { spec: { containers: [{ image: 'kleym-operator:1', args }] } } },
    },
  }

  test('are learnt again after a minute: another trust domain is in every row', async () => {
    const { pass, picture } = await watching([pool(), objective(), binding()], {
      trustDomain: undefined,
      learn: async () => learntFrom(NOT_GIVEN, [operator]),
    })
    expect(picture().rows[0]?.spiffeId).toContain('<trust-domain>')
    await pass(SETTINGS_AGE_MS + 1_000)
    expect(picture().rows[0]?.spiffeId).toBe('spiffe://learnt.org/ns/team-a/objective/chat')
  })

  test('that cannot be learnt any more stay as they were', async () => {
    let count = 0
    const { pass, picture } = await watching([pool(), objective(), binding()], {
      trustDomain: undefined,
      learn: async () => ({ ...learntFrom(NOT_GIVEN), deployments: count++ === 0 ? [operator] : undefined }),
    })
    await pass(2 * SETTINGS_AGE_MS + 1_000)
    expect(count).toBe(2)
    expect(picture().rows[0]?.spiffeId).toBe('spiffe://learnt.org/ns/team-a/objective/chat')
  })
})
