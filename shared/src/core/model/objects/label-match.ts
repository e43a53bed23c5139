// Label selectors as SPIRE Controller Manager applies them: what apimachinery refuses (`LabelSelectorAsSelector`), and
// what a selector selects when labels are only partly known, as of a pod that a Deployment must still create. SCM lets
// an absent selector select everything, unlike apimachinery.
import type { LabelRequirement, LabelSelector } from './label-selector.ts'
import type { LabelChoices, Pod } from './pod.ts'
import { compareKeys } from '../../base/text/bytes.ts'
import { labelValueProblem, qualifiedNameProblem } from '../../base/text/kubernetes.ts'
import { all, known, NO, open, YES, type Truth } from '../truth/truth.ts'
import { atRuntime } from '../truth/unknown.ts'

/** What is known of an object's labels. A key in several of these sets counts as the least certain of them. */
export interface LabelView {
  /** Labels that are there, with their values. */
  readonly labels: ReadonlyMap<string, string>
  /** Keys of labels that are there with an unknown value. */
  readonly unknownValues?: ReadonlySet<string>
  /** Keys of labels that may be there, with any value. */
  readonly possible?: ReadonlySet<string>
  /** The values that those may have, undefined for none; without an entry: any. */
  readonly choices?: LabelChoices | undefined
  /** Of a Namespace: false if other labels may be there too, because only its name is known. Absent: of a pod. */
  readonly complete?: boolean
}

/** One cause for all pods and one for all namespaces: there may be a hundred thousand, and the caller names them. */
const POD_LABELS = open(atRuntime("the pod's labels are known in part", 'Pod'))
const NAMESPACE_LABELS = open({
  kind: 'unread',
  of: { kind: 'Namespace' },
  why: { verb: 'read', what: "the namespace's labels", cause: 'not given' },
})

/** What is known of a pod's labels. */
export function labelsOfPod({ labels, unknownLabels, possibleLabels, labelChoices }: Pod): LabelView {
  return { labels, unknownValues: unknownLabels, possible: possibleLabels, choices: labelChoices }
}

/** Whether a pod carries a label with this value. */
export function carriesLabel(pod: Pod, key: string, value: string): Truth {
  return matchEqual(labelsOfPod(pod), key, value)
}

/** Why apimachinery's `LabelSelectorAsSelector` refuses a selector; names the first label or expression at fault. */
export function selectorProblem(selector: LabelSelector | undefined): string | undefined {
  if (selector === undefined) return undefined
  for (const [key, value] of [...selector.matchLabels].toSorted(compareKeys)) {
    const problem = keyProblem(key) ?? valueProblem(value)
    if (problem !== undefined) return `matchLabels[${quote(key)}]: ${problem}`
  }
  for (const [at, requirement] of selector.matchExpressions.entries()) {
    const problem = requirementProblem(requirement)
    if (problem !== undefined) return `matchExpressions[${at}]: ${problem}`
  }
  return undefined
}

/**
 * Whether `selector` selects an object with these labels; an absent or empty selector selects everything. A selector
 * that `selectorProblem` refuses has no answer; ask that first.
 */
export function matchSelector(selector: LabelSelector | undefined, labels: LabelView): Truth {
  let match = YES
  if (selector === undefined) return match
  for (const [key, value] of selector.matchLabels) {
    const one = matchEqual(labels, key, value)
    if (one === NO) return NO
    if (one !== YES) match = all(match, one)
  }
  for (const requirement of selector.matchExpressions) {
    const one = matchRequirement(labels, requirement)
    if (one === NO) return NO
    if (one !== YES) match = all(match, one)
  }
  return match
}

function keyProblem(key: string): string | undefined {
  const problem = qualifiedNameProblem(key)
  return problem === undefined ? undefined : `the key ${quote(key)} ${problem}`
}

function valueProblem(value: string): string | undefined {
  const problem = labelValueProblem(value)
  return problem === undefined ? undefined : `the value ${quote(value)} ${problem}`
}

/** Long enough for every valid key, and no longer: a hostile one must not fill the screen. */
const QUOTED_MAX = 320

function quote(text: string): string {
  return text.length <= QUOTED_MAX ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, QUOTED_MAX))}...`
}

function requirementProblem({ key, operator, values }: LabelRequirement): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) return `${operator} needs at least one value`
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) return `${operator} takes no values`
      break
    default:
      return `${quote(operator)} is no operator; there are In, NotIn, Exists and DoesNotExist`
  }
  return keyProblem(key) ?? values.map(valueProblem).find((problem) => problem !== undefined)
}

function matchRequirement(labels: LabelView, { key, operator, values }: LabelRequirement): Truth {
  switch (operator) {
    case 'In':
      return matchValue(labels, key, (label) => values.includes(label), false)
    case 'NotIn':
      return matchValue(labels, key, (label) => !values.includes(label), true)
    case 'Exists':
      return matchPresence(labels, key, true)
    case 'DoesNotExist':
      return matchPresence(labels, key, false)
    default:
      return unknownOf(labels)
  }
}

/** Whether a label is there with a value. */
export function matchEqual(labels: LabelView, key: string, value: string): Truth {
  return isUncertain(labels, key)
    ? amongChoices(labels, key, (one) => one === value)
    : known(labels.labels.get(key) === value)
}

function matchValue(
  labels: LabelView,
  key: string,
  fits: (label: string) => boolean,
  absent: boolean,
): Truth {
  const holds = (label: string | undefined): boolean => (label === undefined ? absent : fits(label))
  return isUncertain(labels, key) ? amongChoices(labels, key, holds) : known(holds(labels.labels.get(key)))
}

/** What holds of all values that a label may have, or of none. */
function amongChoices(labels: LabelView, key: string, holds: (label: string | undefined) => boolean): Truth {
  const choices = labels.choices?.get(key)
  if (choices === undefined) return unknownOf(labels)
  const fitting = [...choices].filter(holds).length
  return fitting > 0 && fitting < choices.size ? unknownOf(labels) : known(fitting > 0)
}

function matchPresence(labels: LabelView, key: string, wanted: boolean): Truth {
  if (mayVary(labels, key)) return unknownOf(labels)
  return known((labels.unknownValues?.has(key) === true || labels.labels.has(key)) === wanted)
}

/** Whether the label's value, or its presence, is not known. */
function isUncertain(labels: LabelView, key: string): boolean {
  return labels.unknownValues?.has(key) === true || mayVary(labels, key)
}

/** Whether it is not known if the label is there. */
function mayVary(labels: LabelView, key: string): boolean {
  if (labels.possible?.has(key) === true) return true
  return labels.complete === false && !labels.labels.has(key) && labels.unknownValues?.has(key) !== true
}

function unknownOf({ complete }: LabelView): Truth {
  return complete === undefined ? POD_LABELS : NAMESPACE_LABELS
}
