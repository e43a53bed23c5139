// Which access policies a command line means: by name, or by namespace.
import { ACCESS_POLICY_KIND, NAMING_KINDS } from '@kleym/shared/core/model/kinds.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { ResolvedPolicy } from '@kleym/shared/core/analysis/index.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError, wrongUsage } from '../../io/errors.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { kindNamed } from '../../sources/kind-name.ts'

/** The policies that are named, else those in scope; `echo` are flags that a suggested command repeats. Throws where a named one does not exist. */
export function choosePolicies(
  { after, namespaceInForce }: Pick<AnswerInput, 'after' | 'namespaceInForce'>,
  names: readonly string[],
  echo = '',
): readonly ResolvedPolicy[] {
  const { list } = after.settled.policies()
  if (names.length === 0) return list.filter((one) => isIn(one, namespaceInForce))
  const chosen = names.flatMap((written) => {
    const { namespace = namespaceInForce, name } = parsePolicyName(written)
    const found = list.filter((one) => one.name === name && isIn(one, namespace))
    if (found.length === 0)
      throw missing(namespace === undefined ? name : namespacedName(namespace, name), list, echo)
    return found
  })
  return [...new Set(chosen)]
}

/** The other objects in scope that mention SPIFFE IDs. */
export function mentioningIn({
  after,
  namespaceInForce,
}: Pick<AnswerInput, 'after' | 'namespaceInForce'>): readonly ResolvedPolicy[] {
  return after.settled.policies().mentioning.filter((one) => isIn(one, namespaceInForce))
}

/** What is in no namespace is about each of them. */
function isIn(policy: ResolvedPolicy, namespace: string | undefined): boolean {
  return namespace === undefined || policy.namespace === '' || policy.namespace === namespace
}

/** `tools`, `agents/tools` or `xaccesspolicy/agents/tools`. */
function parsePolicyName(written: string): { readonly namespace: string | undefined; readonly name: string } {
  const path = written.split('/')
  if (path.length > 1 && isPolicyKind(path[0] ?? '')) path.shift()
  if (path.length > 2 || path.includes('')) throw unclear(written)
  const name = path.pop() ?? ''
  return { name, namespace: path.pop() }
}

function isPolicyKind(word: string): boolean {
  const kind = kindNamed(word.split('.', 1)[0] ?? '')
  return kind !== undefined && POLICY_NAMES.has(kind)
}

const POLICY_NAMES: ReadonlySet<string> = new Set(
  [ACCESS_POLICY_KIND, ...NAMING_KINDS].map(({ kind }) => kind),
)

function missing(path: string, policies: readonly ResolvedPolicy[], echo: string): KleymError {
  const keys = policies.map(({ key }) => key)
  const there = keys.length === 0 ? 'no policy is' : keys.length === 1 ? '1 is' : `${keys.length} are`
  return new KleymError('not-found', {
    what: 'there is no such access policy',
    where: path,
    why: `${there} there, and none has this name${path.includes('/') ? ' in this namespace' : ''}`,
    fix: didYouMean(path, keys) ?? `list them with: kubectl kleym policies -A${echo} -o name`,
  })
}

function unclear(written: string): KleymError {
  return wrongUsage('policies', {
    what: 'cannot tell which access policy is meant',
    where: written,
    why: 'a policy is named NAME, NAMESPACE/NAME or xaccesspolicy/NAMESPACE/NAME',
    fix: 'write it like agents/tools',
  })
}
