// What containers lose because suggested bindings displace fallbacks.
import type { Effect } from '../explain/effect.ts'
import type { Reach } from '../explain/reach.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { holderKey, displacedOf } from '../../findings/index.ts'
import { podIdentitiesOf, type Prediction } from '../../predict/index.ts'

/** What an effect says of containers, each by its `holderKey`. */
export class EffectByHolder {
  /** `holderKey` and the SPIFFE ID that is lost. */
  readonly #gone: ReadonlySet<string>
  readonly #uncertain: ReadonlyMap<string, string>

  constructor({ lost, uncertain }: Effect) {
    this.#gone = new Set(
      lost.flatMap(({ spiffeId, containers }) =>
        containers.map(({ pod, container }) => `${holderKey(pod, container)} ${spiffeId}`),
      ),
    )
    this.#uncertain = new Map(
      uncertain.map(({ pod, container, why: [why = ''] }) => [holderKey(pod, container), why]),
    )
  }

  loses(key: string, spiffeId: string): boolean {
    return this.#gone.has(`${key} ${spiffeId}`)
  }

  /** Why it is not known what a container loses; undefined: it is. */
  whyOpen(key: string): string | undefined {
    return this.#uncertain.get(key)
  }
}

/** What containers lose by the suggestions, and not by what displaces the same fallbacks `before` them. */
export function lostBy({ lost }: Reach, effect: EffectByHolder, before: Prediction): Reach['lost'] {
  return lost.flatMap((one) => {
    const { pod, spiffeId } = one
    const had = displacedOf(podIdentitiesOf(before, pod)).filter(
      (displaced) => displaced.spiffeId === spiffeId,
    )
    const keyOf = (name: string): string => holderKey(podText(pod), name)
    const left = one.containers.filter((name) => !had.some(({ container }) => container.name === name))
    const certain = left.filter((name) => effect.loses(keyOf(name), spiffeId))
    const others = left.filter((name) => !certain.includes(name))
    const open = Map.groupBy(others, (name) => one.open ?? effect.whyOpen(keyOf(name)))
    return [
      ...(certain.length === 0 ? [] : [{ ...one, containers: certain, open: undefined }]),
      ...[...open].flatMap(([why, containers]) =>
        // The container holds the ID all the same.
        why === undefined ? [] : [{ ...one, containers, open: why }],
      ),
    ]
  })
}
