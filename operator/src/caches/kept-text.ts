// What the caches keep of an object but read rarely: as text, which takes far less memory than the parsed value.

/** A JSON value as text of one byte per character, where that is enough: what `JSON.stringify` leaves may take two. */
export function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value)).toString()
}

/** The same, but undefined for a text of more than `most` characters. */
export function boundedTextOf(value: unknown, most: number): string | undefined {
  const text = textOf(value)
  return text === undefined || text.length > most ? undefined : text
}

/** The value of such a text; parses it. */
export function valueOf(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}
