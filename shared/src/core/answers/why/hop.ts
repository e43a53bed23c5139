// One hop on the way of an identity to a process: whether it is good, the evidence, and the fix if it is not.
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { all, NO, open, whyOpenText, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime, unknownFix, type Unknown } from '../../model/truth/unknown.ts'

/** The hops, in their order. */
export const HOP_NAMES = [
  'wanted',
  'installed',
  'rendered',
  'on the server',
  'on the agent',
  'attested',
  'reachable',
  'used',
] as const
/** One of them. */
export type HopName = (typeof HOP_NAMES)[number]

/** What a hop comes to. */
export interface HopAnswer {
  readonly truth: Truth
  /** A clause without a full stop: what is so, what is wrong, or what is not known. */
  readonly text: string
  /** What to do; of a hop that is not known, what settles it. Absent: nothing. */
  readonly fix?: string | undefined
  /** What else there is to say, a clause each: never the reason of the verdict. */
  readonly notes?: readonly string[]
}

/** A hop of a chain. */
export interface Hop extends HopAnswer {
  readonly name: HopName
}

/** The hop is as it should be. */
export function good(text: string, notes: readonly string[] = []): HopAnswer {
  return { truth: YES, text, notes }
}

/** The way ends here. */
export function broken(text: string, fix: string, notes: readonly string[] = []): HopAnswer {
  return { truth: NO, text, fix, notes }
}

/** It is not known, for the causes of an open truth. */
export function openHop(truth: Truth, text?: string, fix?: string): HopAnswer {
  const [first] = truth.causes
  return {
    truth,
    text: text ?? whyOpenText(truth) ?? '',
    fix: fix ?? (first === undefined ? undefined : unknownFix(first)),
  }
}

/** It is not known, for one cause. */
export function notKnown(cause: Unknown, text?: string, fix?: string): HopAnswer {
  return openHop(open(cause), text, fix)
}

/** Only what runs shows it; `fix` settles it, and `kind` names the objects that it is about. */
export function notShown(why: string, fix: string, kind?: string): HopAnswer {
  return notKnown(atRuntime(why, kind), undefined, fix)
}

/** Time settles it. */
export function notYet(why: string, fix: string): HopAnswer {
  return notKnown({ kind: 'runtime', of: {}, why, isPassing: true }, undefined, fix)
}

/** What could not be read; there is one reason at least. */
export function unreadHop(whys: readonly UnknownReason[]): HopAnswer {
  return openHop(all(...whys.map((why) => open({ kind: 'unread', of: {}, why }))))
}

/** Something that the command line can give and did not; `fix` is the command that gives it. */
export function notGiven(what: string, fix: string, text = `${what} were not given`): HopAnswer {
  return notKnown({ kind: 'unread', of: {}, why: { verb: 'read', what, cause: 'not given', fix } }, text, fix)
}

/** The prediction leaves it open. */
export function notCertain(why: string, text?: string, fix?: string): HopAnswer {
  return notKnown({ kind: 'verdict', of: {}, why }, text, fix)
}

/** What no one can say before an earlier hop is put right. */
export function followsFrom(hop: HopName): HopAnswer {
  return notCertain(`not checked until the hop "${hop}" is good`)
}

/** What several answers to one question come to: the first that is broken, else the first that is not known, else all of them. */
export function worstOf(answers: readonly HopAnswer[], none: HopAnswer): HopAnswer {
  const [first] = answers
  if (first === undefined) return none
  const worst = answers.find(({ truth }) => truth === NO) ?? answers.find(({ truth }) => truth !== YES)
  if (worst !== undefined) return worst
  const texts = [...new Set(answers.map(({ text }) => text))]
  return { truth: YES, text: texts.join('; '), notes: answers.flatMap(({ notes = [] }) => notes) }
}
