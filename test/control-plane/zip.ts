// Reads a zip archive as Go's module proxies write them: no encryption, no ZIP64 (modules are at most 500 MB), names in
// UTF-8. PKWARE's APPNOTE 4.3 (central directory) is what it follows.
import { inflateRawSync } from 'node:zlib'

const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const STORED = 0
const DEFLATED = 8

/** The files of an archive by name, folders left out. Throws a `TypeError` on anything that is no such archive. */
export function unzip(archive: Buffer): ReadonlyMap<string, Uint8Array> {
  const end = archive.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  if (end < 0 || archive.readUInt32LE(end) !== END_OF_DIRECTORY) throw new TypeError('not a zip archive')
  const count = archive.readUInt16LE(end + 10)
  const files = new Map<string, Uint8Array>()
  let at = archive.readUInt32LE(end + 16)
  for (let entry = 0; entry < count; entry++) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY)
      throw new TypeError('a broken directory in a zip archive')
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    if (!name.endsWith('/')) files.set(name, contentOf(archive, at, name))
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return files
}

function contentOf(archive: Buffer, entry: number, name: string): Uint8Array {
  const header = archive.readUInt32LE(entry + 42)
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const packed = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  const method = archive.readUInt16LE(entry + 10)
  if (method === STORED) return packed
  if (method === DEFLATED) return inflateRawSync(packed)
  throw new TypeError(`${name} is packed by method ${method}, which is not known here`)
}
