// What the operators of an installation say of their settings, and where they disagree (KLM520).
import { readClusterSpiffeId } from '../../src/core/objects/clusterspiffeid.ts'
import { describe, expect, test } from 'vitest'
import {
  deploymentSettings,
  mergeSettings,
  outputSettings,
} from '../../src/core/install/operator-settings.ts'
import type { JsonRecord } from '../../src/core/json.ts'

const operator = (name: string, trustDomain: string, ...flags: readonly string[]): { value: JsonRecord } => ({
  value: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'kleym' },
    spec: {
      template: {
        spec: {
          containers: [{ image: 'kleym-operator', args: [`--trust-domain=${trustDomain}`, ...flags] }],
        },
      },
    },
  },
})

describe('KLM520, settings that disagree', () => {
  test.each([
    ['two operators with two trust domains', ['example.org', 'example.com'], ['KLM520']],
    ['two operators with one', ['example.org', 'example.org'], []],
  ])('%s', (_, [one = '', other = ''], codes) => {
    const claims = deploymentSettings([operator('a', one), operator('b', other)])
    expect(mergeSettings(claims).disagreements.map(({ code }) => code)).toEqual(codes)
  })
})

const labelled = (name: string, value: string | undefined) =>
  readClusterSpiffeId(
    {
      value: {
        metadata: {
          name,
          labels: value === undefined ? {} : { tier: value },
          annotations: {
            'kleym.sonda.red/binding': 'team-a/llama',
            ...(value === undefined ? {} : { 'kleym.sonda.red/output-labels': 'tier' }),
          },
        },
      },
    },
    'live',
  )
const labelsOf = (...sources: Parameters<typeof mergeSettings>[0]): unknown =>
  mergeSettings(sources).config.outputLabels

describe('the output labels', () => {
  test('are read from the arguments of the Deployment, each flag of them', () => {
    const flags = ['--output-label=tier=gold', '--output-label', 'example.org/team=']
    expect(labelsOf(...deploymentSettings([operator('a', 'example.org', ...flags)]))).toEqual(
      new Map([
        ['tier', 'gold'],
        ['example.org/team', ''],
      ]),
    )
  })

  test('are not known where an argument holds a variable', () => {
    const [source] = deploymentSettings([operator('a', 'example.org', '--output-label=$(LABEL)')])
    expect(source?.outputLabels).toBeUndefined()
  })

  test('are those that most outputs of kleym show, where nothing else tells', () => {
    const outputs = [labelled('a', 'gold'), labelled('b', 'gold'), labelled('c', undefined)]
    expect(labelsOf(...outputSettings(outputs))).toEqual(new Map([['tier', 'gold']]))
    expect(labelsOf(...outputSettings(outputs.slice(2)))).toEqual(new Map())
    expect(outputSettings([])).toEqual([])
  })

  test('of the Deployment come before those of the outputs, and are no disagreement', () => {
    const sources = [
      ...deploymentSettings([operator('a', 'example.org')]),
      ...outputSettings([labelled('a', 'gold')]),
    ]
    expect(labelsOf(...sources)).toEqual(new Map())
    expect(mergeSettings(sources).disagreements).toEqual([])
  })
})
