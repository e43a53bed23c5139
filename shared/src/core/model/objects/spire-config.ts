// The configuration of a SPIRE server or agent, which is HCL (version 1) or JSON: as blocks of keys, whatever it says.
// https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md, https://github.com/hashicorp/hcl/blob/hcl1/README.md
import { parseGoDuration } from '../../base/go/duration.ts'

/** Keys with their values; a key may stand several times, and a list of blocks counts as its blocks. */
export type SpireBlock = readonly (readonly [key: string, value: SpireValue])[]
/** A text (a number and a flag too), a list or a block. */
export type SpireValue = string | { readonly list: readonly SpireValue[] } | { readonly block: SpireBlock }

/** More than any configuration has; each level is a call. */
const MAX_DEPTH = 32

/** Reads a configuration; undefined: it is not understood. */
export function readSpireConfig(text: string): SpireBlock | undefined {
  try {
    const reader = new Reader(text)
    // JSON has braces around all.
    return reader.takes('{') ? reader.last(reader.block('}', 0)) : reader.block(undefined, 0)
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined
    throw error
  }
}

/** The keys below a path of keys: `namesAt(config, 'plugins', 'NodeAttestor')` are the node attestors. */
export function namesAt(block: SpireBlock, ...path: readonly string[]): readonly string[] {
  return blocksAt(block, ...path).flatMap((one) => one.map(([key]) => key))
}

/** The blocks at a path of keys. */
export function blocksAt(block: SpireBlock, ...path: readonly string[]): readonly SpireBlock[] {
  let found: readonly SpireBlock[] = [block]
  for (const key of path)
    found = found.flatMap((one) => one.flatMap(([name, value]) => (name === key ? blocksIn(value) : [])))
  return found
}

/** The texts of a key of a block, those of a list too. */
export function textsAt(block: SpireBlock, key: string): readonly string[] {
  return block.flatMap(([name, value]) => (name === key ? textsIn(value) : []))
}

/** The texts of a key of a block, and of all blocks in it. */
export function textsBelow(block: SpireBlock, key: string): readonly string[] {
  return [
    ...textsAt(block, key),
    ...block.flatMap(([, value]) => blocksIn(value).flatMap((one) => textsBelow(one, key))),
  ]
}

/** A duration, in seconds; undefined: it is not set, or is none. */
export function secondsBelow(block: SpireBlock, key: string): number | undefined {
  const [value] = textsBelow(block, key)
  const duration = value === undefined ? undefined : parseGoDuration(value)
  return duration?.ok === true ? Number(duration.nanoseconds) / 1e9 : undefined
}

/** Each setting with its value, as `server.bind_port "8081"`; without those whose key, or that of a block around them, is left out. */
export function settingsIn(block: SpireBlock, leftOut: RegExp, path = ''): readonly string[] {
  return block.flatMap(([key, value]) =>
    leftOut.test(key) ? [] : settingsOf(value, leftOut, path === '' ? key : `${path}.${key}`),
  )
}

function settingsOf(value: SpireValue, leftOut: RegExp, path: string): readonly string[] {
  if (typeof value === 'string') return [`${path} "${value}"`]
  const inside = 'block' in value ? settingsIn(value.block, leftOut, path) : []
  const listed = 'list' in value ? value.list.flatMap((one) => settingsOf(one, leftOut, path)) : inside
  // A plugin that is given nothing is there all the same.
  return listed.length === 0 ? [path] : listed
}

function blocksIn(value: SpireValue): readonly SpireBlock[] {
  if (typeof value === 'string') return []
  return 'block' in value ? [value.block] : value.list.flatMap(blocksIn)
}

function textsIn(value: SpireValue): readonly string[] {
  if (typeof value === 'string') return [value]
  return 'list' in value ? value.list.flatMap(textsIn) : []
}

/**
 * A blank, a comment, a string, a sign, or a word, which a variable may be a part of. None looks further ahead than it takes, since a tenant
 * may have written the text.
 */
const TOKENS =
  /[\s,]+|#[^\n]*|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|"((?:[^"\\]|\\[^])*)"|([{}[\]=:])|((?:\$\{[^}\s]{0,255}\}|[^\s{}[\],=:"])+)/gy

class NotUnderstood extends Error {}

interface Token {
  readonly sign?: string | undefined
  readonly text?: string | undefined
}

class Reader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    let end = 0
    const tokens: Token[] = []
    for (const { 0: all, 1: quoted, 2: sign, 3: word, index } of text.matchAll(TOKENS)) {
      end = index + all.length
      const written = quoted ?? word
      if (sign !== undefined || written !== undefined) tokens.push({ sign, text: written })
    }
    if (end !== text.length) throw new NotUnderstood()
    this.#tokens = tokens
  }

  /** Whether the next token is this sign, which is then taken. */
  takes(sign: string): boolean {
    if (this.#tokens[this.#at]?.sign !== sign) return false
    this.#at++
    return true
  }

  /** A block, behind which nothing may follow. */
  last(block: SpireBlock): SpireBlock {
    if (this.#at < this.#tokens.length) throw new NotUnderstood()
    return block
  }

  /** The keys up to a sign, or to the end of the text. */
  block(end: string | undefined, depth: number): SpireBlock {
    const keys: [string, SpireValue][] = []
    while (end === undefined ? this.#at < this.#tokens.length : !this.takes(end))
      keys.push([this.#word(), this.#value(depth)])
    return keys
  }

  /** What stands behind a key: `= VALUE`, `: VALUE`, a block, or a label and its block (`NodeAttestor "k8s_psat" {`). */
  #value(depth: number): SpireValue {
    if (depth > MAX_DEPTH) throw new NotUnderstood()
    const isSet = this.takes('=') || this.takes(':')
    if (this.takes('{')) return { block: this.block('}', depth + 1) }
    if (this.takes('[')) return this.#list(depth + 1)
    const word = this.#word()
    return isSet ? word : { block: [[word, this.#value(depth + 1)]] }
  }

  #list(depth: number): SpireValue {
    if (depth > MAX_DEPTH) throw new NotUnderstood()
    const list: SpireValue[] = []
    while (!this.takes(']')) {
      if (this.takes('{')) list.push({ block: this.block('}', depth + 1) })
      else list.push(this.takes('[') ? this.#list(depth + 1) : this.#word())
    }
    return { list }
  }

  #word(): string {
    const text = this.#tokens[this.#at]?.text
    if (text === undefined) throw new NotUnderstood()
    this.#at++
    return text
  }
}
