// The selector that SCM puts first in each entry of a pod: the UID of that pod (docs/spire-facts.md §3).
import { answerOf } from '../../model/objects/pods-alike.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { POD_UID } from './placeholders.ts'
import type { EntrySelector, RenderedEntry } from './prediction.ts'

const NONE: readonly string[] = []
const UID: readonly string[] = [POD_UID]

/** The selector of a pod. */
export function podUidSelector({ uid }: Pod): EntrySelector {
  return { type: 'k8s', value: `pod-uid:${uid ?? POD_UID}`, placeholders: uid === undefined ? UID : NONE }
}

function placeholdersOfUid(pod: Pod): readonly string[] {
  return podUidSelector(pod).placeholders
}

/** The same of a pod that records what it is asked: that it is a selector of this pod is known without a look at the UID. */
export class PodUidSelector implements EntrySelector {
  readonly type = 'k8s'
  readonly #pod: Pod

  constructor(pod: Pod) {
    this.#pod = pod
  }

  get value(): string {
    return podUidSelector(this.#pod).value
  }

  get placeholders(): readonly string[] {
    return answerOf(this.#pod, placeholdersOfUid)
  }

  /** Whether it was rendered for this pod. */
  isOf(pod: Pod): boolean {
    return pod === this.#pod
  }
}

/** The selectors of an entry that its registration asks for: of a pod that records what it is asked, its UID is left out. */
export function selectorsAskedFor({ selectors }: Pick<RenderedEntry, 'selectors'>): readonly EntrySelector[] {
  return selectors.filter((one) => !(one instanceof PodUidSelector))
}
