// What the operators of an installation say of their settings, and where they disagree (KLM520).
import { describe, expect, test } from 'vitest'
import { deploymentSettings, mergeSettings } from '../../src/core/install/operator-settings.ts'
import type { JsonRecord } from '../../src/core/json.ts'

const operator = (name: string, trustDomain: string): { value: JsonRecord } => ({
  value: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'kleym' },
    spec: {
      template: {
        spec: { containers: [{ image: 'kleym-operator', args: [`--trust-domain=${trustDomain}`] }] },
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
