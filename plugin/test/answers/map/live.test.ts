// The map of a cluster as it is: what kleym must still write gives nothing yet, and what may not be read leaves every absence
// open. Over generated worlds; the verdicts are those of `who-selects`.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mustSee, runs } from '@kleym/testing/runs.ts'
import { NO_OPEN_SETTINGS } from '@kleym/shared/core/analysis/settings/assumptions.ts'
import type { Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import { Rest } from '@kleym/shared/core/snapshot/rest.ts'
import { holdingOf, NOTHING_IN_COMMON } from '../../../src/answers/parts/holdings.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { analysisOf, tenants } from '@kleym/testing/random-tenants.ts'
import type { AnswerInput } from '../../../src/gather/gather.ts'
import { mapGraph } from '../../../src/answers/map/build.ts'
import type { MapGraph } from '../../../src/answers/map/graph.ts'
import { podAnswers, type PodAnswer } from '../../../src/answers/parts/pod-answers.ts'

const SCOPE = { namespace: undefined, isChosen: false, spiffeId: undefined }

/** The input of an answer about a cluster as it is, as far as the map reads it. */
function liveInput(after: Analysis): AnswerInput {
  return {
    after,
    before: after,
    operator: {
      config: after.config,
      trustDomainSource: undefined,
      classNameSource: undefined,
      outputLabelsSource: undefined,
      variantLabelKeySource: undefined,
      contradictions: [],
      disagreements: [],
      deployments: [],
      disputes: [],
    },
    inputFindings: [],
    problems: [],
    marks: [],
    notes: [],
    isLive: true,
    namespaceInForce: undefined,
    drive: driveAtOnce,
  }
}

function mapOf(analysis: Analysis): { readonly answers: readonly PodAnswer[]; readonly graph: MapGraph } {
  const filter = { container: undefined, spiffeId: undefined, isLiveState: true }
  const answers = driveAtOnce(podAnswers(analysis, analysis.podsInQuestion, filter))
  const side = { input: liveInput(analysis), answers }
  return { answers, graph: mapGraph(side, { scope: SCOPE, base: undefined, missing: [] }) }
}

/** Registrations that may give an identity, now or later. */
const PERHAPS = new Set(['depends', 'unknown', 'pending'])
/** What is said only of a container that certainly has no identity. */
const NOTHING = new Set(['refused', 'failed', 'displaced', 'masked', 'ignored', 'dead', 'none'])
const FORBIDDEN = [
  [],
  ['ClusterSPIFFEID.spire.spiffe.io'],
  ['Pod'],
  ['InferenceIdentityBinding.kleym.sonda.red'],
]

test('a container is said to have no identity only where nothing may give it one, and to hold only what is issued', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(tenants, fc.constantFrom(...FORBIDDEN), (objects, kinds) => {
      const analysis = analysisOf(objects)
      const read = kinds.length === 0 ? analysis : withGaps(analysis, kinds)
      const { answers, graph } = mapOf(read)
      const boxes = new Map(
        graph.nodes.flatMap((node) =>
          node.kind === 'pods' ? node.pods.map((text) => [text, node.id] as const) : [],
        ),
      )
      const surer: string[] = []
      for (const { pod, containers } of answers)
        for (const { container, registrations, notRead } of containers) {
          const node = graph.nodes.find(
            (one) =>
              one.kind === 'container' &&
              one.parent === boxes.get(podText(pod)) &&
              one.name === container.name,
          )
          if (node?.kind !== 'container') throw new Error(`${podText(pod)} ${container.name} is not drawn`)
          seen.add(node.state)
          const issued = registrations.filter(({ verdict }) => verdict === 'issued')
          const held = new Set(issued.map(({ spiffeId }) => spiffeId))
          const isOpen =
            notRead !== undefined ||
            registrations.some(
              ({ verdict, spiffeId }) =>
                PERHAPS.has(verdict) && (spiffeId === undefined || !held.has(spiffeId)),
            )
          const holding = holdingOf({ registrations, notRead }, NOTHING_IN_COMMON)
          // `who-selects` and the map have one answer.
          expect(holding === 'some').toBe(isOpen && held.size === 1)
          if (NOTHING.has(node.state) && (isOpen || issued.length > 0))
            surer.push(`${node.id}: ${node.state}`)
          expect(node.open !== null).toBe(isOpen)
          expect(new Set(node.identities)).toEqual(new Set(issued.map(({ spiffeId }) => spiffeId)))
        }
      expect(surer).toEqual([])
      for (const kind of kinds)
        expect(graph.nodes.some((node) => node.kind === 'gap' && node.why.includes(kind))).toBe(true)
    }),
    { numRuns: runs(100) },
  )
  expect([...seen]).toEqual(expect.arrayContaining(mustSee(['issued', 'pending', 'undetermined', 'none'])))
})

/** The same where kinds could not be listed: nothing else of it changes. */
function withGaps(analysis: Analysis, kinds: readonly string[]): Analysis {
  const gaps = new Map(kinds.map((what) => [what, { verb: 'list', what, cause: 'forbidden' } as const]))
  return {
    ...analysis,
    snapshot: { ...analysis.snapshot, rest: new Rest(gaps) },
    openSettings: NO_OPEN_SETTINGS,
  }
}
