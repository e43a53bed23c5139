// A Linux executable without what only a debugger reads: symbols, debug information, comments. Node's own has 33 MB of that.
// Done here and not by the `strip` of binutils, which is not where the image is built, and whose bytes change with its
// version. The format: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
import { BuildError } from './build-error.ts'

/** 64-bit, little-endian. */
const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1])
/** A section with this flag is in memory while the program runs. */
const ALLOCATED = 0x2n
/** A section of this type takes no bytes of the file. */
const NOBITS = 8

/** Offsets within the header of the file. */
const FILE = {
  segments: 32,
  sections: 40,
  segmentCount: 56,
  sectionCount: 60,
  namesIndex: 62,
  size: 64,
} as const
/** Offsets within the header of a segment. */
const SEGMENT = { offset: 8, length: 32, size: 56 } as const
/** Offsets within the header of a section. */
const SECTION = { type: 4, flags: 8, offset: 24, length: 32, link: 40, size: 64 } as const

/** A section: its header, and which bytes of the file it stands for. */
interface Section {
  readonly header: Buffer
  readonly isLoaded: boolean
  readonly start: number
  readonly end: number
}

/**
 * Returns an executable without the sections that are not loaded; every byte that is loaded stays where it is. Throws a
 * BuildError for what is no 64-bit little-endian ELF file, or is laid out so that nothing can be cut off its end.
 */
export function stripElf(file: Buffer): Buffer {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC))
    throw notStrippable('it is no 64-bit little-endian ELF file')
  const all = sectionsOf(file)
  const names = all[file.readUInt16LE(FILE.namesIndex)]
  if (names === undefined) throw notStrippable('its sections have no names')
  // The first section is a placeholder, which is never loaded.
  const cut = all.findIndex(({ isLoaded }, index) => index > 0 && !isLoaded)
  if (cut === -1) return file
  if (all.slice(cut).some(({ isLoaded }) => isLoaded))
    throw notStrippable('a section that is loaded comes after one that is not')
  const kept = all.slice(0, cut)
  const end = Math.max(endOfSegments(file), ...kept.map((section) => section.end))
  const nameBytes = file.subarray(names.start, names.end)
  const namesHeader = Buffer.from(names.header)
  namesHeader.writeBigUInt64LE(BigInt(end), SECTION.offset)
  const table = Math.ceil((end + nameBytes.length) / 8) * 8
  const header = Buffer.from(file.subarray(0, FILE.size))
  header.writeBigUInt64LE(BigInt(table), FILE.sections)
  header.writeUInt16LE(kept.length + 1, FILE.sectionCount)
  header.writeUInt16LE(kept.length, FILE.namesIndex)
  return Buffer.concat([
    header,
    file.subarray(FILE.size, end),
    nameBytes,
    Buffer.alloc(table - end - nameBytes.length),
    ...kept.map((section) => withLinkWithin(section.header, kept.length)),
    namesHeader,
  ])
}

function sectionsOf(file: Buffer): readonly Section[] {
  const table = Number(file.readBigUInt64LE(FILE.sections))
  return Array.from({ length: file.readUInt16LE(FILE.sectionCount) }, (_, index) => {
    const at = table + index * SECTION.size
    const header = file.subarray(at, at + SECTION.size)
    if (header.length < SECTION.size) throw notStrippable('its table of sections is cut short')
    const start = Number(header.readBigUInt64LE(SECTION.offset))
    const length =
      header.readUInt32LE(SECTION.type) === NOBITS ? 0 : Number(header.readBigUInt64LE(SECTION.length))
    const isLoaded = (header.readBigUInt64LE(SECTION.flags) & ALLOCATED) !== 0n
    return { header, isLoaded, start, end: start + length }
  })
}

/** Where the last byte of the file that the loader reads ends. */
function endOfSegments(file: Buffer): number {
  const table = Number(file.readBigUInt64LE(FILE.segments))
  const ends = Array.from({ length: file.readUInt16LE(FILE.segmentCount) }, (_, index) => {
    const header = file.subarray(table + index * SEGMENT.size)
    return Number(header.readBigUInt64LE(SEGMENT.offset) + header.readBigUInt64LE(SEGMENT.length))
  })
  return Math.max(...ends)
}

/** A section may name another one by its index, which must be one that is still there. */
function withLinkWithin(header: Buffer, count: number): Buffer {
  const copy = Buffer.from(header)
  if (copy.readUInt32LE(SECTION.link) >= count) copy.writeUInt32LE(0, SECTION.link)
  return copy
}

function notStrippable(why: string): BuildError {
  return new BuildError('the runtime cannot be stripped', {
    why,
    fix: 'run the build by `npm run build`, which brings the right Node',
  })
}
