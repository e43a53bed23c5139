// Premises: what an answer takes for granted rather than to know nothing (docs/assumptions.md, "Premises"). One that excuses settings counts
// only if every other part of the answer is the same in all worlds; else the answer is as it would be without it.
import {
  type Analysis,
  type PremiseName,
  isEffectAllThatIsOpen,
  takingOutputsAsHandled,
} from '@kleym/shared/core/analysis/index.ts'
import { findingSteps } from '@kleym/shared/core/findings/index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { GatheredInput } from '../gather/gather.ts'
import type { Frame } from './frame.ts'

/** An answer before it is judged: its frame and what that was made of. */
export interface Framed {
  readonly frame: Frame
  readonly input: GatheredInput
}

/**
 * Makes an answer that takes kleym's outputs as handled, if nothing but their effect is open; else one that takes nothing for granted.
 * Only for files as they are: on a cluster the settings can be read, and what `--without` or a change would do never rests on a premise.
 */
export function framedUnderPremises(
  input: GatheredInput,
  { strict = false }: Pick<OutputOptions, 'strict'>,
  frameOf: (input: GatheredInput) => Framed,
  pods: readonly Pod[] = [],
): Framed {
  const { after, analyse } = input
  if (!mayAssume(input, strict, pods)) return frameOf(input)
  const taken = takingOutputsAsHandled(after)
  const assuming = frameOf({
    ...input,
    after: taken,
    before: taken,
    *analyse(snapshot) {
      return takingOutputsAsHandled(yield* analyse(snapshot))
    },
  })
  return rests(assuming, after) ? frameOf(input) : assuming
}

/** Whether outputs may be taken as handled: of files as they are, if nothing but their effect is open for the pods in question and `more`. */
export function mayAssume(
  { after, before, isLive }: GatheredInput,
  strict: boolean,
  more: readonly Pod[] = [],
): boolean {
  const isAsFiles = !strict && !isLive && after === before
  return isAsFiles && isEffectAllThatIsOpen(after, new Set([...after.podsInQuestion, ...more]))
}

/**
 * Whether something that was made under the premise depends on a setting all the same. Every finding that there is counts, shown or not: so
 * all commands take the same for granted.
 */
function rests({ frame, input }: Framed, asked: Analysis): boolean {
  const settings = new Set(input.after.openSettings.assumptions.map(({ what }) => what))
  const findings = frame.suppressionScope?.all() ?? input.drive(findingSteps(input.after))
  const depends = findings.some(({ dependsOn = [] }) => dependsOn.some((what) => settings.has(what)))
  // `suggest` answers about a state of its own.
  const { after } = input
  return depends || (after.snapshot !== asked.snapshot && !isEffectAllThatIsOpen(after, after.podsInQuestion))
}

/** What an answer takes for granted, as its first line has it; undefined: nothing. */
export function assumingText(
  premises: readonly PremiseName[],
  { openSettings }: Pick<Analysis, 'openSettings'>,
): string | undefined {
  const isScmOpen = openSettings.assumptions.some(({ setting }) => setting === 'scm')
  const what = premises.map((premise) =>
    premise === 'no sidecar unless asked'
      ? 'no sidecar unless one is asked for'
      : isScmOpen
        ? "SPIRE's chart defaults"
        : "that SCM handles kleym's outputs",
  )
  return what.length === 0 ? undefined : `assuming ${what.join(' and ')} (kubectl kleym settings)`
}
