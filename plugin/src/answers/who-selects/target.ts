// The argument of `who-selects`: one object that has pods, as `pod/llama-0` or `deployment/team-a/llama`.
import { withArticle } from '@kleym/shared/core/base/text/counted.ts'
import { POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { wrongUsage, type KleymError } from '../../io/errors.ts'
import {
  ACCOUNT_KIND,
  kindNamed,
  parseObjectName,
  POD_KINDS,
  withoutGroup,
  type ObjectName,
} from '../../sources/kind-name.ts'

/** What is asked about: an object that has pods, or an ID that a container may hold. */
export interface Target {
  readonly spiffeId: string | undefined
  readonly object: ObjectName | undefined
}

function several(words: readonly string[]): KleymError {
  return wrongUsage('who-selects', {
    what: 'cannot tell which object is meant',
    where: words.join(' '),
    why: 'who-selects asks about one object, as KIND/NAME or KIND NAME, or about one SPIFFE ID',
    fix: 'name one of them, or leave them out and use -l or -n',
  })
}

/** Parses the arguments. Throws a usage error for anything that is no object with pods and no SPIFFE ID. */
export function parseTarget(words: readonly string[]): Target {
  const [first, name, ...more] = words
  if (first === undefined) return { spiffeId: undefined, object: undefined }
  if (more.length > 0) throw several(words)
  // kubectl takes the kind and the name as two words too.
  const text = name === undefined ? first : `${first}/${name}`
  if (/^spiffe:\/\//i.test(first)) {
    if (name !== undefined) throw several(words)
    return { spiffeId: first, object: undefined }
  }
  return { spiffeId: undefined, object: objectNamed(text) }
}

function objectNamed(text: string): ObjectName {
  if (!text.includes('/')) {
    const kind = kindNamed(text)
    throw wrongUsage('who-selects', {
      what: 'cannot tell which object is meant',
      where: text,
      why: kind === undefined ? 'it is not KIND/NAME' : `it names the kind ${kind}, and no object of it`,
      fix: kind === undefined ? `write pod/${text}, or deployment/${text}` : `write ${text}/NAME`,
    })
  }
  const account = /^(?:sa|serviceaccounts?)\/(?:([^/]+)\/)?([^/]+)$/i.exec(text)
  if (account !== null)
    return { kind: ACCOUNT_KIND, group: undefined, namespace: account[1], name: account[2] ?? '' }
  const spiffeId = idWithoutScheme(text)
  if (spiffeId !== undefined)
    throw wrongUsage('who-selects', {
      what: 'cannot tell which object is meant',
      where: text,
      why: 'it is not KIND/NAME, and a SPIFFE ID begins with spiffe://',
      fix: `did you mean ${spiffeId}?`,
    })
  const target = parseObjectName(text, 'the argument')
  if ([...POD_KINDS, POOL_KIND, BINDING_KIND].includes(target.kind)) return target
  throw wrongUsage('who-selects', {
    what: `${withArticle(target.kind)} runs no containers`,
    where: text,
    why: 'who-selects shows which identities containers get',
    fix: `name one of ${[...POD_KINDS, ACCOUNT_KIND, POOL_KIND, BINDING_KIND].join(', ')}`,
  })
}

/** The whole ID for a path or an ID without its scheme; undefined for a text that may be KIND/NAMESPACE/NAME. */
function idWithoutScheme(text: string): string | undefined {
  const [first = '', ...path] = text.split('/')
  if (first === '') return `spiffe://<trust-domain>${text}`
  if (kindNamed(withoutGroup(first)) !== undefined) return undefined
  return path.length > 2 || first.includes('.') ? `spiffe://${text}` : undefined
}
