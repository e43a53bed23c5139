// A Helm chart that is not rendered, looked through as text: which kinds its templates, its values and its subcharts name,
// and which of its dependencies are not there.
import { join } from 'node:path'
import { isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Budget } from './budget.ts'
import { chartFiles, entriesOf, otherFiles, textOfFile, type ChartFile } from './chart-files.ts'
import { splitDocuments } from './document.ts'
import { isDistinctive } from './kinds-in-text.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'
import { reachOf, reachOfText } from './reach.ts'
import { firstValueIn } from './yaml-file.ts'

/** What is known of a chart without rendering it. */
export interface ChartFacts {
  /** The name in Chart.yaml; undefined where it cannot be read. */
  readonly name: string | undefined
  /** A library chart makes no objects. */
  readonly isLibrary: boolean
  /** The dependencies that are not in its `charts` folder. */
  readonly missing: readonly string[]
  /** Those of them that are in no folder of this disk either. */
  readonly elsewhere: readonly string[]
  /** A values schema of it names another one by URL, which helm would fetch. */
  readonly fetches: boolean
  /** What its templates may make; undefined: anything. */
  readonly reach: readonly ProblemReach[] | undefined
  /** The same of those templates alone that values change. */
  readonly reachOfValues: readonly ProblemReach[] | undefined
  /** A template makes whole objects from values (`extraObjects`). The chart's own values are searched. */
  readonly takesObjects: boolean
}

/** Looks a chart through, with all charts that are packed into it. */
export async function readChart(
  folder: string,
  wanted: readonly WantedKind[],
  budget: Budget,
): Promise<ChartFacts> {
  const reading = new ChartReading(wanted)
  for (const file of chartFiles(folder, budget)) reading.take(file)
  if (reading.takesFiles) for (const file of otherFiles(folder, budget)) reading.take(file)
  const chart = await yamlIn(folder, 'Chart.yaml', budget)
  const hasRequirements = entriesOf(folder).some(({ name }) => name === 'requirements.yaml')
  const required = hasRequirements ? await yamlIn(folder, 'requirements.yaml', budget) : {}
  // Which charts it depends on, it does not say.
  if (chart === undefined || required === undefined) reading.take({ path: 'Chart.yaml', text: undefined })
  const dependencies = [chart, required].flatMap((one) => listAt(one, 'dependencies'))
  const there = entriesOf(join(folder, 'charts'))
  const missing = dependencies.flatMap((one) => {
    const name = stringAt(one, 'name') ?? ''
    const isThere = there.some((entry) => entry.name === name || entry.name.startsWith(`${name}-`))
    return name === '' || isThere ? [] : [{ name, repository: stringAt(one, 'repository') ?? '' }]
  })
  const names = (ones: typeof missing): readonly string[] => [...new Set(ones.map(({ name }) => name))]
  return {
    name: stringAt(chart, 'name'),
    isLibrary: stringAt(chart, 'type') === 'library',
    missing: names(missing),
    elsewhere: names(missing.filter((one) => !isLibrary(one) && !isLocalChart(folder, one.repository))),
    fetches: reading.fetches,
    reach: reading.reach(),
    reachOfValues: reading.reachOfValues(),
    takesObjects: reading.takesObjects,
  }
}

/** A library makes no objects; that of Bitnami is in most charts: https://github.com/bitnami/charts/tree/main/bitnami/common */
function isLibrary({ name, repository }: { readonly name: string; readonly repository: string }): boolean {
  return name === 'common' && /\/bitnami(?:charts)?$/.test(repository)
}

/** Whether a repository of a dependency is the folder of a chart. */
function isLocalChart(folder: string, repository: string): boolean {
  return (
    repository.startsWith('file://') && entriesOf(join(folder, repository.slice('file://'.length))).length > 0
  )
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
  readonly #ofValues = new Map<string, ProblemReach>()
  #isAnything = false
  fetches = false
  takesObjects = false
  takesFiles = false

  constructor(wanted: readonly WantedKind[]) {
    this.#wanted = wanted
    this.#names = wanted.map(({ kind }) => kind)
  }

  reach(): readonly ProblemReach[] | undefined {
    return this.#isAnything ? undefined : [...this.#reaches.values()]
  }

  reachOfValues(): readonly ProblemReach[] | undefined {
    return this.#isAnything ? undefined : [...this.#ofValues.values()]
  }

  take({ path, text }: ChartFile): void {
    if (text === undefined) this.#isAnything = true
    else if (path === 'values.schema.json') this.fetches ||= SCHEMA_URL.test(text)
    else if (path.startsWith('values')) this.#readValues(text)
    else if (!path.endsWith('/NOTES.txt')) this.#readTemplate(path, text)
  }

  /** Values name kinds of what templates take from them. Comments describe, and make nothing. */
  #readValues(text: string): void {
    const plain = text.replaceAll(/(^|[ \t])#[^\n]*/g, '')
    for (const kind of this.#names) if (isDistinctive(kind) && plain.includes(kind)) this.#add(kind, plain)
    for (const [, kind = ''] of plain.matchAll(KIND_VALUE)) this.#add(kind, plain)
    this.#isAnything ||= FILLED_IN.test(plain)
  }

  #readTemplate(path: string, text: string): void {
    const isHelper = /\/_[^/]*$/.test(path)
    for (const chunk of splitDocuments(text)) {
      if (!isHelper && takesObjects(chunk.text)) {
        this.takesObjects = true
        this.takesFiles ||= chunk.text.includes('.Files')
      }
      const reach = reachOfText(chunk.text, { wanted: this.#wanted, namespace: undefined })
      for (const one of reach ?? []) this.#addReach(one, chunk.text)
      if (reach !== undefined) continue
      // A kind that an action gives: one of those that it writes out, or one that the values name.
      for (const [line] of chunk.text.matchAll(KIND_LINE)) {
        this.#isAnything ||= isComputed(line)
        for (const kind of this.#names)
          if (new RegExp(`\\b${kind}\\b`).test(line)) this.#add(kind, chunk.text)
      }
      for (const kind of this.#names)
        if (isDistinctive(kind) && chunk.text.includes(kind)) this.#add(kind, chunk.text)
    }
  }

  #add(kind: string, text: string): void {
    for (const one of this.#wanted)
      if (one.kind === kind) for (const reach of reachOf(one, {}, text)) this.#addReach(reach, text)
  }

  #addReach(reach: ProblemReach, text: string): void {
    this.#reaches.set(JSON.stringify(reach), reach)
    if (OF_VALUES.test(text)) this.#ofValues.set(JSON.stringify(reach), reach)
  }
}

/** An action that takes values, or may; not one of the release alone. */
const OF_VALUES = /\{\{[^}]*(?:\bValues\b|\binclude\b|\btpl\b|\btemplate\b|\$)/

/** An action that gives something in the first column, where the key of an object would stand; no condition, loop or variable. */
const MAKES_WHOLE =
  /^\{\{-?\s*(?!\/\*|(?:if|else|end|range|with|define|block|fail|break|continue)\b|\$\w*\s*:?=)/m
const KIND_KEY = /^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?(\w*)/gm

/** Whether a document of a template shows no object of its own and inserts one from values, or is a List of such objects. */
function takesObjects(text: string): boolean {
  const kinds = [...text.matchAll(KIND_KEY)].map(([, kind]) => kind)
  return kinds.length === 0
    ? MAKES_WHOLE.test(text)
    : kinds.every((kind) => kind === 'List') && text.includes('{{')
}

/** A schema that is part of another one, which helm would fetch. */
const SCHEMA_URL = /"\$ref"\s*:\s*"[a-z][a-z0-9+.-]*:\/\//i
const KIND_LINE = /^[^\n]*\bkind\b[^\n]*$/gm
/** `kind: Pod` or `controller: Deployment` in values. */
const KIND_VALUE = /:[ \t]*["']?([A-Z][A-Za-z]+)["']?[ \t]*$/gm
/** A kind that `tpl` fills in. */
const FILLED_IN = /\bkind["']?:[ \t]*["']?\{\{/
/** Functions that put a name together, so that no text shows it. */
const COMPUTING = /\b(?:print|printf|println|cat|join|replace|trunc|substr|b64dec|nospace|camelcase|title)\b/

function isComputed(line: string): boolean {
  const action = line.indexOf('{{')
  return action !== -1 && COMPUTING.test(line.slice(action))
}
