// One template of an entry together with what SCM makes of its text. A template without actions gives the same for
// every pod and is worked out once.
import { getOrCreate } from '../get-or-create.ts'
import { parseTemplate, type ParsedTemplate, type TemplateData } from '../go/template/template.ts'
import { PLAIN_FACTS, TRUST_DOMAIN } from './placeholders.ts'
import type { EntrySelector } from './prediction.ts'
import { parseSpiffeId, type ParsedSpiffeId } from './spiffe-id.ts'

/** What a template gives for one pod. */
export type FieldResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** The value stands, but whether SCM accepts it hangs on a fact that is not known. */
  | { readonly kind: 'open'; readonly value: T; readonly why: string }
  | { readonly kind: 'failed'; readonly field: string; readonly why: string }
  | { readonly kind: 'unknown'; readonly field: string; readonly construct: string }

/** A rendered text; `open` are the facts that it shows as placeholders. */
export interface RenderedText {
  readonly text: string
  readonly placeholders: readonly string[]
  readonly validUtf8: boolean
}

/** A rendered SPIFFE ID, and what it reads as with a plain name in the place of every open fact. */
export interface IdText extends RenderedText {
  readonly parsed: ParsedSpiffeId
}

type UsableTemplate = Exclude<ParsedTemplate, { readonly kind: 'syntax error' }>
type Reader<T> = (text: RenderedText, field: string) => FieldResult<T>

/** A template in a field, with the reading of its text. */
export class FieldTemplate<T> {
  readonly field: string
  /** What it gives for every pod, where it has no actions. */
  readonly constant: FieldResult<T> | undefined
  /** Undefined where it is a constant: ten thousand of those are kept for as long as an answer takes. */
  readonly #template: UsableTemplate | undefined
  readonly #read: Reader<T>

  constructor(field: string, template: UsableTemplate, read: Reader<T>) {
    this.field = field
    this.#read = read
    if (template.kind === 'template' && template.literal !== undefined) {
      this.constant = read({ text: template.literal, placeholders: NONE, validUtf8: true }, field)
    } else this.#template = template
  }

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
        const placeholders = rendered.open.length === 0 ? NONE : rendered.open.map((what) => `<${what}>`)
        return this.#read({ text: rendered.text, placeholders, validUtf8: !rendered.invalidUtf8 }, this.field)
      }
      case 'failed':
        return { kind: 'failed', field: this.field, why: rendered.message }
      case 'unknown':
        return { kind: 'unknown', field: this.field, construct: rendered.why }
    }
  }

  /** Whether its text could come out as something else than UTF-8: only by cutting a text or by an escape. */
  get mayBreakUtf8(): boolean {
    if (this.#template === undefined || this.#template.kind === 'unsupported') return false
    return mayCutText(this.#template.source)
  }
}

/** Whether a template holds what cuts texts, or an escape. */
export function mayCutText(template: string): boolean {
  return /slice|\\/.test(template)
}

const NONE: readonly string[] = []
const STAND_IN = 'x'

/** Parses the template of a field; a text is why Go's parser refuses it. */
export function readFieldTemplate<T>(
  field: string,
  source: string,
  read: Reader<T>,
): FieldTemplate<T> | string {
  const template = parseTemplate(source)
  return template.kind === 'syntax error' ? template.message : new FieldTemplate(field, template, read)
}

/** Reads the template of a field, as `readStep`. */
export type FieldTemplateReader<T> = (field: string, source: string) => FieldTemplate<T> | string

/** Reads the templates of many objects: the same text in the same field is read once. */
export function fieldTemplateReader<T>(read: Reader<T>): FieldTemplateReader<T> {
  const known = new Map<string, FieldTemplate<T> | string>()
  return (field, source) =>
    getOrCreate(known, `${field}\n${source}`, () => readFieldTemplate(field, source, read))
}

/** A template whose text is taken as it is: DNS names are not checked until the server sees them. */
export function readAnyText(text: RenderedText): FieldResult<RenderedText> {
  return { kind: 'ok', value: text }
}

/** A template that gives a SPIFFE ID of SCM's trust domain, which may be unknown. */
export function spiffeIdReader(trustDomain: string | undefined): Reader<IdText> {
  return (text, field) => {
    const parsed = parseSpiffeId(withStandIns(text))
    const value = { ...text, parsed }
    const plain = text.placeholders.every((fact) => PLAIN_FACTS.has(fact))
    if (!plain) return { kind: 'open', value, why: openWhy(text.placeholders, field) }
    if (!parsed.ok) return { kind: 'failed', field, why: `it gives ${text.text}, which ${parsed.message}` }
    if (text.text.startsWith(`spiffe://${TRUST_DOMAIN}`) && parsed.trustDomain === STAND_IN) {
      return { kind: 'ok', value }
    }
    if (trustDomain === undefined) {
      const why = `SCM's trust domain is not known, and ${field} is refused in any but its own`
      return { kind: 'open', value, why }
    }
    if (parsed.trustDomain === trustDomain) return { kind: 'ok', value }
    const why = `it gives ${text.text}, which is not in SCM's trust domain ${trustDomain}`
    return { kind: 'failed', field, why }
  }
}

/** A template that gives a selector: SCM splits it at the first colon and trims nothing. */
export function readSelectorText(
  text: RenderedText,
  field: string,
): FieldResult<EntrySelector & RenderedText> {
  const at = text.text.indexOf(':')
  const value = { ...text, type: text.text.slice(0, Math.max(at, 0)), value: text.text.slice(at + 1) }
  if (text.placeholders.some((fact) => !PLAIN_FACTS.has(fact)) && !isSettled(text, at)) {
    return { kind: 'open', value, why: openWhy(text.placeholders, field) }
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

/** Whether type and value are there however the open facts turn out. */
function isSettled({ text, placeholders }: RenderedText, colon: number): boolean {
  if (colon <= 0 || placeholders.some((fact) => text.indexOf(fact) < colon)) return false
  return replaceFacts(text.slice(colon + 1), placeholders, '') !== ''
}

/** The text with a plain name in the place of every open fact. */
export function withStandIns({ text, placeholders }: RenderedText): string {
  return replaceFacts(text, placeholders, STAND_IN)
}

function replaceFacts(text: string, open: readonly string[], by: string): string {
  let filled = text
  for (const fact of open) filled = filled.replaceAll(fact, by)
  return filled
}

function openWhy(open: readonly string[], field: string): string {
  const facts = open.filter((fact) => !PLAIN_FACTS.has(fact))
  return `${field} shows ${facts.join(' and ')}, which is not known yet`
}
