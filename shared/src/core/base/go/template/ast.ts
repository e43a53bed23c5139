// The tree of a parsed template, after Go's text/template/parse/node.go. Texts are byte texts.

/** One operand: what a command starts with, or an argument. */
export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'nil' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly number: NumberConstant }
  | { readonly kind: 'field'; readonly names: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly names: readonly string[] }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | { readonly kind: 'chain'; readonly of: Operand; readonly names: readonly string[] }

/** A constant as Go types it where no type is asked for. */
export type NumberConstant =
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'overflow'; readonly text: string }

/** A command: an operand and its arguments; never empty. */
export interface Command {
  readonly first: Operand
  readonly args: readonly Operand[]
}

/** A pipeline: `$x, $y := a | b`. */
export interface Pipe {
  readonly declared: readonly string[]
  readonly assigns: boolean
  readonly commands: readonly Command[]
}

/** A piece of a template. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | Branch
  | { readonly kind: 'template'; readonly name: string; readonly pipe: Pipe | undefined }
  | { readonly kind: 'break' | 'continue' }

/** `if`, `with` and `range`. */
export interface Branch {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipe: Pipe
  readonly list: readonly TemplateNode[]
  readonly otherwise: readonly TemplateNode[] | undefined
}

/** What one source gives. */
export interface ParsedSource {
  readonly main: readonly TemplateNode[]
  /** The templates of `define` and `block`, by name. */
  readonly defined: ReadonlyMap<string, readonly TemplateNode[]>
  /** The main part holds a number or a character constant. */
  readonly hasNumber: boolean
  /** Whether a `{{template}}` calls a definition, which may not be there. */
  readonly callsTemplate: boolean
}
