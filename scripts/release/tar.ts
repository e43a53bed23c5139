// tar.gz files whose bytes follow from their members alone: no owner, no clock but the given one, the order as given.
// The format is ustar, as POSIX has it: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
import { gunzip, gzip } from 'node:zlib'
import { promisify } from 'node:util'

const BLOCK = 512
const LONGEST_NAME = 100
const LARGEST_SIZE = 0o77777777777
/** The highest takes half as long again for a thousandth less. */
const GZIP_LEVEL = 6
/** Where gzip's header says on which system it was made, and the value for "unknown". */
const GZIP_SYSTEM = { offset: 9, unknown: 255 } as const

/** A file that goes into an archive. */
export interface TarFile {
  /** A relative path with slashes, at most 100 bytes. */
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
  const blocks = files.flatMap((file) => [header(file, seconds), file.bytes, padding(file.bytes.length)])
  const packed = await promisify(gzip)(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), {
    level: GZIP_LEVEL,
  })
  packed[GZIP_SYSTEM.offset] = GZIP_SYSTEM.unknown
  return packed
}

/** Lists what an archive holds; rejects when it is no tar.gz. */
export async function membersOf(archive: Buffer): Promise<readonly TarMember[]> {
  const tar = await promisify(gunzip)(archive)
  const members: TarMember[] = []
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const member = memberAt(tar, at)
    members.push(member)
    at += BLOCK + member.bytes.length + padding(member.bytes.length).length
  }
  return members
}

function header({ name, bytes, executable = false }: TarFile, seconds: number): Buffer {
  if (Buffer.byteLength(name) > LONGEST_NAME)
    throw new RangeError(`the path is too long for the archive: ${name}`)
  if (bytes.length > LARGEST_SIZE) throw new RangeError(`the file is too large for the archive: ${name}`)
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  writeOctal(block, executable ? 0o755 : 0o644, { at: 100, width: 8 })
  writeOctal(block, 0, { at: 108, width: 8 })
  writeOctal(block, 0, { at: 116, width: 8 })
  writeOctal(block, bytes.length, { at: 124, width: 12 })
  writeOctal(block, seconds, { at: 136, width: 12 })
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  // The checksum counts its own field as spaces.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function writeOctal(
  block: Buffer,
  value: number,
  { at, width }: { readonly at: number; readonly width: number },
): void {
  block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at)
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

const TYPES: Readonly<Record<string, TarMember['type']>> = {
  '0': 'file',
  '\0': 'file',
  '1': 'link',
  '2': 'link',
  '5': 'folder',
}

function memberAt(tar: Buffer, at: number): TarMember {
  const text = (from: number, width: number): string =>
    tar.toString('utf8', at + from, at + from + width).replace(/\0.*$/s, '')
  const type = TYPES[tar.toString('latin1', at + 156, at + 157)] ?? 'other'
  const size = Number.parseInt(text(124, 12), 8)
  if (!Number.isInteger(size)) throw new TypeError('this is no tar archive that kleym can read')
  const prefix = text(345, 155)
  return {
    name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`,
    type,
    mode: Number.parseInt(text(100, 8), 8),
    bytes: tar.subarray(at + BLOCK, at + BLOCK + size),
  }
}
