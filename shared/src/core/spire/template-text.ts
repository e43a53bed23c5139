// The text of one template for one pod, and what can be said of it while parts of it are not known yet.
import type { ParsedTemplate, TemplateData } from '../gotemplate/template.ts'
import { PLAIN_FACTS } from './open-facts.ts'

/** A template of an object that parsed, with the field that it stands in. */
export interface FieldTemplate {
  /** `.spec.workloadSelectorTemplates[1]`. */
  readonly field: string
  readonly template: Exclude<ParsedTemplate, { readonly kind: 'syntax error' }>
}

export type TemplateText =
  | {
      readonly kind: 'text'
      readonly text: string
      /** The facts that it shows as placeholders. */
      readonly open: readonly string[]
      readonly validUtf8: boolean
    }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'unknown'; readonly construct: string }

const NONE: readonly string[] = []

/** Renders a template. */
export function renderText({ template }: FieldTemplate, data: TemplateData): TemplateText {
  if (template.kind === 'unsupported') return { kind: 'unknown', construct: template.construct }
  if (template.literal !== undefined) {
    return { kind: 'text', text: template.literal, open: NONE, validUtf8: true }
  }
  const rendered = template.render(data)
  switch (rendered.kind) {
    case 'text':
      return {
        kind: 'text',
        text: rendered.text,
        open: rendered.open.map((what) => (what.startsWith('<') ? what : `<${what}>`)),
        validUtf8: rendered.invalidUtf8 !== true,
      }
    case 'failed':
      return { kind: 'failed', why: rendered.message }
    case 'unknown':
      return { kind: 'unknown', construct: rendered.why }
  }
}

/** What a check finds wrong with a text; undefined: nothing; `open`: it hangs on a fact that is not known yet. */
export type TextProblem = { readonly kind: 'problem'; readonly why: string } | { readonly kind: 'open' }

/**
 * Checks a text that may hold placeholders. A plain name stands in for each of them; a fact that may be something else
 * than a plain name (the value of a label may be empty) leaves the answer open.
 */
export function checkText(
  text: string,
  open: readonly string[],
  problemOf: (text: string) => string | undefined,
): TextProblem | undefined {
  const filled = open.length === 0 ? text : withStandIns(text, open)
  const why = problemOf(filled)
  if (open.every((fact) => PLAIN_FACTS.has(fact))) return why === undefined ? undefined : { kind: 'problem', why }
  return { kind: 'open' }
}

/** The text with a plain name in the place of every open fact. */
export function withStandIns(text: string, open: readonly string[]): string {
  let filled = text
  for (const fact of open) filled = filled.replaceAll(fact, 'x')
  return filled
}
