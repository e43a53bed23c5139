// Annotations by which a tool that deploys an object does not make it, or keep it, as its manifest says: a hook of a release is there for a
// moment, and what a tool is told to leave alone stays as somebody else has made it. Whether such a tool deploys it, no manifest says.
// Sources: https://helm.sh/docs/topics/charts_hooks/, https://argo-cd.readthedocs.io/en/stable/user-guide/sync-waves/,
// https://fluxcd.io/flux/components/kustomize/kustomizations/#controlling-the-apply-behavior-of-resources
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { kindKey } from '@kleym/shared/core/model/kinds.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { KINDS_WITH_PODS } from '@kleym/shared/core/model/objects/workload.ts'

const HOOKS = ['helm.sh/hook', 'argocd.argoproj.io/hook']
/** With some values of it, Flux applies nothing to an object that is there, or nothing at all. */
const SSA = 'kustomize.toolkit.fluxcd.io/ssa'
const RECONCILE = 'kustomize.toolkit.fluxcd.io/reconcile'

/** By which annotation an object may not be there as its manifest says: `helm.sh/hook: pre-delete`; undefined: by none. */
export function annotationAgainst(value: JsonRecord): string | undefined {
  const { annotations } = readMeta(value)
  if (annotations.size === 0) return undefined
  const given = (key: string, isMeant: (one: string) => boolean): readonly string[] => {
    const found = annotations.get(key)
    return found !== undefined && isMeant(found) ? [`${key}: ${found}`] : []
  }
  // A hook that has pods runs once, as its own kind says already.
  const hooks = KINDS_WITH_PODS.has(kindKey(value)) ? [] : HOOKS
  const [found] = [
    ...hooks.flatMap((key) => given(key, () => true)),
    ...given(SSA, (one) => one === 'Ignore' || one === 'IfNotPresent'),
    ...given(RECONCILE, (one) => one === 'disabled'),
  ]
  return found
}

/** An annotation by which a tool leaves an object in the cluster whose manifest is gone. */
const KEPT: readonly (readonly [key: string, value: RegExp])[] = [
  ['helm.sh/resource-policy', /^keep$/],
  ['kustomize.toolkit.fluxcd.io/prune', /^disabled$/],
  [RECONCILE, /^disabled$/],
  ['argocd.argoproj.io/sync-options', /(?:^|,)\s*(?:Prune|Delete)=(?:false|confirm)\s*(?:,|$)/],
  ['cli-utils.sigs.k8s.io/on-remove', /^keep$/],
  ['client.lifecycle.config.k8s.io/deletion', /^detach$/],
]

/** By which annotation an object stays where its manifest goes; undefined: by none. */
export function annotationThatKeeps(value: JsonRecord): string | undefined {
  const { annotations } = readMeta(value)
  const found = KEPT.find(([key, meant]) => meant.test(annotations.get(key) ?? ''))
  return found && `${found[0]}: ${annotations.get(found[0])}`
}
