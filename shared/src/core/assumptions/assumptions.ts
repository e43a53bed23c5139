// The settings that an answer assumes because nothing gives them, and what another value would change. An assumption may
// make an answer longer, never surer (docs/assumptions.md): whatever rests on one says that it depends on it.
import type { ScmSettings } from '../objects/scm-settings.ts'

/** A setting that an answer may rest on without having been given it. */
export type AssumedSetting =
  /** The configuration of SCM as a whole. */
  | 'scm'
  /** Several SCMs act on kleym's output, and do not do the same. */
  | 'which scm'
  /** SCM's own trust domain, which its configuration does not tell. */
  | 'scm trust domain'
  /** kleym's class. */
  | 'class'
  /** kleym's output labels, where SCM sees labelled objects only. */
  | 'output labels'
  /** kleym's trust domain. */
  | 'trust domain'

/** One setting that is assumed. */
export interface Assumption {
  readonly setting: AssumedSetting
  /** The setting as a sentence names it: `kleym's class`. */
  readonly what: string
  /** What is assumed, as a sentence: `it is taken to be SCM's, spire-mgmt-spire`. */
  readonly assumed: string
  /** What another value would change. */
  readonly otherwise: string
  /** How to give it. */
  readonly fix: string
}

/** Settings of SCM under which an answer is worked out too. */
export interface Alternative {
  readonly settings: ScmSettings
  /** Whether kleym's class is taken to be that of these settings. */
  readonly classFollows: boolean
  /** When these settings are the ones in force; undefined: they are in force too, in an SCM beside ours. */
  readonly when: string | undefined
}

/** What an analysis does not know of its settings. */
export interface OpenSettings {
  /** Those that can change the answer; empty where every setting that matters was given. */
  readonly assumptions: readonly Assumption[]
  /** Other settings that the registrations of others are judged by too. */
  readonly alternatives: readonly Alternative[]
}

/** Every setting that matters was given. */
export const NO_OPEN_SETTINGS: OpenSettings = { assumptions: [], alternatives: [] }

/** An assumption in one line: what is not given, what is taken in its place, how to give it. */
export function assumptionText({ what, assumed, otherwise, fix }: Assumption): string {
  return `${what} (not given): ${assumed}; ${otherwise}: ${fix}`
}

/** `depends on kleym's class and SCM's settings`: what something rests on. */
export function dependsText(assumptions: readonly Assumption[]): string {
  const names = assumptions.map(({ what }) => what)
  const [last, ...others] = names.toReversed()
  if (last === undefined) return ''
  return `depends on ${others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`}`
}
