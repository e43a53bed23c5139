// What containers lose because suggested bindings displace fallbacks.
import type { HolderEffect } from '../explain/effect.ts'
import type { Reach } from '../explain/reach.ts'
import { podText, type Holder } from '../../model/objects/pod-index.ts'
import { displacedOf } from '../../findings/index.ts'
import { podIdentitiesOf, type Prediction } from '../../predict/index.ts'

/** What containers lose by the suggestions, and not by what displaces the same fallbacks `before` them. */
export function lostBy(
  { lost }: Reach,
  effectOn: (one: Holder) => HolderEffect,
  before: Prediction,
): Reach['lost'] {
  return lost.flatMap((one) => {
    const { pod, spiffeId } = one
    const had = displacedOf(podIdentitiesOf(before, pod)).filter(
      (displaced) => displaced.spiffeId === spiffeId,
    )
    const effect = (container: string): HolderEffect => effectOn({ pod: podText(pod), container })
    const left = one.containers.filter((name) => !had.some(({ container }) => container.name === name))
    const certain = left.filter((name) => effect(name).lost.includes(spiffeId))
    const others = left.filter((name) => !certain.includes(name))
    const open = Map.groupBy(others, (name) => one.open ?? effect(name).why[0])
    return [
      ...(certain.length === 0 ? [] : [{ ...one, containers: certain, open: undefined }]),
      ...[...open].flatMap(([why, containers]) =>
        // The container holds the ID all the same.
        why === undefined ? [] : [{ ...one, containers, open: why }],
      ),
    ]
  })
}
