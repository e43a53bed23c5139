// html, js and urlquery, after Go's text/template/funcs.go and net/url's QueryEscape. Byte texts in and out.
import { runeAt } from './byte-text.ts'
import { isPrintable } from './quoting.ts'

const HTML: Readonly<Record<string, string>> = {
  '\0': '\xef\xbf\xbd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
}
const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}

/** Go's HTMLEscapeString. */
export function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (character) => HTML[character] ?? character)
}

/** Go's JSEscapeString. */
export function escapeJs(text: string): string {
  let out = ''
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at)
    if (character < '\x80') {
      out += JS[character] ?? (character < ' ' ? `\\u00${hex(character.charCodeAt(0), 2)}` : character)
      at++
      continue
    }
    const rune = runeAt(text, at)
    out += isPrintable(rune.code) ? text.slice(at, at + rune.width) : `\\u${hex(rune.code, 4)}`
    at += rune.width
  }
  return out
}

/** Go's url.QueryEscape. */
export function escapeQuery(text: string): string {
  return text.replace(/[^A-Za-z0-9\-_.~]/g, (character) =>
    character === ' ' ? '+' : `%${hex(character.charCodeAt(0), 2)}`,
  )
}

function hex(value: number, width: number): string {
  return value.toString(16).toUpperCase().padStart(width, '0')
}
