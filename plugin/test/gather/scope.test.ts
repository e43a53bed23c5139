// An answer that was worked out from the namespaces of its bindings alone is the answer of everything, to the letter.
import { findingsOf } from '@kleym/testing/at-once.ts'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { findingStepsAbout } from '@kleym/shared/core/findings/rules/all.ts'
import { isAbout } from '@kleym/shared/core/findings/finding/finding.ts'
import { concernsEveryBinding } from '@kleym/shared/core/findings/rules/install-rules.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { pool, poolOnly } from '@kleym/testing/manifests.ts'
import { tenants } from '@kleym/testing/random-tenants.ts'
import { account, policyOf, spiffe } from '@kleym/testing/access-policies.ts'
import type { CommandContext } from '../../src/io/context.ts'
import type { OutputFormat } from '../../src/flags/flags.ts'
import { optionsWithoutSources, type CommonOptions } from '../../src/flags/options.ts'
import { gather, type AnswerInput } from '../../src/gather/gather.ts'
import type { NamedBinding } from '../../src/gather/question.ts'
import { explainFrame } from '../../src/answers/explain/frame.ts'
import { finish } from '../../src/frame/finish.ts'

const ESTATE = join(import.meta.dirname, '../../../examples/estate')

function contextOf(stdin: string): CommandContext {
  const output = { write: () => {}, isTerminal: false, columns: undefined }
  return {
    cwd: ESTATE,
    env: {},
    stdin: (async function* bytes() {
      yield stdin
    })(),
    stdout: output,
    stderr: output,
    clock: systemClock,
    version: '0.0.0',
  }
}

function optionsOf(files: readonly string[]): CommonOptions {
  return optionsWithoutSources(
    {
      'all-namespaces': false,
      filename: [...files],
      recursive: true,
      offline: true,
      'trust-domain': 'example.org',
      output: 'text',
      'fail-on': 'warning',
      color: 'never',
      'allow-empty': false,
    },
    ESTATE,
  )
}

/** `namespace/name`. */
function keyOf({ meta }: NamedBinding): string {
  return `${meta.namespace}/${meta.name}`
}

const QUESTION = { allNamespaces: false, named: [undefined], policies: true }

/** The input from everything that is read, and the one of an answer about bindings that are chosen from all. */
async function inputsOf(
  source: string | readonly JsonRecord[],
  choose: (all: readonly NamedBinding[]) => readonly NamedBinding[],
): Promise<{ readonly whole: AnswerInput; readonly asked: AnswerInput }> {
  const isFile = typeof source === 'string'
  const stdin = isFile ? '' : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: source })
  const options = optionsOf([isFile ? source : '-'])
  return {
    whole: await gather(options, QUESTION, contextOf(stdin)),
    asked: await gather(options, { ...QUESTION, about: choose }, contextOf(stdin)),
  }
}

const FORMATS = ['text', 'wide', 'json', 'name', 'sarif'] as const satisfies readonly OutputFormat[]

async function answers(input: AnswerInput, key: string): Promise<unknown> {
  const chosen = input.after.snapshot.bindings.read.filter((one) => one.key === key)
  const frame = explainFrame(input, chosen, { named: true })
  const { output } = optionsOf(['-'])
  return Promise.all(FORMATS.map((format) => finish(frame, input, { ...output, format }, contextOf(''))))
}

/** That leaving out what is not about some bindings leaves out nothing else. */
function expectAllAbout({ after }: AnswerInput, bindings: ReadonlySet<string>): number {
  const all = findingsOf(after).filter(
    (one) => isAbout(one, BINDING_KIND, bindings) || concernsEveryBinding(one),
  )
  expect(driveAtOnce(findingStepsAbout(after, bindings))).toEqual(all)
  return all.length
}

const isPart = (input: AnswerInput): boolean => input.after.snapshot.namespacesRead !== undefined

test('every binding of the estate has the same answer, those of ordinary namespaces from a part', async () => {
  const { whole } = await inputsOf('.', () => [])
  expect(isPart(whole)).toBe(false)
  const parts: string[] = []
  for (const [namespace, bindings] of Map.groupBy(
    whole.after.snapshot.bindings.read,
    ({ meta }) => meta.namespace,
  )) {
    const { asked } = await inputsOf('.', (all) => all.filter(({ meta }) => meta.namespace === namespace))
    if (isPart(asked)) parts.push(namespace)
    for (const { key } of bindings) {
      expectAllAbout(whole, new Set([key]))
      expect({ key, answers: await answers(asked, key) }).toEqual({
        key,
        answers: await answers(whole, key),
      })
    }
  }
  // In the other two, a foreign registration gives the identity of a binding.
  expect(parts).toEqual(['ibm-granite', 'roles', 'serving', 'team-a', 'team-b'])
})

const ID = 'spiffe://example.org'
const policies = fc
  .array(
    fc.constantFrom(
      spiffe(`${ID}/ns/team-a/objective/chat`),
      spiffe(`${ID}/ns/team-a/pool/llama`),
      spiffe(`${ID}/ns/team-b/pool/llama`),
      spiffe(`${ID}/ns/team-a/pool/lama`),
      spiffe(`${ID}/ns/team-b/pool/lama`),
      spiffe('spiffe://example.com/ns/team-b/pool/llama'),
      account('runner', 'team-a'),
      account('runner', 'team-b'),
      account('nobody', 'team-a'),
    ),
    { maxLength: 3 },
  )
  .map((sources) => sources.map((source, at) => policyOf(source, { name: `policy-${at}` })))

test('so has every binding of random estates', async () => {
  const seen = { parts: 0, wholes: 0, findings: 0 }
  await fc.assert(
    fc.asyncProperty(tenants, policies, async (objects, more) => {
      const source = [...objects, ...more]
      const { whole } = await inputsOf(source, () => [])
      for (const { key } of whole.after.snapshot.bindings.read) {
        const { asked } = await inputsOf(source, (all) => all.filter((one) => keyOf(one) === key))
        seen[isPart(asked) ? 'parts' : 'wholes']++
        seen.findings += expectAllAbout(whole, new Set([key]))
        expect(await answers(asked, key)).toEqual(await answers(whole, key))
      }
    }),
    { numRuns: runs(150) },
  )
  // On average there are 75 parts, 200 wholes and 480 findings.
  expect(seen.parts).toBeGreaterThan(leastSeen(15))
  expect(seen.wholes).toBeGreaterThan(leastSeen(50))
  expect(seen.findings).toBeGreaterThan(leastSeen(100))
})

test('what the statuses of all bindings say of the operator is heard of, whichever namespace is worked out', async () => {
  const manifest = poolOnly({ namespace: 'team-b' })
  const live = {
    ...manifest,
    metadata: { name: 'theirs', namespace: 'team-b', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { trustDomain: 'other.org' },
  }
  const { asked, whole } = await inputsOf([poolOnly(), pool(), live], first)
  expect(isPart(asked)).toBe(true)
  expect(asked.operator).toEqual(whole.operator)
  expect(asked.operator.disagreements).toHaveLength(1)
})

const first = (all: readonly NamedBinding[]): readonly NamedBinding[] =>
  all.filter(({ meta }) => meta.namespace === 'team-a')

describe('everything is worked out where', () => {
  const ours = [poolOnly(), pool(), poolOnly({ namespace: 'team-b' }), pool({ namespace: 'team-b' })]
  test.each<[where: string, objects: readonly JsonRecord[], choose: typeof first, part: boolean]>([
    ['nothing is', ours, first, true],
    ['nothing is chosen', ours, () => [], false],
    ['all namespaces are chosen', ours, (all) => all, false],
    ['an object could not be read', [...ours, { ...pool(), metadata: {} }], first, false],
    ['there is one namespace only', ours.slice(0, 2), first, false],
    [
      'a policy names the ID of a refused binding',
      [
        ...ours.slice(1),
        poolOnly({ spec: { serviceAccountName: '' } }),
        policyOf(spiffe(`${ID}/ns/team-a/pool/llama`)),
      ],
      first,
      false,
    ],
  ])('%s', async (_, objects, choose, part) => {
    const { asked } = await inputsOf(objects, choose)
    expect(isPart(asked)).toBe(part)
  })
})
