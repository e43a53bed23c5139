// An identity test as people write it, run against objects: what every test of this folder asks.
import type { AssertionOutcome } from '@kleym/shared/core/answers/identity-tests/run.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { evaluating } from '../../src/core/answers/identity-tests/evaluate.ts'
import {
  readIdentityTest,
  type IdentityTest,
  type TestFault,
} from '../../src/core/answers/identity-tests/identity-test.ts'
import { generating, type GeneratedTests } from '../../src/core/answers/identity-tests/generate.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'

const KINDS = ['Deployment', 'ReplicaSet', 'LeaderWorkerSet', 'Pod']

/** Reads the `spec` of a test, as an install with trust domain example.org does. */
export function readSpec(spec: unknown): IdentityTest | readonly TestFault[] {
  return readObject({
    apiVersion: 'test.kleym.sonda.red/v1alpha1',
    kind: 'IdentityTest',
    metadata: { name: 'test' },
    spec,
  })
}

/** Reads a whole object. */
export function readObject(value: unknown): IdentityTest | readonly TestFault[] {
  return readIdentityTest(value, {
    workloadKinds: KINDS.map((kind) => kind.toLowerCase()),
    kindOf: (written) => KINDS.find((kind) => kind.toLowerCase() === written.toLowerCase()),
    trustDomains: new Set(['example.org']),
  })
}

/** Runs the `spec` of a test; `incomplete`: why something of a namespace, or of any, may not have been read. */
export function outcomesOf(
  spec: unknown,
  analysis: Analysis,
  incomplete: (namespace: string | undefined) => string | undefined = () => undefined,
): readonly AssertionOutcome[] {
  const test = readSpec(spec)
  if (!('assertions' in test)) throw new Error(`the test cannot be run: ${JSON.stringify(test)}`)
  return driveAtOnce(evaluating(test.assertions, { analysis, incomplete }))
}

/** The tests that pin a state. */
export function generatedFor(analysis: Analysis): GeneratedTests {
  return driveAtOnce(generating(analysis))
}

/** Runs generated tests, all of them. */
export function outcomesOfGenerated(
  { tests }: GeneratedTests,
  analysis: Analysis,
): readonly AssertionOutcome[] {
  return tests.flatMap(({ spec }) => outcomesOf(spec, analysis))
}
