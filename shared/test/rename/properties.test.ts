// What a plan promises, for random bindings, pods and policies: whoever carries it out, command by command, sees at no time that a
// container presents an ID which a consumer refuses that accepted all of its IDs before; unless the plan says so.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { objective, perVariant, pool, poolOnly, binding } from '@kleym/testing/manifests.ts'
import { foreign, NODE, pod } from '@kleym/testing/access-policies.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { Holdings, idsOf } from '../../src/core/analysis/holdings/holdings.ts'
import { stringAt, type JsonRecord } from '../../src/core/base/json.ts'
import { podText } from '../../src/core/model/objects/pod-index.ts'
import { YES } from '../../src/core/model/truth/truth.ts'
import { renaming, type Rename } from '../../src/core/answers/rename/rename.ts'
import { bindingsConcerned, type RenameQuestion } from '../../src/core/snapshot/renamed.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { toolsFor } from '../suggest/suggestions-for.ts'
import { letsIn } from './istiod.ts'
import { deedsOf, withDeed, type Deed } from './walk.ts'

const SEED = 20_261_127

const IDS = [
  'ns/team-a/pool/llama',
  'ns/team-a/pool/phi',
  'ns/team-a/pool/llama/variant/prefill',
  'ns/team-a/objective/chat',
  'ns/team-a/objective/code',
  'ns/team-a/sa/runner',
].map((path) => `example.org/${path}`)
const principal = fc.constantFrom(
  ...IDS,
  'example.org/ns/team-a/pool/*',
  '*/llama',
  '*',
  'example.org/ns/team-b/sa/x',
)
const principals = fc.array(principal, { minLength: 1, maxLength: 3 })

const source = fc.oneof(
  { weight: 4, arbitrary: principals.map((all): JsonRecord => ({ principals: all })) },
  fc.record({ principals, notPrincipals: fc.array(principal, { minLength: 1, maxLength: 1 }) }),
  principals.map((all): JsonRecord => ({ principals: all, namespaces: ['team-a'] })),
  fc.constant({ namespaces: ['team-a'] }),
)

const policies = fc.array(
  fc
    .record({
      action: fc.constantFrom('ALLOW', 'ALLOW', 'ALLOW', 'DENY'),
      from: fc.array(source, { minLength: 1, maxLength: 2 }),
      when: fc.option(principals, { nil: undefined, freq: 6 }),
    })
    .map(({ action, from, when }) => ({
      action,
      rules: [
        {
          from: from.map((one) => ({ source: one })),
          ...(when !== undefined && { when: [{ key: 'source.principal', values: when }] }),
        },
      ],
    })),
  { minLength: 1, maxLength: 3 },
)

const PREFILL = 'identity.kleym.sonda.red/variant'

const bindings = fc.subarray(
  [
    poolOnly({ name: 'llama' }),
    perVariant({ name: 'prefill' }),
    binding({ name: 'chat' }),
    poolOnly({ name: 'phi', spec: { poolRef: { name: 'phi' } } }),
    binding({ name: 'code', spec: { objectiveRef: { name: 'code' }, containerName: 'proxy' } }),
    poolOnly({ name: 'spare', spec: { objectiveRef: { name: 'chat' } } }),
  ],
  { minLength: 1, maxLength: 3 },
)

const pods = fc.array(
  fc.record({
    labels: fc.constantFrom<Readonly<Record<string, string>>>(
      { app: 'llama' },
      { app: 'llama', [PREFILL]: 'prefill' },
      { app: 'phi' },
    ),
    hasDefault: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
)

const renames = fc.constantFrom<Pick<RenameQuestion, 'kind' | 'from' | 'to'>>(
  { kind: 'pool', from: 'llama', to: 'llama-70b' },
  { kind: 'pool', from: 'llama', to: 'phi' },
  { kind: 'objective', from: 'chat', to: 'assistant' },
  { kind: 'objective', from: 'chat', to: 'code' },
  { kind: 'binding', from: 'llama', to: 'other' },
  { kind: 'binding', from: 'chat', to: 'other' },
  { kind: 'binding', from: 'chat', to: 'prefill' },
  { kind: 'binding', from: 'llama', to: 'phi' },
)

const worlds = fc
  .record({ bindings, pods, policies, asked: renames, isFallback: fc.boolean() })
  .map(({ bindings: some, pods: all, policies: specs, asked, isFallback }) => ({
    question: { namespace: 'team-a', ...asked },
    objects: [
      NODE,
      pool(),
      pool({ name: 'phi', labels: { app: 'phi' } }),
      objective(),
      objective({ name: 'code' }),
      ...some,
      ...all.map(({ labels }, at) => pod({ name: `pod-${at}`, labels })),
      ...(isFallback
        ? [
            foreign('default', {
              spiffeIDTemplate:
                'spiffe://example.org/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
              fallback: true,
            }),
          ]
        : []),
      ...specs.map((spec, at): JsonRecord => ({
        apiVersion: 'security.istio.io/v1',
        kind: 'AuthorizationPolicy',
        metadata: { name: `policy-${at}`, namespace: 'team-b' },
        spec,
      })),
    ],
  }))

/** `container of pod` and policy, of all pairs in which the container holds something, and whatever it presents is let in. */
function allowed(objects: readonly JsonRecord[]): ReadonlySet<string> {
  const analysis = analysisOf(objects)
  const holdings = new Holdings(analysis.settled)
  const all = objects.filter(({ kind }) => kind === 'AuthorizationPolicy')
  return new Set(
    analysis.podsInQuestion.flatMap((one) =>
      holdings.of(one).flatMap(({ container, there, held }) => {
        const ids = there === YES ? idsOf(held) : []
        return all
          .filter((each) => ids.length > 0 && ids.every((id) => letsIn(each, id)))
          .map((each) => `${container.name} of ${podText(one)} by ${stringAt(each, 'metadata', 'name')}`)
      }),
    ),
  )
}

function planOf(objects: readonly JsonRecord[], question: RenameQuestion): Rename {
  const analysis = analysisOf(objects)
  return driveAtOnce(renaming(analysis, question, toolsFor(analysis)))
}

/** The pairs that are refused at some time and were allowed, with the deed after which. */
function refused(objects: readonly JsonRecord[], deeds: readonly Deed[]): readonly string[] {
  const before = allowed(objects)
  let world = objects
  return deeds.flatMap((deed) => {
    world = withDeed(world, deed)
    const now = allowed(world)
    const name = stringAt(deed.put ?? deed.remove, 'metadata', 'name') ?? ''
    return [...before].filter((pair) => !now.has(pair)).map((pair) => `${pair}, after ${deed.step} ${name}`)
  })
}

test('no pair is refused that was allowed, unless the plan says so; and where it says so for certain, one often is', () => {
  const seen = { kept: 0, said: 0, so: 0, bridged: 0, beside: 0, edited: 0 }
  fc.assert(
    fc.property(worlds, ({ objects, question }) => {
      const rename = planOf(objects, question)
      if (rename.renamed.length === 0) return
      const deeds = deedsOf(objects, rename)
      const wrong = refused(objects, deeds)
      if (rename.cutOffs.length > 0) {
        seen.said++
        if (wrong.length > 0) seen.so++
        return
      }
      seen.kept++
      for (const { how } of rename.renamed) {
        if (how === 'bridge') seen.bridged++
        if (how === 'beside') seen.beside++
      }
      if (rename.consumers.edits.length > 0) seen.edited++
      expect(wrong).toEqual([])
    }),
    { numRuns: runs(500), seed: SEED },
  )
  const { so, ...others } = seen
  expect(Object.entries(others).filter(([, count]) => count < leastSeen(10))).toEqual([])
  // Most plans that say so cannot know what the consumer would do.
  expect(so).toBeGreaterThan(leastSeen(1))
})

test('without its first step a plan that edits consumers has pairs refused', () => {
  let edited = 0
  let broke = 0
  fc.assert(
    fc.property(worlds, ({ objects, question }) => {
      const rename = planOf(objects, question)
      if (rename.cutOffs.length > 0 || rename.consumers.edits.length === 0) return
      const before = allowed(objects)
      if (before.size === 0) return
      edited++
      const deeds = deedsOf(objects, rename).filter(({ step }) => step !== 'accept')
      if (refused(objects, deeds).length > 0) broke++
    }),
    { numRuns: runs(120), seed: SEED },
  )
  expect(edited).toBeGreaterThanOrEqual(leastSeen(5))
  expect(broke).toBeGreaterThan(edited / 4)
})

test('no plan renames a binding that does not name what is renamed', () => {
  fc.assert(
    fc.property(worlds, ({ objects, question }) => {
      const analysis = analysisOf(objects)
      const { renamed } = planOf(objects, question)
      expect(renamed.map(({ binding: one }) => one.key)).toEqual(
        bindingsConcerned(analysis.snapshot, question).map(({ key }) => key),
      )
    }),
    { numRuns: runs(20), seed: SEED },
  )
})
