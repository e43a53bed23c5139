// `-o name`: one object per line, in the form that `--without` takes, for xargs and for pasting.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDING, kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { escapeTerminal, neutraliseCommands } from '../io/escape.ts'

/** An object by kind, group, namespace and name. */
export interface NamedObject {
  readonly kind: string
  /** Empty for the core group. */
  readonly group: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  readonly name: string
}

/** A manifest by its names. */
export function namedManifest(manifest: JsonRecord): NamedObject {
  const { namespace, name } = readMeta(manifest)
  return { ...kindOf(manifest), namespace, name }
}

/** Pods, or templates of workloads, by their names. */
export function namedPods(pods: readonly Pod[]): readonly NamedObject[] {
  return pods.map(({ ref }) => ({ ...ref, group: '' }))
}

/** Bindings by their names. */
export function namedBindings(bindings: readonly Binding[]): readonly NamedObject[] {
  return bindings.map(({ meta: { namespace, name } }) => ({
    kind: BINDING.kind,
    group: BINDING.group,
    namespace,
    name,
  }))
}

/** `inferencepool.inference.networking.k8s.io/team-a/llama`, a line each, in the given order, each object once. */
export function toNames(objects: Iterable<NamedObject>): string {
  const lines = new Set<string>()
  for (const { kind, group, namespace, name } of objects) {
    const type = qualifiedKind({ kind, group })
    const path = [type.toLowerCase(), ...(namespace === '' ? [] : [namespace]), name].join('/')
    lines.add(`${neutraliseCommands(escapeTerminal(path))}\n`)
  }
  return [...lines].join('')
}
