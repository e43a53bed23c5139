// What a SPIFFE ID allows on the SPIRE server beside the identity itself. The server looks up the entries of a caller's ID, whichever of
// them gave it its SVID (docs/spire-facts.md §6): whoever holds the ID has the right, and can make every other identity by it.
import { Holdings, type State } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { lazy } from '../../base/lazy.ts'
import type { ConfiguredRight } from '../../model/objects/configured-rights.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { isAsShown } from '../../model/objects/unscheduled.ts'
import { all, any, NO, openOn, YES, type Truth } from '../../model/truth/truth.ts'
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

/** The rights in a state, by the ID that they belong to: each with whether it is this ID. */
export function rightsOf(state: State): (spiffeId: string) => readonly Right[] {
  const rights = lazy(() => {
    const list = [...rightsOfEntries(state), ...rightsOfConfigurations(state)]
    return {
      list,
      byId: Map.groupBy(list, ({ spiffeId }) => spiffeId),
      unfinished: list.filter(({ spiffeId }) => spiffeId.includes('<')),
    }
  })
  const found = new Map<string, readonly Right[]>()
  return (spiffeId) =>
    getOrCreate(found, spiffeId, () => {
      const { list, byId, unfinished } = rights()
      const perhaps = (spiffeId.includes('<') ? list : unfinished).filter(
        (one) =>
          one.spiffeId !== spiffeId &&
          (mayBecome(one.spiffeId, spiffeId) || mayBecome(spiffeId, one.spiffeId)),
      )
      return [...(byId.get(spiffeId) ?? []), ...perhaps.map((one) => perhapsOf(one, spiffeId))]
    })
}

function perhapsOf(right: Right, spiffeId: string): Right {
  const isIt = openOn(`whether ${spiffeId} is ${right.spiffeId}`, 'the part in angle brackets is not known')
  return { ...right, holds: all(right.holds, isIt) }
}

function rightsOfEntries(state: State): Iterable<Right> {
  const holdings = new Holdings(state)
  const found = new Map<string, Right>()
  for (const outcome of outcomesWithRights(state, holdings)) {
    const { source, pod, entry, verdict } = outcome
    if (entry === undefined || !(isAskedFor(verdict) || verdict.state === 'depends')) continue
    const holds = all(applies(outcome), pod === undefined ? YES : all(holdings.asRead(pod), isAsShown(pod)))
    for (const name of OF_ENTRIES) {
      if (!entry[name]) continue
      const key = `${name} ${sourceText(source)} ${entry.spiffeId}`
      const before = found.get(key)?.holds ?? NO
      found.set(key, {
        name,
        giver: sourceSubject(source),
        spiffeId: entry.spiffeId,
        holds: any(before, holds),
      })
    }
  }
  return found.values()
}

function rightsOfConfigurations({ base: { snapshot } }: State): readonly Right[] {
  return snapshot.configuredRights.map(({ name, namespace, configMap, spiffeId }) => ({
    name,
    giver: { kind: 'ConfigMap', namespace, name: configMap },
    spiffeId,
    holds: YES,
  }))
}

/** Hardly any estate has one: then no pod is looked at. */
function* outcomesWithRights(state: State, holdings: Holdings): Iterable<EntryOutcome> {
  const prediction = state.prediction()
  yield* prediction.staticEntries()
  const asking = new Set(
    state.outputs.flatMap(({ object: { spec, meta } }) => (spec.admin || spec.downstream ? [meta.name] : [])),
  )
  if (asking.size === 0) return
  for (const pod of state.base.podsInQuestion)
    for (const one of [pod, ...holdings.scheduled(pod)])
      for (const outcome of prediction.entriesOf(one))
        if (outcome.source.kind === 'ClusterSPIFFEID' && asking.has(outcome.source.name)) yield outcome
}
