// What registrations come to where some settings were not given: each verdict is compared over all worlds.
import type { Analysis } from '../states/analysis.ts'
import { dependsText, probablyText, type Assumption } from '../settings/assumptions.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { lazy } from '../../base/lazy.ts'
import type { Pod } from '../../model/objects/pod.ts'
import {
  TRUST_DOMAIN,
  sourceText,
  type EntryOutcome,
  type EntryVerdict,
  type Prediction,
  isHeld,
  isPossible,
  type Registration,
} from '../../predict/index.ts'
import { pathIn } from '../../model/spiffe-id.ts'
import { asSeenBeside, inWorlds, settingsDeciding } from './across.ts'

/** Tells what the registrations of an analysis come to. */
export interface OpenVerdicts {
  /** The same registration, with `depends` where another setting changes its verdict. */
  readonly ofRegistration: ((registration: Registration) => Registration) | undefined
  /** Why an entry of a source may not be on the server; undefined if all worlds agree. */
  readonly ofEntry: (source: string) => string | undefined
}

/** Compares the verdicts of an analysis over all worlds. */
export function openVerdicts(analysis: Analysis): OpenVerdicts {
  const { openSettings, podsInQuestion } = analysis
  const { worlds, beside, areOutputsTakenAsHandled } = openSettings
  // Everything was given, or all that is open is taken for granted: nothing depends on a setting, and there may be a hundred thousand pods.
  if ((worlds.length === 0 && beside.length === 0) || areOutputsTakenAsHandled === true)
    return { ofRegistration: undefined, ofEntry: () => undefined }
  const predictions = lazy(() => [...inWorlds(analysis)].map(({ settled }) => settled.prediction()))
  const others = lazy(() =>
    beside.map((settings) => ({
      source: settings.source,
      prediction: asSeenBeside(analysis, settings).settled.prediction(),
    })),
  )
  const decides = (source: string, outcomesIn: (prediction: Prediction) => readonly EntryOutcome[]) => {
    const outcomes = predictions().map((prediction) =>
      outcomesIn(prediction).find((one) => sourceText(one.source) === source),
    )
    return settingsDeciding(
      openSettings,
      outcomes.map((one) => comesTo(one, outcomes[0])),
    )
  }
  const onPod = (source: string, pod: Pod): readonly Assumption[] =>
    decides(source, (prediction) => prediction.entriesOf(pod))
  const idsOn = (source: string, pod: Pod): readonly string[] =>
    predictions().flatMap((prediction) =>
      prediction
        .entriesOf(pod)
        .filter((one) => sourceText(one.source) === source && MAY_HOLD.has(one.verdict.state))
        .flatMap(({ entry }) => entry?.spiffeId ?? []),
    )
  const byAnotherScm = ({ outcome: { pod }, verdict, source }: Registration): string | undefined =>
    verdict !== 'ignored' || pod === undefined
      ? undefined
      : others().find(({ prediction }) =>
          prediction
            .entriesOf(pod)
            .some((one) => sourceText(one.source) === sourceText(source) && MAY_HOLD.has(one.verdict.state)),
        )?.source
  const entries = lazy(() => {
    const on = new Map<string, Set<Assumption>>()
    const note = (source: string, deciding: readonly Assumption[]): void => {
      for (const one of deciding) getOrCreate(on, source, () => new Set()).add(one)
    }
    const [assumed] = predictions()
    for (const { source } of assumed?.staticEntries() ?? [])
      note(
        sourceText(source),
        decides(sourceText(source), (prediction) => prediction.staticEntries()),
      )
    for (const pod of podsInQuestion)
      for (const { source } of assumed?.entriesOf(pod) ?? [])
        note(sourceText(source), onPod(sourceText(source), pod))
    return on
  })
  return {
    ofRegistration: (one) => {
      const other = byAnotherScm(one)
      if (other !== undefined)
        return {
          ...one,
          verdict: 'depends',
          why: `only the SCM of ${other} handles it, and whether that serves the pod's node is not known`,
        }
      const { pod } = one.outcome
      if (pod === undefined || one.verdict === 'dead') return one
      const on = onPod(sourceText(one.source), pod)
      if (on.length === 0) return one
      const spiffeId = idOfAll([
        ...(one.spiffeId === undefined ? [] : [one.spiffeId]),
        ...idsOn(sourceText(one.source), pod),
      ])
      if (isPossible(one) && !isHeld(one)) return { ...one, spiffeId }
      return { ...one, spiffeId, verdict: 'depends', why: probablyText(one, on) }
    },
    ofEntry: (source) => {
      if (worlds.length === 0) return undefined
      const on = entries().get(source)
      return on === undefined ? undefined : dependsText(openSettings.assumptions.filter((one) => on.has(one)))
    },
  }
}

/** What is known of an ID that worlds render in several ways: all but its trust domain, where that alone differs. */
function idOfAll(ids: readonly string[]): string | undefined {
  const [id, ...others] = new Set(ids)
  if (id === undefined || others.length === 0) return id
  return others.every((other) => pathIn(other) === pathIn(id))
    ? `spiffe://${TRUST_DOMAIN}${pathIn(id)}`
    : undefined
}

/** What an SCM may have on its server. */
const MAY_HOLD: ReadonlySet<EntryVerdict['state']> = new Set<EntryVerdict['state']>([
  'declared',
  'depends',
  'unknown',
])

/** What an entry comes to. The same verdict on another ID is not the same, unless a placeholder in the one that is assumed says so. */
export function comesTo(one: EntryOutcome | undefined, assumed: EntryOutcome | undefined): string {
  const state = one?.verdict.state
  if (state === undefined || !MAY_HOLD.has(state)) return state ?? ''
  const [id, usual] = [one?.entry?.spiffeId ?? '', assumed?.entry?.spiffeId ?? '']
  return `${state} ${mayBecome(usual, id) ? usual : id}`
}
