// Every finding code: the smallest cluster that shows it, and the nearest one that does not.
import { findingsOf } from '@kleym/testing/at-once.ts'
import { disagreements } from '../../src/core/findings/rules/install-rules.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import type { Config } from '../../src/core/decide/settings/config.ts'
import { worstOf, worstOfKinds, type Rule } from '../../src/core/findings/finding/rule.ts'
import { EVERY_RULE, RULES } from '../../src/core/findings/rules/all.ts'
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { BINDING, POLICY_KINDS, qualifiedKind } from '../../src/core/model/kinds.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import { inForceFinding } from '../../src/core/answers/explain/in-force-finding.ts'
import { readOperatorDeployment } from '../../src/core/analysis/settings/operator-deployment.ts'
import {
  deploymentSettings,
  mergeSettings,
  statusSettings,
} from '../../src/core/analysis/settings/operator-settings.ts'
import { installationRule } from '../../src/core/findings/rules/installation-rules.ts'
import { federationRule } from '../../src/core/findings/rules/federation-rules.ts'
import { statusRule } from '../../src/core/findings/rules/status-rules.ts'
import { svidRule } from '../../src/core/findings/rules/svid-rules.ts'
import { differenceRule } from '../../src/core/findings/rules/verify-rules.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { FINDING_CODES, findingEntry, SEVERITIES } from '../../src/core/findings/registry/findings.ts'
import { readSnapshot, type Snapshot } from '../../src/core/snapshot/snapshot.ts'
import { parseAllDocuments } from 'yaml'
import { objectsOf } from '../../../scripts/finding-examples.ts'
import { FOUND_CASES } from '@kleym/testing/found-cases.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import {
  CASE_SCM,
  FINDING_CASES,
  foreign,
  NO_CASE,
  pod,
  world,
  type FindingSetting,
} from '@kleym/testing/finding-cases.ts'

const RULES_FOLDER = join(import.meta.dirname, '../../src/core/findings/rules')
const PROJECT = join(import.meta.dirname, '../../..')

/** A cluster of a case. */
function analysisOfCase(
  objects: readonly JsonRecord[],
  { scm, className = '', gaps = {}, manifests }: FindingSetting,
  seen: (snapshot: Snapshot) => Snapshot = (snapshot) => snapshot,
): Analysis {
  const read = readSnapshot({
    objects: objects.map((value) => ({ value, ...(manifests && { isManifest: manifests }) })),
    gaps: new Map(Object.entries(gaps)),
    asksForMentions: true,
  })
  const snapshot = seen(read)
  const { settings } = readScmSettings(scm === null ? undefined : { ...CASE_SCM, ...scm }, 'a test', {
    trustDomain: 'example.org',
    className,
    clusterSpiffeIdClasses: snapshot.clusterSpiffeIds.read.map(({ spec }) => spec.className),
  })
  const config: Config = {
    trustDomain: { kind: 'set', value: 'example.org' },
    className,
    variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
  }
  return analyse(snapshot, config, settings)
}

/** The codes that a cluster shows, each once. */
function codesOf(objects: readonly JsonRecord[], setting: FindingSetting): readonly string[] {
  return [...new Set(findingsOf(analysisOfCase(objects, setting)).map(({ code }) => code))]
}

/** What the rules of a live cluster find: of its statuses and outputs, and of its installation. */
function liveFindings(objects: readonly JsonRecord[]): Record<'status' | 'installation', readonly Finding[]> {
  const analysis = analysisOf(objects)
  const raw = objects.filter(({ kind }) => kind === 'Deployment').map((value) => ({ value }))
  const operators = raw.map(readOperatorDeployment)
  return {
    status: statusRule.find(analysis, operators),
    installation: installationRule.find(analysis, { absentKinds: new Set(), isClassKnown: true, operators }),
  }
}

/** The codes that a live cluster shows beside those of its rules: its statuses, its outputs, its operators. */
function liveCodesOf(objects: readonly JsonRecord[]): readonly string[] {
  const analysis = analysisOf(objects)
  const raw = objects.map((value) => ({ value }))
  const bindings = analysis.snapshot.bindings.read
  const findings = [
    ...Object.values(liveFindings(objects)).flat(),
    ...bindings.flatMap((one) => inForceFinding(analysis, one) ?? []),
    ...disagreements(mergeSettings([...deploymentSettings(raw), ...statusSettings(bindings)]).contradictions),
  ]
  return findings.map(({ code }) => code)
}

describe('every finding code', () => {
  test.each(FINDING_CASES)('$code is shown by its smallest cluster', ({ code, shows, setting = {} }) => {
    expect(codesOf(shows, setting)).toContain(code)
  })

  test.each(FINDING_CASES)(
    '$code is not shown by the nearest cluster without it',
    ({ code, not, settingNot = {} }) => {
      expect(codesOf(not, settingNot)).not.toContain(code)
    },
  )

  test.each(FINDING_CASES)('$code: the bad example of its page shows it, the good one does not', (one) => {
    const [bad, good] = examplesOn(one.code)
    const { besideBad, besideGood } = objectsOf(one)
    const { setting = {}, settingNot = {} } = one
    // Settings are read from their own file, which a page shows beside no object.
    const isSetting = bad?.[0]?.['kind'] === 'ControllerManagerConfig' || bad?.length === 0
    const shows = isSetting ? one.shows : [...besideBad, ...(bad ?? [])]
    const not = isSetting ? one.not : [...besideGood, ...(good ?? [])]
    expect(codesOf(shows.map(withServerFields(one.shows)), setting)).toContain(one.code)
    expect(codesOf(not.map(withServerFields(one.not)), settingNot)).not.toContain(one.code)
  })

  test.each(FOUND_CASES.filter(({ by }) => by === 'cluster'))(
    '$code: the bad example of its page shows it in a live cluster, the good one does not',
    (one) => {
      const [bad = [], good = []] = examplesOn(one.code)
      const codes = [[bad, one.bad] as const, [good, one.good] as const].map(([shown, originals]) =>
        liveCodesOf([...one.beside, ...shown.map(withServerFields(originals))]).includes(one.code),
      )
      expect(codes).toEqual([true, false])
    },
  )

  test('stands in a table, or needs what no object has', () => {
    const tabled = [...FINDING_CASES, ...FOUND_CASES].map(({ code }) => code)
    expect([...tabled, ...Object.keys(NO_CASE)].toSorted()).toEqual([...FINDING_CODES])
  })
})

describe('a service account that no pod of the pool has is told whatever becomes of the entry', () => {
  const typo = world(pod({ spec: { serviceAccountName: 'default' } }), binding())

  test.each([
    ['in another trust domain than SCM serves', { scm: { trustDomain: 'example.com' } }],
    ['of a class that SCM does not handle', { scm: { className: 'spire', watchClassless: false } }],
    ['in a namespace that SCM ignores', { scm: { ignoreNamespaces: ['team'] } }],
  ] satisfies readonly (readonly [string, FindingSetting])[])('%s', (_where, setting) => {
    expect(codesOf(typo, setting)).toContain('KLM404')
  })

  test('and while an object stops SCM', () => {
    expect(codesOf([...typo, foreign('reports', { ttl: '1d' })], {})).toContain('KLM404')
  })

  test('and a pod that it does reach is none, though SCM makes no entry for it', () => {
    expect(codesOf(world(pod(), binding()), { scm: { trustDomain: 'example.com' } })).not.toContain('KLM404')
  })
})

/** The objects of the YAML blocks on the page of a code. */
function examplesOn(code: string): readonly (readonly JsonRecord[])[] {
  const page = readFileSync(join(import.meta.dirname, `../../../docs/findings/${code}.md`), 'utf8')
  return [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) =>
    parseAllDocuments(text)
      .map((document): unknown => document.toJS())
      .filter(isRecord),
  )
}

/** A page leaves out what the API server sets; a cluster has it. */
function withServerFields(originals: readonly JsonRecord[]): (object: JsonRecord) => JsonRecord {
  const byKey = new Map(originals.map((one) => [keyOf(one), one['metadata']]))
  return (object) => {
    const original = byKey.get(keyOf(object))
    const { metadata } = object
    return isRecord(original) && isRecord(metadata)
      ? { ...object, metadata: { ...original, ...metadata } }
      : object
  }
}

function keyOf({ kind, apiVersion, metadata }: JsonRecord): string {
  return JSON.stringify([
    kind,
    apiVersion,
    isRecord(metadata) ? [metadata['namespace'], metadata['name'], metadata['annotations']] : undefined,
  ])
}

/** The codes that a rule reports of all cases. */
function reportedBy(rule: Rule): ReadonlySet<string> {
  return new Set(
    FINDING_CASES.flatMap(({ shows, not, setting = {}, settingNot = {} }) =>
      [analysisOfCase(shows, setting), analysisOfCase(not, settingNot)].flatMap((analysis) =>
        driveAtOnce(rule.find(analysis)).map(({ code }) => code),
      ),
    ),
  )
}

/** The rules that are asked with more than an analysis, by their files. */
const ASKED = {
  'federation-rules': federationRule,
  'installation-rules': installationRule,
  'status-rules': statusRule,
  'svid-rules': svidRule,
  'verify-rules': differenceRule,
}

describe('the codes that rules declare', () => {
  test('no other is reported of a live cluster', () => {
    for (const { beside, bad } of FOUND_CASES.filter(({ by }) => by === 'cluster')) {
      const { status, installation } = liveFindings([...beside, ...bad])
      expect(statusRule.codes).toEqual(expect.arrayContaining(status.map(({ code }) => code)))
      expect(installationRule.codes).toEqual(expect.arrayContaining(installation.map(({ code }) => code)))
    }
  })

  test.each(Object.entries(ASKED))('%s names no other, and is one of all rules', (file, rule) => {
    const text = readFileSync(join(RULES_FOLDER, `${file}.ts`), 'utf8')
    const named = [...text.matchAll(/'(KLM\d{3})'/g)].map(([, code = '']) => code)
    expect(named.filter((code) => !rule.codes.some((one) => one === code))).toEqual([])
    expect(EVERY_RULE).toContain(rule)
  })

  test('a file of rules that is asked with more than an analysis is among these', () => {
    const files = readdirSync(RULES_FOLDER).filter((file) =>
      readFileSync(join(RULES_FOLDER, file), 'utf8').includes('satisfies AskedRule'),
    )
    expect(files).toEqual(Object.keys(ASKED).map((file) => `${file}.ts`))
  })

  test.each(RULES.map((rule) => [rule.codes.join(' '), rule] as const))(
    '%s: no other is reported, and none that is worse',
    (_, rule) => {
      const reported = reportedBy(rule)
      const codes = FINDING_CODES.filter((code) => reported.has(code))
      expect(codes.filter((code) => !rule.codes.includes(code))).toEqual([])
      const worst = SEVERITIES.indexOf(worstOf([rule]))
      expect(codes.filter((code) => SEVERITIES.indexOf(findingEntry(code).severity) < worst)).toEqual([])
    },
  )

  test('each that no rule declares stands in the table of docs/architecture.md, with the file that reports it', () => {
    const declared = new Set<string>(EVERY_RULE.flatMap(({ codes }) => codes))
    const page = readFileSync(join(PROJECT, 'docs/architecture.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (KLM\d{3}(?:, KLM\d{3})*) \| `([^`]+)` \|/gm)].flatMap(
      ([, codes = '', file = '']) => codes.split(', ').map((code) => ({ code, file })),
    )
    expect(rows.map(({ code }) => code)).toEqual(FINDING_CODES.filter((code) => !declared.has(code)))
    expect(
      rows.filter(({ code, file }) => !readFileSync(join(PROJECT, file), 'utf8').includes(`'${code}'`)),
    ).toEqual([])
  })

  test('each that the core of findings reports is declared, and the worst of some is the worst that one declares', () => {
    const declared = new Set<string>(EVERY_RULE.flatMap(({ codes }) => codes))
    expect(FINDING_CASES.map(({ code }) => code).filter((code) => !declared.has(code))).toEqual([])
    expect(declared.size).toBeGreaterThan(new Set(RULES.flatMap(({ codes }) => codes)).size)
    expect(worstOf([{ codes: ['KLM305', 'KLM306'] }, { codes: ['KLM612'] }])).toBe('warning')
    expect(worstOf(RULES)).toBe('error')
  })
})

/** A snapshot whose policies may not be asked for. */
const withoutPolicies = (snapshot: Snapshot): Snapshot =>
  new Proxy(snapshot, {
    get(target, key, receiver) {
      if (['accessPolicies', 'mentioning', 'accessPoliciesKnown'].includes(String(key)))
        throw new Error('policies are looked at')
      return Reflect.get(target, key, receiver) as unknown
    },
  })

/** What a rule finds of all cases, of such snapshots. */
const foundWithoutPolicies = (rule: Rule): readonly unknown[] =>
  FINDING_CASES.flatMap(({ shows, setting = {} }) =>
    driveAtOnce(rule.find(analysisOfCase(shows, setting, withoutPolicies))),
  )

describe('kinds that one rule looks at alone', () => {
  test('no other rule looks at them', () => {
    const alone = RULES.filter((one) => one.alone !== undefined)
    expect(alone.flatMap((one) => one.alone)).toEqual(POLICY_KINDS)
    for (const rule of alone) expect(() => foundWithoutPolicies(rule)).toThrow('policies are looked at')
    for (const rule of RULES.filter((one) => !alone.includes(one)))
      expect(() => foundWithoutPolicies(rule)).not.toThrow()
  })

  test('what may hold an object of another kind, too, may bring what is worst of all', () => {
    const [policy = ''] = POLICY_KINDS
    expect(worstOfKinds(EVERY_RULE, [policy])).toBe('warning')
    expect(worstOfKinds(EVERY_RULE, POLICY_KINDS)).toBe('warning')
    for (const kinds of [undefined, [], ['*'], [policy, qualifiedKind(BINDING)]])
      expect(worstOfKinds(EVERY_RULE, kinds)).toBe('error')
  })
})
