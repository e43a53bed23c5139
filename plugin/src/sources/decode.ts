// Bytes to text. Kubernetes manifests are UTF-8; a byte that is not ends the document that it is in, not the file.

/** Decoded text. */
export interface Decoded {
  readonly text: string
  /** The lines that are not UTF-8, counted from 1; their text holds U+FFFD instead. */
  readonly badLines: readonly number[]
}

const STRICT = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8 and drops a byte-order mark at the beginning. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  try {
    return { text: STRICT.decode(bytes), badLines: [] }
  } catch {
    return { text: new TextDecoder('utf-8').decode(bytes), badLines: findBadLines(bytes) }
  }
}

/** `UTF-16` or `UTF-32` when the bytes begin with their mark, else undefined. */
export function foreignEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'UTF-32' : 'UTF-16'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16'
  return undefined
}

/** A line break is one byte that no other character contains, so lines can be told apart before decoding. */
function findBadLines(bytes: Uint8Array): readonly number[] {
  const bad: number[] = []
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    try {
      STRICT.decode(bytes.subarray(start, end))
    } catch {
      bad.push(line)
    }
    start = end + 1
  }
  return bad
}
