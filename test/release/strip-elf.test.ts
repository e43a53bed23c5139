// The runtime without what only a debugger reads: the same program, byte for byte where it is loaded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { stripElf } from '../../scripts/build/strip-elf.ts'

const MIB = 1024 * 1024
const PT_LOAD = 1

/** The pieces of the file that the loader maps, as offset and length. */
function loadedPieces(file: Buffer): readonly (readonly [offset: number, length: number])[] {
  const table = Number(file.readBigUInt64LE(32))
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => file.subarray(table + index * 56))
    .filter((header) => header.readUInt32LE(0) === PT_LOAD)
    .map((header) => [Number(header.readBigUInt64LE(8)), Number(header.readBigUInt64LE(32))] as const)
}

/** Everything but the header, whose fields about sections are others. */
function withoutHeader(piece: Buffer, offset: number): Buffer {
  return piece.subarray(offset === 0 ? 64 : 0)
}

test('Node is 30 MB smaller, and every byte that is loaded is where it was', () => {
  const whole = readFileSync(process.execPath)
  const stripped = stripElf(whole)
  expect(whole.length - stripped.length).toBeGreaterThan(30 * MIB)
  const pieces = loadedPieces(whole)
  expect(pieces.length).toBeGreaterThan(2)
  for (const [offset, length] of pieces) {
    const [before, after] = [whole, stripped].map((file) => file.subarray(offset, offset + length))
    if (before === undefined || after === undefined) throw new Error('a file without bytes')
    expect(withoutHeader(before, offset).equals(withoutHeader(after, offset))).toBe(true)
  }
  expect(stripElf(stripped).equals(stripped)).toBe(true)
  const folder = mkdtempSync(join(tmpdir(), 'kleym-strip-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'node')
  writeFileSync(path, stripped, { mode: 0o755 })
  expect(printedBy(path, ['--print', 'process.version + crypto.randomUUID().length'])).toBe(
    `${process.version}36\n`,
  )
})

test.each<[what: string, file: Buffer]>([
  ['a script', Buffer.from('#!/bin/sh\n')],
  ['an executable of macOS', Buffer.from([0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1])],
  ['nothing', Buffer.alloc(0)],
])('%s is refused', (_what, file) => {
  expect(() => stripElf(file)).toThrow('the runtime cannot be stripped')
})

/** An ELF file of nothing but a header and sections with these flags. */
function elfOf(...flags: readonly number[]): Buffer {
  const file = Buffer.alloc(64 + flags.length * 64)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1])
  file.writeBigUInt64LE(64n, 40)
  file.writeUInt16LE(flags.length, 60)
  file.writeUInt16LE(flags.length - 1, 62)
  for (const [index, flag] of flags.entries()) file.writeBigUInt64LE(BigInt(flag), 64 + index * 64 + 8)
  return file
}

test('a file in which something that is loaded would be cut off is refused', () => {
  expect(() => stripElf(elfOf(0, 2, 0, 2, 0))).toThrow(
    expect.objectContaining({ why: 'a section that is loaded comes after one that is not' }),
  )
})
