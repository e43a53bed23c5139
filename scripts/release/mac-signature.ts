// An ad-hoc signature for a Mach-O executable, as Apple's linker makes one: hashes of all pages and no key. Bun signs what
// it makes for arm64, and leaves on x64 the signature of its own executable, which fits no longer and stops macOS from
// starting it. The layout is that of https://github.com/apple-oss-distributions/xnu (osfmk/kern/cs_blobs.h, mach-o/loader.h).
import { createHash } from 'node:crypto'

const MAGIC_64 = 0xfeedfacf
const HEADER_SIZE = 32
const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d
const SUPERBLOB = { magic: 0xfade0cc0, size: 20 } as const
const DIRECTORY = { magic: 0xfade0c02, version: 0x20400, size: 88 } as const
/** CS_ADHOC | CS_LINKER_SIGNED. */
const FLAGS = 0x20002
const SHA256 = { type: 2, size: 32 } as const
const PAGE = { size: 4096, log2: 12 } as const
/** CS_EXECSEG_MAIN_BINARY. */
const MAIN_BINARY = 1n
/** What the linker calls what it does not know the name of. */
const IDENTIFIER = Buffer.from('a.out\0')

/** Where things are in the file, all offsets in bytes. */
interface Layout {
  /** The load command that says where the signature is. */
  readonly command: number
  /** Where the signature begins, and what it covers ends. */
  readonly limit: number
  /** The load command of __LINKEDIT, the segment that holds the signature, and where that begins. */
  readonly linkedit: number
  readonly linkeditFrom: number
  readonly textSize: bigint
}

/** The executable with an ad-hoc signature in place of the one that it has. Throws where it has none. */
export function signAdHoc(executable: Buffer): Buffer {
  const layout = layoutOf(executable)
  const pages = Math.ceil(layout.limit / PAGE.size)
  const directorySize = DIRECTORY.size + IDENTIFIER.length + pages * SHA256.size
  const size = SUPERBLOB.size + directorySize
  const signed = Buffer.concat([executable.subarray(0, layout.limit), Buffer.alloc(size)])
  // The load commands first: they are part of what is hashed.
  const linkeditSize = layout.limit + size - layout.linkeditFrom
  signed.writeUInt32LE(size, layout.command + 12)
  signed.writeBigUInt64LE(BigInt(Math.ceil(linkeditSize / PAGE.size) * PAGE.size), layout.linkedit + 32)
  signed.writeBigUInt64LE(BigInt(linkeditSize), layout.linkedit + 48)
  const at = layout.limit
  writeWords(signed, at, [SUPERBLOB.magic, size, 1, 0, SUPERBLOB.size])
  writeDirectory(signed, at + SUPERBLOB.size, { ...layout, pages, directorySize })
  return signed
}

/** The first page whose hash in the signature is wrong; undefined when all are right. Throws where there is no signature. */
export function wrongPage(executable: Buffer): number | undefined {
  const { limit } = layoutOf(executable)
  const count = executable.readUInt32BE(limit + 8)
  const blobs = Array.from(
    { length: count },
    (_, index) => limit + executable.readUInt32BE(limit + 16 + 8 * index),
  )
  const directory = blobs.find((at) => executable.readUInt32BE(at) === DIRECTORY.magic)
  if (directory === undefined) throw new TypeError('the signature has no code directory')
  const hashes = directory + executable.readUInt32BE(directory + 16)
  const covered = executable.readUInt32BE(directory + 32)
  // A signature that ends before the file's own content covers too little.
  if (covered !== limit) return Math.floor(covered / PAGE.size)
  for (let page = 0; page * PAGE.size < limit; page++) {
    const said = executable.subarray(hashes + page * SHA256.size, hashes + (page + 1) * SHA256.size)
    if (!hashOf(executable, page, limit).equals(said)) return page
  }
  return undefined
}

function writeDirectory(
  signed: Buffer,
  at: number,
  {
    limit,
    textSize,
    pages,
    directorySize,
  }: Layout & { readonly pages: number; readonly directorySize: number },
): void {
  const hashes = DIRECTORY.size + IDENTIFIER.length
  const head = [
    DIRECTORY.magic,
    directorySize,
    DIRECTORY.version,
    FLAGS,
    hashes,
    DIRECTORY.size,
    0,
    pages,
    limit,
  ]
  writeWords(signed, at, head)
  signed.set([SHA256.size, SHA256.type, 0, PAGE.log2], at + 36)
  signed.writeBigUInt64BE(textSize, at + 72)
  signed.writeBigUInt64BE(MAIN_BINARY, at + 80)
  signed.set(IDENTIFIER, at + DIRECTORY.size)
  for (let page = 0; page < pages; page++)
    signed.set(hashOf(signed, page, limit), at + hashes + page * SHA256.size)
}

function hashOf(executable: Buffer, page: number, limit: number): Buffer {
  const end = Math.min((page + 1) * PAGE.size, limit)
  return createHash('sha256')
    .update(executable.subarray(page * PAGE.size, end))
    .digest()
}

function writeWords(buffer: Buffer, at: number, words: readonly number[]): void {
  for (const [index, word] of words.entries()) buffer.writeUInt32BE(word, at + 4 * index)
}

function layoutOf(executable: Buffer): Layout {
  if (executable.length < HEADER_SIZE || executable.readUInt32LE(0) !== MAGIC_64)
    throw new TypeError('this is no executable of macOS for 64 bits')
  let [command, linkedit, text] = [0, 0, 0]
  let at = HEADER_SIZE
  for (let left = executable.readUInt32LE(16); left > 0; left--) {
    const kind = executable.readUInt32LE(at)
    if (kind === LC_CODE_SIGNATURE) command = at
    if (kind === LC_SEGMENT_64) {
      const name = executable.toString('latin1', at + 8, at + 24).replace(/\0.*$/, '')
      if (name === '__LINKEDIT') linkedit = at
      if (name === '__TEXT') text = at
    }
    at += executable.readUInt32LE(at + 4)
  }
  if (command === 0 || linkedit === 0 || text === 0)
    throw new TypeError('the executable has no signature to replace')
  return {
    command,
    limit: executable.readUInt32LE(command + 8),
    linkedit,
    linkeditFrom: Number(executable.readBigUInt64LE(linkedit + 40)),
    textSize: executable.readBigUInt64LE(text + 48),
  }
}
