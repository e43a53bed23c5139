// The one result model: a command makes a Frame, `resultOf` decides what counts, and `finish` prints it in any format.
import type * as z from 'zod'
import { namedIn, type Finding } from '@kleym/shared/core/findings/index.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { SUBJECT_GROUPS } from '@kleym/shared/core/model/subject-groups.ts'
import type { PremiseName } from '@kleym/shared/core/analysis/index.ts'
import type { Truth } from '@kleym/shared/core/model/truth/truth.ts'
import type { Diagram } from '../output/mermaid.ts'
import type { FilePlace } from '../output/ci.ts'
import type { NamedObject } from '../output/name.ts'
import type { Answer } from '../text/answer.ts'
import type { Lines } from '../text/line.ts'
import type { Layout } from '../text/layout.ts'
import type { Cause } from './causes.ts'
import type { SharedFields } from './schema.ts'

/** The schema of a report and the model of its fields, which must fit. */
export function reported<Schema extends z.ZodObject>(
  schema: () => Promise<Schema>,
  fields: (shown: readonly Finding[]) => ReportFields<Schema>,
): Pick<Frame, 'schema' | 'fields'> {
  return { schema, fields }
}

/** What a report has beside the fields that all reports share; `settings` has its own. */
type ReportFields<Schema extends z.ZodObject> = Omit<
  z.output<Schema>,
  'apiVersion' | 'kind' | keyof SharedFields
> &
  (z.output<Schema> extends { readonly settings: readonly unknown[] }
    ? Pick<z.output<Schema>, 'settings'>
    : unknown)

/** Something that was stated, and is true. */
export interface PassedCheck {
  readonly subject: Subject
  readonly text: string
}

/** One answer, before any format has seen it. */
export interface Frame {
  /** `kind` of the machine-readable report. */
  readonly kind: string
  /** The schema of the machine-readable report, which makes it of the fields; loaded when a machine asks. */
  readonly schema: () => Promise<z.ZodObject>
  /** The model of its fields, before findings and summary; `shown` are the findings that are not suppressed. */
  readonly fields: (shown: readonly Finding[]) => Readonly<Record<string, unknown>>
  /** Whether the findings are all that it answers: what brings none at the threshold leaves its exit code as it is. */
  readonly isOfFindings?: true
  /** In their total order, before any is suppressed; the exit code and every format read these. */
  readonly findings: readonly Finding[]
  /** Whether a finding is left out of what is shown, since the objects that it is about are. It counts all the same. */
  readonly hides?: (one: Finding) => boolean
  /** What suppressions are judged by, where it is more than the findings: then an unused annotation is reported. */
  readonly suppressionScope?: {
    /** Every finding that there is, shown or not: what tells whether a flag suppresses anything. */
    readonly all: () => readonly Finding[]
    /** The objects that the answer is about; without it, the subjects of the findings. */
    readonly covers?: (subject: Subject) => boolean
  }
  /** `diff` alone: one sentence for each object that would change. */
  readonly differences?: readonly string[]
  /** `test` alone: what holds, for the formats that list it. */
  readonly passed?: readonly PassedCheck[]
  /** Where a subject that is no object of the snapshot stands in a file. */
  readonly placeOf?: (subject: Subject) => FilePlace | undefined
  /** What it takes for granted beside the settings. */
  readonly premises?: readonly PremiseName[]
  /** `verify` alone: whether what was compared differs, by the findings that count. */
  readonly differs?: (kept: readonly Finding[]) => Truth
  /** How much the answer is about, and what that is: `binding`. Absent where an answer about nothing is one. */
  readonly judged?: { readonly count: number; readonly what: string }
  /** What keeps it from being certain, as `causesOf` has it. */
  readonly causes: readonly Cause[]
  /** What `-o name` lists; `shown` are the findings that are not suppressed. */
  readonly names: (shown: readonly Finding[]) => readonly NamedObject[]
  /** The first lines of the text, from all findings that count, shown or not. Absent where the view begins with them itself. */
  readonly answer?: (layout: Layout, kept: readonly Finding[]) => Answer
  /** The text below the answer. */
  readonly view: (layout: Layout, shown: readonly Finding[]) => Lines
  /** `diff` alone: the view is a unified diff, which readers of `-o markdown` may colour. */
  readonly isUnifiedDiff?: boolean
  /** What `-o mermaid` and `-o dot` draw, where the answer is a graph. */
  readonly diagram?: (shown: readonly Finding[]) => Promise<Diagram>
  /** What `-o yaml` prints, where the answer is objects to be applied; absent: the report. */
  readonly documents?: () => Promise<string>
  /** What `-o html` prints, where the answer is a page. */
  readonly page?: (parts: PageParts) => Promise<string>
  /** What `-o spire` prints, where the answer is registration entries: what a server would print of them. */
  readonly serverJson?: () => unknown
}

/** What a page is made of. */
export interface PageParts {
  /** The whole report of `-o json`. */
  readonly report: Readonly<Record<string, unknown>>
  /** The findings that are not suppressed. */
  readonly shown: readonly Finding[]
  /** What is not known, a sentence each. */
  readonly unknowns: readonly string[]
  /** The flags of the source that was asked, for commands that people copy: ` --offline -R -f pr/`. */
  readonly echo: string
  /** The kube context that was asked; undefined: files alone. */
  readonly contextName: string | undefined
  /** When it was made. */
  readonly made: Date
}

/** Whether a finding is about a namespace, or about the cluster as a whole. */
export function concerns(one: Finding, namespace: string | undefined): boolean {
  if (namespace === undefined || one.namespaces?.has(namespace) === true) return true
  const named = namedIn(one).flatMap((subject) => (subject.namespace === '' ? [] : subject.namespace))
  return named.includes(namespace) || (named.length === 0 && one.namespaces === undefined)
}

/** The object of a finding in the form of `-o name`. */
export function namedSubject({ subject }: Finding): NamedObject {
  const dot = subject.kind.indexOf('.')
  return {
    kind: dot < 0 ? subject.kind : subject.kind.slice(0, dot),
    group: dot < 0 ? (SUBJECT_GROUPS[subject.kind]?.[0] ?? '') : subject.kind.slice(dot + 1),
    namespace: subject.namespace,
    name: subject.name,
  }
}
