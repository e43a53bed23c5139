// Escaping, one function per destination. Every string from a cluster or a file is hostile: it may hold terminal control
// sequences, marks that reorder text, GitHub workflow commands, markup. What is escaped is shown, never dropped.

/**
 * Characters that a terminal acts on or that no eye can see: controls (C0, DEL, C1), format characters (directional
 * marks, zero-width ones, BOM, tags), line and paragraph separators, fillers and variation selectors, non-characters,
 * lone surrogates.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu

/** True when a string holds a character that must not reach a terminal as it is. */
export function isUnsafe(text: string): boolean {
  UNSAFE.lastIndex = 0
  return UNSAFE.test(text)
}

/**
 * The text as one line that is safe on a terminal: each unsafe character is written out (`\x1b`, `\u202e`,
 * `\u{e0041}`), a line break as `\n`. Safe text comes back unchanged, so escaping twice changes nothing.
 */
export function escapeTerminal(text: string): string {
  // Nearly all text is like this, and the whole set of the others takes time to compile.
  if (/^[\u0020-\u007e\u00b7\u00d7\u2026\u203c\u221a]*$/.test(text)) return text
  return text.replace(UNSAFE, writtenOut)
}

function writtenOut(character: string): string {
  if (character === '\n') return String.raw`\n`
  if (character === '\r') return String.raw`\r`
  if (character === '\t') return String.raw`\t`
  const point = character.codePointAt(0) ?? 0
  if (point <= 0xff) return `\\x${point.toString(16).padStart(2, '0')}`
  if (point <= 0xffff) return `\\u${point.toString(16).padStart(4, '0')}`
  return `\\u{${point.toString(16)}}`
}

/**
 * One line of text that no CI system takes for a command. GitHub's runner obeys a line whose first visible characters
 * are `::`, and `##[` anywhere in a line; Azure's obeys `##vso[`. The line comes back unchanged when it is harmless.
 */
export function neutraliseCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, String.raw`$1\x3a`).replaceAll(/##(?=\[|vso\[)/g, String.raw`#\x23`)
}

/**
 * JSON text made safe to look at: what is unsafe, or begins a CI command, becomes a `\u` escape within its string. The
 * line breaks between the tokens stay. The text still is the same JSON value.
 */
export function escapeJsonText(json: string): string {
  return json
    .replace(UNSAFE, (character) => (character === '\n' ? character : jsonEscape(character)))
    .replaceAll(/##(?=\[|vso\[)/g, String.raw`#\u0023`)
}

function jsonEscape(character: string): string {
  let escaped = ''
  for (let at = 0; at < character.length; at++)
    escaped += String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  return escaped
}

/** YAML text whose unsafe characters all stand in double-quoted scalars, made safe to look at in the same way. */
export function escapeYamlText(yaml: string): string {
  return yaml
    .replace(UNSAFE, (character) => (character === '\n' ? character : yamlEscape(character)))
    .replaceAll(/##(?=\[|vso\[)/g, String.raw`#\x23`)
}

function yamlEscape(character: string): string {
  const point = character.codePointAt(0) ?? 0
  return point > 0xffff
    ? String.raw`\U${point.toString(16).padStart(8, '0')}`
    : String.raw`\u${point.toString(16).padStart(4, '0')}`
}

/** The message of a GitHub workflow command (`::error::MESSAGE`). Source: actions/toolkit, `escapeData`. */
export function escapeGithubMessage(text: string): string {
  return escapeTerminal(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** A property of a GitHub workflow command (`file=VALUE`). Source: actions/toolkit, `escapeProperty`. */
export function escapeGithubProperty(text: string): string {
  return escapeGithubMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** Text for XML 1.0 content and attributes; what XML cannot hold at all is written out as on a terminal. */
export function escapeXml(text: string): string {
  return escapeTerminal(text).replaceAll(/[&<>"']/g, (character) => XML_ENTITIES[character] ?? character)
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text for a quoted mermaid label: mermaid's entity codes for everything that it, markdown or HTML gives a meaning. */
export function escapeMermaid(text: string): string {
  return escapeTerminal(text).replaceAll(
    /[#;"&<>`*_~%\\{}[\]()|]/g,
    (character) => `#${character.codePointAt(0) ?? 0};`,
  )
}

/**
 * Text for one line of GitHub's or GitLab's Markdown, within HTML too: what either gives a meaning becomes an entity, and a
 * comment of HTML stands within what they would make a mention, a reference to an issue or a link.
 */
export function escapeMarkdown(text: string): string {
  return (
    escapeTerminal(text)
      .trim()
      .replaceAll(/[\\`*_{}[\]<>|~&$]/g, (character) => `&#${character.codePointAt(0) ?? 0};`)
      .replace(/^[-+=]/, (character) => `&#${character.codePointAt(0) ?? 0};`)
      .replace(/^(\d+)\./, '$1&#46;')
      .replace(/^(\d+)\)/, '$1&#41;')
      .replaceAll(/(?<!&)#/g, '&#35;<!-- -->')
      .replaceAll('@', '@<!-- -->')
      // GitLab refers to a merge request by !12, to a milestone by %12, and makes a link of any scheme; GitHub knows GH-12.
      .replaceAll(/[!%^](?=[\w"])/g, '$&<!-- -->')
      .replaceAll(/(?<=\bGH-)(?=\d)/gi, '<!-- -->')
      .replaceAll(/(?<=[a-z0-9]):(?=\/\/)/gi, ':<!-- -->')
      .replaceAll(/:(?=(?:[\w+-]|&#95;)+:)/g, ':<!-- -->')
      .replaceAll(/\bwww\./gi, (www) => `${www.slice(0, -1)}<!-- -->.`)
  )
}

/**
 * Text for a quoted string of Graphviz: there a backslash begins an escape (`\N` is the name of the node), and an ampersand
 * an HTML entity. No line of it is a command of a CI system.
 */
export function escapeDot(text: string): string {
  return escapeTerminal(text)
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('&', '&amp;')
    .replaceAll(/##(?=\[|vso\[)/g, '#&#35;')
}
