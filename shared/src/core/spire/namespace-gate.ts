// The namespaces whose pods SCM does not look at: ignored ones (Go regular expressions, unanchored; they beat every
// selector) and those outside its cache (facts/spire.md §2, §11.18).
import type { Pod } from '../objects/pod.ts'
import type { ScmSettings } from '../objects/scm-settings.ts'
import { compileGoRegexp, type GoRegexp } from './go-regexp.ts'
import { matchSelector } from './selector.ts'
import type { Gate } from './prepared-id.ts'

type PodGate = Extract<Gate, { readonly state: 'ignored' | 'depends' }>

interface Pattern {
  readonly source: string
  readonly regexp: GoRegexp
}

export class NamespaceGate {
  readonly #settings: ScmSettings
  readonly #patterns: readonly Pattern[]
  readonly #byNamespace = new Map<string, PodGate | undefined>()

  constructor(settings: ScmSettings) {
    this.#settings = settings
    this.#patterns = settings.ignoreNamespaces.map((source) => ({ source, regexp: compileGoRegexp(source) }))
  }

  /** Why Go cannot compile a pattern: SCM does not start then. */
  faults(): readonly string[] {
    return this.#patterns.flatMap(({ source, regexp }) =>
      regexp.kind === 'invalid'
        ? [`ignoreNamespaces of SCM's configuration: ${source}: ${regexp.message}`]
        : [],
    )
  }

  /** Whether SCM ignores a namespace whatever selects it; undefined: it does not. */
  ofNamespace(name: string): PodGate | undefined {
    if (this.#byNamespace.has(name)) return this.#byNamespace.get(name)
    const gate = this.#judge(name)
    this.#byNamespace.set(name, gate)
    return gate
  }

  /** Whether SCM sees a pod at all; undefined: it does. */
  ofPod(pod: Pod): PodGate | undefined {
    const byName = this.ofNamespace(pod.namespace)
    if (byName?.state === 'ignored') return byName
    return this.#outsideCache(pod) ?? byName
  }

  #judge(name: string): PodGate | undefined {
    let gate: PodGate | undefined
    for (const { source, regexp } of this.#patterns) {
      if (regexp.kind === 'regexp' && regexp.matches(name)) {
        return { state: 'ignored', why: `SCM ignores namespace ${name} (ignoreNamespaces: ${source})` }
      }
      if (regexp.kind === 'unsupported') {
        const why = `kleym does not follow ${regexp.construct} in ignoreNamespaces of SCM's configuration: ${source}`
        gate ??= { state: 'depends', why }
      }
    }
    return gate
  }

  #outsideCache(pod: Pod): PodGate | undefined {
    const caches = this.#settings.cacheNamespaces
    if (caches === undefined) return undefined
    // An empty name stands for every namespace, as in controller-runtime.
    const name = caches.has(pod.namespace) ? pod.namespace : caches.has('') ? '' : undefined
    if (name === undefined) {
      return { state: 'ignored', why: `namespace ${pod.namespace} is not among SCM's cacheNamespaces` }
    }
    const view = { labels: pod.labels, open: pod.openLabels, possible: pod.possibleLabels }
    const match = matchSelector(caches.get(name), view)
    if (match === 'no')
      return { state: 'ignored', why: `SCM's cacheNamespaces leave out this pod by its labels` }
    if (match === 'unknown') {
      return { state: 'depends', why: `SCM's cacheNamespaces choose pods by a label that is not known` }
    }
    if (this.#settings.cacheFieldSelected?.has(name) !== true) return undefined
    return {
      state: 'depends',
      why: `SCM's cacheNamespaces choose pods by field, which kleym does not follow`,
    }
  }
}
