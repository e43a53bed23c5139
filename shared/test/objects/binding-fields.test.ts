// docs/contract.md §2: each rule of a field, as one case that both the reader at reconcile time and the generated CRD answer.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { OBJECTIVE_GROUPS, POOL_GROUPS } from '../../src/core/model/kinds.ts'
import type { RefusalReason } from '../../src/core/decide/reasons/reasons.ts'
import {
  binding,
  estate,
  judgementOf,
  perVariant,
  poolOnly,
  reasonOf,
  settledCluster,
  present,
} from '@kleym/testing/manifests.ts'
import { admissionProblems, crdSchema } from './structural-schema.ts'

const specSchema = crdSchema('spec')
const long = (length: number): string => 'a'.repeat(length)
const dotted253 = [long(63), long(63), long(63), long(61)].join('.')

interface Case {
  readonly name: string
  readonly spec: JsonRecord
  /** Undefined where the field is good. */
  readonly reason?: RefusalReason
  /** What the message at reconcile time says. */
  readonly says?: string
  /** PerObjective where it is absent. */
  readonly mode?: 'PoolOnly' | 'PerVariant'
}

/** The rules of a DNS-1123 subdomain, which three fields share. */
function subdomainCases(field: string, reason: RefusalReason, put: (value: unknown) => JsonRecord): Case[] {
  const good = (name: string, value: unknown): Case => ({ name: `${field} ${name}`, spec: put(value) })
  const bad = (name: string, value: unknown, says: string): Case => ({
    name: `${field} ${name}`,
    spec: put(value),
    reason,
    says: `.spec.${field} ${says}`,
  })
  return [
    good('may be one character', 'a'),
    good('may hold dots, dashes and digits', '0a-b.c-1.9'),
    good('may have 253 characters', dotted253),
    good('may be one label of 253 characters', long(253)),
    bad('must be there', undefined, 'is missing'),
    bad('counts as absent when it is null', null, 'is missing'),
    bad('must not be empty', '', 'must not be empty'),
    bad('must not have 254 characters', `${dotted253}a`, 'must be no more than 253 characters'),
    bad('must be lower case', 'Llama', 'must be a DNS-1123 subdomain'),
    bad('must not start with a dash', '-a', 'must be a DNS-1123 subdomain'),
    bad('must not end with a dash', 'a-', 'must be a DNS-1123 subdomain'),
    bad('must not end with a dot', 'a.', 'must be a DNS-1123 subdomain'),
    bad('must not hold two dots in a row', 'a..b', 'must be a DNS-1123 subdomain'),
    bad('must not hold a dash beside a dot', 'a-.b', 'must be a DNS-1123 subdomain'),
    bad('must not hold a slash', 'a/b', 'must be a DNS-1123 subdomain'),
    bad('must not hold a blank', ' a', 'must be a DNS-1123 subdomain'),
    bad('must not end with a line feed', 'a\n', 'must be a DNS-1123 subdomain'),
    bad('must not hold a template', '{{.PodMeta.Name}}', 'must be a DNS-1123 subdomain'),
    bad('must not be a number', 7, 'must be a string'),
    bad('must not be a list', ['a'], 'must be a string'),
    bad('must not be a mapping', { name: 'a' }, 'must be a string'),
  ]
}

const CASES: readonly Case[] = [
  ...subdomainCases('poolRef.name', 'InvalidPoolRef', (name) => ({ poolRef: present({ name }) })),
  ...subdomainCases('objectiveRef.name', 'InvalidObjectiveRef', (name) => ({
    objectiveRef: present({ name }),
  })),
  ...subdomainCases('serviceAccountName', 'InvalidServiceAccountName', (value) => ({
    serviceAccountName: value,
  })),
  {
    name: 'poolRef must be there',
    spec: { poolRef: undefined },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef is missing',
  },
  {
    name: 'poolRef counts as absent when null',
    spec: { poolRef: null },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef is missing',
  },
  {
    name: 'poolRef must not be a string',
    spec: { poolRef: 'llama' },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef must be a mapping',
  },
  {
    name: 'poolRef must not be a list',
    spec: { poolRef: [] },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef must be a mapping',
  },
  ...POOL_GROUPS.map((group) => ({
    name: `poolRef.group may be ${group}`,
    spec: { poolRef: { name: 'a', group } },
  })),
  { name: 'poolRef.group may be null, which is absent', spec: { poolRef: { name: 'llama', group: null } } },
  {
    name: 'poolRef.group must not be empty',
    spec: { poolRef: { name: 'a', group: '' } },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef.group must be',
  },
  {
    name: 'poolRef.group must not be llm-d.ai',
    spec: { poolRef: { name: 'a', group: 'llm-d.ai' } },
    reason: 'InvalidPoolRef',
    says: '.spec.poolRef.group must be',
  },
  {
    name: 'poolRef.group must not be in upper case',
    spec: { poolRef: { name: 'a', group: 'LLM-D.AI' } },
    reason: 'InvalidPoolRef',
  },
  {
    name: 'poolRef may carry unknown fields, which are pruned',
    spec: { poolRef: { name: 'llama', namespace: 'team-b' } },
  },
  {
    name: 'objectiveRef must not be a number',
    spec: { objectiveRef: 1 },
    reason: 'InvalidObjectiveRef',
    says: '.spec.objectiveRef must be a mapping',
  },
  ...OBJECTIVE_GROUPS.map((group) => ({
    name: `objectiveRef.group may be ${group}`,
    spec: { objectiveRef: { name: 'a', group } },
  })),
  {
    name: 'objectiveRef.group must be known',
    spec: { objectiveRef: { name: 'a', group: 'apps' } },
    reason: 'InvalidObjectiveRef',
    says: '.spec.objectiveRef.group must be',
  },
  {
    name: 'objectiveRef is required when PerObjective',
    spec: { objectiveRef: undefined },
    reason: 'MissingObjectiveRef',
    says: '.spec.objectiveRef is missing; mode PerObjective requires it',
  },
  {
    name: 'objectiveRef is required when the mode is absent',
    spec: { objectiveRef: undefined, mode: undefined },
    reason: 'MissingObjectiveRef',
  },
  { name: 'objectiveRef null is absent', spec: { objectiveRef: null }, reason: 'MissingObjectiveRef' },
  {
    name: 'objectiveRef may be set when PoolOnly',
    mode: 'PoolOnly',
    spec: { objectiveRef: { name: 'chat' } },
  },
  {
    name: 'objectiveRef is read when PoolOnly too',
    mode: 'PoolOnly',
    spec: { objectiveRef: { name: 'No' } },
    reason: 'InvalidObjectiveRef',
  },
  { name: 'mode may be PerObjective', spec: { mode: 'PerObjective' } },
  { name: 'mode may be PoolOnly', mode: 'PoolOnly', spec: {} },
  { name: 'mode may be absent: PerObjective', spec: { mode: undefined } },
  { name: 'mode may be null, which is absent', spec: { mode: null } },
  {
    name: 'mode may be absent with a variant alone: PerVariant',
    mode: 'PerVariant',
    spec: { mode: undefined },
  },
  {
    name: 'mode may be absent with a variant and fields that are empty or null',
    mode: 'PerVariant',
    spec: { mode: undefined, objectiveRef: null, containerName: '' },
  },
  {
    name: 'mode must not be absent with a variant and an objective',
    mode: 'PerVariant',
    spec: { mode: undefined, objectiveRef: { name: 'chat' } },
    reason: 'UnsupportedMode',
    says: '.spec.mode is missing, and .spec.identityBoundary means PerVariant, .spec.objectiveRef PerObjective',
  },
  {
    name: 'mode must not be absent with a variant and a container',
    mode: 'PerVariant',
    spec: { mode: undefined, containerName: 'vllm' },
    reason: 'UnsupportedMode',
    says: '.spec.containerName PerObjective',
  },
  {
    name: 'a variant that is malformed means PerVariant too',
    mode: 'PerVariant',
    spec: { mode: undefined, identityBoundary: { variant: '' } },
    reason: 'InvalidIdentityBoundary',
  },
  {
    name: 'a binding that names no boundary is refused',
    spec: { mode: undefined, objectiveRef: undefined, containerName: undefined },
    reason: 'MissingObjectiveRef',
  },
  {
    name: 'mode must not be empty',
    spec: { mode: '' },
    reason: 'UnsupportedMode',
    says: '.spec.mode must be PoolOnly, PerVariant or PerObjective',
  },
  { name: 'mode must not be in lower case', spec: { mode: 'poolonly' }, reason: 'UnsupportedMode' },
  { name: 'mode must not be true', spec: { mode: true }, reason: 'UnsupportedMode' },
  { name: 'containerName may have 63 characters', spec: { containerName: long(63) } },
  {
    name: 'containerName must not have 64 characters',
    spec: { containerName: long(64) },
    reason: 'InvalidContainerName',
    says: '.spec.containerName must be no more than 63 characters',
  },
  {
    name: 'containerName must not hold a dot',
    spec: { containerName: 'a.b' },
    reason: 'InvalidContainerName',
    says: '.spec.containerName must be a DNS-1123 label',
  },
  {
    name: 'containerName must not hold an underscore',
    spec: { containerName: 'a_b' },
    reason: 'InvalidContainerName',
  },
  {
    name: 'containerName must not end with a line feed',
    spec: { containerName: 'a\n' },
    reason: 'InvalidContainerName',
  },
  {
    name: 'containerName must not be a number',
    spec: { containerName: 1 },
    reason: 'InvalidContainerName',
    says: '.spec.containerName must be a string',
  },
  {
    name: 'containerName is required when PerObjective',
    spec: { containerName: undefined },
    reason: 'InvalidContainerName',
    says: '.spec.containerName is missing; mode PerObjective requires it',
  },
  {
    name: 'containerName must not be empty when PerObjective',
    spec: { containerName: '' },
    reason: 'InvalidContainerName',
  },
  {
    name: 'containerName is required when the mode is absent',
    spec: { mode: undefined, containerName: '' },
    reason: 'InvalidContainerName',
  },
  { name: 'containerName may be empty when PoolOnly', mode: 'PoolOnly', spec: { containerName: '' } },
  { name: 'containerName may be null when PoolOnly', mode: 'PoolOnly', spec: { containerName: null } },
  {
    name: 'containerName must not be set when PoolOnly',
    mode: 'PoolOnly',
    spec: { containerName: 'vllm' },
    reason: 'UnexpectedContainerName',
    says: '.spec.containerName must be empty when .spec.mode is PoolOnly',
  },
  {
    name: 'containerName must not be malformed when PoolOnly',
    mode: 'PoolOnly',
    spec: { containerName: 'a.b' },
    reason: 'UnexpectedContainerName',
  },
  { name: 'containerName may be empty when PerVariant', mode: 'PerVariant', spec: { containerName: '' } },
  {
    name: 'containerName must not be set when PerVariant',
    mode: 'PerVariant',
    spec: { containerName: 'vllm' },
    reason: 'UnexpectedContainerName',
    says: '.spec.containerName must be empty when .spec.mode is PerVariant',
  },
  { name: 'mode may be PerVariant', mode: 'PerVariant', spec: {} },
  {
    name: 'objectiveRef may be set when PerVariant',
    mode: 'PerVariant',
    spec: { objectiveRef: { name: 'chat' } },
  },
  ...['decode', 'prefill-decode', 'Prefill', '1', 'a.b_c-9', 'v'.repeat(63)].map((variant) => ({
    name: `variant may be ${variant}`,
    mode: 'PerVariant' as const,
    spec: { identityBoundary: { variant } },
  })),
  ...variantCases([
    ['must be there', undefined, 'is missing'],
    ['counts as absent when it is null', null, 'is missing'],
    ['must not be empty', '', 'must not be empty'],
    ['must not have 64 characters', 'v'.repeat(64), 'must be no more than 63 characters'],
    ['must not be a dot', '.', 'must be a label value'],
    ['must not be two dots', '..', 'must be a label value'],
    ['must not begin with a dash', '-a', 'must be a label value'],
    ['must not end with a dot', 'a.', 'must be a label value'],
    ['must not be padded', ' prefill', 'must be a label value'],
    ['must not end with a line feed', 'prefill\n', 'must be a label value'],
    ['must not hold a slash', 'a/b', 'must be a label value'],
    ['must not hold a colon', 'a:b', 'must be a label value'],
    ['must not be a template', '{{ .PodMeta.Name }}', 'must be a label value'],
    ['must not be a number', 1, 'must be a string'],
  ]),
  {
    name: 'identityBoundary is required when PerVariant',
    mode: 'PerVariant',
    spec: { identityBoundary: undefined },
    reason: 'InvalidIdentityBoundary',
    says: '.spec.identityBoundary.variant is missing; mode PerVariant requires it',
  },
  {
    name: 'identityBoundary must not be a string',
    mode: 'PerVariant',
    spec: { identityBoundary: 'prefill' },
    reason: 'InvalidIdentityBoundary',
    says: '.spec.identityBoundary must be a mapping',
  },
  {
    name: 'identityBoundary must not be set when PoolOnly',
    mode: 'PoolOnly',
    spec: { identityBoundary: { variant: 'prefill' } },
    reason: 'InvalidIdentityBoundary',
    says: '.spec.identityBoundary must be absent when .spec.mode is PoolOnly',
  },
  {
    name: 'identityBoundary must not be set when PerObjective',
    spec: { identityBoundary: { variant: 'prefill' } },
    reason: 'InvalidIdentityBoundary',
    says: '.spec.identityBoundary must be absent when .spec.mode is PerObjective',
  },
  {
    name: 'identityBoundary must not be set beside an objective and a container when the mode is absent',
    spec: { mode: undefined, identityBoundary: { variant: 'prefill' } },
    reason: 'UnsupportedMode',
  },
  {
    name: 'identityBoundary must not be empty when PoolOnly',
    mode: 'PoolOnly',
    spec: { identityBoundary: {} },
    reason: 'InvalidIdentityBoundary',
  },
  { name: 'identityBoundary null is absent', mode: 'PoolOnly', spec: { identityBoundary: null } },
]

function variantCases(bad: readonly (readonly [string, unknown, string])[]): readonly Case[] {
  return bad.map(([name, variant, says]) => ({
    name: `variant ${name}`,
    mode: 'PerVariant',
    spec: { identityBoundary: present({ variant }) },
    reason: 'InvalidIdentityBoundary',
    says: `.spec.identityBoundary.variant ${says}`,
  }))
}

const MANIFEST = { PoolOnly: poolOnly, PerVariant: perVariant, PerObjective: binding } as const

/** Reasons that a field alone decides; the others speak of the pool, the objective or peers. */
const FIELD_REASONS = new Set<string | undefined>(CASES.flatMap(({ reason }) => reason ?? []))

describe.each(CASES)('$name', ({ spec, mode, reason, says }) => {
  const manifest = MANIFEST[mode ?? 'PerObjective']({ spec })
  const one = settledCluster(estate(manifest))

  test('at reconcile time', () => {
    const found = reasonOf(one)
    expect(FIELD_REASONS.has(found) ? found : undefined).toBe(reason)
    const judgement = judgementOf(one)
    const message = judgement.state === 'refused' ? judgement.message : ''
    expect(message).toContain(says ?? '')
  })

  test('at admission', () => {
    const problems = problemsOf(manifest)
    expect(problems.length > 0 ? 'refused' : 'admitted').toBe(reason === undefined ? 'admitted' : 'refused')
  })
})

test('a binding with no spec at all is refused for its poolRef', () => {
  const one = settledCluster(estate({ ...binding(), spec: undefined }))
  expect(judgementOf(one)).toMatchObject({ reason: 'InvalidPoolRef', message: '.spec.poolRef is missing' })
})

test.each<[unknown, string]>([
  ['No', '.spec.serviceAccountName must be a DNS-1123 subdomain; found "No"'],
  [7, '.spec.serviceAccountName must be a string; found a number'],
  ['\u001b[31m', '.spec.serviceAccountName must be a DNS-1123 subdomain; found "\\u001b[31m"'],
])('a message shows the bad value %j', (serviceAccountName, message) => {
  expect(judgementOf(settledCluster(estate(binding({ spec: { serviceAccountName } }))))).toMatchObject({
    message,
  })
})

test('a message never repeats a megabyte', () => {
  const judgement = judgementOf(
    settledCluster(estate(binding({ spec: { serviceAccountName: 'A'.repeat(1_000_000) } }))),
  )
  expect(judgement.state === 'refused' ? judgement.message.length : Number.NaN).toBeLessThan(300)
})

function problemsOf(manifest: JsonRecord): readonly string[] {
  return admissionProblems(specSchema, manifest['spec'])
}
