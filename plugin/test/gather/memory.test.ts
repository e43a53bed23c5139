import { describe, expect, test } from 'vitest'
import { reporting } from '@kleym/shared/core/on-progress.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import type { CommandContext } from '../../src/io/context.ts'
import { progressOf, release } from '../../src/gather/memory.ts'

type Collecting = Pick<CommandContext, 'collectGarbage'>

function collecting(): Collecting & { readonly collected: string[] } {
  const collected: string[] = []
  return { collected, collectGarbage: (which) => void collected.push(which) }
}

const objects = (count: number): RawObject[] => Array.from({ length: count }, () => ({ value: {} }))

describe('work on many objects', () => {
  test('collects all at its beginning, and then what is young, every 500 steps', () => {
    const context = collecting()
    const onProgress = progressOf(20_000, context)
    expect(context.collected).toEqual(['all'])
    for (const _ of reporting(objects(499), onProgress));
    expect(context.collected).toEqual(['all'])
    for (const _ of reporting(objects(501), onProgress));
    expect(context.collected).toEqual(['all', 'young', 'young'])
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
    const onProgress = progressOf(19_999, context)
    for (const _ of reporting(objects(1_000), onProgress));
    const few = objects(3)
    release(few, context)
    expect([few.length, context.collected]).toEqual([0, []])
  })

  test('many objects are taken out where nothing can be collected', () => {
    const many = objects(20_000)
    progressOf(20_000, {})()
    release(many, {})
    expect(many).toEqual([])
  })
})
