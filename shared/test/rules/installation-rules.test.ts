// What `status` finds of an installation: missing kinds, operators, and a class that SCM ignores.
import { expect, test } from 'vitest'
import { installationRule, type InstallationFacts } from '../../src/core/findings/rules/installation-rules.ts'
import type { OperatorDeployment } from '../../src/core/analysis/settings/operator-deployment.ts'
import type { ScmSettings } from '../../src/core/model/objects/scm-settings.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'

const BINDINGS = 'InferenceIdentityBinding.kleym.sonda.red'
const OUTPUTS = 'ClusterSPIFFEID.spire.spiffe.io'
const POOL = 'InferencePool.inference.networking.k8s.io'
const X_POOL = 'InferencePool.inference.networking.x-k8s.io'

function operator(name: string, wanted: number, available: number): OperatorDeployment {
  return {
    subject: { kind: 'Deployment', namespace: 'kleym', name },
    wanted,
    available,
    isSeen: true,
    images: [],
  }
}
const RUNNING = [operator('op', 1, 1)]

interface Class {
  readonly settings?: ScmSettings
  readonly className?: string
  readonly isClassKnown?: boolean
}

function said(
  {
    absent = [],
    operators = RUNNING,
  }: { absent?: readonly string[]; operators?: InstallationFacts['operators'] },
  { settings = HANDLES_EVERYTHING, className = '', isClassKnown = true }: Class = {},
): readonly string[] {
  const analysis = analysisOf([], { settings, config: { ...CONFIG, className } })
  const facts = { absentKinds: new Set(absent), operators, isClassKnown }
  return installationRule
    .find(analysis, facts)
    .map(({ code, subject, summary }) => `${code} ${subject.name}: ${summary}`)
}

test.each<[string, readonly string[], readonly string[]]>([
  ['nothing', [], []],
  ['bindings', [BINDINGS], [BINDINGS]],
  ['ClusterSPIFFEIDs', [OUTPUTS], [OUTPUTS]],
  ['one of the two kinds of pools', [X_POOL], []],
  ['the other of them', [POOL], []],
  ['both kinds of pools', [X_POOL, POOL], [POOL]],
  ['what kleym does without', ['ClusterStaticEntry.spire.spiffe.io', 'InferenceObjective.llm-d.ai'], []],
  ['everything', [POOL, X_POOL, OUTPUTS, BINDINGS], [BINDINGS, OUTPUTS, POOL]],
])('where %s is not served', (_says, absent, missing) => {
  expect(said({ absent })).toEqual(
    missing.map((kind) => `KLM544 ${kind}: the API server does not serve ${kind}`),
  )
})

test.each<[string, InstallationFacts['operators'], readonly string[]]>([
  ['runs', RUNNING, []],
  ['runs in part', [operator('op', 3, 1)], []],
  ['is not there', [], ['KLM543 kleym: no Deployment of the operator is there']],
  ['does not run', [operator('op', 2, 0)], ['KLM543 op: none of its 2 replicas is available']],
  ['is scaled to nothing', [operator('op', 0, 0)], ['KLM543 op: none of its 0 replicas is available']],
  [
    'is there twice, whether it runs or not',
    [operator('op', 1, 0), operator('other', 1, 0)],
    ['KLM545 op: there are 2 operators in this cluster'],
  ],
])('the operator %s', (_says, operators, findings) => {
  expect(said({ operators })).toEqual(findings)
})

test('an operator that could not be looked for is not missing', () => {
  const facts = { absentKinds: new Set<string>(), operators: undefined, isClassKnown: true }
  expect(installationRule.find(analysisOf([]), facts)).toEqual([])
})

const OTHERS: ScmSettings = {
  ...HANDLES_EVERYTHING,
  className: 'scm',
  watchClassless: false,
  assumed: [],
  source: 'a ConfigMap',
}

test.each<[string, ScmSettings, string, readonly string[]]>([
  ['handles the class', OTHERS, 'scm', []],
  ['handles what has no class', { ...OTHERS, watchClassless: true }, '', []],
  ['ignores another class', OTHERS, 'other', ['KLM401']],
  ['ignores what has no class', OTHERS, '', ['KLM401']],
  [
    'would ignore it, were the settings as assumed',
    { ...OTHERS, assumed: ['className'] },
    'other',
    ['KLM410'],
  ],
  [
    'would ignore it, were classless ones watched',
    { ...OTHERS, assumed: ['watchClassless'] },
    '',
    ['KLM410'],
  ],
  ['ignores it, whatever else is assumed', { ...OTHERS, assumed: ['ignoreNamespaces'] }, 'other', ['KLM401']],
  ['may handle it', { ...OTHERS, className: undefined }, 'other', []],
])('SCM %s', (_says, settings, className, codes) => {
  expect(said({}, { settings, className }).map((text) => text.slice(0, 6))).toEqual(codes)
})

test('nothing is said of what SCM does with an unknown class', () => {
  expect(said({}, { settings: OTHERS, isClassKnown: false })).toEqual([])
})
