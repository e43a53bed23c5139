// Elements and their text. Text of a cluster or of a file is only ever text here: what no eye can see, or what would reorder
// its surroundings, is written out, and each text is kept apart from the direction of those around it.
import { escapeTerminal } from '../../../io/escape.ts'

/** What may stand in an element; nothing of undefined. */
export type Child = Node | string | undefined

/** An element of the page by its id; throws where the body lacks it. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/** An element with attributes and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  for (const child of children) if (child !== undefined) made.append(child)
  return made
}

/** A span of a class. */
export function span(className: string, ...children: readonly Child[]): HTMLElement {
  return element('span', { class: className }, ...children)
}

/** Text that came from a cluster or from files, visible and isolated. */
export function foreign(text: string, className = ''): HTMLElement {
  return element('bdi', className === '' ? {} : { class: className }, shown(text))
}

/** The same as plain text, for attributes. */
export function shown(text: string): string {
  return escapeTerminal(text)
}

/** A button that does something. */
export function button(
  attributes: Readonly<Record<string, string>>,
  act: () => void,
  ...children: readonly Child[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, ...children)
  made.addEventListener('click', act)
  return made
}

/** `1 pod`, `3 pods`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}
