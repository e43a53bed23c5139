// What gives identities, as boxes: bindings, the ClusterSPIFFEIDs that are not outputs of theirs, and static entries.
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { type Judgement, verdictOf } from '@kleym/shared/core/decide/index.ts'
import { type EntrySource, type ObjectHandling, sourceText } from '@kleym/shared/core/predict/index.ts'
import type { MapDifference } from './compare.ts'
import type { AsksEdge, BindingNode, MapChange, RegistrationNode } from './graph.ts'
import { bindingId, identityId, namespaceId, registrationId } from './ids.ts'

/** The boxes of what gives identities, by id, and the identities that they ask for. */
export interface SourceParts {
  readonly nodes: readonly (BindingNode | RegistrationNode)[]
  readonly asks: readonly AsksEdge[]
}

/**
 * The binding behind each output, as it is now and once kleym has done all that is due: an output that is to go was a binding's
 * too.
 */
export function bindingsOfOutputs({ now, settled }: Analysis): ReadonlyMap<string, string> {
  return new Map([...now.bindingsByOutput(), ...settled.bindingsByOutput()])
}

/** Those of one side; `change` tells what a change does to each box. */
export function sourceParts(analysis: Analysis, difference: MapDifference | undefined): SourceParts {
  const bindings = bindingsOfOutputs(analysis)
  const objects = analysis.settled.prediction().objects
  const handlingOf = (source: EntrySource): Pick<RegistrationNode, 'handling' | 'why'> =>
    handlingWords(objects.get(sourceText(source))?.handling)
  const ofBindings = [...analysis.now.judgements.values()].map((judgement) =>
    bindingNode(judgement, difference),
  )
  const outputs = new Map(
    [...analysis.settled.outputs, ...analysis.now.outputs].map((one) => [one.object.meta.name, one]),
  )
  const others = [...outputs.values()]
    .filter(({ object }) => !bindings.has(object.meta.name))
    .map(({ object, ownership }): RegistrationNode => {
      const source: EntrySource = { kind: 'ClusterSPIFFEID', name: object.meta.name }
      const why = ownership.kind === 'orphan' ? ownership.why : null
      const handling = handlingOf(source)
      return {
        ...registrationBase(source),
        ...handling,
        why: handling.why ?? why,
        ownership: ownership.kind,
      }
    })
  const entries = analysis.snapshot.staticEntries.read.map(({ meta }): RegistrationNode => {
    const source: EntrySource = { kind: 'ClusterStaticEntry', name: meta.name }
    return { ...registrationBase(source), ...handlingOf(source), ownership: 'foreign' }
  })
  return {
    nodes: [...ofBindings, ...others, ...entries],
    asks: [
      ...ofBindings.flatMap(({ id, spiffeID }) =>
        spiffeID === null ? [] : [{ kind: 'asks', from: id, to: identityId(spiffeID) } as const],
      ),
      ...analysis.snapshot.staticEntries.read.flatMap(({ meta, spec }) =>
        spec.spiffeID === ''
          ? []
          : [
              {
                kind: 'asks',
                from: registrationId({ kind: 'ClusterStaticEntry', name: meta.name }),
                to: identityId(spec.spiffeID),
              } as const,
            ],
      ),
    ],
  }
}

function bindingNode(judgement: Judgement, difference: MapDifference | undefined): BindingNode {
  const { binding, result } = judgement.compiled
  const verdict = verdictOf(judgement)
  return {
    kind: 'binding',
    id: bindingId(binding.key),
    label: binding.meta.name,
    namespace: binding.meta.namespace,
    parent: namespaceId(binding.meta.namespace),
    findings: [],
    change: bindingChange(difference, binding.key),
    binding: binding.key,
    state: judgement.state,
    reason: verdict?.reason ?? 'Deleting',
    message: verdict?.message ?? 'the binding is being deleted',
    spiffeID: result.kind === 'resolved' ? result.identity.spiffeId : null,
  }
}

function bindingChange(difference: MapDifference | undefined, key: string): MapChange | null {
  const verdict = difference?.verdicts.get(key)
  if (verdict === undefined) return null
  if (verdict.before === null) return 'added'
  return verdict.after === null ? 'removed' : 'changed'
}

function registrationBase({
  kind,
  name,
}: EntrySource): Omit<RegistrationNode, 'handling' | 'why' | 'ownership'> {
  return {
    kind,
    id: registrationId({ kind, name }),
    label: name,
    namespace: '',
    parent: null,
    findings: [],
    change: null,
    name,
  }
}

/** An object that the prediction does not know is none that is there. */
function handlingWords(handling: ObjectHandling | undefined): Pick<RegistrationNode, 'handling' | 'why'> {
  if (handling === undefined) return { handling: 'unknown', why: 'it is not among what SCM is shown' }
  return { handling: handling.state, why: handling.state === 'handled' ? null : handling.why }
}
