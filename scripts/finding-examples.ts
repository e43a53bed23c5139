// A bad and a good example for the page of each finding code, from the clusters that the tests run on: what stands in one of the
// two alone, and where they differ in settings, the settings. What no rule of an analysis finds has its examples whole.
import { isDeepStrictEqual } from 'node:util'
import {
  FINDING_CASES,
  NO_CASE,
  type FindingCase,
  type FindingSetting,
} from '@kleym/testing/finding-cases.ts'
import { FOUND_CASES, type FoundCase } from '@kleym/testing/found-cases.ts'
import { stringify } from 'yaml'
import { isRecord, type JsonRecord } from '../shared/src/core/base/json.ts'
import { FINDING_CODES, type FindingCode } from '../shared/src/core/findings/registry/findings.ts'
import type { PageExample } from '../shared/src/core/findings/registry/pages.ts'

/** The objects that a page shows; the rest is the same on both sides. */
export interface ExampleObjects {
  readonly bad: readonly JsonRecord[]
  readonly good: readonly JsonRecord[]
  /** What the bad and what the good side have beside them. */
  readonly besideBad: readonly JsonRecord[]
  readonly besideGood: readonly JsonRecord[]
}

/** Takes the two clusters of a case apart. */
export function objectsOf({ shows, not }: FindingCase): ExampleObjects {
  const [bad, besideBad] = apart(shows, not)
  const [good, besideGood] = apart(not, shows)
  return { bad, besideBad, good, besideGood }
}

/** The objects that stand in `left` alone, and the others. Where none does, the last one stands for all. */
function apart(
  left: readonly JsonRecord[],
  right: readonly JsonRecord[],
): readonly [own: readonly JsonRecord[], others: readonly JsonRecord[]] {
  const own = left.filter((one) => !right.some((other) => isDeepStrictEqual(one, other)))
  const shown = own.length > 0 ? own : left.slice(-1)
  return [shown, left.filter((one) => !shown.includes(one))]
}

/** The examples by code, and why a code has none. */
export function findingExamples(): Readonly<Record<string, PageExample>> {
  const examples = new Map<FindingCode, PageExample>([
    ...FINDING_CASES.map((one) => [one.code, exampleOf(one)] as const),
    ...FOUND_CASES.map((one) => [one.code, foundExample(one)] as const),
  ])
  return Object.fromEntries(
    FINDING_CODES.map((code) => [code, examples.get(code) ?? { none: NO_CASE[code] ?? '' }]),
  )
}

function foundExample({ bad, good }: FoundCase): PageExample {
  return { bad: documents(bad), good: documents(good) }
}

function exampleOf(one: FindingCase): PageExample {
  const { bad, good } = objectsOf(one)
  const { setting = {}, settingNot = {} } = one
  const isSetting = isDeepStrictEqual(one.shows, one.not) && !isDeepStrictEqual(setting, settingNot)
  return {
    bad: isSetting ? settingText(setting) : documents(bad),
    good: isSetting ? settingText(settingNot) : documents(good),
  }
}

function documents(objects: readonly JsonRecord[]): string {
  return objects.map((one) => stringify(withoutServerFields(one), { lineWidth: 0 })).join('---\n')
}

/** What the API server sets is none of a manifest, and decides in none of the cases but those of a live object: a status is about a generation. */
function withoutServerFields(one: JsonRecord): JsonRecord {
  const { metadata, ...rest } = one
  if (!isRecord(metadata)) return one
  const { uid: _uid, creationTimestamp: _made, resourceVersion: _version, generation, ...named } = metadata
  const kept = 'status' in one && generation !== undefined ? { ...named, generation } : named
  return { apiVersion: one['apiVersion'], kind: one['kind'], metadata: kept, ...withoutType(rest) }
}

function withoutType({ apiVersion: _version, kind: _kind, ...rest }: JsonRecord): JsonRecord {
  return rest
}

/** Settings as the files and flags that hold them. */
function settingText({ scm, className }: FindingSetting): string {
  const flag = className === undefined ? '' : `# kleym: --clusterspiffeid-class-name=${className}\n`
  if (scm === null) return `${flag}# no configuration of the SPIRE Controller Manager is given\n`
  const config = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    trustDomain: 'example.org',
    clusterName: 'prod',
    watchClassless: true,
    ...scm,
  }
  return `${flag}${stringify(config, { lineWidth: 0 })}`
}
