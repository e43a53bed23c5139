// What is measured: each scenario makes a cluster of a size, and then asks the core one question about it.
import { analyse, type Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import type { Claim } from '@kleym/shared/core/decide/collide/claim.ts'
import { indexClaims } from '@kleym/shared/core/decide/collide/claim-index.ts'
import { collisionOf, waitsOf } from '@kleym/shared/core/decide/collide/conflict.ts'
import { effectOf } from '@kleym/shared/core/answers/explain/effect.ts'
import { explaining } from '@kleym/shared/core/answers/explain/explanation.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { collisionFindings } from '@kleym/shared/core/findings/rules/collision-rules.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { parseTemplate } from '@kleym/shared/core/base/go/template/template.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readSnapshot, type Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { containerVerdicts } from '@kleym/shared/core/predict/spire/registration.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { resolvePolicies } from '@kleym/shared/core/analysis/policies/policies.ts'
import { podObject, poolObject, USUAL_TEMPLATE } from './objects.ts'
import { assertionsText } from './identity-tests.ts'
import { poolsWithoutBindings, suggestionsText } from './suggest.ts'
import * as nasty from './worst-cases.ts'
import { namesBesidePods } from './names.ts'
import { policyFindings } from '@kleym/shared/core/findings/rules/policy-rules.ts'
import { danglingBesideTemplates, policiesAndIdentities } from './policies.ts'
import {
  clusterOf,
  CONFIG,
  numbered,
  onePoolPerBinding,
  onePoolPerNamespace,
  oneCollisionGroup,
  SETTINGS,
} from './made-up-clusters.ts'

/** What is asked of a cluster: read it, then answer. */
export interface MeasuredQuestion {
  /** The part that an informer or a file reader would do: from raw objects to snapshots. */
  readonly read: () => readonly Snapshot[]
  /** The answer; the text says what came out, so that two runs can be compared. */
  readonly answer: (snapshots: readonly Snapshot[]) => string
}

export interface BenchScenario {
  readonly name: string
  /** What a size counts. */
  readonly unit: string
  /** In growing order; the first is the one of `--quick`. */
  readonly sizes: readonly number[]
  readonly ask: (size: number) => MeasuredQuestion
}

const THOUSANDS = [1000, 3000, 10_000]

/** All scenarios, in the order of the table. */
export const SCENARIOS: readonly BenchScenario[] = [
  bindings('compile: a pool per namespace', 'bindings', onePoolPerNamespace),
  bindings('compile: one collision group', 'bindings', oneCollisionGroup),
  bindings('compile: a pool per binding', 'bindings', onePoolPerBinding),
  {
    name: 'who-selects: every container',
    unit: 'pods, a tenth as many ClusterSPIFFEIDs',
    sizes: [10_000, 30_000, 100_000],
    ask: (pods) => one(cluster(pods, pods / 10, 0.2), verdictsText),
  },
  {
    name: 'test: an assertion for every tenth pod',
    unit: 'pods, a tenth as many ClusterSPIFFEIDs and assertions',
    sizes: [10_000, 30_000, 100_000],
    ask: (pods) => {
      const objects = cluster(pods, pods / 10, 0.2)
      return one(objects, assertionsText(objects, pods / 10))
    },
  },
  {
    name: 'predict: every entry',
    unit: 'pods, a tenth as many ClusterSPIFFEIDs',
    sizes: [1000, 5000],
    ask: (pods) => one(cluster(pods, pods / 10, 0), entriesText),
  },
  {
    name: 'conflicts: every finding',
    unit: 'pods, a tenth as many bindings',
    sizes: [10_000, 30_000, 100_000],
    ask: (pods) => one(cluster(pods, pods / 10, 0), (analysis) => `${findingsOf(analysis).length} findings`),
  },
  {
    name: 'diff: a pool is narrowed',
    unit: 'pods, a tenth as many ClusterSPIFFEIDs',
    sizes: [3000, 10_000, 30_000],
    ask: diffQuestion,
  },
  {
    name: 'explain: every binding',
    unit: 'pods, a tenth as many bindings',
    sizes: [3000, 10_000, 30_000],
    ask: (pods) => one(cluster(pods, pods / 10, 0), explanationsText),
  },
  {
    name: 'suggest: pools without bindings',
    unit: 'pools, twice as many pods',
    sizes: [1000, 2500, 5000],
    ask: (pools) => one(poolsWithoutBindings(pools), suggestionsText),
  },
  policies('policies: whom each rule names', 'policies, as many bindings and pods', policiesAndIdentities),
  {
    name: 'names: whom other objects name',
    unit: 'pods, a fifth as many policies, half as many strings',
    sizes: [1000, 10_000, 100_000],
    ask: namesQuestion,
  },
  { name: 'template: the usual SPIFFE ID', unit: 'renderings', sizes: [100_000], ask: templateQuestion },
  bindings('nasty: all label sets overlap', 'bindings', nasty.overlapping),
  bindings('nasty: label sets with keys of their own', 'bindings', nasty.disjointWithOwnKeys),
  bindings('nasty: chains of nested label sets', 'bindings', nasty.nestedChains),
  bindings('nasty: wide and narrow label sets', 'bindings', nasty.wideAndNarrow),
  {
    name: 'nasty: each wide label set over each narrow one',
    unit: 'claims',
    sizes: [1000, 2500, 5000],
    ask: (size) => ({ read: () => [], answer: () => collisionsText(nasty.wideByNarrow(size)) }),
  },
  findings('nasty: pools and pods with equal labels', 'pools and pods', nasty.equalLabels),
  findings('nasty: no Namespace objects', 'namespaces', nasty.namespacesWithoutObjects),
  {
    name: 'nasty: explain all of one namespace',
    unit: 'bindings and pods',
    sizes: THOUSANDS,
    ask: (size) => one(nasty.onePodEach(size), explanationsText),
  },
  verdicts('nasty: foreign ones by label', nasty.foreignByLabel),
  verdicts('nasty: foreign ones by In on pods', nasty.foreignByExpression),
  verdicts('nasty: foreign ones by In on namespaces', nasty.foreignByNamespaceList),
  policies('nasty: dangling IDs beside templates', 'policies, as many templates', danglingBesideTemplates),
  findings('nasty: workloads and their pods', 'Deployments, ten times as many pods', nasty.workloadsAndPods),
]

/** Compile, plan, and what bindings do to one another; nothing is live yet, so that everything is to be created. */
function bindings(name: string, unit: string, make: (size: number) => readonly RawObject[]): BenchScenario {
  const ask = (size: number): MeasuredQuestion =>
    one(make(size), (analysis) => {
      const created = analysis.changes.all.length
      return `${created} created, ${driveAtOnce(collisionFindings(analysis)).length} findings`
    })
  return { name, unit, sizes: THOUSANDS, ask }
}

function findings(name: string, unit: string, make: (size: number) => readonly RawObject[]): BenchScenario {
  const ask = (size: number): MeasuredQuestion =>
    one(make(size), (analysis) => `${findingsOf(analysis).length} findings`)
  return { name, unit, sizes: THOUSANDS, ask }
}

/** The policies alone: compiling the bindings is measured above, and is part of the reading here. */
function policies(name: string, unit: string, make: (size: number) => readonly RawObject[]): BenchScenario {
  const ask = (size: number): MeasuredQuestion => {
    const objects = make(size)
    const analyses = new WeakMap<Snapshot, Analysis>()
    return {
      read: () => {
        const snapshot = readSnapshot({ objects })
        analyses.set(snapshot, analyse(snapshot, CONFIG, SETTINGS))
        return [snapshot]
      },
      answer: ([snapshot]) => {
        const analysis = snapshot === undefined ? undefined : analyses.get(snapshot)
        return analysis === undefined ? '' : policiesText(analysis)
      },
    }
  }
  return { name, unit, sizes: THOUSANDS, ask }
}

function verdicts(name: string, make: (size: number) => readonly RawObject[]): BenchScenario {
  const unit = 'ClusterSPIFFEIDs, ten times as many pods'
  return { name, unit, sizes: [1000, 10_000], ask: (size) => one(make(size), verdictsText) }
}

/** A question about one snapshot. */
function one(objects: readonly RawObject[], answer: (analysis: Analysis) => string): MeasuredQuestion {
  return {
    read: () => [readSnapshot({ objects })],
    answer: ([snapshot]) => (snapshot === undefined ? '' : answer(analyse(snapshot, CONFIG, SETTINGS))),
  }
}

function cluster(pods: number, clusterSpiffeIds: number, foreignShare: number): readonly RawObject[] {
  const { objects, outputs } = clusterOf({ pods, clusterSpiffeIds, foreignShare })
  return [...objects, ...outputs]
}

function verdictsText(analysis: Analysis): string {
  const prediction = analysis.settled.prediction()
  let all = 0
  let issued = 0
  for (const pod of analysis.podsInQuestion) {
    for (const container of pod.containers) {
      for (const { verdict } of containerVerdicts(prediction, pod, container)) {
        all++
        if (verdict === 'issued') issued++
      }
    }
  }
  return `${all} verdicts, ${issued} issued`
}

/** What every claim collides with and waits for, as the operator asks for one binding after the other. */
function collisionsText(claims: readonly Claim[]): string {
  const index = indexClaims(claims)
  let peers = 0
  let waits = 0
  for (const claim of claims) {
    peers += collisionOf(index, claim)?.count ?? 0
    waits += waitsOf(index, claim).length
  }
  return `${peers} peers, ${waits} waits`
}

function entriesText(analysis: Analysis): string {
  const prediction = analysis.settled.prediction()
  let declared = 0
  for (const pod of analysis.podsInQuestion) {
    declared += prediction.entriesOf(pod).filter(({ verdict }) => verdict.state === 'declared').length
  }
  return `${declared} entries`
}

function policiesText(analysis: Analysis): string {
  const sources = resolvePolicies(analysis.settled).list.flatMap(({ rules }) =>
    rules.flatMap((rule) => rule.sources),
  )
  const resolved = sources.filter(({ resolution }) => resolution.state === 'resolved').length
  return `${sources.length} sources, ${resolved} resolved`
}

/** Whom each policy and each string of other objects means, with the findings about them. */
function namesQuestion(pods: number): MeasuredQuestion {
  const objects = namesBesidePods(pods)
  return {
    read: () => [readSnapshot({ objects, asksForMentions: true })],
    answer: ([snapshot]) => {
      if (snapshot === undefined) return ''
      const analysis = analyse(snapshot, CONFIG, SETTINGS)
      const { list, mentioning } = analysis.settled.policies()
      const count = (all: typeof list): number => all.reduce((sum, { rules }) => sum + rules.length, 0)
      return `${count(list)} policies, ${count(mentioning)} strings, ${policyFindings(analysis).length} findings`
    },
  }
}

function explanationsText(analysis: Analysis): string {
  let reached = 0
  for (const { reach } of driveAtOnce(explaining(analysis, [...analysis.snapshot.bindings.read])))
    reached += reach?.reached.length ?? 0
  return `${reached} pods reached`
}

/** One pool of many gets a further label: the smallest change that two whole clusters are compared for. */
function diffQuestion(pods: number): MeasuredQuestion {
  const { objects, outputs } = clusterOf({ pods, clusterSpiffeIds: pods / 10, foreignShare: 0.2 })
  const live = [...objects, ...outputs]
  const pool = numbered('pool', 0)
  const narrowed = poolObject(numbered('team', 0), pool, {
    app: 'vllm',
    pool,
    release: numbered('release', 0),
  })
  const isNarrowed = ({ value }: RawObject): boolean =>
    JSON.stringify([value['kind'], value['metadata']]) ===
    JSON.stringify([narrowed.value['kind'], narrowed.value['metadata']])
  const changed = [...live.filter((object) => !isNarrowed(object)), narrowed]
  return {
    read: () => [readSnapshot({ objects: live }), readSnapshot({ objects: changed })],
    answer: ([before, after]) => {
      if (before === undefined || after === undefined) return ''
      const [left, right] = [before, after].map((snapshot) => analyse(snapshot, CONFIG, SETTINGS).settled)
      if (left === undefined || right === undefined) return ''
      const { gained, lost, findings: changes } = effectOf(left, right)
      return `${gained.length} gained, ${lost.length} lost, ${changes.added.length} new findings`
    },
  }
}

/** Renders for one pod again and again; the text is used, so that nothing can be left out. */
function templateQuestion(renderings: number): MeasuredQuestion {
  const { value } = podObject({
    namespace: 'team',
    name: 'server-0',
    labels: { app: 'vllm' },
    node: 'node-0',
    containers: ['vllm'],
  })
  const data = {
    trustDomain: 'example.org',
    clusterName: 'bench',
    clusterDomain: 'cluster.local',
    podMeta: { value: recordAt(value, 'metadata'), complete: true },
    podSpec: { value: recordAt(value, 'spec'), complete: true },
  }
  return {
    read: () => [],
    answer: () => {
      const template = parseTemplate(USUAL_TEMPLATE)
      if (template.kind !== 'template') return template.kind
      let characters = 0
      for (let at = 0; at < renderings; at++) {
        const rendered = template.render(data)
        characters += rendered.kind === 'text' ? rendered.text.length : 0
      }
      return `${characters} characters`
    },
  }
}
