// What bindings that are there do to proxies of meshes, by the findings about them.
import { type Analysis, unchanged } from '../../analysis/index.ts'
import { type Finding, type FindingEntry, findingEntry, findingSteps, namedIn } from '../../findings/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName, type NamespacedName } from '../../model/namespaced-name.ts'
import type { Steps } from '../../base/steps.ts'
import { proxyContainers } from './companion.ts'
import { distinct } from '../../base/text/bytes.ts'

type Harm = FindingEntry['ofProxies']

/** The harm that bindings do to proxies. */
export class ProxyHarms {
  readonly #byBinding: ReadonlyMap<string, readonly Finding[]>

  private constructor(findings: readonly Finding[]) {
    const byBinding = new Map<string, Finding[]>()
    for (const one of findings.filter((each) => harmOf(each) !== undefined))
      for (const { kind, namespace, name } of namedIn(one))
        if (kind === BINDING_KIND) getOrCreate(byBinding, namespacedName(namespace, name), () => []).push(one)
    this.#byBinding = byBinding
  }

  /** That of all bindings, in steps; none are worked out where no pod has such a proxy. */
  static *of({ settled, podsInQuestion, snapshot }: Analysis): Steps<ProxyHarms> {
    const isAsked = snapshot.bindings.isAnyRead && proxyContainers(podsInQuestion).length > 0
    return new ProxyHarms(isAsked ? yield* findingSteps(unchanged(settled)) : [])
  }

  /** The containers that lose by a binding what their mesh needs, in byte order. */
  lostBy(key: NamespacedName): readonly string[] {
    return distinct(this.#of(key, 'takes what they need').flatMap(({ subject }) => subject.container ?? []))
  }

  /** Whether that is certain of one of them. */
  certainlyLosesBy(key: NamespacedName): boolean {
    return this.#of(key, 'takes what they need').some(({ dependsOn }) => dependsOn === undefined)
  }

  /** That proxies get by a binding what they cannot use; undefined: they do not. */
  unusableOf(key: NamespacedName): Finding | undefined {
    return this.#of(key, 'gives what they cannot use')[0]
  }

  #of(key: NamespacedName, harm: Harm): readonly Finding[] {
    return (this.#byBinding.get(key) ?? []).filter((one) => harmOf(one) === harm)
  }
}

function harmOf({ code }: Finding): Harm {
  return findingEntry(code).ofProxies
}
