// Whether objects outside of the namespaces that were read may change the answer about them. Nearly always it cannot:
// pools, objectives and collisions end at the namespace. What can is a registration that gives an identity from here to
// pods elsewhere or one from elsewhere to pods here, one that stops every registration, and an output whose binding was not read.
import { YES } from '../../model/truth/truth.ts'
import type { Analysis } from '../../analysis/index.ts'
import {
  ANY,
  TRUST_DOMAIN_PLACEHOLDER,
  parseIdentity,
  claimsOfOutput,
  type LiveOutput,
} from '../../decide/index.ts'
import { mayGive } from '../../base/go/template/mentions.ts'
import { NAMESPACE_NAME_LABEL } from '../../model/names.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { mayCutText, readAnyText, readFieldTemplate } from '../../predict/index.ts'

type Namespaces = ReadonlySet<string>

/** True where everything has to be read to be sure of the answer about some namespaces: those that were read. False for all of them. */
export function dependsOnOutsideScope(
  analysis: Analysis,
  namespaces: Namespaces | undefined = analysis.snapshot.namespacesRead,
): boolean {
  if (namespaces === undefined) return false
  const { staticEntries } = analysis.snapshot
  const here = identitiesOf(analysis, namespaces)
  const theirs = analysis.now.outputs.filter(({ ownership }) => ownership.kind !== 'ours')
  const outputs = theirs.filter(({ ownership }) => ownership.kind === 'unknown')
  return (
    settledBeyond(analysis, namespaces) ||
    staticEntries.some(({ spec }) => mayGiveOne(spec.spiffeID, here)) === YES ||
    maySomeGive(theirs, here) ||
    theirs.some(({ object }) => mayStopEverybody(object, namespaces)) ||
    mayStandInTheWay(outputs, analysis, namespaces) ||
    isGivenFromElsewhere(analysis, outputs, namespaces)
  )
}

/** The SPIFFE IDs of the bindings of namespaces: those that they render, and those that outputs of ours give out now. */
function identitiesOf({ compiled, now }: Analysis, namespaces: Namespaces): readonly string[] {
  return [
    ...compiled.flatMap(({ binding, result }) =>
      result.kind === 'resolved' && namespaces.has(binding.meta.namespace) ? [result.identity.spiffeId] : [],
    ),
    ...now.outputs.flatMap(({ object, ownership }) =>
      ownership.kind === 'ours' ? [object.spec.spiffeIDTemplate] : [],
    ),
  ]
}

/** Whether an output of ours stays as another client has edited it, so that it may select pods elsewhere. */
function settledBeyond({ settled }: Analysis, read: Namespaces): boolean {
  return settled.outputs.some(
    ({ object, ownership }) =>
      ownership.kind === 'ours' &&
      !isConfined(object.spec, read) &&
      namespaceAsked(object.spec) !== ownership.binding.split('/', 1)[0],
  )
}

function isConfined(spec: ClusterSpiffeId['spec'], read: Namespaces): boolean {
  return read.has(namespaceAsked(spec) ?? '')
}

function namespaceAsked({ namespaceSelector }: ClusterSpiffeId['spec']): string | undefined {
  return namespaceSelector?.matchLabels.get(NAMESPACE_NAME_LABEL)
}

function maySomeGive(outputs: readonly LiveOutput[], ids: readonly string[]): boolean {
  const templates = new Set(outputs.map(({ object }) => object.spec.spiffeIDTemplate))
  return [...templates].some((template) => mayGiveOne(template, ids))
}

/** Where our trust domain is not known, an identity may be in any that a template names, or that an action gives. */
function mayGiveOne(template: string, ids: readonly string[]): boolean {
  if (!ids.some((id) => id.includes(TRUST_DOMAIN_PLACEHOLDER))) return mayGive(template, ids)
  const domain = /^spiffe:\/\/(?:([^/{]+)|\{\{[^}]*\}\})\//.exec(template)
  if (domain === null) return mayGive(template, ids) || template.includes('{{')
  const named = domain[1] ?? TRUST_DOMAIN_PLACEHOLDER
  return mayGive(
    template,
    ids.map((id) => id.replace(TRUST_DOMAIN_PLACEHOLDER, () => named)),
  )
}

/** An entry that is not UTF-8 stops all others, and it is a pod that shows it: one that was not read, perhaps. */
function mayStopEverybody({ spec }: ClusterSpiffeId, read: Namespaces): boolean {
  if (isConfined(spec, read)) return false
  return [...spec.dnsNameTemplates, ...spec.workloadSelectorTemplates].some((template) => {
    if (!mayCutText(template)) return false
    const step = readFieldTemplate('', template, readAnyText)
    return typeof step !== 'string' && step.mayBreakUtf8
  })
}

/** Whether an output whose binding was not read has a name or a claim of a binding that was. */
function mayStandInTheWay(outputs: readonly LiveOutput[], { compiled }: Analysis, read: Namespaces): boolean {
  const names = new Set(
    compiled.flatMap(({ result }) => (result.kind === 'resolved' ? [result.output.metadata.name] : [])),
  )
  return outputs.some(
    (output) =>
      names.has(output.object.meta.name) ||
      claimsOfOutput(output).some(({ namespace }) => namespace === ANY || read.has(namespace)),
  )
}

/** Whether a pod here has an identity of a binding elsewhere, or a registration that kleym may be about to change. */
function isGivenFromElsewhere(
  { podsInQuestion, settled }: Analysis,
  outputs: readonly LiveOutput[],
  read: Namespaces,
): boolean {
  const names = new Set(outputs.map(({ object }) => object.meta.name))
  return podsInQuestion.some(
    (pod) =>
      read.has(pod.namespace) &&
      settled
        .prediction()
        .entriesOf(pod)
        .some(({ source, entry }) => {
          if (source.kind === 'ClusterSPIFFEID' && names.has(source.name)) return true
          const namespace = entry === undefined ? undefined : parseIdentity(entry.spiffeId)?.namespace
          return namespace !== undefined && !read.has(namespace)
        }),
  )
}
