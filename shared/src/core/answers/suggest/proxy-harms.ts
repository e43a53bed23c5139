// What bindings that are there do to proxies of meshes, by the findings about them.
import { type Analysis, unchanged } from '../../analysis/index.ts'
import { type Finding, findingSteps, type FindingCode } from '../../findings/index.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName, type NamespacedName } from '../../model/namespaced-name.ts'
import type { Steps } from '../../base/steps.ts'
import { distinct } from './binding-names.ts'
import { proxyContainers } from './companion.ts'

/** A binding gives proxies an identity that their mesh does not accept. */
const UNUSABLE: FindingCode = 'KLM440'
/** It takes from proxies the one that their mesh needs. */
const LOST: FindingCode = 'KLM441'

/** The harm that bindings do to proxies. */
export class ProxyHarms {
  readonly #byBinding: ReadonlyMap<string, readonly (readonly [key: string, finding: Finding])[]>

  private constructor(findings: readonly Finding[]) {
    this.#byBinding = Map.groupBy(
      findings
        .filter(({ code }) => isOfProxies(code))
        .flatMap((one) => bindingsOf(one).map((key) => [key, one] as const)),
      ([key]) => key,
    )
  }

  /** That of all bindings, in steps; none are worked out where no pod has such a proxy. */
  static *of({ settled, podsInQuestion, snapshot }: Analysis): Steps<ProxyHarms> {
    const isAsked = snapshot.bindings.isAnyRead && proxyContainers(podsInQuestion).length > 0
    return new ProxyHarms(isAsked ? yield* findingSteps(unchanged(settled)) : [])
  }

  /** The containers that lose by a binding what their mesh needs, in byte order. */
  lostBy(key: NamespacedName): readonly string[] {
    return distinct(this.#of(key, LOST).flatMap(({ subject }) => subject.container ?? []))
  }

  /** Whether that is certain of one of them. */
  certainlyLosesBy(key: NamespacedName): boolean {
    return this.#of(key, LOST).some(({ dependsOn }) => dependsOn === undefined)
  }

  /** What proxies get by a binding and cannot use, a plain sentence fragment; undefined: nothing. */
  unusableOf(key: NamespacedName): string | undefined {
    const [first] = this.#of(key, UNUSABLE)
    if (first === undefined) return undefined
    const { summary, dependsOn } = first
    return dependsOn === undefined ? summary : `${summary}, which depends on ${dependsOn.join(', ')}`
  }

  #of(key: NamespacedName, code: FindingCode): readonly Finding[] {
    return (this.#byBinding.get(key) ?? []).flatMap(([, one]) => (one.code === code ? one : []))
  }
}

/** The bindings that a finding is about, or that stand on the same pods. */
function bindingsOf({ subject, related }: Finding): readonly string[] {
  return [subject, ...related].flatMap(({ kind, namespace, name }) =>
    kind === BINDING_KIND ? namespacedName(namespace, name) : [],
  )
}

function isOfProxies(code: FindingCode): boolean {
  return code === UNUSABLE || code === LOST
}
