import { expect, test } from 'vitest'
import { freePorts, reserve } from './ports.ts'

test('a port that one suite was given is given to no other', async () => {
  const ports = await freePorts(3)
  expect(new Set(ports).size).toBe(3)
  expect(ports.map(reserve)).toEqual([false, false, false])
})
