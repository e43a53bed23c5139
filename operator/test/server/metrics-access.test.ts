// Who may read the metrics: what is asked of the API server, and how rarely.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { ACCESS_TTL_MS, apiReviewer, type Access } from '../../src/server/metrics-access.ts'
import { FakeTime } from '../build/fake-time.ts'

const SCRAPER = {
  username: 'system:serviceaccount:monitoring:prometheus',
  groups: ['g'],
  uid: 'u',
  extra: { k: ['v'] },
}

function setUp(authentication: unknown, authorization: unknown) {
  const time = new FakeTime()
  const asked: JsonRecord[] = []
  const answers = { TokenReview: authentication, SubjectAccessReview: authorization }
  const api: Pick<Api, 'create'> = {
    create: async ({ kind }, object) => {
      asked.push(object)
      const status = kind === 'TokenReview' ? answers.TokenReview : answers.SubjectAccessReview
      if (status instanceof Error) throw status
      return { kind, status }
    },
  }
  return { time, asked, answers, reviewer: apiReviewer({ api, clock: time.clock(), path: '/metrics' }) }
}

const KNOWN = { authenticated: true, user: SCRAPER }

test('the token is reviewed, then whether its user may get the path', async () => {
  const { asked, reviewer } = setUp(KNOWN, { allowed: true })
  expect(await reviewer.review('t')).toBe('allowed')
  expect(asked).toEqual([
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 't' } },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: SCRAPER.username,
        groups: ['g'],
        uid: 'u',
        extra: { k: ['v'] },
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    },
  ])
})

test.each<[string, unknown, unknown, Access]>([
  ['a token that nobody has', { authenticated: false }, { allowed: true }, 'unknown token'],
  [
    'a user without a name',
    { authenticated: true, user: { username: '' } },
    { allowed: true },
    'unknown token',
  ],
  ['no status', undefined, { allowed: true }, 'unknown token'],
  ['authenticated as a text', { authenticated: 'true', user: SCRAPER }, { allowed: true }, 'unknown token'],
  ['a user who may not', KNOWN, { allowed: false }, 'forbidden'],
  ['a user who is denied', KNOWN, { allowed: true, denied: true }, 'forbidden'],
  ['no verdict', KNOWN, undefined, 'forbidden'],
])('%s', async (_, authentication, authorization, expected) => {
  expect(await setUp(authentication, authorization).reviewer.review('t')).toBe(expected)
})

describe('an answer', () => {
  test.each([
    ['allowed', { allowed: true }, ACCESS_TTL_MS.allowed],
    ['forbidden', { allowed: false }, ACCESS_TTL_MS.refused],
  ])('of %s is asked for again when its time is over', async (_, authorization, ttlMs) => {
    const { time, asked, reviewer } = setUp(KNOWN, authorization)
    await reviewer.review('t')
    await time.advance(ttlMs - 1)
    await reviewer.review('t')
    expect(asked).toHaveLength(2)
    await time.advance(1)
    await reviewer.review('t')
    expect(asked).toHaveLength(4)
  })

  test('for one token says nothing about another', async () => {
    const { answers, reviewer } = setUp(KNOWN, { allowed: true })
    await reviewer.review('t')
    answers.TokenReview = { authenticated: false }
    expect(await reviewer.review('T')).toBe('unknown token')
    expect(await reviewer.review('t')).toBe('allowed')
  })

  test('that failed is not kept', async () => {
    const { answers, reviewer } = setUp(new Error('no API server'), { allowed: true })
    await expect(reviewer.review('t')).rejects.toThrow('no API server')
    answers.TokenReview = KNOWN
    expect(await reviewer.review('t')).toBe('allowed')
  })

  test('is kept for 256 tokens, the oldest of which goes first', async () => {
    const { asked, reviewer } = setUp(KNOWN, { allowed: true })
    for (let at = 0; at <= 256; at++) await reviewer.review(`t${at}`)
    asked.length = 0
    await reviewer.review('t256')
    await reviewer.review('t1')
    expect(asked).toEqual([])
    await reviewer.review('t0')
    expect(asked).toHaveLength(2)
  })
})

test('one token that is asked about many times at once is reviewed once', async () => {
  const { asked, reviewer } = setUp(KNOWN, { allowed: true })
  const answers = await Promise.all(Array.from({ length: 50 }, () => reviewer.review('t')))
  expect(new Set(answers)).toEqual(new Set(['allowed']))
  expect(asked).toHaveLength(2)
})

test('a flood of tokens is not passed on to the API server', async () => {
  const { asked, reviewer } = setUp({ authenticated: false }, undefined)
  const answers = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => reviewer.review(`t${at}`)))
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
  expect(asked).toHaveLength(8)
  expect(await reviewer.review('late')).toBe('unknown token')
})

test('a flood of tokens takes neither the answer nor the next review from a scraper that was let in', async () => {
  const { time, answers, asked, reviewer } = setUp(KNOWN, { allowed: true })
  await reviewer.review('scraper')
  answers.TokenReview = { authenticated: false }
  for (let at = 0; at < 300; at++) await reviewer.review(`t${at}`)
  asked.length = 0
  expect(await reviewer.review('scraper')).toBe('allowed')
  expect(asked).toEqual([])
  // Its answer has run out, and as many tokens are under review as may be.
  await time.advance(ACCESS_TTL_MS.allowed)
  const flood = Array.from({ length: 20 }, (_, at) => reviewer.review(`late${at}`).catch(String))
  answers.TokenReview = KNOWN
  expect(await reviewer.review('scraper')).toBe('allowed')
  await Promise.all(flood)
})
