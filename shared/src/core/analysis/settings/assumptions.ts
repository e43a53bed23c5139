// The settings that an answer assumes because nothing gives them, and what another value would change. An assumption may
// make an answer longer, never surer (docs/assumptions.md): whatever rests on one says that it depends on it.
import type { ScmSettings } from '../../model/objects/scm-settings.ts'

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
  /** What is assumed, as a sentence: `it is assumed to be SCM's, spire-mgmt-spire`. */
  readonly assumed: string
  /** What another value would change. */
  readonly otherwise: string
  /** How to give it. */
  readonly fix: string
  /** It was given, and two sources say different things. */
  readonly isDisputed?: true
}

/** What kleym's own outputs are in a world, if that is not what the objects and the settings say. */
export interface OwnOutputs {
  readonly className?: string
  /** Labels that they carry beside their own. */
  readonly labels?: ReadonlyMap<string, string>
  readonly trustDomain?: string
}

/** One way in which all settings that were not given may be. */
export interface SettingsWorld {
  /** The settings that are not as they are assumed, each with its value. */
  readonly values: ReadonlyMap<AssumedSetting, string>
  /** What is the case in it, as a clause; empty for the world that is assumed. */
  readonly when: string
  readonly settings: ScmSettings
  readonly own: OwnOutputs
  /** Whether SCM may handle any registrations of others. */
  readonly areOthersOpen: boolean
  /** Whether SCM handles kleym's outputs by their class, their labels and their trust domain. */
  readonly areOutputsHandled: boolean
  /** The index of an earlier world in which all that was read comes to the same; absent: none does. */
  readonly sameAs?: number | undefined
}

/** What an analysis does not know of its settings. */
export interface OpenSettings {
  /** Those that can change the answer; empty if every setting that matters was given. */
  readonly assumptions: readonly Assumption[]
  /** A world for each way in which the settings may differ, the one that is assumed first; none if nothing is open. */
  readonly worlds: readonly SettingsWorld[]
  /** The SCMs that run beside the one that acts on kleym's outputs, in every world. */
  readonly beside: readonly ScmSettings[]
  /** Whether the answer takes for granted that an SCM handles kleym's outputs: the other worlds then do not decide about these. */
  readonly areOutputsTakenAsHandled?: true
}

/** What an answer may take for granted. */
export const PREMISES = ['outputs are handled by an SCM', 'no sidecar unless asked'] as const
/** One of them. */
export type PremiseName = (typeof PREMISES)[number]

/** Every setting that matters was given. */
export const NO_OPEN_SETTINGS: OpenSettings = { assumptions: [], worlds: [], beside: [] }

/** The assumptions that an answer rests on, as far as nothing is taken for granted. */
export function assumptionsThatCount({
  assumptions,
  areOutputsTakenAsHandled,
}: OpenSettings): readonly Assumption[] {
  return areOutputsTakenAsHandled === true ? [] : assumptions
}

/** An assumption in one line: the missing setting, the assumed value, and how to give it. */
export function assumptionText({ what, assumed, otherwise, fix, isDisputed }: Assumption): string {
  return `${what} (${isDisputed === true ? 'disputed' : 'not given'}): ${assumed}; ${otherwise}: ${fix}`
}

/** `depends on kleym's class and SCM's settings`: what something rests on. */
export function dependsText(assumptions: readonly Assumption[]): string {
  return assumptions.length === 0 ? '' : `depends on ${whatText(assumptions)}`
}

function whatText(assumptions: readonly Assumption[]): string {
  const names = assumptions.map(({ what }) => what)
  const last = names.pop() ?? ''
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`
}

/**
 * `probably ignored (default settings assumed: SCM's settings): it has no class`: what happens to a registration if the
 * settings are those that are assumed; `why` is empty or absent if it is issued.
 */
export function probablyText(
  { verdict, why = '' }: { readonly verdict: string; readonly why?: string | undefined },
  assumptions: readonly Assumption[],
): string {
  const reason = why === '' ? '' : `: ${why}`
  return `probably ${verdict} (default settings assumed: ${whatText(assumptions)})${reason}`
}
