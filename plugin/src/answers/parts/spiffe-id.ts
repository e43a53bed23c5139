// The argument of `--spiffe-id`: a whole SPIFFE ID. A path alone matches nothing, and "no container holds it" would be the answer.
import { TRUST_DOMAIN_PLACEHOLDER } from '@kleym/shared/core/decide/index.ts'
import { parseSpiffeId } from '@kleym/shared/core/model/spiffe-id.ts'
import { wrongUsage } from '../../io/errors.ts'

/** Throws a usage error for a text that is no SPIFFE ID; `trustDomain` is the one that was given. */
export function requireSpiffeId(text: string | undefined, trustDomain: string | undefined): void {
  if (text === undefined) return
  const parsed = parseSpiffeId(text)
  if (parsed.ok && parsed.path !== '') return
  const path = text.replace(/^\/+/, '')
  const whole = `spiffe://${trustDomain ?? TRUST_DOMAIN_PLACEHOLDER}/${path}`
  const isPath = !text.includes(':') && path !== ''
  throw wrongUsage('who-selects', {
    what: 'the SPIFFE ID is not valid',
    where: `--spiffe-id ${text}`,
    why: parsed.ok
      ? 'it has no path, and no container holds the ID of a trust domain'
      : `it ${parsed.message}`,
    fix: isPath
      ? `did you mean ${whole}?`
      : 'write it whole, such as spiffe://example.org/ns/team-a/objective/chat',
  })
}
