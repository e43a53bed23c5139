// What a network error is, by its code.
import { expect, test } from 'vitest'
import { codeOf, failureOf } from '../../src/kube/failures.ts'

/** As Bun throws it for a certificate of another name: the code is no property of its own. */
class OtherName extends Error {
  get code(): string {
    return 'ERR_TLS_CERT_ALTNAME_INVALID'
  }
}

test.each([
  { says: 'a code of its own', error: Object.assign(new Error('no'), { code: 'EPROTO' }), failure: 'tls' },
  { says: 'the code of its class', error: new OtherName('no'), failure: 'tls' },
  { says: 'a code that is no text', error: Object.assign(new Error('no'), { code: 7 }), failure: 'reset' },
  { says: 'no code', error: new Error('no'), failure: 'reset' },
])('an error with $says is classed', ({ error, failure }) => {
  expect(failureOf(error)).toBe(failure)
})

test('what is no error has no code', () => {
  expect(codeOf({ code: 'EPROTO' })).toBe('')
})
