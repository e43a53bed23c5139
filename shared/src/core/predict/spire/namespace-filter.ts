// The namespaces whose pods SCM leaves out: those that it ignores (Go regular expressions, unanchored, which prevail over
// every selector) and those outside its cache (docs/spire-facts.md §2, §11.18).
import type { Pod } from '../../model/objects/pod.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import { compileGoRegexp, type GoRegexp } from '../../base/go/regexp.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { labelsOfPod, matchSelector } from '../../model/objects/label-match.ts'
import type { UniformVerdict } from './prepared-id.ts'

type FilterVerdict = Extract<UniformVerdict, { readonly state: 'ignored' | 'depends' }>

interface IgnorePattern {
  readonly source: string
  readonly regexp: GoRegexp
}

/** An empty name stands for every namespace, as in controller-runtime. */
const EVERY = ''

/** The namespaces and pods that the settings of an SCM leave out. */
export class NamespaceFilter {
  readonly #settings: ScmSettings
  readonly #patterns: readonly IgnorePattern[]
  readonly #byNamespace = new Map<string, FilterVerdict | undefined>()

  constructor(settings: ScmSettings) {
    this.#settings = settings
    this.#patterns = settings.ignoreNamespaces.map((source) => ({ source, regexp: compileGoRegexp(source) }))
  }

  /** Why Go cannot compile a pattern, for each that it cannot: SCM does not start with such a setting. */
  faults(): readonly string[] {
    return this.#patterns.flatMap(({ source, regexp }) =>
      regexp.kind === 'invalid'
        ? [`ignoreNamespaces of SCM's configuration: ${source}: ${regexp.message}`]
        : [],
    )
  }

  /** Why SCM ignores a namespace, whatever selects it; undefined where it does not. */
  whyNamespaceIgnored(name: string): FilterVerdict | undefined {
    if (this.#byNamespace.has(name)) return this.#byNamespace.get(name)
    const verdict = this.#judge(name)
    this.#byNamespace.set(name, verdict)
    return verdict
  }

  /** Why SCM makes no entry for any pod of a namespace: it ignores the namespace, or reads none of its pods. Undefined: it may make some. */
  whyNoEntries(name: string): string | undefined {
    const verdict = this.whyNamespaceIgnored(name)
    return verdict?.state === 'ignored' ? verdict.why : this.#whyOutsideCache(name)
  }

  /** Why SCM does not see a pod, or may not; undefined where it sees it. */
  whyPodIgnored(pod: Pod): FilterVerdict | undefined {
    const byName = this.whyNamespaceIgnored(pod.namespace)
    if (byName?.state === 'ignored') return byName
    return this.#outsideCache(pod) ?? byName
  }

  #judge(name: string): FilterVerdict | undefined {
    let verdict: FilterVerdict | undefined
    for (const { source, regexp } of this.#patterns) {
      if (regexp.kind === 'regexp' && regexp.matches(name)) {
        return { state: 'ignored', why: `SCM ignores namespace ${name} (ignoreNamespaces: ${source})` }
      }
      if (regexp.kind === 'unsupported') {
        const why = `kleym does not follow ${regexp.construct} in ignoreNamespaces of SCM's configuration: ${source}`
        verdict ??= { state: 'depends', why }
      }
    }
    return verdict
  }

  #whyOutsideCache(name: string): string | undefined {
    const caches = this.#settings.cacheNamespaces
    if (caches === undefined || caches.has(name) || caches.has(EVERY)) return undefined
    return `namespace ${name} is not among SCM's cacheNamespaces`
  }

  #outsideCache(pod: Pod): FilterVerdict | undefined {
    const caches = this.#settings.cacheNamespaces
    if (caches === undefined) return undefined
    const outside = this.#whyOutsideCache(pod.namespace)
    if (outside !== undefined) return { state: 'ignored', why: outside }
    const name = caches.has(pod.namespace) ? pod.namespace : EVERY
    const match = matchSelector(caches.get(name), labelsOfPod(pod))
    if (match === NO)
      return { state: 'ignored', why: `SCM's cacheNamespaces leave out this pod by its labels` }
    if (match !== YES) {
      return { state: 'depends', why: `SCM's cacheNamespaces choose pods by a label that is not known` }
    }
    if (this.#settings.cacheFieldSelected?.has(name) !== true) return undefined
    return {
      state: 'depends',
      why: `SCM's cacheNamespaces choose pods by field, which kleym does not follow`,
    }
  }
}
