// Which findings rest on settings that were not given, and the same analysis under other settings of SCM: what it shows
// there and not here is a finding that depends on them (docs/assumptions.md).
import type { Analysis } from '../analysis/analysis.ts'
import { bindingsByOutput, State } from '../analysis/state.ts'
import {
  dependsText,
  NO_OPEN_SETTINGS,
  type Alternative,
  type AssumedSetting,
  type Assumption,
} from '../assumptions/assumptions.ts'
import { isClassLabel } from '../compile/output.ts'
import type { Subject } from '../findings/finding.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND, SCM_CLASS_LABEL } from '../names.ts'
import type { LiveOutput } from '../plan/plan.ts'
import type { FindingCode } from '../registry/findings.ts'
import { sourceText, type EntryVerdict } from '../spire/prediction.ts'
import type { Registration } from '../spire/registration.ts'

/** What SCM makes of any registration at all. */
const OF_SCM: ReadonlySet<AssumedSetting> = new Set<AssumedSetting>(['scm', 'which scm', 'scm trust domain'])
/** What settings that were given show by themselves: it rests on whose they are, and on nothing else. */
const OF_GIVEN: ReadonlySet<FindingCode> = new Set<FindingCode>(['KLM411', 'KLM414'])
/** True of a foreign registration, or of a namespace, whatever SCM makes of our output. */
const WHATEVER_CLASS: ReadonlySet<FindingCode> = new Set<FindingCode>(['KLM304', 'KLM308', 'KLM409'])
/** What another trust domain does not end. */
const WHATEVER_DOMAIN: ReadonlySet<FindingCode> = new Set<FindingCode>(['KLM401', 'KLM409'])

/** What a finding about registrations rests on: of those that are assumed, the ones that another value of may end it. */
export function restsOn(
  { openSettings }: Pick<Analysis, 'openSettings'>,
  { code, subject, related }: { code: FindingCode; subject: Subject; related: readonly Subject[] },
): readonly Assumption[] {
  if (openSettings.assumptions.length === 0) return []
  const isOurs = [subject, ...related].some(({ kind }) => kind === BINDING_KIND)
  return openSettings.assumptions.filter(({ setting }) => {
    if (OF_GIVEN.has(code)) return setting === 'which scm'
    // An output that the SCM of the answer ignores is ignored by all: one that acts on it would be that SCM.
    if (setting === 'which scm' && code === 'KLM401') return false
    if (OF_SCM.has(setting)) return true
    return isOurs && !(setting === 'trust domain' ? WHATEVER_DOMAIN : WHATEVER_CLASS).has(code)
  })
}

/** What the fate of a registration rests on; `isOurs`: it is kleym's own, or one of those decides about it. */
function fateRestsOn(
  { openSettings }: Pick<Analysis, 'openSettings'>,
  isOurs: boolean,
): readonly Assumption[] {
  return openSettings.assumptions.filter(({ setting }) => isOurs || OF_SCM.has(setting))
}

/** Tells what the registrations of an analysis come to where some of its settings were not given: it depends on them. */
export function fates(analysis: Analysis): {
  /** The same registration, with `depends` where another setting may change its verdict. */
  readonly ofRegistration: (registration: Registration) => Registration
  /** Why an entry may not be on the server; undefined where that rests on no assumption. */
  readonly ofEntry: (source: string) => string | undefined
} {
  const { assumptions, alternatives } = analysis.openSettings
  // Everything was given: nothing rests on anything, and there may be a hundred thousand pods.
  if (assumptions.length === 0 && alternatives.length === 0)
    return { ofRegistration: (one) => one, ofEntry: () => undefined }
  const ours = new Set(
    [...bindingsByOutput(analysis.settled).keys()].map((name) => `${CLUSTER_SPIFFE_ID_KIND}/${name}`),
  )
  const beside = alternatives
    .filter(({ when }) => when === undefined)
    .map((one) => ({
      source: one.settings.source,
      prediction: underAlternative(analysis, one).settled.prediction(),
    }))
  const byAnotherScm = ({ outcome, verdict, source }: Registration): string | undefined => {
    const { pod } = outcome
    if (verdict !== 'ignored' || pod === undefined) return undefined
    return beside.find(({ prediction }) =>
      prediction
        .entriesOf(pod)
        .some((one) => sourceText(one.source) === sourceText(source) && MAY_HOLD.has(one.verdict.state)),
    )?.source
  }
  return {
    ofRegistration: (one) => {
      const other = byAnotherScm(one)
      if (other !== undefined)
        return {
          ...one,
          verdict: 'depends',
          why: `only the SCM of ${other} handles it, and whether that serves the pod's node is not known`,
        }
      const isOurs = [one.source, one.by].some(
        (source) => source !== undefined && ours.has(sourceText(source)),
      )
      const on = fateRestsOn(analysis, isOurs)
      if (on.length === 0 || SETTLED.has(one.verdict)) return one
      const assumed = one.verdict === 'issued' ? 'issued' : `${one.verdict} (${one.why ?? ''})`
      return { ...one, verdict: 'depends', why: `${assumed} as assumed; ${dependsText(on)}` }
    },
    ofEntry: (source) => {
      const on = fateRestsOn(analysis, ours.has(source))
      return on.length === 0 ? undefined : dependsText(on)
    },
  }
}

/** What an SCM may have on its server. */
const MAY_HOLD: ReadonlySet<EntryVerdict['state']> = new Set<EntryVerdict['state']>([
  'declared',
  'depends',
  'unknown',
])

/** No setting changes these: selectors that cannot match, and what is not known anyway. */
const SETTLED: ReadonlySet<Registration['verdict']> = new Set<Registration['verdict']>([
  'dead',
  'depends',
  'unknown',
])

/** The analysis with SCM as an alternative has it. Its outputs are the same, but for a class that follows SCM's. */
export function underAlternative(analysis: Analysis, { settings, classFollows }: Alternative): Analysis {
  const config =
    classFollows && settings.className !== undefined
      ? { ...analysis.config, className: settings.className }
      : analysis.config
  return withSettings(analysis, { config, settings, openSettings: NO_OPEN_SETTINGS }, (output) =>
    classFollows ? withClass(output, analysis.config.className, config.className) : output,
  )
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
      outputs: state.outputs.map(outputOf),
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
  if (ownership.kind !== 'ours' || object.spec.className !== from) return output
  const labels = new Map(object.meta.labels)
  if (isClassLabel(to)) labels.set(SCM_CLASS_LABEL, to)
  else labels.delete(SCM_CLASS_LABEL)
  return {
    ownership,
    object: {
      ...object,
      meta: { ...object.meta, labels },
      spec: { ...object.spec, className: to },
    },
  }
}
