// The one door. Whatever is given ends in one of three states (docs/reading-files.md, "Whole trees"): it is read as objects; it
// is dismissed, with a proof that it cannot matter; or it is opaque, the default for a text that is not understood.
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { boundedProblems, type InputProblem } from './problem.ts'

/** Something that is not read: what it may hold (`reach`), where, and why. */
export interface Opaque extends InputProblem {
  /** Whether objects that were read show what it made: then it hides nothing. Absent: none can. */
  readonly isShownBy?: (objects: readonly RawObject[]) => boolean
  /** Told in one line with others of its sort. Only what depends on its objects is open. */
  readonly isNoted?: true
}

/** Why something cannot matter. */
export type Dismissal =
  /** It is of a kind that no answer uses. */
  | { readonly because: 'kind'; readonly kind: string }
  /** It is no Kubernetes object, such as a values file. */
  | { readonly because: 'no object'; readonly file: string }
  /** It cannot be read, and its text has no kind that is used. */
  | { readonly because: 'text'; readonly what: InputProblem }
  /** It was rendered, nothing in it is of a kind that is used, or it is neither a file nor a folder: a sentence. */
  | { readonly because: 'told'; readonly note: string }

/** Takes what becomes of each source. */
export class Door {
  readonly objects: RawObject[] = []
  readonly #opaque: Opaque[] = []
  readonly #skipped = new Map<string, number>()
  /** The file of each document that is no Kubernetes object. */
  readonly noObjects: string[] = []
  readonly #unread: InputProblem[] = []
  readonly #told: string[] = []

  read(object: RawObject): void {
    this.objects.push(object)
  }

  dismiss(one: Dismissal): void {
    if (one.because === 'kind') this.#skipped.set(one.kind, (this.#skipped.get(one.kind) ?? 0) + 1)
    else if (one.because === 'no object') this.noObjects.push(one.file)
    else if (one.because === 'text') this.#unread.push(one.what)
    else this.#told.push(one.note)
  }

  hold(...opaque: readonly Opaque[]): void {
    for (const one of opaque) this.#opaque.push(one)
  }

  /** All that is not known; of a great many the first, and how many more there are. */
  opaque(): readonly Opaque[] {
    const isOpenStill = ({ isNoted, isShownBy }: Opaque): boolean =>
      isNoted === true || isShownBy !== undefined
    const told = this.#opaque.filter((one) => !isOpenStill(one))
    return [...boundedProblems(told), ...this.#opaque.filter(isOpenStill)]
  }

  /** What was of no kind that is used, and how often, in the order of the kinds. */
  skipped(): ReadonlyMap<string, number> {
    return new Map([...this.#skipped].toSorted(([a], [b]) => compareBytes(a, b)))
  }

  /** What a person should know of what was dismissed. */
  dismissed(): readonly string[] {
    return [...this.#told, ...unreadNotes(this.#unread)]
  }

  /** Notes about opaque documents that are reported together: patches that no kustomization includes. */
  noted(): readonly string[] {
    return partialNotes(
      this.#opaque.filter(({ isNoted, kind }) => isNoted === true && kind === 'not rendered'),
    )
  }
}

/** How many places a note names. */
export const PLACES_SHOWN = 3

/** What could not be read and is of no kind that an answer uses: one line for the templates, and one for all else. */
function unreadNotes(problems: readonly InputProblem[]): readonly string[] {
  const byKind = Map.groupBy(problems, ({ kind }) => (kind === 'template' ? 'templates' : 'unread'))
  return [...byKind].map(([kind, ones]) => {
    const verb = ones.length === 1 ? 'is a template' : 'are templates'
    const what = kind === 'templates' ? verb : 'cannot be read'
    return `left out ${counted(ones.length, 'document')} of no kind that is used: ${ones.length === 1 ? 'it' : 'they'} ${what} (${placesOf(ones, ', and')})`
  })
}

/** Patches that nothing takes in, and manifests that no API server takes: one line for all. */
function partialNotes(partials: readonly InputProblem[]): readonly string[] {
  if (partials.length === 0) return []
  const [what, them] =
    partials.length === 1
      ? ['1 workload that is no whole object: it is a patch', 'it']
      : [`${partials.length} workloads that are no whole objects: they are patches`, 'them']
  return [`left out ${what}, or the API server refuses ${them} (${placesOf(partials, '; and')})`]
}

function placesOf(problems: readonly InputProblem[], and: string): string {
  const places = problems.slice(0, PLACES_SHOWN).map(({ where, why }) => `${where}: ${why}`)
  return `${places.join('; ')}${problems.length > PLACES_SHOWN ? `${and} ${problems.length - PLACES_SHOWN} more` : ''}`
}
