// The worlds of `worlds-of.ts` stand for all others: what is certain in them is so under settings that are none of them, and what
// such settings show is among what they show.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import { findingKey, type Finding } from '../../src/core/findings/finding/finding.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { assumedScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { CHART_IGNORE_NAMESPACES, type ScmSettings } from '../../src/core/model/objects/scm-settings.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { inWorlds } from '../../src/core/analysis/worlds/across.ts'
import { openSettingsOf, type SettingsKnown } from '../../src/core/analysis/worlds/worlds-of.ts'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { binding, CONFIG, TRUST_DOMAIN } from '@kleym/testing/manifests.ts'
import { analysisOf, tenants } from '@kleym/testing/random-tenants.ts'
import { runs } from '@kleym/testing/runs.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'

const ASSUMED = assumedScmSettings({
  trustDomain: TRUST_DOMAIN,
  className: CONFIG.className,
  clusterSpiffeIdClasses: [],
})

const NOTHING_KNOWN: ScmSettings = {
  ...ASSUMED,
  className: CONFIG.className,
  trustDomain: undefined,
  assumed: ASSUMED.assumed.filter((one) => one !== 'trustDomain'),
}

const GIVEN: SettingsKnown = {
  className: true,
  trustDomain: true,
  disputes: [],
  settings: ASSUMED,
  acting: [],
  beside: [],
}

function analysed(objects: readonly JsonRecord[], known: Partial<SettingsKnown>): Analysis {
  const { snapshot } = analysisOf(objects)
  const all = { ...GIVEN, ...known }
  return analyse(snapshot, CONFIG, all.settings, openSettingsOf(snapshot, CONFIG, all))
}

/** Settings of SCM that are none of the worlds: filters, caches, classes and switches. */
const anySettings: fc.Arbitrary<ScmSettings> = fc
  .record({
    className: fc.constantFrom(CONFIG.className, CONFIG.className, '', 'other'),
    watchClassless: fc.boolean(),
    ignoreNamespaces: fc.constantFrom([], ['^team-b$'], ['team-.*'], [...CHART_IGNORE_NAMESPACES]),
    label: fc.constantFrom(undefined, undefined, 'tier', 'app.kubernetes.io/managed-by'),
    filterByClassName: fc.boolean(),
    cached: fc.constantFrom(undefined, undefined, 'team-a'),
    reconcileClusterSPIFFEIDs: fc.constantFrom(true, true, false),
    reconcileClusterStaticEntries: fc.boolean(),
  })
  .map(({ label, cached, ...one }) => ({
    ...HANDLES_EVERYTHING,
    ...one,
    // SCM does not start with that filter and no class.
    filterByClassName: one.filterByClassName && one.className !== '',
    trustDomain: TRUST_DOMAIN,
    // No worlds: a name that is not known is text with a hole, and what the render cache would change depends.
    clusterName: undefined,
    entryRenderCache: undefined,
    clusterSPIFFEIDLabelSelector: new Map(label === undefined ? [] : [[label, 'kleym']]),
    cacheNamespaces: cached === undefined ? undefined : new Map([[cached, undefined]]),
  }))

/** Of the effect of kleym's own outputs: the assumption says it once. */
const OF_EFFECT = new Set(['KLM401', 'KLM409', 'KLM410'])

test('settings that are none of the worlds take back nothing that is certain, and show no code that the worlds do not', () => {
  fc.assert(
    fc.property(tenants, fc.array(anySettings, { minLength: 2, maxLength: 4 }), (objects, completions) => {
      const open = findingsOf(analysed(objects, {}))
      const certain = open.filter(({ dependsOn }) => dependsOn === undefined)
      const codes = new Set(open.map(({ code }) => code))
      // An object that stops SCM hides what else there is: nothing is shown of entries that it does not create.
      const isStopped = codes.has('KLM406') || codes.has('KLM407')
      const { snapshot } = analysisOf(objects)
      for (const settings of completions) {
        const found = findingsOf(analyse(snapshot, CONFIG, settings))
        const keys = new Set(found.map(findingKey))
        expect(certain.filter((one) => !keys.has(findingKey(one))).map(textOf)).toEqual([])
        expect(
          found.filter(({ code }) => !isStopped && !codes.has(code) && !OF_EFFECT.has(code)).map(textOf),
        ).toEqual([])
      }
    }),
    { numRuns: runs(150) },
  )
})

describe('worlds that come to the same are evaluated once', () => {
  const unknown: fc.Arbitrary<Partial<SettingsKnown>> = fc.record({
    className: fc.boolean(),
    trustDomain: fc.boolean(),
    settings: fc.tuple(anySettings, fc.boolean()).map(([one, isDomainKnown]) => ({
      ...(isDomainKnown ? ASSUMED : NOTHING_KNOWN),
      ignoreNamespaces: one.ignoreNamespaces,
      filterByClassName: one.filterByClassName,
      clusterSPIFFEIDLabelSelector: one.clusterSPIFFEIDLabelSelector,
    })),
  })

  test('the findings are those of each world by itself', () => {
    fc.assert(
      fc.property(tenants, fc.boolean(), unknown, (objects, areOthersHere, known) => {
        const one = analysed(areOthersHere ? objects : objects.filter((o) => !isRegistration(o)), known)
        const worlds = one.openSettings.worlds.map((each) => ({ ...each, sameAs: undefined }))
        const apart = { ...one, openSettings: { ...one.openSettings, worlds } }
        expect(verdictsOf(one)).toEqual(verdictsOf(apart))
        expect(findingsOf(one).map(contentOf)).toEqual(findingsOf(apart).map(contentOf))
      }),
      { numRuns: runs(150) },
    )
  })

  test('if no registration of others is there, only whether outputs are handled tells them apart', () => {
    const open = { className: false, settings: NOTHING_KNOWN }
    const alone = world(binding()).filter((one) => !isRegistration(one))
    // As assumed; other registrations of others; none of ours; another class of kleym.
    expect(worldsOf(analysed(alone, open))).toEqual([undefined, 0, undefined, 2])
    const { worlds } = analysed([...alone, foreign('other', {})], open).openSettings
    expect(worlds.flatMap((one) => (one.areOthersOpen ? [one.sameAs] : []))).toEqual([undefined, undefined])
    const ignoring = { ...NOTHING_KNOWN, ignoreNamespaces: ['team-.*'] }
    expect(worldsOf(analysed(alone, { ...open, settings: ignoring }))).not.toContain(0)
  })
})

describe('which settings a finding depends on is computed', () => {
  const thief = foreign('thief', {
    spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/chat',
    podSelector: { matchLabels: { app: 'other' } },
  })
  const victim = pod({ metadata: { name: 'other', namespace: 'team-b', labels: { app: 'other' } } })
  const dependsOn = (
    known: Partial<SettingsKnown>,
    code: string,
  ): readonly (readonly string[] | undefined)[] =>
    findingsOf(analysed(world(binding(), thief, victim), { settings: HANDLES_EVERYTHING, ...known }))
      .filter((one) => one.code === code)
      .map((one) => one.dependsOn)

  test('a theft by another registration is certain, whatever the class of kleym is', () => {
    expect(dependsOn({ className: false }, 'KLM308')).toEqual([undefined])
  })

  test('it depends on the settings of SCM, and not on the class, if nothing tells both', () => {
    expect(dependsOn({ className: false, settings: ASSUMED }, 'KLM308')).toEqual([["SCM's settings"]])
  })
})

function isRegistration({ kind }: JsonRecord): boolean {
  return kind === 'ClusterSPIFFEID' || kind === 'ClusterStaticEntry'
}

function worldsOf(analysis: Analysis): readonly (number | undefined)[] {
  return analysis.openSettings.worlds.map(({ sameAs }) => sameAs)
}

function verdictsOf(analysis: Analysis): readonly string[] {
  return [...inWorlds(analysis)].flatMap(({ settled }) =>
    analysis.podsInQuestion.flatMap((one) =>
      settled
        .prediction()
        .entriesOf(one)
        .map(({ verdict }) => verdict.state),
    ),
  )
}

function contentOf(one: Finding): unknown {
  return {
    ...one,
    within: undefined,
    namespaces: one.namespaces && [...one.namespaces],
    parts: one.parts && [...one.parts],
  }
}

function textOf({ code, summary }: Finding): string {
  return `${code}: ${summary}`
}
