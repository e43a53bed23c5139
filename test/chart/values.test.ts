// The chart's values, templates and metadata against each other and against the operator: what `helm` alone cannot see.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../operator/package.json' with { type: 'json' }
import { FLAGS } from '../../operator/src/settings/flags.ts'
import { settingsOf } from '../../scripts/chart/files.ts'
import { VALUES } from '../../scripts/chart/values.ts'
import { stringAt } from '../../shared/src/core/base/json.ts'
import { bindingCrd } from '../../shared/src/core/model/objects/crd.ts'

const ROOT = join(import.meta.dirname, '../..')
const CHART = join(ROOT, 'charts/kleym')
const TEMPLATES = readdirSync(join(CHART, 'templates'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(yaml|tpl|txt)$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(CHART, 'templates', name), 'utf8') }))
const ALL = TEMPLATES.map(({ text }) => text).join('\n')
const PATHS = settingsOf(VALUES).map(([path]) => path)

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Whether a template reads a value by its whole path, or by its last part under `with` of what it belongs to. */
function isRead(path: string): boolean {
  if (new RegExp(`\\.Values\\.${path.replaceAll('.', '\\.')}\\b`).test(ALL)) return true
  const parts = path.split('.')
  return parts.some((_part, at) => {
    const [owner, rest] = [parts.slice(0, at).join('.'), parts.slice(at).join('.')]
    const reads = new RegExp(`[ ($]\\$?\\w*\\.${rest.replaceAll('.', '\\.')}\\b`)
    return at > 0 && TEMPLATES.some(({ text }) => text.includes(`.Values.${owner}`) && reads.test(text))
  })
}

/** Whether a path is a value or a section of the table. */
function isListed(path: string): boolean {
  return PATHS.some((one) => one === path || one.startsWith(`${path}.`))
}

test.each(PATHS.filter((path) => path !== 'global'))('%s: a template reads it', (path) => {
  expect(isRead(path)).toBe(true)
})

test('every value that a template reads is in the table', () => {
  const reads = [...ALL.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path)
  expect(reads.length).toBeGreaterThan(50)
  expect(reads.filter((path) => !isListed(path))).toEqual([])
})

test('no value is without a word about it that ends like a sentence', () => {
  expect(settingsOf(VALUES).filter(([, { about }]) => !/^[A-Z`/].*\.$/.test(about))).toEqual([])
})

describe('Chart.yaml', () => {
  const chart: unknown = parse(read('charts/kleym/Chart.yaml'))

  test('has the version of the operator, twice', () => {
    expect(stringAt(chart, 'version')).toBe(manifest.version)
    expect(stringAt(chart, 'appVersion')).toBe(manifest.version)
  })

  test('describes the CRD as it is', () => {
    const [listed]: readonly unknown[] = parse(stringAt(chart, 'annotations', 'artifacthub.io/crds') ?? '')
    expect(stringAt(listed, 'name')).toBe(stringAt(bindingCrd(), 'metadata', 'name'))
    expect(stringAt(listed, 'kind')).toBe(stringAt(bindingCrd(), 'spec', 'names', 'kind'))
  })

  test('is under the licence that lies beside it', () => {
    expect(stringAt(chart, 'annotations', 'artifacthub.io/license')).toBe('Apache-2.0')
    expect(read('charts/kleym/LICENSE')).toBe(read('LICENSE'))
  })
})

describe('the flags of the operator', () => {
  /** For those who run it outside of a cluster. */
  const NOT_IN_A_POD = new Set(['--kubeconfig', '--context'])
  const named = new Set([...ALL.matchAll(/"(--[a-z-]+)" "/g)].map(([, flag = '']) => flag))

  test('the chart sets none that there is not', () => {
    const set = [...read('charts/kleym/templates/_args.tpl').matchAll(/(--[a-z-]+)=/g)]
    expect(set.length).toBeGreaterThan(8)
    expect(set.map(([, flag = '']) => flag).filter((flag) => !(flag in FLAGS))).toEqual([])
  })

  test('extraArgs may hold those for outside of a cluster, and no other', () => {
    const [, names = ''] = /regexMatch "\^--\(([a-z|-]+)\)=\."/.exec(ALL) ?? []
    expect(new Set(names.split('|').map((name) => `--${name}`))).toEqual(NOT_IN_A_POD)
  })

  test('each is one that extraArgs may not set again, or one for outside of a cluster', () => {
    const known = Object.keys(FLAGS).filter((flag) => !NOT_IN_A_POD.has(flag))
    expect([...named].toSorted()).toEqual(known.toSorted())
  })
})
