// What the operators of an installation say of their settings, and where they disagree (KLM520).
import { disagreements } from '../../src/core/findings/rules/install-rules.ts'
import { readClusterSpiffeId } from '../../src/core/model/objects/clusterspiffeid.ts'
import { describe, expect, test } from 'vitest'
import {
  deploymentSettings,
  mergeSettings,
  outputSettings,
  statusSettings,
} from '../../src/core/analysis/settings/operator-settings.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readBinding, type Binding } from '../../src/core/model/objects/binding.ts'
import { perVariant } from '@kleym/testing/manifests.ts'

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
    expect(disagreements(mergeSettings(claims).contradictions).map(({ code }) => code)).toEqual(codes)
  })
})

describe('the trust domain and the class of a Deployment', () => {
  const CLASS = 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME'
  const fromConfigMap = { configMapKeyRef: { name: 'a', key: 'b' } }

  test.each<[what: string, args: readonly string[], more: JsonRecord, domain?: string, className?: string]>([
    ['are its flags', ['--trust-domain=a.org', '--clusterspiffeid-class-name=x'], {}, 'a.org', 'x'],
    [
      'are the last of its flags, as the operator has it',
      [
        '--trust-domain=a.org',
        '--clusterspiffeid-class-name=x',
        '--trust-domain=b.org',
        '--clusterspiffeid-class-name=',
      ],
      {},
      'b.org',
      '',
    ],
    ['have no class where nothing sets one', ['--trust-domain=a.org'], {}, 'a.org', ''],
    [
      'have one that is not known where a ConfigMap sets it',
      ['--trust-domain=a.org'],
      { env: [{ name: CLASS, valueFrom: fromConfigMap }] },
      'a.org',
    ],
    [
      'have one that is not known where a ConfigMap may set it',
      ['--trust-domain=a.org'],
      { envFrom: [{ configMapRef: { name: 'a' } }] },
      'a.org',
    ],
    [
      'have one that is not known where a flag holds a variable',
      ['--trust-domain=a.org', '--clusterspiffeid-class-name=$(CLASS)'],
      {},
      'a.org',
    ],
    [
      'are not known in a template',
      ['--trust-domain={{ .Values.domain }}', '--clusterspiffeid-class-name=${CLASS}'],
      {},
    ],
    ['are not known with a domain that the operator refuses', ['--trust-domain=A.org'], {}],
    [
      'are the last of its variables',
      ['--trust-domain=a.org'],
      {
        env: [
          { name: CLASS, value: 'x' },
          { name: CLASS, value: 'y' },
        ],
      },
      'a.org',
      'y',
    ],
  ])('%s', (_, args, more, domain, className) => {
    const containers = [{ image: 'kleym-operator', args: [...args], ...more }]
    const deployment = {
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { template: { spec: { containers } } },
    }
    const [source] = deploymentSettings([{ value: deployment }])
    expect([source?.trustDomain, source?.className]).toEqual([domain, className])
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
    expect(mergeSettings(sources).contradictions).toEqual([])
  })
})

function withStatus(variantLabelKey: string | undefined): Binding {
  const status = { trustDomain: 'example.org', variantLabelKey }
  return readBinding({ value: perVariant({ status }) }, 'live')
}

describe('the label key of variants', () => {
  const DEFAULT = 'identity.kleym.sonda.red/variant'
  const ROLE = 'llm-d.ai/role'

  test.each<[name: string, flags: readonly string[], more: JsonRecord, key: string | undefined]>([
    ['the default, where nothing sets it', [], {}, DEFAULT],
    ['the flag', ['--variant-label-key=llm-d.ai/role'], {}, ROLE],
    ['the flag in two arguments', ['--variant-label-key', 'llm-d.ai/role'], {}, ROLE],
    ['the last of two flags', ['--variant-label-key=a', '--variant-label-key=llm-d.ai/role'], {}, ROLE],
    ['the variable', [], { env: [{ name: 'KLEYM_VARIANT_LABEL_KEY', value: ROLE }] }, ROLE],
    ['the default, where the variable is empty', [], { env: [{ name: 'KLEYM_VARIANT_LABEL_KEY' }] }, DEFAULT],
    [
      'the flag, where both are there',
      ['--variant-label-key=a'],
      { env: [{ name: 'KLEYM_VARIANT_LABEL_KEY', value: ROLE }] },
      'a',
    ],
    ['not known, where an argument holds a variable', ['--variant-label-key=$(KEY)'], {}, undefined],
    ['not known, where it can be none', ['--variant-label-key=a b'], {}, undefined],
    [
      'not known, where the variable comes from elsewhere',
      [],
      { env: [{ name: 'KLEYM_VARIANT_LABEL_KEY', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }] },
      undefined,
    ],
    [
      'not known, where a ConfigMap may set it',
      [],
      { envFrom: [{ configMapRef: { name: 'a' } }] },
      undefined,
    ],
  ])('of a Deployment is %s', (_name, flags, more, key) => {
    const args = ['--trust-domain=example.org', ...flags]
    const containers = [{ image: 'kleym-operator', args, ...more }]
    const value = {
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { template: { spec: { containers } } },
    }
    expect(deploymentSettings([{ value }])[0]?.variantLabelKey).toBe(key)
  })

  test('of a status that has another one is a disagreement, until the operator has rewritten it', () => {
    const deployed = deploymentSettings([operator('a', 'example.org', `--variant-label-key=${ROLE}`)])
    const found = mergeSettings([...deployed, ...statusSettings([withStatus(DEFAULT)])])
    expect(found.config.variantLabelKey).toBe(ROLE)
    expect(found.variantLabelKeySource).toBe('Deployment kleym/a')
    expect(found.contradictions.map(({ evidence }) => evidence)).toEqual([
      [`the variant label key is ${DEFAULT} here, and ${ROLE} by Deployment kleym/a`],
    ])
    for (const key of [ROLE, undefined])
      expect(mergeSettings([...deployed, ...statusSettings([withStatus(key)])]).contradictions).toEqual([])
  })
})
