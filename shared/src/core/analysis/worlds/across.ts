// An analysis in each world that its settings allow, and what all worlds agree on (`worlds-of.ts`).
import { unchanged, type Analysis } from '../states/analysis.ts'
import { State } from '../states/state.ts'
import {
  NO_OPEN_SETTINGS,
  type AssumedSetting,
  type Assumption,
  type OpenSettings,
  type SettingsWorld,
} from '../settings/assumptions.ts'
import { isClassLabel, type LiveOutput } from '../../decide/index.ts'
import { PODS_KEPT } from '../../predict/index.ts'
import { SCM_CLASS_LABEL } from '../../model/names.ts'
import type { JsonRecord } from '../../base/json.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'

/**
 * The analysis of the same objects in each world, the one that is assumed first. In itself none has anything open. Each world is worked out
 * once, whoever asks, and so are those that come to the same; those of more pods than `PODS_KEPT` are not kept, so that a caller holds one
 * at a time.
 */
export function* inWorlds(analysis: Analysis): Generator<Analysis> {
  const { worlds } = analysis.openSettings
  const kept = analysis.podsInQuestion.length > PODS_KEPT ? undefined : keptWorlds(analysis)
  yield kept === undefined ? assumedWorld(analysis) : (kept[0] ??= assumedWorld(analysis))
  for (const [at, world] of worlds.entries())
    if (at > 0)
      yield kept === undefined
        ? inWorld(analysis, world)
        : (kept[at] ??= kept[world.sameAs ?? at] ?? inWorld(analysis, world))
}

/** The worlds of analyses that were asked before, by their settled state. */
const WORLDS = new WeakMap<
  State,
  Pick<Analysis, 'now'> & Pick<OpenSettings, 'worlds'> & { made: Analysis[] }
>()

function keptWorlds({ now, settled, openSettings: { worlds } }: Analysis): Analysis[] {
  const kept = WORLDS.get(settled)
  if (kept?.now === now && kept.worlds === worlds) return kept.made
  const made: Analysis[] = []
  WORLDS.set(settled, { now, worlds, made })
  return made
}

function assumedWorld(analysis: Analysis): Analysis {
  return { ...analysis, openSettings: { ...NO_OPEN_SETTINGS, beside: analysis.openSettings.beside } }
}

function inWorld(analysis: Analysis, { settings, own, areOthersOpen }: SettingsWorld): Analysis {
  const { config, openSettings } = analysis
  const domain = own.trustDomain
  return withSettings(
    analysis,
    {
      config: {
        ...config,
        className: own.className ?? config.className,
        ...(domain !== undefined && { trustDomain: { kind: 'set', value: domain } }),
      },
      settings: areOthersOpen ? { ...settings, sureOfOnly: ownOutputs(analysis) } : settings,
      openSettings: { ...NO_OPEN_SETTINGS, beside: openSettings.beside },
    },
    (output) => {
      let made = output
      if (own.className !== undefined) made = withClass(made, config.className, own.className)
      if (own.labels !== undefined) made = withLabels(made, own.labels)
      return domain === undefined ? made : withTrustDomain(made, domain)
    },
  )
}

/** A state as it is if kleym has another class. */
export function inClass(state: State, className: string): State {
  const { config, settings, openSettings } = state.base
  // Worlds that come to the same with the one class need not with the other.
  const worlds = openSettings.worlds.map((world) => ({ ...world, sameAs: undefined }))
  const made = withSettings(
    unchanged(state),
    { config: { ...config, className }, settings, openSettings: { ...openSettings, worlds } },
    (output) => withClass(output, config.className, className),
  )
  return made.settled
}

/** The names of kleym's own outputs, now and once all is done. */
function ownOutputs({ now, settled }: Analysis): ReadonlySet<string> {
  return new Set([...now.bindingsByOutput().keys(), ...settled.bindingsByOutput().keys()])
}

/** The analysis as an SCM has it that runs beside the one that acts on kleym's outputs. */
export function asSeenBeside(analysis: Analysis, settings: ScmSettings): Analysis {
  return withSettings(analysis, { config: analysis.config, settings, openSettings: NO_OPEN_SETTINGS })
}

/**
 * The settings that something depends on, given what it comes to in each world: those in which two worlds differ, and nothing else,
 * that do not show the same. Of worlds that differ in several, all of these; none if all worlds agree.
 */
export function settingsDeciding(
  { assumptions, worlds }: OpenSettings,
  outcomes: readonly string[],
): readonly Assumption[] {
  if (outcomes.every((one) => one === outcomes[0])) return []
  const pairs = worlds.flatMap((left, at) =>
    worlds.flatMap((right, beside) =>
      at < beside && outcomes[at] !== outcomes[beside] ? [differences(left, right)] : [],
    ),
  )
  const single = pairs.filter(({ size }) => size === 1)
  const deciding = new Set((single.length > 0 ? single : pairs).flatMap((names) => [...names]))
  return assumptions.filter(({ setting }) => deciding.has(setting))
}

function differences(left: SettingsWorld, right: SettingsWorld): ReadonlySet<AssumedSetting> {
  const names = new Set([...left.values.keys(), ...right.values.keys()])
  return new Set([...names].filter((name) => left.values.get(name) !== right.values.get(name)))
}

/** The analysis of the same objects under other settings, with its outputs as `outputOf` makes them. */
export function withSettings(
  analysis: Analysis,
  settings: Pick<Analysis, 'config' | 'settings' | 'openSettings'>,
  outputOf: (output: LiveOutput) => LiveOutput = (output) => output,
): Analysis {
  const { snapshot, compiled, podsInQuestion, pods } = analysis
  const base = { snapshot, compiled, podsInQuestion, pods, ...settings }
  const stateOf = (state: State): State =>
    new State(base, {
      judgements: state.judgements,
      actions: state.actions,
      claims: state.claims,
      unwritten: state.unwritten,
      undecided: state.undecided,
      outputs: state.outputs.map((one) => (one.ownership.kind === 'ours' ? outputOf(one) : one)),
    })
  return {
    ...base,
    now: stateOf(analysis.now),
    settled: stateOf(analysis.settled),
    changes: analysis.changes,
  }
}

function withClass(output: LiveOutput, from: string, to: string): LiveOutput {
  const { object, ownership } = output
  if (object.spec.className !== from) return output
  const labels = new Map(object.meta.labels)
  if (isClassLabel(to)) labels.set(SCM_CLASS_LABEL, to)
  else labels.delete(SCM_CLASS_LABEL)
  return {
    ownership,
    object: {
      ...object,
      meta: { ...object.meta, labels },
      spec: { ...object.spec, className: to },
      rawSpec: withRawClass(object.rawSpec, to),
    },
  }
}

/** A class is written if there is one. */
function withRawClass(spec: JsonRecord, to: string): JsonRecord {
  const { className: _, ...rest } = spec
  return to === '' ? rest : { className: to, ...rest }
}

function withLabels({ object, ownership }: LiveOutput, labels: ReadonlyMap<string, string>): LiveOutput {
  const { meta } = object
  return { ownership, object: { ...object, meta: { ...meta, labels: new Map([...meta.labels, ...labels]) } } }
}

function withTrustDomain({ object, ownership }: LiveOutput, to: string): LiveOutput {
  const { spec } = object
  const spiffeIDTemplate = spec.spiffeIDTemplate.replace(/^spiffe:\/\/[^/]+/, `spiffe://${to}`)
  return { ownership, object: { ...object, spec: { ...spec, spiffeIDTemplate } } }
}
