// What gives identities, as boxes: bindings, the ClusterSPIFFEIDs that are not outputs of theirs, and static entries.
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { type Judgement, verdictOf } from '@kleym/shared/core/decide/index.ts'
import { type EntrySource, type ObjectHandling, sourceText } from '@kleym/shared/core/predict/index.ts'
import type { MapDifference } from './compare.ts'
import { BARE, type AsksEdge, type BindingNode, type MapChange, type RegistrationNode } from './graph.ts'
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
  const { now, settled, snapshot } = analysis
  const { objects } = settled.prediction()
  const registration = (
    source: EntrySource,
    ownership: RegistrationNode['ownership'],
    whyOrphan: string | null = null,
  ): RegistrationNode => {
    const { kind, name } = source
    const { handling, why } = handlingWords(objects.get(sourceText(source))?.handling)
    const id = registrationId(source)
    return { kind, id, label: name, ...BARE, name, handling, why: why ?? whyOrphan, ownership }
  }
  const ofBindings = [...now.judgements.values()].map((judgement) => bindingNode(judgement, difference))
  const outputs = new Map([...settled.outputs, ...now.outputs].map((one) => [one.object.meta.name, one]))
  const others = [...outputs.values()]
    .filter(({ object }) => !bindings.has(object.meta.name))
    .map(({ object, ownership }) =>
      registration(
        { kind: 'ClusterSPIFFEID', name: object.meta.name },
        ownership.kind,
        ownership.kind === 'orphan' ? ownership.why : null,
      ),
    )
  const entries = snapshot.staticEntries.read.map(({ meta, spec }) => ({
    node: registration({ kind: 'ClusterStaticEntry', name: meta.name }, 'foreign'),
    spiffeId: spec.spiffeID,
  }))
  return {
    nodes: [...ofBindings, ...others, ...entries.map(({ node }) => node)],
    asks: [
      ...ofBindings.flatMap(({ id, spiffeID }) => asksFor(id, spiffeID ?? '')),
      ...entries.flatMap(({ node, spiffeId }) => asksFor(node.id, spiffeId)),
    ],
  }
}

function asksFor(from: string, spiffeId: string): readonly AsksEdge[] {
  return spiffeId === '' ? [] : [{ kind: 'asks', from, to: identityId(spiffeId) }]
}

function bindingNode(judgement: Judgement, difference: MapDifference | undefined): BindingNode {
  const { binding, result } = judgement.compiled
  const verdict = verdictOf(judgement)
  return {
    kind: 'binding',
    id: bindingId(binding.key),
    label: binding.meta.name,
    ...BARE,
    namespace: binding.meta.namespace,
    parent: namespaceId(binding.meta.namespace),
    change: bindingChange(difference, binding.key),
    binding: binding.key,
    state: judgement.state,
    reason: verdict.reason,
    message: verdict.message,
    spiffeID: result.kind === 'resolved' ? result.identity.spiffeId : null,
  }
}

function bindingChange(difference: MapDifference | undefined, key: string): MapChange | null {
  const verdict = difference?.verdicts.get(key)
  if (verdict === undefined) return null
  if (verdict.before === null) return 'added'
  return verdict.after === null ? 'removed' : 'changed'
}

/** An object that the prediction does not know is none that is there. */
function handlingWords(handling: ObjectHandling | undefined): Pick<RegistrationNode, 'handling' | 'why'> {
  if (handling === undefined) return { handling: 'unknown', why: 'it is not among what SCM is shown' }
  return { handling: handling.state, why: handling.state === 'handled' ? null : handling.why }
}
