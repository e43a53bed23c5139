// Failures after which there is no answer: each has what, where, why and a fix, and the exit code of its class.
import { expect, test } from 'vitest'
import { ClusterConfigError } from '@kleym/shared/kube/cluster.ts'
import { connectionError } from '@kleym/shared/kube/failures.ts'
import type { ConnectionFailure } from '@kleym/shared/kube/errors.ts'
import { formatError, KleymError } from '../../src/io/errors.ts'
import { unreachable } from '../../src/cluster/unreachable.ts'
import { api, broken } from '../support/fake-client.ts'

/** Every way in which there can be no answer; a new one does not compile until it has a line here. */
const FAILURES = {
  aborted: 4,
  refused: 4,
  reset: 4,
  'timed out': 124,
  unresolved: 4,
  tls: 4,
  malformed: 4,
  'no credentials': 4,
} as const satisfies Record<ConnectionFailure, number>

test.each(Object.entries(FAILURES))('%s ends with exit code %i', (failure, exitCode) => {
  const known = Object.keys(FAILURES).find((one): one is ConnectionFailure => one === failure) ?? 'reset'
  const error = connectionError(known, 'GET https://10.0.0.1/apis', { neverSent: true })
  const told = unreachable(error, 'kind-dev (https://10.0.0.1)')
  expect(told).toBeInstanceOf(KleymError)
  expect(told).toMatchObject({
    exitCode,
    what: 'cannot reach the cluster',
    where: 'kind-dev (https://10.0.0.1)',
    why: error.message,
    cause: error,
  })
  expect(told === undefined ? '' : formatError(told)).toMatch(
    /^error: .+ \(kind-dev .+\)\n {2}why: {2}.+\n {2}fix: {2}.+\n$/,
  )
})

test('more time is what helps where no answer came in time', () => {
  expect(unreachable(broken('timed out'), 'dev')).toMatchObject({
    fix: expect.stringContaining('--request-timeout'),
  })
  expect(unreachable(broken('refused'), 'dev')).toMatchObject({ fix: expect.stringContaining('--offline') })
})

test('a plugin or a kubeconfig that failed says so itself', () => {
  const parts = {
    what: 'cannot get the credentials of the user',
    where: '~/.kube/config',
    why: 'log in',
    fix: 'do so',
  }
  const cause = new ClusterConfigError(parts)
  expect(unreachable(broken('no credentials', cause), 'dev')).toMatchObject({
    ...parts,
    fix: 'do so; or answer from files with --offline',
    code: 'unreachable',
    exitCode: 4,
    cause,
  })
})

test('credentials that are not taken', () => {
  expect(unreachable(api(401), 'dev')).toMatchObject({
    exitCode: 4,
    what: 'the cluster does not know who we are',
    where: 'dev',
    why: 'the API server says: status 401',
    fix: expect.stringContaining('log in again'),
  })
})

test.each([400, 403, 404, 429, 500, 503])('an answer of %i leaves other reads', (status) => {
  expect(unreachable(api(status), 'dev')).toBeUndefined()
})

test('a bug stays one', () => {
  const bug = new TypeError('a bug')
  expect(() => unreachable(bug, 'dev')).toThrow(bug)
})
