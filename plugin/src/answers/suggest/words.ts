// How suggestions are worded, in the text and in the comments of the YAML.
import { groupsBy } from '@kleym/shared/core/base/groups.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  lostText,
  manifestsBefore,
  type SuggestedBinding,
  type NotSuggested,
} from '@kleym/shared/core/answers/index.ts'
import { summaryText } from '@kleym/shared/core/base/text/counted.ts'

/** What a binding does to pods, a sentence each. */
export function changeLines({ candidate, spiffeId, reach, heldBefore }: SuggestedBinding): readonly string[] {
  const { reached, perhaps, missed, lost, alsoHeld } = reach
  const had = Map.groupBy(heldBefore, ({ isCertain }) => isCertain)
  const gains = [
    ...containersLines('gain', gainsOf(reach, heldBefore), ''),
    ...containersLines('no gain', had.get(true) ?? [], ': something else gives them the same identity'),
    ...containersLines(
      'perhaps no gain',
      had.get(false) ?? [],
      ': something else may give them the same identity',
    ),
  ]
  const none = reached.length + perhaps.length === 0 ? [`gain: no container gets ${spiffeId} yet`] : []
  return [
    ...beforeLines(candidate),
    ...gains,
    ...none,
    ...(perhaps.length === 0 ? [] : [`perhaps: ${podsText(perhaps)}: ${perhaps[0]?.why ?? ''}`]),
    ...(missed.length === 0 ? [] : [`no gain: ${podsText(missed)}: ${missed[0]?.why ?? ''}`]),
    ...groupsBy(lost, (one) => `${one.containers.join(', ')} ${lostText(one)}`).map(
      (same) => `lose: ${same[0].containers.join(', ')} of ${podsText(same)} ${lostText(same[0])}`,
    ),
    ...groupsBy(alsoHeld, (one) => `${one.container}\n${one.spiffeId}\n${one.source}`).map((same) => {
      const [{ container, spiffeId: id, source }] = same
      return `also held: ${container} of ${podsText(same)} holds ${id} too (${source})`
    }),
  ]
}

/** What is applied before a binding, a sentence each. */
export function beforeLines(candidate: SuggestedBinding['candidate']): readonly string[] {
  return manifestsBefore(candidate).map(
    (one) => `apply first: ClusterSPIFFEID/${stringAt(one, 'metadata', 'name') ?? ''}`,
  )
}

/** The containers that certainly gain the identity. */
export function gainsOf(
  { reached }: SuggestedBinding['reach'],
  heldBefore: SuggestedBinding['heldBefore'],
): SuggestedBinding['reach']['reached'] {
  return reached.flatMap(({ pod, containers }) => {
    const had = new Set(heldBefore.filter((one) => one.pod === pod).flatMap((one) => one.containers))
    const gained = containers.filter((name) => !had.has(name))
    return gained.length === 0 ? [] : [{ pod, containers: gained }]
  })
}

function containersLines(
  word: string,
  all: readonly { readonly pod: Pod; readonly containers: readonly string[] }[],
  why: string,
): readonly string[] {
  const same = Map.groupBy(all, ({ containers }) => containers.join(', '))
  return [...same].map(([containers, pods]) => `${word}: ${containers} of ${podsText(pods)}${why}`)
}

/** Pods by name, the first few. */
function podsText(all: readonly { readonly pod: Pod }[]): string {
  return summaryText(all.map(({ pod }) => podText(pod)))
}

/** `PerObjective chat for container vllm is impossible (IdentityCollision): …`. */
export function notText({ state, what, reason, why, fix }: NotSuggested): string {
  const word = { impossible: 'impossible', unproven: 'not proven', open: 'for you to choose' }[state]
  const named = reason === undefined ? '' : ` (${reason})`
  const rest = `${word}${named}: ${why}${fix === undefined ? '' : `; fix: ${fix}`}`
  return what === '' ? rest : `${what}: ${rest}`
}
