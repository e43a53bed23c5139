import { describe, expect, test } from 'vitest'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import type { Steps } from '@kleym/shared/core/base/steps.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { CommandContext } from '../../src/io/context.ts'
import { driverFor, release } from '../../src/gather/memory.ts'

type Driving = Pick<CommandContext, 'collectGarbage' | 'clock' | 'stderr' | 'env'>

function driving(isTerminal = false): Driving & { readonly clock: FakeClock; readonly told: string[] } {
  const told: string[] = []
  const stderr = { write: (text: string) => void told.push(text), isTerminal, columns: undefined }
  return { clock: new FakeClock(), stderr, env: {}, told }
}

function collecting(): Driving & { readonly collected: string[] } {
  const collected: string[] = []
  return { ...driving(), collected, collectGarbage: (which) => void collected.push(which) }
}

const objects = (count: number): RawObject[] => Array.from({ length: count }, () => ({ value: {} }))

function* work(steps: number): Steps<string> {
  for (let at = 0; at < steps; at++) yield
  return `${steps} steps`
}

describe('work on many objects', () => {
  test('collects all at its beginning, and as needed every 300 steps then, whatever they are steps of', () => {
    const context = collecting()
    const drive = driverFor(20_000, context)
    expect(context.collected).toEqual(['all'])
    expect(drive(work(299))).toBe('299 steps')
    expect(context.collected).toEqual(['all'])
    expect(drive(work(301))).toBe('301 steps')
    expect(context.collected).toEqual(['all', 'as needed', 'as needed'])
  })

  test('collects what is young every 3000 steps that leave little behind, and counts both kinds together', () => {
    const context = collecting()
    const drive = driverFor(20_000, context)
    drive(work(2_990), 'little')
    expect(context.collected).toEqual(['all'])
    drive(work(1))
    expect(context.collected).toEqual(['all', 'as needed'])
    drive(work(3_000), 'little')
    expect(context.collected).toEqual(['all', 'as needed', 'young'])
  })

  test('takes the objects out, and collects what they took', () => {
    const context = collecting()
    const many = objects(20_000)
    release(many, context)
    expect([many.length, context.collected]).toEqual([0, ['all']])
  })
})

describe('work on few objects, and on a runtime that cannot be told to', () => {
  test('few objects are taken out, and nothing is collected', () => {
    const context = collecting()
    expect(driverFor(19_999, context)(work(1_000))).toBe('1000 steps')
    const few = objects(3)
    release(few, context)
    expect([few.length, context.collected]).toEqual([0, []])
  })

  test('many objects are taken out where nothing can be collected', () => {
    const many = objects(20_000)
    expect(driverFor(20_000, driving())(work(1_000))).toBe('1000 steps')
    release(many, {})
    expect(many).toEqual([])
  })
})

function* slow(clock: FakeClock, stepMs: number, steps: number): Steps<void> {
  for (let at = 0; at < steps; at++) {
    clock.advance(stepMs)
    yield
  }
}

describe('work that takes long', () => {
  test('shows a line on a terminal from one second on, and wipes it when it is done', () => {
    const { told, ...context } = driving(true)
    const drive = driverFor(7_000, context)
    drive(slow(context.clock, 100, 9))
    expect(told).toEqual([])
    drive(slow(context.clock, 100, 2))
    expect(told).toEqual([`${BACK}working on 7,000 objects`, `${BACK}working on 7,000 objects`, BACK])
  })

  test('shows nothing in a pipe', () => {
    const { told, ...context } = driving(false)
    driverFor(7, context)(slow(context.clock, 1_000, 10))
    expect(told).toEqual([])
  })
})

const BACK = '\r\u001B[K'
