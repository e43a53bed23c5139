// The arguments of `rename`: KIND/[NAMESPACE/]FROM and [KIND/[NAMESPACE/]]TO, or KIND FROM TO as kubectl has it.
import { withArticle } from '@kleym/shared/core/base/text/counted.ts'
import { OBJECTIVE_KIND, POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import type { RenameQuestion } from '@kleym/shared/core/snapshot/index.ts'
import { isDns1123Subdomain } from '@kleym/shared/core/base/text/kubernetes.ts'
import { wrongUsage, type KleymError } from '../../io/errors.ts'
import { parseObjectName, withKindWord, type ObjectName } from '../../sources/kind-name.ts'

/** What a command line asks: the namespace may be the current one. */
export interface RenameAsked {
  readonly kind: RenameQuestion['kind']
  readonly namespace: string | undefined
  readonly from: string
  readonly to: string
}

const KINDS: Readonly<Record<string, RenameQuestion['kind']>> = {
  [BINDING_KIND]: 'binding',
  [POOL_KIND]: 'pool',
  [OBJECTIVE_KIND]: 'objective',
}

/** Parses the words. Throws a usage error that says what is wrong. */
export function parseRename(words: readonly string[]): RenameAsked {
  const [first, second, ...more] = withKindWord(words)
  if (first === undefined || second === undefined || more.length > 0)
    throw usage(
      words.join(' ') || 'no argument',
      'rename needs two words: the object, and its new name',
      'write it like kubectl kleym rename pool/llama llama-70b',
    )
  const from = named(first)
  const to = second.includes('/') ? named(second) : { ...from, name: second, namespace: undefined }
  if (to.kind !== from.kind)
    throw usage(
      second,
      `${withArticle(from.kind)} does not become ${withArticle(to.kind)}`,
      'name two objects of one kind',
    )
  if (to.namespace !== undefined && to.namespace !== (from.namespace ?? to.namespace))
    throw usage(
      second,
      'a binding gives IDs to pods of its own namespace, and pods do not move between namespaces',
      'name two objects of one namespace',
    )
  if (to.name === from.name) throw usage(second, 'both names are the same', 'name the new one')
  if (!isDns1123Subdomain(to.name))
    throw usage(second, 'no object can have this name', 'write lower-case letters, digits, dashes and dots')
  return {
    kind: KINDS[from.kind] ?? 'binding',
    namespace: from.namespace ?? to.namespace,
    from: from.name,
    to: to.name,
  }
}

function named(text: string): ObjectName {
  if (!text.includes('/'))
    throw usage(text, 'it is not KIND/NAME', `write iib/${text}, pool/${text} or objective/${text}`)
  const object = parseObjectName(text, 'the argument')
  if (Object.hasOwn(KINDS, object.kind)) return object
  throw usage(
    text,
    `the ID of a container is not that of a ${object.kind}`,
    'name a binding, an InferencePool or an InferenceObjective',
  )
}

function usage(where: string, why: string, fix: string): KleymError {
  return wrongUsage('rename', {
    what: 'cannot tell what is renamed',
    where,
    why,
    fix,
  })
}
