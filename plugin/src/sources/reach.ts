// How far a document that cannot be read reaches: the kinds, the namespace and the name that its text shows plainly. What
// the question does not read is reached by nothing.
import { mayHoldScmConfig } from '@kleym/shared/core/findings/subject-groups.ts'
import { groupOfApiVersion, qualifiedKind } from '@kleym/shared/core/kinds.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/names.ts'
import { everythingIn, mayDeploy } from './deployers.ts'
import { splitDocuments } from './document.ts'
import { kindsMentioned, plainTypeOf } from './kinds-in-text.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'

/** What is known about the objects that are not read. */
export interface ReachRules {
  readonly wanted: readonly WantedKind[]
  /** The namespace of objects that name none; undefined: whichever they are rendered into. */
  readonly namespace: string | undefined
}

/** What a text may hold, which may be the rest of a stream; empty: nothing that is read; undefined: anything. */
export function reachOfText(text: string, rules: ReachRules): readonly ProblemReach[] | undefined {
  const reaches: ProblemReach[] = []
  for (const document of splitDocuments(text)) {
    const reach = reachOfDocument(document.text, rules)
    if (reach === undefined) return undefined
    reaches.push(...reach)
  }
  return reaches
}

function reachOfDocument(text: string, rules: ReachRules): readonly ProblemReach[] | undefined {
  const { wanted } = rules
  const type = plainTypeOf(text)
  if (type !== undefined && !type.kind.endsWith('List')) {
    const group = groupOfApiVersion(type.apiVersion)
    const known = wanted.find((one) => one.kind === type.kind && one.group === group)
    if (known === undefined)
      return mayDeploy({ group, kind: type.kind }, () => text) ? everythingIn(wanted, undefined) : []
    const namespace = type.isMetadataPlain ? (type.namespace ?? rules.namespace) : undefined
    return reachOf(known, { namespace, name: type.isMetadataPlain ? type.name : undefined }, text)
  }
  const kinds = kindsMentioned(
    text,
    wanted.map(({ kind }) => kind),
  )
  if (kinds === 'anything') return undefined
  return wanted.filter(({ kind }) => kinds.has(kind)).flatMap((one) => reachOf(one, {}, text))
}

/** The reach of an object of a known kind; empty for a ConfigMap whose text does not mention SCM's configuration. */
export function reachOf(
  { group, kind, namespaced }: WantedKind,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  text: string,
): readonly ProblemReach[] {
  if (kind === 'ConfigMap' && !mayHoldScmConfig(text)) return []
  return [
    {
      kind: qualifiedKind({ group, kind }),
      namespace: namespaced ? namespace : undefined,
      name,
      ...(kind === CLUSTER_SPIFFE_ID_KIND ? { mayBeOutput: text.includes(OUTPUT_MARK) } : {}),
    },
  ]
}

/** What the name and the labels of every output of kleym begin with. */
const OUTPUT_MARK = 'kleym'
