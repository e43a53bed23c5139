// Where the operator's `InForce` and the prediction disagree about an output: SCM behind, another SCM, or settings of it that
// are not those that this answer uses.
import type { Analysis } from '../../analysis/index.ts'
import { bindingSubject } from '../../model/objects/subject.ts'
import { finding, type Finding } from '../../findings/index.ts'
import type { InForceReason } from '../../decide/index.ts'
import { inForceOf, type Binding } from '../../model/objects/binding.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '../../model/names.ts'
import { sourceText, type EntryVerdict } from '../../predict/index.ts'

/** The kinds without which it is not known whether any pod gets an entry, beside registrations, which may mask it. */
const NEEDED: readonly string[] = ['Pod', 'Namespace']
/** What only SCM and the server know: the prediction does not contradict it. */
const NOT_PREDICTED: ReadonlySet<string> = new Set<InForceReason>([
  'Pending',
  'EntriesRefused',
  'Undetermined',
  'NoOutput',
])
/** Verdicts after which there is certainly no entry. */
const WITHOUT_ENTRY: ReadonlySet<EntryVerdict['state']> = new Set([
  'masked',
  'displaced',
  'ignored',
  'failed',
])

/** The disagreement about one binding; undefined if there is none, or if it is not certain. */
export function inForceFinding(analysis: Analysis, binding: Binding): Finding | undefined {
  const judgement = analysis.now.judgements.get(binding.key)
  const { rest } = analysis.snapshot
  if (judgement?.state !== 'ready' || (rest.of(NEEDED) ?? rest.registrations()) !== undefined)
    return undefined
  const said = inForceOf(binding)
  if (said === undefined || NOT_PREDICTED.has(said.reason)) return undefined
  // What is not as it should be yet says nothing about SCM, and neither does a status about another generation.
  if (said.observedGeneration !== binding.meta.generation || analysis.changes.of(binding.key).length > 0)
    return undefined
  const output = judgement.resolved.output.metadata.name
  const expected = expectedEntries(analysis, binding, output)
  if (expected === undefined || expected.some === (said.status === 'True')) return undefined
  return finding('KLM546', {
    subject: bindingSubject(binding),
    related: [{ kind: CLUSTER_SPIFFE_ID_KIND, namespace: '', name: output }],
    evidence: [`status: ${said.message}`, `SCM's settings: ${analysis.settings.source}`],
    summary: `the status says ${said.reason}, and from here ${expected.why}`,
  })
}

/** Whether SCM should hold any entry for an output; undefined where that is not certain. */
function expectedEntries(
  { settled }: Analysis,
  { meta }: Binding,
  output: string,
): { readonly some: boolean; readonly why: string } | undefined {
  const prediction = settled.prediction()
  const handling = prediction.objects.get(sourceText({ kind: 'ClusterSPIFFEID', name: output }))?.handling
  if (handling?.state === 'ignored') return { some: false, why: handling.why }
  if (handling?.state !== 'handled') return undefined
  const pods = prediction.podsByClusterSpiffeId(meta.namespace).get(output) ?? []
  const states = pods
    .filter(({ exists }) => exists)
    .flatMap((pod) => prediction.entriesOf(pod).filter(({ source }) => source.name === output))
    .map(({ verdict }) => verdict.state)
  if (states.includes('declared')) return { some: true, why: 'a pod of it gets an entry' }
  if (states.some((state) => !WITHOUT_ENTRY.has(state))) return undefined
  return { some: false, why: 'no pod gets an entry' }
}
