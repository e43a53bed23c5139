// A Helm chart that is not rendered, looked through as text: which kinds its templates, its values and its subcharts name,
// and which of its dependencies are not there.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { isDns1123Label } from '@kleym/shared/core/text/kubernetes.ts'
import type { Budget } from './budget.ts'
import { splitDocuments } from './document.ts'
import { isDistinctive, kindsMentioned } from './kinds-in-text.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'
import { reachOf } from './reach.ts'
import { firstValueIn } from './yaml-file.ts'

/** What is known of a chart without rendering it. */
export interface ChartFacts {
  /** The name in Chart.yaml; undefined where it cannot be read. */
  readonly name: string | undefined
  /** A library chart makes no objects. */
  readonly isLibrary: boolean
  /** The dependencies that are not in its `charts` folder. */
  readonly missing: readonly string[]
  /** A values schema of it names another one by URL, which helm would fetch. */
  readonly fetches: boolean
  /** What its templates may make; undefined: anything. */
  readonly reach: readonly ProblemReach[] | undefined
}

/** The most files and bytes of one chart that are looked through. */
const FILES_MAX = 5_000
const BYTES_MAX = 32 * 1024 * 1024

/** Looks a chart through, with all charts that are packed into it. */
export async function readChart(
  folder: string,
  wanted: readonly WantedKind[],
  budget: Budget,
): Promise<ChartFacts> {
  const reading = new ChartReading(wanted, budget)
  reading.readFolder(folder, 0)
  const chart = await yamlIn(folder, 'Chart.yaml', budget)
  const lists = [
    own(chart, 'dependencies'),
    own(await yamlIn(folder, 'requirements.yaml', budget), 'dependencies'),
  ]
  const dependencies = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
  const there = namesIn(join(folder, 'charts'))
  const missing = dependencies.flatMap((one) => {
    const name = stringAt(one, 'name') ?? ''
    const isThere = there.some((entry) => entry === name || entry.startsWith(`${name}-`))
    return name === '' || isThere ? [] : [name]
  })
  return {
    name: stringAt(chart, 'name'),
    isLibrary: stringAt(chart, 'type') === 'library',
    missing: [...new Set(missing)],
    fetches: reading.fetches,
    reach: reading.reach(),
  }
}

async function yamlIn(folder: string, file: string, budget: Budget): Promise<JsonRecord | undefined> {
  const value = await firstValueIn(textOf(join(folder, file)), budget)
  return isRecord(value) ? value : undefined
}

/** A text that can be read; undefined for any other. */
function textOf(path: string): string | undefined {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= BYTES_MAX ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** How far charts are nested in charts. */
const DEPTH_MAX = 16

/** What has been found in the files of a chart so far. */
class ChartReading {
  readonly #wanted: readonly WantedKind[]
  readonly #names: readonly string[]
  readonly #budget: Budget
  readonly #reaches = new Map<string, ProblemReach>()
  #isAnything = false
  #files = 0
  #bytes = 0
  fetches = false

  constructor(wanted: readonly WantedKind[], budget: Budget) {
    this.#wanted = wanted
    this.#names = wanted.map(({ kind }) => kind)
    this.#budget = budget
  }

  reach(): readonly ProblemReach[] | undefined {
    return this.#isAnything ? undefined : [...this.#reaches.values()]
  }

  readFolder(folder: string, depth: number): void {
    if (depth > DEPTH_MAX) {
      this.#isAnything = true
      return
    }
    for (const entry of namesIn(folder).toSorted()) {
      const path = join(folder, entry)
      if (entry === 'templates') this.#readTemplates(path, 0)
      else if (entry === 'charts')
        for (const name of namesIn(path)) this.#readSubchart(join(path, name), depth)
      else if (/^values.*\.ya?ml$/.test(entry)) this.#read(path, (text) => this.#readValues(text))
      else if (entry === 'values.schema.json')
        this.#read(path, (text) => {
          if (/"\$ref"\s*:\s*"[a-z][a-z0-9+.-]*:\/\//i.test(text)) this.fetches = true
        })
    }
  }

  /** A subchart is a folder, or an archive, which is not looked into. */
  #readSubchart(path: string, depth: number): void {
    if (/\.(?:tgz|tar\.gz)$/.test(path)) this.#isAnything = true
    else this.readFolder(path, depth + 1)
  }

  #readTemplates(folder: string, depth: number): void {
    if (depth > DEPTH_MAX) {
      this.#isAnything = true
      return
    }
    for (const entry of namesIn(folder).toSorted()) {
      if (entry === 'NOTES.txt') continue
      const path = join(folder, entry)
      if (isFolder(path)) this.#readTemplates(path, depth + 1)
      else this.#read(path, (text) => this.#readTemplate(text))
    }
  }

  #read(path: string, take: (text: string) => void): void {
    const text = textOf(path)
    this.#files++
    this.#bytes += text?.length ?? 0
    if (text === undefined || this.#files > FILES_MAX || this.#bytes > BYTES_MAX) {
      this.#isAnything = true
      return
    }
    if (this.#budget.tryCharge('bytes', text.length) === undefined) take(text)
    else this.#isAnything = true
  }

  /** Values name kinds of what templates take from them. Comments describe, and make nothing. */
  #readValues(text: string): void {
    const plain = text.replaceAll(/(^|[ \t])#[^\n]*/g, '')
    for (const kind of this.#names)
      if (isDistinctive(kind) && plain.includes(kind)) this.#add(kind, undefined, plain)
    for (const [, kind = ''] of plain.matchAll(KIND_VALUE)) this.#add(kind, undefined, plain)
  }

  #readTemplate(text: string): void {
    const plain = text.replaceAll(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '')
    for (const chunk of splitDocuments(plain)) {
      const kinds = kindsMentioned(chunk.text, this.#names)
      if (kinds !== 'anything') {
        const namespace = kinds.size === 1 ? namespaceIn(chunk.text) : undefined
        for (const kind of kinds) this.#add(kind, namespace, chunk.text)
        continue
      }
      // A kind that an action gives: one of those that it writes out, or one that the values name.
      for (const [line] of chunk.text.matchAll(KIND_LINE)) if (COMPUTED.test(line)) this.#isAnything = true
      for (const kind of this.#names)
        if (isDistinctive(kind) ? chunk.text.includes(kind) : namesInKindLine(chunk.text, kind))
          this.#add(kind, undefined, chunk.text)
    }
  }

  #add(kind: string, namespace: string | undefined, text: string): void {
    for (const one of this.#wanted)
      if (one.kind === kind)
        for (const reach of reachOf(one, { namespace }, text)) this.#reaches.set(JSON.stringify(reach), reach)
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

const KIND_LINE = /^[^\n]*\bkind\b[^\n]*$/gm
/** `kind: Pod` or `controller: Deployment` in values. */
const KIND_VALUE = /:[ \t]*["']?([A-Z][A-Za-z]+)["']?[ \t]*$/gm
/** Functions that put a name together, so that no text shows it. */
const COMPUTED =
  /\{\{[^\n]*\b(?:print|printf|println|cat|join|replace|trunc|substr|b64dec|nospace|camelcase|title)\b/

function namesInKindLine(text: string, kind: string): boolean {
  return [...text.matchAll(KIND_LINE)].some(([line]) => new RegExp(`\\b${kind}\\b`).test(line))
}

/** The namespace that the one object of a template surely is in; undefined: the release's, or whichever. */
function namespaceIn(text: string): string | undefined {
  const sections = [...text.matchAll(/^metadata:[ \t]*\n((?:[ \t]+[^\n]*\n|\n)*)/gm)]
  const [section, another] = sections
  if (section === undefined || another !== undefined) return undefined
  const body = section[1] ?? ''
  // A namespace under a condition is one of two.
  if (/\{\{-?\s*(?:if|else|with|range|end)\b/.test(body)) return undefined
  const found = [...body.matchAll(/^[ \t]+namespace:[ \t]*([^\n]*)$/gm)]
  const value = found[0]?.[1]?.trim().replace(/^(["'])(.*)\1$/, '$2') ?? ''
  return found.length === 1 && isDns1123Label(value) ? value : undefined
}
