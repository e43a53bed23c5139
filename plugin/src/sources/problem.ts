// What can be wrong with the input. A problem never stops the reading: the rest is read and answered, and the program
// decides its exit code from the problems.
import type { UnreadObjects } from '@kleym/shared/core/snapshot/index.ts'
import { INPUT_LIMITS, type BudgetSpent } from './budget.ts'
import { KleymError } from '../io/errors.ts'

/** What is wrong. */
export type ProblemKind =
  /** A path on the command line that does not exist or cannot be opened: wrong usage. */
  | 'path'
  /** A file or document that cannot be understood. */
  | 'malformed'
  /** A Kubernetes object that lacks what every object needs. */
  | 'incomplete'
  /** The same object twice. */
  | 'duplicate'
  /** Nothing that the question is about is among what was read. */
  | 'empty'
  /** A document that is a template, and no object before it is filled in. */
  | 'template'
  /** What a chart or an overlay holds, which shows only once it is rendered. */
  | 'not rendered'
  /** A file that is not read, and may hold objects. */
  | 'left out'
  /** What a change takes away, and what stays needs. */
  | 'taken away'
  /** A program or a file system that did not do its part. */
  | 'failed'

/** One thing that is wrong with the input. */
export interface InputProblem {
  readonly kind: ProblemKind
  /** One sentence without a full stop. */
  readonly what: string
  /** `pools.yaml, document 3, line 12, column 5`. */
  readonly where: string
  /** The line of the file that it is about, and under it a mark at the column. */
  readonly excerpt?: readonly string[] | undefined
  readonly why: string
  readonly fix: string
  /** What several of its sort are called, in one line: `charts are not rendered`. */
  readonly alike?: string | undefined
  /** What tells it apart there, beside its place: `Deployment demo/web`. */
  readonly subject?: string
  /** The objects that it may hide, or that it is about; undefined: any. An answer that reads none of them is complete. */
  readonly reach?: readonly ProblemReach[] | undefined
}

/** Objects of one kind, as far as a text shows which. */
export type ProblemReach = Omit<UnreadObjects, 'why'>

/** A place in a file, as far as it is known; numbers count from 1. */
export interface InputPlace {
  readonly file: string
  readonly document?: number | undefined
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** `pools.yaml, document 3, line 12, column 5`. */
export function placeText({ file, document, line, column }: InputPlace): string {
  const parts = [file]
  if (document !== undefined) parts.push(`document ${document}`)
  if (line !== undefined) parts.push(`line ${line}`)
  if (column !== undefined) parts.push(`column ${column}`)
  return parts.join(', ')
}

/** That the rest was not read, as a problem of the place where the reading ended. */
export function spentProblem(spent: BudgetSpent, where: string): InputProblem {
  return {
    kind: 'failed',
    what: 'cannot read all that was given',
    where,
    why: `up to there it is ${spent.message}, more than kleym takes in`,
    fix: 'give fewer files, or only those of the namespaces that the question is about',
  }
}

/** The first so many problems, and one that counts the rest: a file of a million faults is one fault. */
export function boundedProblems(problems: readonly InputProblem[]): readonly InputProblem[] {
  const most = INPUT_LIMITS.problems
  const [next] = problems.slice(most)
  if (next === undefined) return problems
  return [
    ...problems.slice(0, most),
    {
      kind: 'failed',
      what: `cannot read ${problems.length - most} more documents or objects`,
      where: next.where,
      why: `after ${most} of them kleym stops to tell each`,
      fix: 'correct those above first, or give fewer files',
    },
  ]
}

/** How many places and reasons a line names that stands for several problems. */
const SHOWN = 5

/** The problems as they are reported: one for each sort of those that are alike and are mended alike. */
export function toldProblems(problems: readonly InputProblem[]): readonly InputProblem[] {
  const sorts = Map.groupBy(problems, (one) =>
    one.alike === undefined ? one : JSON.stringify([one.alike, one.fix]),
  )
  return [...sorts.values()].flatMap((ones) => {
    const [first] = ones
    if (first === undefined || ones.length === 1) return ones
    const what = `${ones.length} ${first.alike ?? ''}`
    const places = ones.map(({ subject, where }) => (subject === undefined ? where : `${subject}: ${where}`))
    return [{ ...first, what, where: listed(places), why: listed([...new Set(ones.map(({ why }) => why))]) }]
  })
}

/** The first of some texts, and how many more there are. */
export function listed(texts: readonly string[]): string {
  const more = texts.length > SHOWN ? `; and ${texts.length - SHOWN} more` : ''
  return `${texts.slice(0, SHOWN).join('; ')}${more}`
}

/** So many kinds are all of them, for a person. */
const MANY = 12

/** What a problem may hide, for a person. */
export function reachText(reach: readonly ProblemReach[] | undefined): string {
  if (reach === undefined || reach.length >= MANY) return 'anything'
  if (reach.length === 0) return 'nothing that is used'
  const namespaces = new Map<string, Set<string>>()
  for (const { kind, namespace } of reach) {
    const known = namespaces.get(kind) ?? new Set()
    namespaces.set(kind, known.add(namespace ?? ''))
  }
  return [...namespaces]
    .map(([kind, inside]) => {
      const named = [...inside].filter((one) => one !== '')
      return inside.has('') || named.length === 0 ? kind : `${kind} (in ${named.toSorted().join(', ')})`
    })
    .toSorted()
    .join(', ')
}

/** `cannot read document 3 (pools.yaml): it is no YAML`. */
export function problemText({
  what,
  where,
  why,
}: Pick<InputProblem, 'what' | 'why'> & { readonly where?: string | undefined }): string {
  return `${what}${where === undefined ? '' : ` (${where})`}: ${why}`
}

/** A problem as an error: wrong usage for a path (exit 2), an incomplete answer for the others (exit 4). */
export function problemError(problem: InputProblem): KleymError {
  const { what, where, excerpt, why, fix } = problem
  return new KleymError(problem.kind === 'path' ? 'usage' : 'input', { what, where, excerpt, why, fix })
}
