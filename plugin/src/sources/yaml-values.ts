// A document of YAML that is not plain, by js-yaml: its events become plain values. Aliases, merge keys and keys are resolved by us, within a
// budget: the text is not trusted.
import { isRecord } from '@kleym/shared/core/base/json.ts'
import { EVENT_ID, getScalarValue, SCALAR_STYLE, type Event } from 'js-yaml'
import { CONTAINER_VALUES, INPUT_LIMITS, type Budget } from './budget.ts'
import {
  FIX_DENSE,
  LineIndex,
  MAX_DEPTH,
  shownKey,
  type Chunk,
  type DocumentFault,
  type ParsedDocument,
} from './document.ts'
import {
  eventsOf,
  isNode,
  lineAround,
  startOf,
  YamlRefusal,
  type NodeEvent,
  type ScalarEvent,
} from './yaml-events.ts'
import { placeOfItem } from './yaml-plain.ts'
import { isIntegerText, resolvePlain } from './yaml-scalars.ts'

/** The nodes that aliases may add to a document: more is a bomb (`*a` in `*b` in `*c` ...). */
export const ALIAS_NODES_MAX = 100_000

const FIX = 'correct the YAML; the other documents are read all the same'

/** A document, or what is wrong with it; undefined if it holds nothing. */
export function readDocument(
  { text, document, line }: Chunk,
  budget: Budget,
): ParsedDocument | DocumentFault | undefined {
  const index = new LineIndex(text)
  if (text.length > INPUT_LIMITS.yamlTokens && tokensIn(text) > INPUT_LIMITS.yamlTokens) {
    const why = `it has more than ${INPUT_LIMITS.yamlTokens.toLocaleString('en')} tokens, too much for YAML that is not plain`
    return { document, line, why, fix: FIX_DENSE, isLimit: true }
  }
  const lineOf = (offset: number): number => line + index.at(offset).line - 1
  let reading: Reading | undefined
  try {
    const events = eventsOf(text, MAX_DEPTH)
    budget.charge('values', valuesIn(events))
    const [, root] = events
    if (root === undefined || !isNode(root) || isNothing(root)) return undefined
    reading = new Reading(text, events, budget)
    const value = reading.next()
    const { itemStarts } = reading
    const start = Math.max(startOf(root), 0)
    const itemLine = (path: readonly number[]): number =>
      lineOf(placeOfItem(value, path, itemStarts) ?? start)
    return { value, text, document, line: lineOf(start), itemLine }
  } catch (thrown) {
    if (!(thrown instanceof YamlRefusal)) throw thrown
    const { message: why, offset = reading?.start ?? 0 } = thrown
    return {
      document,
      line: lineOf(offset),
      column: index.at(offset).column,
      lineText: lineAround(text, offset),
      why,
      fix: FIX,
    }
  }
}

/** How much a document takes in, as the budget counts: its events, too, take memory while it is read. */
function valuesIn(events: readonly Event[]): number {
  let ends = 0
  for (const { type } of events) if (type === EVENT_ID.POP) ends++
  return ends * CONTAINER_VALUES + Math.ceil(events.length / 2)
}

/** What begins a value or a line: there are at most twice as many nodes. */
function tokensIn(text: string): number {
  let count = 0
  for (const _ of text.matchAll(/[\n,[{]/g)) count++
  return count
}

function isNothing(node: NodeEvent): boolean {
  return node.type === EVENT_ID.SCALAR && node.valueStart === -1 && node.tagStart === -1
}

/** Turns the events of a document into plain values. */
class Reading {
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #budget: Budget
  /** Which event is next, behind the one that begins the document. */
  #at = 1
  /** Where the node of each anchor is among the events. */
  readonly #anchors = new Map<string, number>()
  /** The nodes with an anchor that have not ended. */
  readonly #open = new Set<number>()
  /** Where the items of each list begin that stands under `items`. */
  readonly itemStarts = new Map<readonly unknown[], readonly number[]>()
  /** Where the last node begins that is not empty. */
  start = 0
  #aliasDepth = 0
  #aliasNodes = 0

  constructor(text: string, events: readonly Event[], budget: Budget) {
    this.#text = text
    this.#events = events
    this.#budget = budget
  }

  /** The value of the next node, that of a key if it has one; throws a YamlRefusal. */
  next(depth = 0, key?: string): unknown {
    const at = this.#at++
    const node = this.#nodeAt(at)
    const start = startOf(node)
    if (start !== -1) this.start = start
    if (depth > MAX_DEPTH) throw refusal(`it is nested more than ${MAX_DEPTH} levels deep`, node)
    if (this.#aliasDepth > 0) {
      this.#budget.charge('values', CONTAINER_VALUES)
      if (++this.#aliasNodes > ALIAS_NODES_MAX)
        throw refusal(`its aliases expand to more than ${ALIAS_NODES_MAX} values`, node)
    }
    if (node.type === EVENT_ID.ALIAS) return this.#alias(node, depth)
    const hasAnchor = node.anchorStart !== -1
    if (hasAnchor) this.#anchors.set(this.#text.slice(node.anchorStart, node.anchorEnd), at)
    if (node.type === EVENT_ID.SCALAR) return this.#scalar(node)
    const isMapping = node.type === EVENT_ID.MAPPING
    const tag = this.#tagOf(node)
    if (tag !== undefined && tag !== TAGS[isMapping ? 'map' : 'seq']) throw unknownTag(tag, node)
    if (hasAnchor) this.#open.add(at)
    const value = isMapping ? this.#mapping(depth) : this.#list(depth, key === 'items' ? [] : undefined)
    this.#open.delete(at)
    return value
  }

  #nodeAt(at: number): NodeEvent {
    const event = this.#events[at]
    if (event === undefined || !isNode(event)) throw new Error('the events of a document end too early')
    return event
  }

  /** Whether the mapping or list that is being read has ended; then goes on behind it. */
  #hasEnded(): boolean {
    const hasEnded = this.#events[this.#at]?.type === EVENT_ID.POP
    if (hasEnded) this.#at++
    return hasEnded
  }

  #tagOf({ tagStart, tagEnd }: Exclude<NodeEvent, { type: typeof EVENT_ID.ALIAS }>): string | undefined {
    if (tagStart === -1) return undefined
    const tag = this.#text.slice(tagStart, tagEnd)
    return tag.startsWith('!!') ? TAG_PREFIX + tag.slice(2) : (/^!<(.*)>$/.exec(tag)?.[1] ?? tag)
  }

  #scalar(node: ScalarEvent): unknown {
    const text = getScalarValue(this.#text, node)
    const tag = this.#tagOf(node)
    const isPlain = node.style === SCALAR_STYLE.PLAIN && tag === undefined
    const value = isPlain
      ? resolvePlain(text)
      : tag === undefined || tag === '!'
        ? text
        : tagged(tag, text, node)
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw refusal('an infinite number or NaN has no place in JSON, and so in no Kubernetes object', node)
  }

  #list(depth: number, starts: number[] | undefined): unknown[] {
    const items: unknown[] = []
    while (!this.#hasEnded()) {
      starts?.push(startOf(this.#nodeAt(this.#at)))
      items.push(this.next(depth + 1))
    }
    if (starts !== undefined) this.itemStarts.set(items, starts)
    return items
  }

  #mapping(depth: number): Record<string, unknown> {
    const record: Record<string, unknown> = {}
    /** Those keys that came with a merge alone. */
    const merged = new Set<string>()
    while (!this.#hasEnded()) {
      const keyNode = this.#nodeAt(this.#at)
      // Go merges where the merge key stands: over what stands before it, and under what stands behind it.
      if (this.#isMerge(keyNode)) {
        this.#at++
        this.#merge(depth, record, merged)
        continue
      }
      const key = this.#key(keyNode, depth)
      if (Object.hasOwn(record, key) && !merged.delete(key))
        throw refusal(`the key ${shownKey(key)} is defined twice`, keyNode)
      define(record, key, this.next(depth + 1, key))
    }
    return record
  }

  #key(node: NodeEvent, depth: number): string {
    const key = this.next(depth + 1)
    const isPlain = node.type === EVENT_ID.SCALAR && node.style === SCALAR_STYLE.PLAIN
    // `{!}` and the like: a tag, and nothing that has it.
    const isEmpty = key === '' && isPlain
    if (typeof key === 'string' && !isEmpty) return key
    const isInteger = node.type === EVENT_ID.SCALAR && isIntegerText(getScalarValue(this.#text, node))
    if (typeof key === 'boolean' || (isInteger && Number.isSafeInteger(key))) return String(key)
    if (typeof key === 'number') throw refusal('a key is a fraction, or a very large number', node)
    throw refusal(key === null || isEmpty ? 'a key is missing' : 'a key is a list or a mapping', node)
  }

  #isMerge(node: NodeEvent): boolean {
    if (node.type !== EVENT_ID.SCALAR || node.style !== SCALAR_STYLE.PLAIN) return false
    const tag = this.#tagOf(node)
    return getScalarValue(this.#text, node) === '<<' && (tag === undefined || tag === '!')
  }

  /** Puts the entries of a merge key into a record, the first source of each key over later ones. */
  #merge(depth: number, into: Record<string, unknown>, merged: Set<string>): void {
    const node = this.#nodeAt(this.#at)
    const value = this.next(depth + 1)
    const isList = node.type === EVENT_ID.SEQUENCE && Array.isArray(value)
    const sources: readonly unknown[] = isList ? value : [value]
    for (const source of sources.toReversed()) {
      if (!isRecord(source)) throw refusal('a merge key (<<) needs a mapping or a list of mappings', node)
      for (const [key, one] of Object.entries(source)) {
        if (!Object.hasOwn(into, key)) merged.add(key)
        define(into, key, one)
      }
    }
  }

  #alias(node: NodeEvent, depth: number): unknown {
    const name = this.#text.slice(node.anchorStart, node.anchorEnd)
    const anchor = this.#anchors.get(name)
    if (anchor === undefined) throw refusal(`the alias *${shownName(name)} has no anchor before it`, node)
    if (this.#open.has(anchor)) throw refusal(`the alias *${shownName(name)} stands within itself`, node)
    const behind = this.#at
    this.#at = anchor
    this.#aliasDepth++
    const value = this.next(depth)
    this.#aliasDepth--
    this.#at = behind
    return value
  }
}

/** An anchor may be as long as the document. */
function shownName(name: string): string {
  return name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN)}...` : name
}

const NAME_SHOWN = 160

function refusal(why: string, node: NodeEvent): YamlRefusal {
  const start = startOf(node)
  return new YamlRefusal(why, start === -1 ? undefined : start)
}

const TAG_PREFIX = 'tag:yaml.org,2002:'
const TAGS = { map: `${TAG_PREFIX}map`, seq: `${TAG_PREFIX}seq` } as const

/** Whether a text is what a tag says, by its value without one. */
const FITS: ReadonlyMap<string, (value: unknown, text: string) => boolean> = new Map([
  // `_1` begins like no number.
  ['int', (value: unknown, text: string) => typeof value === 'number' && isIntegerText(text)],
  ['float', (value: unknown) => typeof value === 'number'],
  ['bool', (value: unknown) => typeof value === 'boolean'],
  ['null', (value: unknown) => value === null],
])

/** The value of a scalar with a tag; in quotes or not. */
function tagged(tag: string, text: string, node: NodeEvent): unknown {
  if (tag === `${TAG_PREFIX}str`) return text
  const fits = tag.startsWith(TAG_PREFIX) ? FITS.get(tag.slice(TAG_PREFIX.length)) : undefined
  if (fits === undefined) throw unknownTag(tag, node)
  const value = resolvePlain(text)
  if (fits(value, text)) return value
  throw refusal(`${shownKey(text)} is not what its tag says: ${shortTag(tag)}`, node)
}

function shortTag(tag: string): string {
  return tag.replace(TAG_PREFIX, '!!')
}

function unknownTag(tag: string, node: NodeEvent): YamlRefusal {
  return refusal(`the tag ${shortTag(tag)} means nothing to Kubernetes`, node)
}

/** Sets an own property, whatever its name: `__proto__` is data. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
  else record[key] = value
}
