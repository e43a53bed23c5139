// Which pods a target means: the pod or template itself, the pods that run under a service account, or those that a pool or the
// pool of a binding selects. A pod that may be selected is one of them.
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Pool } from '@kleym/shared/core/model/objects/inference.ts'
import type { ObjectMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { labelsOfPod, matchSelector } from '@kleym/shared/core/model/objects/label-match.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import { KleymError } from '../../io/errors.ts'
import { type ObjectName, ACCOUNT_KIND } from '../../sources/kind-name.ts'

/** Tells whether a pod is meant. Throws where the pool or the binding does not exist, or selects nothing that can be followed. */
export function podsMeant(
  analysis: Analysis,
  target: ObjectName,
  namespace: string | undefined,
  echo: string,
): (pod: Pod) => boolean {
  const { kind, name, group } = target
  if (kind === ACCOUNT_KIND)
    return ({ serviceAccountName, perhaps }) => serviceAccountName === name || perhaps?.knowsAccount === false
  if (kind !== POOL_KIND && kind !== BINDING_KIND) return ({ ref }) => ref.kind === kind && ref.name === name
  const isNamed = ({ meta }: { readonly meta: Pick<ObjectMeta, 'namespace' | 'name'> }): boolean =>
    meta.name === name && (namespace === undefined || meta.namespace === namespace)
  const { snapshot, compiled } = analysis
  const chosen =
    kind === POOL_KIND
      ? snapshot.pools.read
          .filter((pool) => isNamed(pool) && (group === undefined || pool.group === group))
          .map(labelsOfPool)
      : compiled.filter(({ binding }) => isNamed(binding)).map(labelsOfBinding)
  if (chosen.length === 0) throw missing(analysis, target, namespace, echo)
  return (pod) =>
    chosen.some(
      (one) =>
        one.namespace === pod.namespace &&
        matchSelector({ matchLabels: one.labels, matchExpressions: [] }, labelsOfPod(pod)) !== NO,
    )
}

/** Whether a target is no pod or template itself, but selects them. */
export function standsForMany({ kind }: ObjectName): boolean {
  return kind === ACCOUNT_KIND || kind === POOL_KIND || kind === BINDING_KIND
}

interface SelectedLabels {
  readonly namespace: string
  readonly labels: ReadonlyMap<string, string>
}

function labelsOfPool({ selector, meta: { namespace, name } }: Pool): SelectedLabels {
  if (!selector.ok) throw unfollowed(`InferencePool/${namespace}/${name}`, selector.reason)
  return { namespace, labels: selector.labels }
}

function labelsOfBinding({ binding, input: { parts } }: Analysis['compiled'][number]): SelectedLabels {
  if (parts === undefined) throw unfollowed(`binding ${binding.key}`, 'its pool cannot be determined')
  return { namespace: binding.meta.namespace, labels: parts.poolLabels }
}

function unfollowed(where: string, why: string): KleymError {
  return new KleymError('not-found', {
    what: 'cannot tell which pods are selected',
    where,
    why,
    fix: 'see what is wrong with: kubectl kleym explain',
  })
}

function missing(
  { snapshot }: Analysis,
  { kind, name }: ObjectName,
  namespace: string | undefined,
  echo: string,
): KleymError {
  const there = kind === POOL_KIND ? snapshot.pools : snapshot.bindings
  const keys = there.read.map(({ meta }) => namespacedName(meta.namespace, meta.name))
  const where = namespace === undefined ? name : namespacedName(namespace, name)
  return new KleymError('not-found', {
    what: `there is no such ${kind}`,
    where,
    why: 'none of that name was read',
    fix: didYouMean(where, keys) ?? `list what is there with: kubectl kleym explain -A${echo}`,
  })
}
