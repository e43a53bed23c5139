// The pods of a pool, in groups of one service account each: a binding names one service account.
import { consumersIn, type Analysis } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import type { Pool } from '../../model/objects/inference.ts'
import { carriesLabel } from '../../model/objects/label-match.ts'
import { NO } from '../../model/truth/truth.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../model/names.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { compareBytes, compareKeys } from '../../base/text/bytes.ts'

/** Pods of one pool under one service account. */
export interface AccountPods {
  readonly serviceAccountName: string
  /** At least one, all of them certain. */
  readonly pods: readonly Pod[]
}

/** The pods that a pool selects. */
export interface PoolPods {
  /** Those that it certainly selects, in byte order of their service accounts. */
  readonly certain: readonly Pod[]
  readonly accounts: readonly AccountPods[]
  /** Pods that the pool may select, or that may come to exist. */
  readonly perhaps: readonly Pod[]
}

/** Finds the pods of pools; builds its indexes at the first question. */
export class PodsOfPools {
  readonly #analysis: Analysis
  /** By namespace, then by a label key whose value, or presence, is not known: the pods that may carry it. */
  readonly #open: () => ReadonlyMap<string, ReadonlyMap<string, readonly Pod[]>>
  /** Pods of kinds that are not read, by namespace: they may carry any label beside their own. */
  readonly #unread: () => ReadonlyMap<string, readonly Pod[]>

  constructor(analysis: Analysis) {
    this.#analysis = analysis
    this.#open = lazy(() => openLabels(analysis.podsInQuestion))
    this.#unread = lazy(() =>
      Map.groupBy(
        analysis.podsInQuestion.filter(({ perhaps }) => perhaps !== undefined),
        ({ namespace }) => namespace,
      ),
    )
  }

  /** The pods of a pool whose selector was decoded. */
  of({ meta: { namespace } }: Pick<Pool, 'meta'>, labels: PoolLabels): PoolPods {
    const certain = this.#analysis.pods().withLabels(namespace, labels)
    const groups = Map.groupBy(certain, ({ serviceAccountName }) => serviceAccountName)
    const accounts = [...groups]
      .toSorted(compareKeys)
      .map(([serviceAccountName, pods]) => ({ serviceAccountName, pods }))
    return {
      certain: accounts.flatMap(({ pods }) => pods),
      accounts,
      perhaps: this.#perhaps(namespace, labels, new Set(certain)),
    }
  }

  #perhaps(namespace: string, labels: PoolLabels, certain: ReadonlySet<Pod>): readonly Pod[] {
    const open = this.#open().get(namespace)
    const near = new Set([
      ...[...labels.keys()].flatMap((key) => open?.get(key) ?? []),
      ...(this.#unread().get(namespace) ?? []),
    ])
    return [...near].filter((pod) => !certain.has(pod) && mayCarry(pod, labels))
  }
}

function openLabels(pods: readonly Pod[]): ReadonlyMap<string, ReadonlyMap<string, readonly Pod[]>> {
  const namespaces = new Map<string, Map<string, Pod[]>>()
  for (const pod of pods) {
    if (pod.perhaps !== undefined) continue
    for (const key of [...pod.unknownLabels, ...pod.possibleLabels]) {
      const keys = getOrCreate(namespaces, pod.namespace, () => new Map<string, Pod[]>())
      getOrCreate(keys, key, () => []).push(pod)
    }
  }
  return namespaces
}

/** Whether no label of a pod contradicts a pool. What makes a pod of a kind that is not read may add any label to it. */
function mayCarry(pod: Pod, labels: PoolLabels): boolean {
  for (const [key, value] of labels) {
    if (carriesLabel(pod, key, value) !== NO) continue
    const mayHaveMore = pod.perhaps !== undefined && pod.perhaps.knowsLabels !== true
    if (!mayHaveMore || pod.labels.has(key) || pod.labelChoices?.has(key) === true) return false
  }
  return true
}

/**
 * The regular containers that all of these pods run and that are all they run, but for the proxies of meshes, which serve no
 * objective; undefined where they run different ones.
 */
export function commonContainers(pods: readonly Pod[]): readonly string[] | undefined {
  const byContainers = new Map(pods.map((pod) => [pod.containers, pod]))
  const [first, ...others] = [...byContainers.values()].map((pod) => {
    const proxies = new Set(consumersIn(pod, undefined).map(({ container }) => container?.name))
    return pod.containers
      .flatMap(({ name, role }) => (role === 'regular' && !proxies.has(name) ? [name] : []))
      .toSorted(compareBytes)
  })
  const text = JSON.stringify(first)
  return others.every((names) => JSON.stringify(names) === text) ? first : undefined
}

/** The values of a label among pods: those that all certainly carry, or undefined where a pod lacks the label. */
export function labelValues(pods: readonly Pod[], key: string): readonly string[] | undefined {
  const values = new Set<string>()
  for (const { labels } of pods) {
    const value = labels.get(key)
    if (value === undefined) return undefined
    values.add(value)
  }
  return [...values].toSorted(compareBytes)
}

/** The label by which llm-d and KServe tell roles apart (docs/variants.md). */
export const LLM_D_ROLE = 'llm-d.ai/role'

/** The keys that may distinguish pods where the key of the install is not known. */
export const USUAL_VARIANT_KEYS: readonly string[] = [DEFAULT_VARIANT_LABEL_KEY, LLM_D_ROLE]
