// The premise that kleym's own outputs are handled by an SCM. It excuses one doubt: whether they take effect. All worlds are evaluated,
// those in which it is false included, and all that registrations of others come to must be the same in each of them: a foreign object is
// never ignored, and no theft, loss or displacement rests on a premise (docs/assumptions.md, "Premises").
import type { Analysis } from '../states/analysis.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { containerVerdicts, sourceText, type EntryOutcome, type Prediction } from '../../predict/index.ts'
import { pathIn } from '../../model/spiffe-id.ts'
import { inWorlds } from './across.ts'
import { comesTo } from './open-verdicts.ts'

/** Whether all that settings leave open about these pods is whether kleym's own outputs take effect. */
export function isEffectAllThatIsOpen(analysis: Analysis, pods: Iterable<Pod>): boolean {
  const { assumptions, worlds, beside } = analysis.openSettings
  if (worlds[0]?.areOutputsHandled !== true || beside.length > 0) return false
  // Of what two sources say differently, and of several SCMs, none is picked.
  if (assumptions.some(({ setting, isDisputed }) => isDisputed === true || setting === 'which scm'))
    return false
  const [assumed, ...others] = [...inWorlds(analysis)].map(({ settled }) => settled.prediction())
  if (assumed === undefined) return false
  const agreement = new Agreement(analysis, others)
  if (!assumed.staticEntries().every((one) => agreement.isSame(one, staticEntriesIn))) return false
  const isCovered = (pod: Pod): boolean =>
    assumed
      .entriesOf(pod)
      .every(
        (one) =>
          agreement.covers(one, (prediction) => prediction.entriesOf(pod)) && !isLost(one, pod, assumed),
      )
  for (const pod of pods) if (!isCovered(pod)) return false
  return true
}

/** The same analysis, in which kleym's outputs are taken as handled. */
export function takingOutputsAsHandled(analysis: Analysis): Analysis {
  return { ...analysis, openSettings: { ...analysis.openSettings, areOutputsTakenAsHandled: true } }
}

/** Whether a container has nothing in place of a fallback that gives way, or may have nothing. */
function isLost(fallback: EntryOutcome, pod: Pod, prediction: Prediction): boolean {
  if (!fallback.fallback) return false
  return pod.containers.some((container) => {
    const all = containerVerdicts(prediction, pod, container)
    return (
      all.some(({ outcome, verdict }) => outcome === fallback && verdict !== 'dead') &&
      !all.some(({ verdict }) => verdict === 'issued')
    )
  })
}

function staticEntriesIn(prediction: Prediction): readonly EntryOutcome[] {
  return prediction.staticEntries()
}

type OutcomesIn = (prediction: Prediction) => readonly EntryOutcome[]

/** Compares the outcomes of the world that is assumed with those of the others. */
class Agreement {
  readonly #others: readonly { readonly prediction: Prediction; readonly isHandled: boolean }[]
  readonly #own: ReadonlySet<string>
  /** The paths of the IDs that bindings ask for; undefined: one of them is not known. */
  readonly #paths: ReadonlySet<string> | undefined

  constructor({ openSettings, compiled, settled }: Analysis, others: readonly Prediction[]) {
    const worlds = openSettings.worlds.slice(1)
    this.#others = others.map((prediction, at) => ({
      prediction,
      isHandled: worlds[at]?.areOutputsHandled === true,
    }))
    const own = [...settled.bindingsByOutput().keys()]
    this.#own = new Set(own.map((name) => `${CLUSTER_SPIFFE_ID_KIND}/${name}`))
    const isKnown = compiled.every(({ result }) => result.kind === 'resolved')
    this.#paths = isKnown
      ? new Set(
          compiled.flatMap(({ result }) =>
            result.kind === 'resolved' ? [pathIn(result.identity.spiffeId)] : [],
          ),
        )
      : undefined
  }

  /** Whether an outcome is the same in every world, or the premise excuses that it is not. */
  covers(one: EntryOutcome, outcomesIn: OutcomesIn): boolean {
    if (this.#own.has(sourceText(one.source)))
      return this.#isSameIn(one, outcomesIn, ({ isHandled }) => isHandled)
    return this.#givesWayToOurs(one, outcomesIn) || this.isSame(one, outcomesIn)
  }

  /** Whether an outcome is certain, and the same in every world. */
  isSame(one: EntryOutcome, outcomesIn: OutcomesIn): boolean {
    return this.#isSameIn(one, outcomesIn, () => true)
  }

  #isSameIn(
    one: EntryOutcome,
    outcomesIn: OutcomesIn,
    isMeant: (world: { readonly isHandled: boolean }) => boolean,
  ): boolean {
    const { state } = one.verdict
    if (state === 'depends' || state === 'unknown') return false
    const wanted = comesTo(one, one)
    return this.#others
      .filter(isMeant)
      .every(({ prediction }) => comesTo(sameSource(outcomesIn(prediction), one), one) === wanted)
  }

  /** Whether it is a fallback that gives nothing wherever our outputs are handled, and that carries the ID of no binding. */
  #givesWayToOurs(one: EntryOutcome, outcomesIn: OutcomesIn): boolean {
    const { fallback, entry } = one
    if (!fallback || entry === undefined || this.#paths === undefined) return false
    const path = pathIn(entry.spiffeId)
    if (path.includes('<') || this.#paths.has(path)) return false
    return (
      isDisplaced(one) &&
      this.#others
        .filter(({ isHandled }) => isHandled)
        .every(({ prediction }) => {
          const outcomes = outcomesIn(prediction)
          const same = sameSource(outcomes, one)
          const isOursThere = outcomes.some(({ source }) => this.#own.has(sourceText(source)))
          return isOursThere && same !== undefined && isDisplaced(same)
        })
    )
  }
}

function sameSource(outcomes: readonly EntryOutcome[], one: EntryOutcome): EntryOutcome | undefined {
  const source = sourceText(one.source)
  return outcomes.find((other) => sourceText(other.source) === source)
}

function isDisplaced({ verdict }: EntryOutcome): boolean {
  return verdict.state === 'displaced' || verdict.state === 'ignored'
}
