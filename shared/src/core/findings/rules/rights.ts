// What a SPIFFE ID allows on the SPIRE server beside the identity itself. The server looks up the entries of a caller's ID, whichever of
// them gave it its SVID (docs/spire-facts.md §6): whoever holds the ID has the right, and can make every other identity by it.
import { Holdings, type State } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { lazy } from '../../base/lazy.ts'
import type { ConfiguredRight } from '../../model/objects/configured-rights.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { all, any, openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { isAskedFor, sourceText, type EntryOutcome } from '../../predict/index.ts'
import { applies } from './applies.ts'
import { sourceSubject } from './install-rules.ts'

/** A right that an entry, or a configuration of SPIRE, gives to whoever holds an ID. */
export interface Right {
  readonly name: (typeof OF_ENTRIES)[number] | ConfiguredRight['name']
  /** What gives it. */
  readonly giver: Subject
  readonly spiffeId: string
  readonly holds: Truth
}

const OF_ENTRIES = ['admin', 'downstream'] as const

/** The rights in a state; `byId`: those of an ID, each with whether it is this ID. */
export function rightsOf(state: State): (spiffeId: string) => readonly Right[] {
  const rights = lazy(() => {
    const holdings = new Holdings(state)
    const found = new Map<string, Right>()
    for (const outcome of outcomesWithRights(state)) {
      const { source, pod, entry, verdict } = outcome
      if (entry === undefined || !(isAskedFor(verdict) || verdict.state === 'depends')) continue
      const holds = all(applies(outcome), pod === undefined ? YES : holdings.asRead(pod))
      for (const name of OF_ENTRIES) {
        if (!entry[name]) continue
        const key = `${name} ${sourceText(source)} ${entry.spiffeId}`
        const right = { name, giver: sourceSubject(source), spiffeId: entry.spiffeId, holds }
        const before = getOrCreate(found, key, () => right)
        found.set(key, { ...right, holds: any(before.holds, holds) })
      }
    }
    const configured = state.base.snapshot.configuredRights.map(
      ({ name, namespace, configMap, spiffeId }): Right => ({
        name,
        giver: { kind: 'ConfigMap', namespace, name: configMap },
        spiffeId,
        holds: YES,
      }),
    )
    return [...found.values(), ...configured]
  })
  return (spiffeId) =>
    rights().flatMap((right): readonly Right[] => {
      if (right.spiffeId === spiffeId) return [right]
      if (!mayBecome(right.spiffeId, spiffeId) && !mayBecome(spiffeId, right.spiffeId)) return []
      const isIt = openOn(
        `whether ${spiffeId} is ${right.spiffeId}`,
        'what stands in angle brackets is not known',
      )
      return [{ ...right, holds: all(right.holds, isIt) }]
    })
}

/** Hardly any estate has one: then no pod is looked at. */
function* outcomesWithRights(state: State): Iterable<EntryOutcome> {
  const prediction = state.prediction()
  yield* prediction.staticEntries()
  const asking = new Set(
    state.outputs.flatMap(({ object: { spec, meta } }) => (spec.admin || spec.downstream ? [meta.name] : [])),
  )
  if (asking.size === 0) return
  for (const pod of state.base.podsInQuestion)
    for (const outcome of prediction.entriesOf(pod))
      if (outcome.source.kind === 'ClusterSPIFFEID' && asking.has(outcome.source.name)) yield outcome
}
