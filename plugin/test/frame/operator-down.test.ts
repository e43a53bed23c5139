// The operator is down: one answer, in the first line of every command about bindings, and what is true of each output.
import { describe, expect, test } from 'vitest'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { statusRule } from '@kleym/shared/core/findings/rules/status-rules.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { live, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { conflictsFrame } from '../../src/answers/conflicts/frame.ts'
import { explainFrame } from '../../src/answers/explain/frame.ts'
import { markOf, rowsOf, verdictText } from '../../src/answers/watch/live/rows.ts'
import { finish } from '../../src/frame/finish.ts'
import type { Frame } from '../../src/frame/frame.ts'
import type { AnswerInput } from '../../src/gather/gather.ts'
import { PlainStream } from '../../src/answers/watch/live/plain.ts'
import { PLAIN } from '../../src/io/palette.ts'
import { picture, row } from '../support/pictures.ts'
import { OPTIONS } from '../support/status-options.ts'

const DOWN = {
  subject: { kind: 'Deployment', namespace: 'kleym', name: 'kleym' },
  wanted: 2,
  available: 0,
  isSeen: true,
  images: [],
}
const GROUND = [poolOnly(), pool()]
const IN_FORCE = withOutput('True')

/** A binding with its output, and what its status says of that; undefined: nothing. */
function withOutput(status: 'True' | 'Unknown' | 'False' | undefined): readonly JsonRecord[] {
  const condition = {
    type: 'InForce',
    reason: 'Any',
    message: '',
    lastTransitionTime: '2026-11-20T00:00:00Z',
  }
  const conditions = status === undefined ? [] : [{ ...condition, status }]
  return [poolOnly({ status: { conditions } }), pool(), live(outputOf(GROUND))]
}

function inputOf(objects: readonly JsonRecord[]): AnswerInput {
  const after = analysisOf(objects)
  return {
    after,
    before: after,
    operator: {
      config: after.config,
      trustDomainSource: 'a Deployment',
      classNameSource: 'a Deployment',
      outputLabelsSource: undefined,
      variantLabelKeySource: undefined,
      contradictions: [],
      disagreements: [],
      deployments: [],
      disputes: [],
    },
    inputFindings: statusRule.find(after, [DOWN]),
    problems: [],
    marks: [],
    notes: [],
    isLive: true,
    namespaceInForce: undefined,
    drive: driveAtOnce,
  }
}

async function said(input: AnswerInput, frame: Frame): Promise<string> {
  const context = {
    cwd: '/',
    env: { COLUMNS: '200' },
    stdin: nothing(),
    stdout: { write: () => {}, isTerminal: false, columns: undefined },
    stderr: { write: () => {}, isTerminal: false, columns: undefined },
    clock: systemClock,
    version: '0.0.0',
  }
  const { answer, exitCode } = await finish(frame, input, OPTIONS.output, context)
  expect(exitCode).toBe(1)
  return answer
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function explained(objects: readonly JsonRecord[], named = true): Promise<string> {
  const input = inputOf(objects)
  return said(input, explainFrame(input, [...input.after.snapshot.bindings.read], { named }))
}

const FIRST = /^✗ the operator is down: none of its 2 replicas is available; /

describe('explain', () => {
  test('says of an output that is there that it is in force, and that changes will not be applied', async () => {
    const answer = await explained(IN_FORCE)
    expect(answer).toMatch(FIRST)
    expect(answer).toContain('is in force; changes will not be applied')
    expect(answer).not.toContain('is ready')
  })

  test.each([
    ['Unknown', 'perhaps in force'],
    [undefined, 'perhaps in force'],
    ['False', 'not in force'],
  ] as const)('is no surer of an output than its status: %s', async (status, text) => {
    const objects = withOutput(status)
    expect(await explained(objects)).toContain(`is ${text}; changes will not be applied`)
    expect(await explained([...objects, poolOnly({ name: 'second' })], false)).toMatch(
      new RegExp(`^[✓!] .*llama .*${text}`, 'm'),
    )
    const [first] = rowsOf(inputOf(objects).after, () => undefined)
    expect(first && [markOf(first, true), verdictText(first, true)]).toEqual(['warn', text])
  })

  test('says of an output that is not there that it is valid and not applied yet', async () => {
    const answer = await explained(GROUND)
    expect(answer).toMatch(FIRST)
    expect(answer).toContain('is valid, not applied yet')
    expect(answer).not.toContain('is ready')
  })

  test('says so of each of several, and marks none of them as bad', async () => {
    const answer = await explained([...IN_FORCE, poolOnly({ name: 'second' })], false)
    expect(answer).toMatch(FIRST)
    expect(answer).toContain('OUTPUT')
    expect(answer).toMatch(/^[✓!] .*llama .*in force/m)
    expect(answer).toMatch(/second .*not applied yet|second .*IdentityCollision/)
  })
})

test('conflicts says it in its first line, also where nothing else clashes', async () => {
  const input = inputOf(IN_FORCE)
  expect(await said(input, conflictsFrame(input, 'nowhere'))).toMatch(FIRST)
})

test('watch says it before the first row, and of each row what is true of its output', () => {
  const printed: string[] = []
  const stream = new PlainStream({
    format: 'text',
    allNamespaces: true,
    palette: PLAIN,
    print: (text) => void printed.push(text),
    note: (text) => void printed.push(text),
  })
  stream.show(picture([row('a/b'), row('a/c', { pending: 'create' })], { operatorDown: 'it is gone' }))
  expect(printed[0]).toBe('! the operator is down: it is gone; changes will not be applied')
  expect(printed.join('')).toMatch(/valid, not applied yet[^]*in force/)
  expect(verdictText(row('a/b'))).toBe('ready')
})
