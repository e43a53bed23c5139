// One template of an entry, and how SCM reads its text. A template without actions gives the same text for every pod and is
// read once.
import { getOrCreate } from '../../base/get-or-create.ts'
import { parseTemplate, type ParsedTemplate, type TemplateData } from '../../base/go/template/template.ts'
import { PLAIN_FACTS, TRUST_DOMAIN } from './placeholders.ts'
import type { EntrySelector } from './prediction.ts'
import { parseSpiffeId, type ParsedSpiffeId } from '../../model/spiffe-id.ts'

/** What a template gives for one pod. */
export type FieldResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** There is a value, but whether SCM accepts it depends on a fact that is not known. */
  | { readonly kind: 'uncertain'; readonly value: T; readonly why: string }
  | { readonly kind: 'failed'; readonly field: string; readonly why: string }
  | { readonly kind: 'unknown'; readonly field: string; readonly construct: string }

/** A rendered text, and the facts for which it holds placeholders. */
export interface RenderedText {
  readonly text: string
  readonly placeholders: readonly string[]
  readonly validUtf8: boolean
}

/** A rendered SPIFFE ID, and how it parses with a plain name in the place of every placeholder. */
export interface IdText extends RenderedText {
  readonly parsed: ParsedSpiffeId
}

type UsableTemplate = Exclude<ParsedTemplate, { readonly kind: 'syntax error' }>
type TextReader<T> = (text: RenderedText, field: string) => FieldResult<T>

/** A template of a field, and how its text is read. */
export class FieldTemplate<T> {
  readonly field: string
  /** The result for every pod, where the template has no actions. */
  readonly constant: FieldResult<T> | undefined
  /** Undefined where the result is constant: an answer keeps ten thousand of these in memory. */
  readonly #template: UsableTemplate | undefined
  readonly #read: TextReader<T>

  constructor(field: string, template: UsableTemplate, read: TextReader<T>) {
    this.field = field
    this.#read = read
    if (template.kind === 'template' && template.literal !== undefined) {
      this.constant = read({ text: template.literal, placeholders: NONE, validUtf8: true }, field)
    } else this.#template = template
  }

  /** Renders the template on the data of a pod, and reads the text. */
  run(data: TemplateData): FieldResult<T> {
    if (this.constant !== undefined) return this.constant
    const template = this.#template
    if (template === undefined) throw new TypeError(`${this.field} has neither a template nor a constant`)
    if (template.kind === 'unsupported') {
      return { kind: 'unknown', field: this.field, construct: template.construct }
    }
    const rendered = template.render(data)
    switch (rendered.kind) {
      case 'text': {
        const placeholders =
          rendered.placeholders.length === 0 ? NONE : rendered.placeholders.map((what) => `<${what}>`)
        return this.#read({ text: rendered.text, placeholders, validUtf8: !rendered.invalidUtf8 }, this.field)
      }
      case 'failed':
        return { kind: 'failed', field: this.field, why: rendered.message }
      case 'unknown':
        return { kind: 'unknown', field: this.field, construct: rendered.why }
    }
  }

  /**
   * What keeps SCM's render cache from taking the object, or from telling it from others (docs/spire-facts.md §11.11). A
   * template without actions has neither, and one that kleym does not follow is not known anyway.
   */
  get cacheTrouble(): 'constant' | 'definitions' | undefined {
    const template = this.#template
    if (template === undefined || template.kind === 'unsupported') return undefined
    if (template.hasNumber) return 'constant'
    return template.usesDefinitions ? 'definitions' : undefined
  }

  /** Whether its text may be no valid UTF-8: only a template that cuts texts, or holds an escape, can give such a text. */
  get mayBreakUtf8(): boolean {
    if (this.#template === undefined || this.#template.kind === 'unsupported') return false
    return mayCutText(this.#template.source)
  }
}

/** Whether a template cuts texts or holds an escape. */
export function mayCutText(template: string): boolean {
  return /slice|\\/.test(template)
}

const NONE: readonly string[] = []
const STAND_IN = 'x'

/** Parses the template of a field; the result is a text where Go's parser refuses it: the reason. */
export function readFieldTemplate<T>(
  field: string,
  source: string,
  read: TextReader<T>,
): FieldTemplate<T> | string {
  const template = parseTemplate(source)
  return template.kind === 'syntax error' ? template.message : new FieldTemplate(field, template, read)
}

/** Parses the template of a field, as `readFieldTemplate` does. */
export type FieldTemplateReader<T> = (field: string, source: string) => FieldTemplate<T> | string

/** Parses the templates of many objects: the same text in the same field once. */
export function fieldTemplateReader<T>(read: TextReader<T>): FieldTemplateReader<T> {
  const known = new Map<string, FieldTemplate<T> | string>()
  return (field, source) =>
    getOrCreate(known, `${field}\n${source}`, () => readFieldTemplate(field, source, read))
}

/** Takes a text as it is: SCM does not check DNS names, the server does. */
export function readAnyText(text: RenderedText): FieldResult<RenderedText> {
  return { kind: 'ok', value: text }
}

/** Reads a SPIFFE ID, which must be in SCM's trust domain; undefined where that is not known. */
export function spiffeIdReader(trustDomain: string | undefined): TextReader<IdText> {
  return (text, field) => {
    const parsed = parseSpiffeId(withStandIns(text))
    const value = { ...text, parsed }
    const plain = text.placeholders.every((fact) => PLAIN_FACTS.has(fact))
    if (!plain) return { kind: 'uncertain', value, why: placeholderWhy(text.placeholders, field) }
    if (!parsed.ok) return { kind: 'failed', field, why: `it gives ${text.text}, which ${parsed.message}` }
    if (text.text.startsWith(`spiffe://${TRUST_DOMAIN}`) && parsed.trustDomain === STAND_IN) {
      return { kind: 'ok', value }
    }
    if (trustDomain === undefined) {
      const why = `SCM's trust domain is not known, and ${field} is refused in any but its own`
      return { kind: 'uncertain', value, why }
    }
    if (parsed.trustDomain === trustDomain) return { kind: 'ok', value }
    const why = `it gives ${text.text}, which is not in SCM's trust domain ${trustDomain}`
    return { kind: 'failed', field, why }
  }
}

/** Reads a selector: SCM splits it at its first colon and trims nothing. */
export function readSelectorText(
  text: RenderedText,
  field: string,
): FieldResult<EntrySelector & RenderedText> {
  const at = text.text.indexOf(':')
  const value = { ...text, type: text.text.slice(0, Math.max(at, 0)), value: text.text.slice(at + 1) }
  if (text.placeholders.some((fact) => !PLAIN_FACTS.has(fact)) && !isSettled(text, at)) {
    return { kind: 'uncertain', value, why: placeholderWhy(text.placeholders, field) }
  }
  const why = selectorTextProblem(withStandIns(text))
  return why === undefined ? { kind: 'ok', value } : { kind: 'failed', field, why }
}

/** Why SCM refuses `text` as a selector. */
export function selectorTextProblem(text: string): string | undefined {
  const at = text.indexOf(':')
  if (at < 0) return `${JSON.stringify(text)} has no colon between type and value`
  if (at === 0) return `${JSON.stringify(text)} has no type before its colon`
  return at === text.length - 1 ? `${JSON.stringify(text)} has no value after its colon` : undefined
}

/** Whether the text has a type and a value whatever its placeholders turn out to be. */
function isSettled({ text, placeholders }: RenderedText, colon: number): boolean {
  if (colon <= 0 || placeholders.some((fact) => text.indexOf(fact) < colon)) return false
  return replaceFacts(text.slice(colon + 1), placeholders, '') !== ''
}

/** The text with a plain name in the place of every placeholder. */
export function withStandIns({ text, placeholders }: RenderedText): string {
  return replaceFacts(text, placeholders, STAND_IN)
}

function replaceFacts(text: string, placeholders: readonly string[], by: string): string {
  let filled = text
  for (const fact of placeholders) filled = filled.replaceAll(fact, by)
  return filled
}

function placeholderWhy(placeholders: readonly string[], field: string): string {
  const facts = placeholders.filter((fact) => !PLAIN_FACTS.has(fact))
  return `${field} shows ${facts.join(' and ')}, which is not known yet`
}
