// A Helm chart that is not rendered, looked through as text: which kinds its templates, its values and its subcharts name,
// and which of its dependencies are not there.
import { join } from 'node:path'
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { isDns1123Label } from '@kleym/shared/core/text/kubernetes.ts'
import type { Budget } from './budget.ts'
import { chartFiles, entriesOf, textOfFile, type ChartFile } from './chart-files.ts'
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

/** Looks a chart through, with all charts that are packed into it. */
export async function readChart(
  folder: string,
  wanted: readonly WantedKind[],
  budget: Budget,
): Promise<ChartFacts> {
  const reading = new ChartReading(wanted)
  for (const file of chartFiles(folder, budget)) reading.take(file)
  const chart = await yamlIn(folder, 'Chart.yaml', budget)
  const lists = [
    own(chart, 'dependencies'),
    own(await yamlIn(folder, 'requirements.yaml', budget), 'dependencies'),
  ]
  const dependencies = lists.flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
  const there = entriesOf(join(folder, 'charts'))
  const missing = dependencies.flatMap((one) => {
    const name = stringAt(one, 'name') ?? ''
    const isThere = there.some((entry) => entry.name === name || entry.name.startsWith(`${name}-`))
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
  const value = await firstValueIn(textOfFile(join(folder, file)), budget)
  return isRecord(value) ? value : undefined
}

/** What has been found in the files of a chart so far. */
class ChartReading {
  readonly #wanted: readonly WantedKind[]
  readonly #names: readonly string[]
  readonly #reaches = new Map<string, ProblemReach>()
  #isAnything = false
  fetches = false

  constructor(wanted: readonly WantedKind[]) {
    this.#wanted = wanted
    this.#names = wanted.map(({ kind }) => kind)
  }

  reach(): readonly ProblemReach[] | undefined {
    return this.#isAnything ? undefined : [...this.#reaches.values()]
  }

  take({ path, text }: ChartFile): void {
    if (text === undefined) this.#isAnything = true
    else if (path === 'values.schema.json') this.fetches ||= SCHEMA_URL.test(text)
    else if (!path.startsWith('templates')) this.#readValues(text)
    else if (!path.endsWith('/NOTES.txt')) this.#readTemplate(text)
  }

  /** Values name kinds of what templates take from them. Comments describe, and make nothing. */
  #readValues(text: string): void {
    const plain = text.replaceAll(/(^|[ \t])#[^\n]*/g, '')
    for (const kind of this.#names)
      if (isDistinctive(kind) && plain.includes(kind)) this.#add(kind, undefined, plain)
    for (const [, kind = ''] of plain.matchAll(KIND_VALUE)) this.#add(kind, undefined, plain)
  }

  #readTemplate(text: string): void {
    for (const chunk of splitDocuments(withoutComments(text))) {
      const kinds = kindsMentioned(chunk.text, this.#names)
      if (kinds !== 'anything') {
        const namespace = kinds.size === 1 ? namespaceIn(chunk.text) : undefined
        for (const kind of kinds) this.#add(kind, namespace, chunk.text)
        continue
      }
      // A kind that an action gives: one of those that it writes out, or one that the values name.
      for (const [line] of chunk.text.matchAll(KIND_LINE)) if (isComputed(line)) this.#isAnything = true
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

/** A schema that is part of another one, which helm would fetch. */
const SCHEMA_URL = /"\$ref"\s*:\s*"[a-z][a-z0-9+.-]*:\/\//i
const KIND_LINE = /^[^\n]*\bkind\b[^\n]*$/gm
/** `kind: Pod` or `controller: Deployment` in values. */
const KIND_VALUE = /:[ \t]*["']?([A-Z][A-Za-z]+)["']?[ \t]*$/gm
/** Functions that put a name together, so that no text shows it. */
const COMPUTING = /\b(?:print|printf|println|cat|join|replace|trunc|substr|b64dec|nospace|camelcase|title)\b/

function isComputed(line: string): boolean {
  const action = line.indexOf('{{')
  return action !== -1 && COMPUTING.test(line.slice(action))
}

/** A template without its comments. One pattern for both ends would take quadratic time where many begin and none ends. */
function withoutComments(text: string): string {
  const [begin, end] = [/\{\{-?\s*\/\*/g, /\*\/\s*-?\}\}/g]
  const kept: string[] = []
  let from = 0
  for (;;) {
    begin.lastIndex = from
    const found = begin.exec(text)
    end.lastIndex = begin.lastIndex
    if (found === null || end.exec(text) === null) return kept.join('') + text.slice(from)
    kept.push(text.slice(from, found.index))
    from = end.lastIndex
  }
}

function namesInKindLine(text: string, kind: string): boolean {
  return [...text.matchAll(KIND_LINE)].some(([line]) => new RegExp(`\\b${kind}\\b`).test(line))
}

/** The namespace that the one object of a template surely is in; undefined: the release's, or whichever. */
function namespaceIn(text: string): string | undefined {
  const sections = [...text.matchAll(/^metadata:[ \t]*\n((?:[ \t][^\n]*\n|\n)*)/gm)]
  const [section, another] = sections
  if (section === undefined || another !== undefined) return undefined
  const body = section[1] ?? ''
  // A namespace under a condition is one of two.
  if (/\{\{-?\s*(?:if|else|with|range|end)\b/.test(body)) return undefined
  const found = [...body.matchAll(/^[ \t]+namespace:[ \t]*([^\n]*)$/gm)]
  const value = found[0]?.[1]?.trim().replace(/^(["'])(.*)\1$/, '$2') ?? ''
  return found.length === 1 && isDns1123Label(value) ? value : undefined
}
