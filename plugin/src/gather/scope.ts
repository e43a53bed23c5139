// An answer about bindings in files is worked out from their namespaces first, as for a cluster: all files have been read by
// then, but most of the work comes after that. The other namespaces follow where they may change the answer. Why this pays:
// docs/decisions/2026-11-22-files-are-answered-from-a-part.md.
import type { Each } from '@kleym/shared/core/base/each.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { BINDING, qualifiedKind, kindKey } from '@kleym/shared/core/model/kinds.ts'
import { type Analysis, unmetClaimsByPath } from '@kleym/shared/core/analysis/index.ts'
import { dependsOnOutsideScope } from '@kleym/shared/core/findings/index.ts'
import { own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { isWorkload } from '@kleym/shared/core/model/objects/workload.ts'
import type { RuleSource } from '@kleym/shared/core/model/objects/access-rule.ts'
import { pathIn } from '@kleym/shared/core/model/spiffe-id.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/index.ts'
import { NAMESPACES_MAX, type NamedBinding, type Question } from './question.ts'

/** The namespaces that are enough to begin with; undefined: everything. */
export function scopeOf(
  objects: readonly RawObject[],
  { about }: Pick<Question, 'about'>,
): ReadonlySet<string> | undefined {
  if (about === undefined) return undefined
  const namespaces = new Set(about(bindingsIn(objects)).map(({ meta }) => meta.namespace))
  if (namespaces.size === 0 || namespaces.size > NAMESPACES_MAX) return undefined
  const isBeyond = ({ value }: RawObject): boolean =>
    (isBinding(value) || (own(value, 'kind') === 'Pod' && kindKey(value) === 'Pod') || isWorkload(value)) &&
    !namespaces.has(stringAt(value, 'metadata', 'namespace') ?? '')
  return objects.some(isBeyond) ? namespaces : undefined
}

/** The bindings that have a status: each of them may show what the operator is set to. */
export function bindingsWithStatus(objects: readonly RawObject[]): Each<Binding> {
  const some = objects.filter(({ value }) => isBinding(value) && own(value, 'status') !== undefined)
  return some.length === 0 ? [] : readSnapshot({ objects: some }).bindings.read
}

function bindingsIn(objects: readonly RawObject[]): readonly NamedBinding[] {
  return objects.flatMap(({ value }) => (isBinding(value) ? [{ meta: readMeta(value) }] : []))
}

function isBinding(value: JsonRecord): boolean {
  // The kind alone says of nearly all objects that they are none.
  return own(value, 'kind') === BINDING.kind && kindKey(value) === qualifiedKind(BINDING)
}

/** Whether an answer from the namespaces in scope is the answer of everything. */
export function isEnough(analysis: Analysis): boolean {
  return !dependsOnOutsideScope(analysis) && !mayNameNeighbours(analysis)
}

/** Whether a policy names an ID that a binding here asks for and does not give: near misses of it may be in any namespace. */
function mayNameNeighbours(analysis: Analysis): boolean {
  const unmet = unmetClaimsByPath(analysis.settled)
  const isWanted = (source: RuleSource): boolean =>
    source.kind === 'SPIFFE' && unmet.has(pathIn(source.spiffeId))
  return (
    unmet.size > 0 &&
    analysis.snapshot.accessPolicies.some(({ rules }) =>
      rules.some(({ sources }) => sources.some(isWanted)),
    ) === YES
  )
}
