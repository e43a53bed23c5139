// tar.gz files whose bytes follow from their members alone, by tar-stream: no owner, no clock but the given one, the order as
// given.
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { extract, pack, type Header } from 'tar-stream'

/** The highest takes half as long again for a thousandth less. */
const GZIP_LEVEL = 6
/** Where gzip's header says on which system it was made, and the value for "unknown". */
const GZIP_SYSTEM = { offset: 9, unknown: 255 } as const

/** A file that goes into an archive. */
export interface TarFile {
  /** A relative path with slashes. */
  readonly name: string
  readonly bytes: Buffer
  readonly executable?: boolean
}

/** A member of an archive, as its header says; nothing of it is trusted. */
export interface TarMember {
  readonly name: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  /** The permission bits. */
  readonly mode: number
  readonly bytes: Buffer
}

/** Packs files; `seconds` since 1970 is the time of each. */
export async function tarGz(files: readonly TarFile[], seconds: number): Promise<Buffer> {
  const archive = pack()
  const mtime = new Date(seconds * 1000)
  for (const { name, bytes, executable = false } of files)
    archive.entry({ name, mode: executable ? 0o755 : 0o644, mtime }, bytes)
  archive.finalize()
  const packed = await promisify(gzip)(await buffer(archive), { level: GZIP_LEVEL })
  packed[GZIP_SYSTEM.offset] = GZIP_SYSTEM.unknown
  return packed
}

/** Lists what an archive holds; rejects when it is no tar.gz. */
export async function membersOf(archive: Buffer): Promise<readonly TarMember[]> {
  const unpacked = extract()
  unpacked.end(await promisify(gunzip)(archive))
  const members: TarMember[] = []
  for await (const entry of unpacked) {
    const { name, type, mode } = entry.header
    members.push({ name, type: typeOf(type), mode, bytes: await buffer(entry) })
  }
  return members
}

function typeOf(type: Header['type']): TarMember['type'] {
  if (type === 'link' || type === 'symlink') return 'link'
  return type === 'file' ? 'file' : type === 'directory' ? 'folder' : 'other'
}
