// The first hop: whether any registration selects the container. Where none does, the nearest one and what it asks for.
import { namespacesByName } from '../../snapshot/index.ts'
import { originsIn } from '../../findings/index.ts'
import { mayGive } from '../../base/go/template/mentions.ts'
import type { LabelSelector } from '../../model/objects/label-selector.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { labelsOfPod, matchSelector, type LabelView } from '../../model/objects/label-match.ts'
import { sourceText, failingSelectors, fieldsBehind } from '../../predict/index.ts'
import { idsOf } from '../../analysis/index.ts'
import { NO, whyOpenText } from '../../model/truth/truth.ts'
import { besideEntries, besideText, madeByHand } from './beside.ts'
import type { ChainFacts } from './facts.ts'
import { broken, good, notGiven, openHop, type HopAnswer } from './hop.ts'
import { bindingsWithout, heldBack } from './refused-binding.ts'
import { candidateText, type ChainCandidate, type ChainSubject } from './subject.ts'

/** Judges the hop. */
export function wantedHop(facts: ChainFacts): HopAnswer {
  const { subject } = facts
  const [first] = subject.candidates
  const refused = bindingsWithout(subject, 'for this container')
  const notes = refused.map(({ text }) => text)
  if (subject.isGiven) {
    const who = subject.candidates.map(candidateText).join(' and ')
    const ids = idsOf(subject.candidates.map(({ assumed }) => assumed)).join(' and ')
    return good(`${who} ${subject.candidates.length === 1 ? 'gives' : 'give'} ${ids}`, notes)
  }
  if (first !== undefined && first.assumed.verdict !== 'dead') {
    const { spiffeId } = first.assumed
    return heldBack(first, subject) ?? good(`${candidateText(first)} asks for ${spiffeId ?? 'an identity'}`)
  }
  const own = worstOpen(refused)
  const byHand = madeByHand(facts)
  if (own === undefined && byHand.length > 0)
    return good(byHand.map((one) => `${besideText(one)}, gives ${one.entry.spiffeId}`).join('; '))
  // What was not read or decided may give it one all the same.
  const { other } = subject.holding
  if (other.value === 'open') return { ...openHop(other), notes }
  if (own !== undefined) return own
  const [beside] = besideEntries(facts)
  if (beside !== undefined)
    return openHop(
      beside.given,
      `whether ${besideText(beside)}, gives it ${beside.entry.spiffeId} is not known: ${whyOpenText(beside.given) ?? ''}`,
    )
  if (subject.container.role === 'ephemeral')
    return broken(
      `container ${subject.container.name} is an ephemeral one, and SPIRE does not attest those`,
      'ask from another container of the pod',
    )
  const nearest = first === undefined ? nothingSelects(subject) : notMatched(first, subject)
  const perhaps = worstOpen(bindingsWithout(subject, 'perhaps for this container'))
  if (perhaps !== undefined)
    return { ...perhaps, text: `nothing gives it an identity; ${perhaps.text}`, notes: [nearest.text] }
  return first === undefined && isRegisteredByHand(facts)
    ? notGiven(`${nearest.text}, no SCM is seen here, and the entries of the server`, facts.commands.entries)
    : nearest
}

/** Where nothing of SCM is seen, entries may all be made by hand, and a server's entries alone tell. */
function isRegisteredByHand({ subject, parts, server }: ChainFacts): boolean {
  return (
    server === undefined &&
    parts.scm.length === 0 &&
    subject.state.outputs.length === 0 &&
    subject.analysis.settings.assumed.includes('className')
  )
}

/** The first that is not known, since it may give an identity all the same; else the first. */
function worstOpen(answers: readonly HopAnswer[]): HopAnswer | undefined {
  return answers.find(({ truth }) => truth !== NO) ?? answers[0]
}

function noneText({ spiffeId }: ChainSubject): string {
  return spiffeId === undefined ? 'no registration selects the pod' : `no registration gives it ${spiffeId}`
}

/** The selector that keeps the nearest registration from the container. */
function notMatched(candidate: ChainCandidate, { state, pod, container }: ChainSubject): HopAnswer {
  const { selector = '', why = '', outcome } = candidate.assumed
  const { failing } = failingSelectors(
    [selector],
    { selectors: [], isWhole: true },
    { pod, container, outcome, originsOf: originsIn(state) },
  )
  const fields = failing.flatMap(fieldsBehind)
  const text =
    selector === ''
      ? `${candidateText(candidate)} is nearest: ${why}`
      : `${candidateText(candidate)} is nearest, and its selector ${selector} does not match: ${why}`
  return broken(text, fields.length === 0 ? 'register this container' : `change ${fields.join(' or ')}`)
}

/** A term of a label selector that an object does not meet. */
interface UnmetTerm {
  readonly selector: 'podSelector' | 'namespaceSelector'
  readonly text: string
  /** The label that would meet it; undefined: it takes more than one label. */
  readonly label: string | undefined
}

/** No registration selects the pod: the one that lacks fewest labels is nearest. */
function nothingSelects(subject: ChainSubject): HopAnswer {
  const { state, pod, analysis, spiffeId } = subject
  const namespace = namespacesByName(analysis.snapshot).get(pod.namespace)
  const near = state.outputs
    .filter(({ object }) => spiffeId === undefined || mayGive(object.spec.spiffeIDTemplate, [spiffeId]))
    .map(({ object }) => ({
      source: { kind: 'ClusterSPIFFEID', name: object.meta.name } as const,
      terms: termsOf(object.spec.namespaceSelector) + termsOf(object.spec.podSelector),
      unmet: [
        ...(namespace === undefined
          ? []
          : unmet('namespaceSelector', object.spec.namespaceSelector, namespace)),
        ...unmet('podSelector', object.spec.podSelector, labelsOfPod(pod)),
      ],
    }))
    .filter((one) => one.unmet.length > 0)
    .toSorted((left, right) => left.unmet.length - right.unmet.length || right.terms - left.terms)
  const [nearest] = near
  const what = noneText(subject)
  if (nearest === undefined)
    return broken(
      what,
      `register it: a ClusterSPIFFEID whose podSelector matches ${podText(pod)}, or a binding of its pool (kubectl kleym suggest -n ${pod.namespace})`,
    )
  const [term] = nearest.unmet
  const more = nearest.unmet.length - 1
  const whom = term?.selector === 'namespaceSelector' ? `namespace` : 'pod'
  return broken(
    `${what}; nearest: ${sourceText(nearest.source)}, whose ${term?.selector} asks for ${term?.text}${more > 0 ? ` and ${more} more` : ''}`,
    term?.label === undefined
      ? `correct .spec.${term?.selector} of ${sourceText(nearest.source)}`
      : `give the ${whom} the label ${term.label}, or correct .spec.${term.selector} of ${sourceText(nearest.source)}`,
  )
}

function termsOf(selector: LabelSelector | undefined): number {
  return selector === undefined ? 0 : selector.matchLabels.size + selector.matchExpressions.length
}

function unmet(
  which: UnmetTerm['selector'],
  selector: LabelSelector | undefined,
  labels: LabelView,
): readonly UnmetTerm[] {
  if (selector === undefined) return []
  const ofLabels = [...selector.matchLabels].flatMap(([key, value]): UnmetTerm[] => {
    const only: LabelSelector = { matchLabels: new Map([[key, value]]), matchExpressions: [] }
    const label = `${key}=${value}`
    return matchSelector(only, labels) === NO ? [{ selector: which, text: label, label }] : []
  })
  const ofExpressions = selector.matchExpressions.flatMap((one): UnmetTerm | UnmetTerm[] => {
    const only: LabelSelector = { matchLabels: new Map(), matchExpressions: [one] }
    const { key, operator, values } = one
    if (matchSelector(only, labels) !== NO) return []
    const [value] = values
    const label = operator === 'In' && value !== undefined ? `${key}=${value}` : undefined
    return {
      selector: which,
      text: `${key} ${operator}${values.length === 0 ? '' : ` ${values.join(', ')}`}`,
      label,
    }
  })
  return [...ofLabels, ...ofExpressions]
}
