// Who may read /metrics: a client that the API server knows by a bearer token (TokenReview) and RBAC lets `get` the path
// (SubjectAccessReview), as kube-rbac-proxy and controller-runtime's authentication filter decide it.
import { createHash } from 'node:crypto'
import { isRecord, own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS } from '@kleym/shared/kube/resources.ts'
import { isAllowed } from './access-review.ts'

/** `unknown token` is a 401, `forbidden` a 403. */
export type Access = 'allowed' | 'unknown token' | 'forbidden'

/** Judges tokens; rejects when it cannot. */
export interface Reviewer {
  review(token: string): Promise<Access>
}

/** How long an answer holds, in milliseconds: a scraper comes every few seconds, and a grant should not take minutes. */
export const ACCESS_TTL_MS = { allowed: 60_000, refused: 10_000 } as const
/** The most answers of each sort that are kept: no cluster has more scrapers with tokens of their own. */
const ANSWERS_MAX = 256
/**
 * The most reviews of new tokens at the same time: a flood of made-up ones must not become a flood on the API server. Those that were
 * let in before are not counted out by them.
 */
export const REVIEWS_MAX = 8

/** Too many tokens are under review already. */
export class TooManyReviews extends Error {
  override readonly name = 'TooManyReviews'
}

export interface ReviewerOptions {
  readonly api: Pick<Api, 'create'>
  readonly clock: Clock
  /** What is to be read: `/metrics`. */
  readonly path: string
}

interface Answer {
  readonly access: Access
  readonly untilMs: number
}

/** Asks the API server, and keeps its answers for a short time. */
export function apiReviewer({ api, clock, path }: ReviewerOptions): Reviewer {
  // Tokens are kept as their hashes, oldest answer first. No flood of made-up ones pushes out those that are let in.
  const letIn = new Map<string, Answer>()
  const refused = new Map<string, Answer>()
  const reviews = new Map<string, Promise<Access>>()

  const ask = async (id: string, token: string): Promise<Access> => {
    try {
      const access = await judge(api, token, path)
      const [answers, ttlMs] =
        access === 'allowed' ? [letIn, ACCESS_TTL_MS.allowed] : [refused, ACCESS_TTL_MS.refused]
      letIn.delete(id)
      refused.delete(id)
      answers.set(id, { access, untilMs: clock.monotonicMs() + ttlMs })
      for (const oldest of answers.keys()) if (answers.size > ANSWERS_MAX) answers.delete(oldest)
      return access
    } finally {
      reviews.delete(id)
    }
  }

  return {
    async review(token) {
      const id = createHash('sha256').update(token).digest('base64')
      const answer = letIn.get(id) ?? refused.get(id)
      if (answer !== undefined && clock.monotonicMs() < answer.untilMs) return answer.access
      const running = reviews.get(id)
      if (running !== undefined) return running
      if (reviews.size >= REVIEWS_MAX && !letIn.has(id))
        throw new TooManyReviews('too many tokens are under review')
      const review = ask(id, token)
      reviews.set(id, review)
      return review
    },
  }
}

async function judge(api: Pick<Api, 'create'>, token: string, path: string): Promise<Access> {
  const user = await authenticate(api, token)
  if (user === undefined) return 'unknown token'
  const review = await api.create(SUBJECT_ACCESS_REVIEWS, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...user, nonResourceAttributes: { path, verb: 'get' } },
  })
  return isAllowed(review) ? 'allowed' : 'forbidden'
}

/** Who the token belongs to, in the words of a SubjectAccessReview; undefined where the token is not valid. */
async function authenticate(api: Pick<Api, 'create'>, token: string): Promise<JsonRecord | undefined> {
  const review = await api.create(TOKEN_REVIEWS, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token },
  })
  const status = own(review, 'status')
  const user = own(status, 'user')
  const username = own(user, 'username')
  if (own(status, 'authenticated') !== true || typeof username !== 'string' || username === '')
    return undefined
  const groups = own(user, 'groups')
  const uid = own(user, 'uid')
  const extra = own(user, 'extra')
  return {
    user: username,
    ...(Array.isArray(groups) ? { groups } : {}),
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(isRecord(extra) ? { extra } : {}),
  }
}
