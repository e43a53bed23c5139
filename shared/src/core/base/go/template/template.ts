// Predicts what SPIRE Controller Manager v0.7.0 renders from a template of a ClusterSPIFFEID: Go's text/template (Go
// 1.26, default options, no further functions) on its template data. Source: text/template and fmt of the Go release, and
// pkg/spireentry/entries.go of the controller manager. The result is the exact text, or that Go fails, or that it is unknown
// and why; it is never a guess.
//
// Supported: the whole grammar (trim markers, comments, pipelines, variables, if, with, range, break, continue, define,
// template, block), all built-in functions, the fields of ObjectMeta, PodSpec and NodeSpec and all that they reach, the
// getters of ObjectMeta, printing of strings, integers, floats, booleans, nil, and lists and maps of them, with Go's
// own error forms (`%!d(string=x)`).
//
// Unknown or unsupported, by name: whatever prints an address or the text of a struct, other methods, times, quantities
// and int-or-strings, managed fields, comparing pointers, slicing a list beyond its end, complex and hexadecimal
// floating-point constants, some formats of floats, how Go escapes letters beyond the Latin ones, templates named as the
// main one, any decision on a `Placeholder`, and the bounds of signals.ts.
import type { JsonRecord } from '../../json.ts'
import { keeping } from '../../keeping.ts'
import { fromByteText, toByteText } from './byte-text.ts'
import { compile } from './compile.ts'
import { rootType } from './go-types.ts'
import type { Placeholder } from './placeholder.ts'
import { parseSource } from './parser.ts'
import { TemplateFailure, MAX_NESTING, MAX_SOURCE, SyntaxFault, Unknowable, Unsupported } from './signals.ts'
import { Ref } from './values.ts'

/** A template as parsed. */
export type ParsedTemplate =
  | {
      readonly kind: 'template'
      readonly source: string
      /** The text, when there are no actions. */
      readonly literal: string | undefined
      /**
       * Whether the main part holds a number or a character constant: with its render cache on, the controller manager
       * drops the whole object (docs/spire-facts.md §11.11).
       */
      readonly hasNumber: boolean
      /** Whether it has or calls a `define` or `block`, whose bodies the controller manager's render cache does not compare. */
      readonly usesDefinitions: boolean
      readonly render: (data: TemplateData) => Rendered
    }
  /** Go's parser refuses it too; the controller manager drops the whole object. */
  | { readonly kind: 'syntax error'; readonly message: string }
  /** A construct that we do not model. */
  | { readonly kind: 'unsupported'; readonly construct: string }

/** What executing a template gives. */
export type Rendered =
  | {
      readonly kind: 'text'
      readonly text: string
      /** The `what` of each placeholder in the text, sorted, each once. */
      readonly placeholders: readonly string[]
      /** Whether the bytes are no valid UTF-8; `text` has U+FFFD in their place. SCM's batch of new entries then fails. */
      readonly invalidUtf8: boolean
    }
  /** Go's Execute returns an error: a render failure of the controller manager. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'unknown'; readonly why: string }

/** The data that the controller manager gives to a template; an absent object is a nil pointer. */
export interface TemplateData {
  readonly trustDomain: string | Placeholder
  readonly clusterName: string | Placeholder
  readonly clusterDomain: string | Placeholder
  readonly podMeta?: GoObject | Placeholder
  readonly podSpec?: GoObject | Placeholder
  readonly nodeMeta?: GoObject | Placeholder
  readonly nodeSpec?: GoObject | Placeholder
}

/** An object in its JSON form. */
export interface GoObject {
  /** Leaves, labels and annotations may be placeholders. */
  readonly value: JsonRecord
  /**
   * False for a manifest or a pod template: an absent field may be filled in later and reads as a placeholder. Absent labels
   * and annotations stay absent.
   */
  readonly complete: boolean
}

/** Parses a template. Never throws. */
export const parseTemplate: (source: string) => ParsedTemplate = keeping((source) => {
  if (source.length > MAX_SOURCE)
    return { kind: 'unsupported', construct: `a template longer than ${MAX_SOURCE}` }
  try {
    const parsed = parseSource(toByteText(source))
    const texts = parsed.main.map((node) => (node.kind === 'text' ? node.text : undefined))
    const literal = texts.includes(undefined) ? undefined : texts.join('')
    // Most templates have no action: there is nothing to compile.
    const isText = literal !== undefined && parsed.defined.size === 0
    const execute = isText ? () => ({ bytes: literal, whats: [] }) : compile(parsed)
    return {
      kind: 'template',
      source,
      literal: literal === undefined ? undefined : fromByteText(literal).text,
      hasNumber: parsed.hasNumber,
      usesDefinitions: parsed.defined.size > 0 || parsed.callsTemplate,
      render: (data) => render(execute, data),
    }
  } catch (error) {
    if (error instanceof SyntaxFault) return { kind: 'syntax error', message: error.message }
    if (error instanceof Unsupported) return { kind: 'unsupported', construct: error.message }
    if (error instanceof RangeError)
      return { kind: 'unsupported', construct: `nesting too deep for the stack (bound ${MAX_NESTING})` }
    throw error
  }
})

function render(execute: ReturnType<typeof compile>, data: TemplateData): Rendered {
  try {
    const { bytes, whats } = execute(new Ref(rootType(), data, true, ''))
    const { text, valid } = fromByteText(bytes)
    return { kind: 'text', text, placeholders: whats, invalidUtf8: !valid }
  } catch (error) {
    if (error instanceof TemplateFailure) return { kind: 'failed', message: error.message }
    if (error instanceof Unknowable) return { kind: 'unknown', why: error.message }
    if (error instanceof RangeError)
      return { kind: 'unknown', why: 'an execution nested too deep for the stack' }
    throw error
  }
}
