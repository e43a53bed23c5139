// The selector that SCM puts first in each entry of a pod: the UID of that pod (docs/spire-facts.md §3).
import type { Pod } from '../../model/objects/pod.ts'
import { isRecorded } from '../../model/objects/pods-alike.ts'
import { POD_UID } from './placeholders.ts'
import type { EntrySelector, RenderedEntry } from './prediction.ts'

const NONE: readonly string[] = []
const UID: readonly string[] = [POD_UID]

/** The UID of the pod for which an entry was rendered. That it is a selector of this pod is known without a look at the UID. */
export class PodUidSelector implements EntrySelector {
  readonly type = 'k8s'
  declare readonly value: string
  declare readonly placeholders: readonly string[]
  readonly #pod: Pod

  constructor(pod: Pod) {
    this.#pod = pod
    const value = (): string => `pod-uid:${pod.uid ?? POD_UID}`
    const placeholders = (): readonly string[] => (pod.uid === undefined ? UID : NONE)
    if (isRecorded(pod))
      Object.defineProperties(this, {
        value: { get: value, enumerable: true },
        placeholders: { get: placeholders, enumerable: true },
      })
    else {
      this.value = value()
      this.placeholders = placeholders()
    }
  }

  /** Whether it was rendered for this pod. */
  isOf(pod: Pod): boolean {
    return pod === this.#pod
  }
}

/** The selectors of an entry that its registration asks for. */
export function selectorsAskedFor({ selectors }: Pick<RenderedEntry, 'selectors'>): readonly EntrySelector[] {
  return selectors.filter((one) => !(one instanceof PodUidSelector))
}
