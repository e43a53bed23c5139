// The files of a chart that is packed into an archive (`charts/redis-1.2.3.tgz`), as `helm package` writes it: tar in gzip. The
// archive is a stranger's, so it is unpacked in memory, up to a limit, and only as far as plain tar goes.
import process from 'node:process'

/** A file of an archive. */
export interface PackedFile {
  /** With `/` between names, the folder of the chart first. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** The files of an archive; undefined where it cannot be read whole, or holds more than `most` bytes. */
export function packedFiles(archive: Uint8Array, most: number): readonly PackedFile[] | undefined {
  const tar = unzipped(archive, most)
  return tar === undefined ? undefined : filesOfTar(tar)
}

/** The bytes of a gzip; undefined for any other, and where more than `most` come out of it. */
export function unzipped(archive: Uint8Array, most: number): Buffer | undefined {
  try {
    // Loaded here: it takes a start some milliseconds, and few trees hold an archive.
    return process.getBuiltinModule('node:zlib').gunzipSync(archive, { maxOutputLength: most })
  } catch {
    // No gzip, or more than may come out of it.
    return undefined
  }
}

/** https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar Interchange Format" */
const BLOCK = 512

function filesOfTar(tar: Uint8Array): readonly PackedFile[] | undefined {
  const files: PackedFile[] = []
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) return files
    const size = /^[0-7]+$/.exec(fieldOf(header, 124, 12).trim())?.[0]
    const from = at + BLOCK
    const to = from + Number.parseInt(size ?? '', 8)
    const type = fieldOf(header, 156, 1)
    // Links, and headers that say how the next file is called: helm writes none for charts as they are.
    if (size === undefined || to > tar.length || !['', '0', '5', 'g'].includes(type)) return undefined
    const [name, prefix] = [fieldOf(header, 0, 100), fieldOf(header, 345, 155)]
    const path = prefix === '' ? name : `${prefix}/${name}`
    if (type === '' || type === '0') files.push({ path, bytes: tar.subarray(from, to) })
    at = from + Math.ceil((to - from) / BLOCK) * BLOCK
  }
  return files
}

/** The text of a field up to its first NUL. */
function fieldOf(header: Uint8Array, from: number, length: number): string {
  const field = header.subarray(from, from + length)
  const end = field.indexOf(0)
  return new TextDecoder('latin1').decode(end === -1 ? field : field.subarray(0, end))
}
