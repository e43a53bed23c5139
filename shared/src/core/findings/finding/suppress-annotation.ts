// The annotation `kleym.sonda.red/suppress`: one entry a line, `CODE: reason`. And the marks of objects: where one stands in a
// file, and that annotation.
import { isRecord, own, stringAt } from '../../base/json.ts'
import { readObjectVersion } from '../../model/objects/meta.ts'
import type { Origin, RawObject } from '../../model/objects/raw.ts'
import { findingCodeOf, type FindingCode } from '../registry/findings.ts'
import type { Subject } from '../../model/objects/subject.ts'

/** The annotation by which an object suppresses warnings and information about itself. */
export const SUPPRESS_ANNOTATION = 'kleym.sonda.red/suppress'

/** An object of the snapshot that stands in a file or carries the annotation. */
export interface ObjectMark {
  readonly kind: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  readonly name: string
  /** Where it stands, for an object from a file. */
  readonly origin: Origin | undefined
  /** The annotation as written. */
  readonly suppress: string | undefined
}

/** The kind of a subject without the group that it may have: marks and flags have none. */
export function bareKind(kind: string): string {
  const dot = kind.indexOf('.')
  return dot < 0 ? kind : kind.slice(0, dot)
}

/** The key of an object, the same for its subjects and marks whatever group or container they name. */
export function objectKey({ kind, namespace, name }: Pick<Subject, 'kind' | 'namespace' | 'name'>): string {
  return [bareKind(kind), namespace, name].join('\n')
}

/** The marks of the objects that stand in a file or carry the annotation, in the order of the objects. */
export function marksOf(objects: Iterable<RawObject>): readonly ObjectMark[] {
  const marks: ObjectMark[] = []
  for (const { value, origin } of objects) {
    const annotations = own(own(value, 'metadata'), 'annotations')
    const text = isRecord(annotations) ? stringAt(annotations, SUPPRESS_ANNOTATION) : undefined
    if (origin === undefined && text === undefined) continue
    const { namespace, name } = readObjectVersion(value)
    marks.push({ kind: stringAt(value, 'kind') ?? '', namespace, name, origin, suppress: text })
  }
  return marks
}

/** One line of the annotation. */
export interface AnnotationEntry {
  readonly text: string
  /** The code as written. */
  readonly written: string
  /** Undefined where there is no such code. */
  readonly code: FindingCode | undefined
  readonly reason: string
  /** Why the entry is invalid, whatever findings there are; undefined where it is valid. */
  readonly fault: string | undefined
}

/** The entries of an annotation, in its order, without blank lines; a blank annotation gives one invalid entry. */
export function annotationEntries({ suppress: text }: ObjectMark): readonly AnnotationEntry[] {
  if (text === undefined) return []
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  const written = lines.filter((line) => line !== '')
  return written.length === 0 ? [entryOf('')] : written.map(entryOf)
}

function entryOf(text: string): AnnotationEntry {
  const colon = text.indexOf(':')
  const written = (colon < 0 ? text : text.slice(0, colon)).trim()
  const reason = colon < 0 ? '' : text.slice(colon + 1).trim()
  const code = findingCodeOf(written)
  return { text, written, code, reason, fault: faultOf(written, reason) }
}

function faultOf(written: string, reason: string): string | undefined {
  if (!/^[A-Za-z]+\d+$/.test(written)) return 'a line is not CODE: reason'
  // A dash is no reason.
  return /[\p{L}\p{N}]/u.test(reason) ? undefined : `${written} has no reason`
}
