// What people write where the name of a binding belongs: an object of another kind, the code of a finding. The error then names
// the command that takes it.
import { ACCESS_POLICY_KIND, POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { findingCodeOf } from '@kleym/shared/core/findings/index.ts'
import { REASON_NAMES } from '@kleym/shared/core/decide/index.ts'
import { ACCOUNT_KIND, kindNamed, POD_KINDS, withoutGroup } from '../sources/kind-name.ts'

/**
 * What a word means that stands where the name of a binding belongs: an object of another kind, in the current namespace where
 * it names none, or the code of a finding. Undefined for what may be the name of a binding.
 */
export function otherThanBinding(
  written: string,
  namespace: string | undefined,
  echo: string,
): { readonly why: string; readonly fix: string } | undefined {
  const code =
    findingCodeOf(written) ?? REASON_NAMES.find((name) => name.toLowerCase() === written.toLowerCase())
  if (code !== undefined)
    return {
      why: 'bindings are named here, and this is what a finding is called',
      fix: `its page: kubectl kleym explain ${code}; what is found under it: kubectl kleym conflicts -A${echo} --code ${code}`,
    }
  const [first = '', ...path] = written.split('/')
  const isAccount = /^(?:sa|serviceaccounts?)$/i.test(first)
  const kind = isAccount ? ACCOUNT_KIND : kindNamed(withoutGroup(first))
  if (kind === undefined) return undefined
  const place = namespace === undefined || path.length > 1 ? '' : `${namespace}/`
  const name = `${first}/${place}${path.length === 0 ? 'NAME' : path.join('/')}`
  if (kind === BINDING_KIND)
    return path.length > 0
      ? undefined
      : {
          why: 'it names the kind, and no binding of it',
          fix: `write ${name}, or leave it out for all bindings in scope`,
        }
  const command =
    kind === CLUSTER_SPIFFE_ID_KIND
      ? 'migrate'
      : kind === ACCESS_POLICY_KIND.kind
        ? 'policies'
        : POD_HOLDERS.has(kind)
          ? 'who-selects'
          : undefined
  return {
    why: `bindings are named here, and ${first} is the kind ${kind}`,
    fix:
      command === undefined
        ? 'name a binding: iib/NAME'
        : `did you mean: kubectl kleym ${command} ${command === 'migrate' ? written : name}${echo}`,
  }
}

/** Kinds that `who-selects` takes. */
const POD_HOLDERS: ReadonlySet<string> = new Set([...POD_KINDS, ACCOUNT_KIND, POOL_KIND])
