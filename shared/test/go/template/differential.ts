// Compares our evaluator with the oracle's vectors: which agree, which differ, which we call unknown. As a command:
// node differential.ts vectors/oracle.json vectors/corpus.json
import { readFileSync } from 'node:fs'
import { parseTemplate, type GoObject, type TemplateData } from '../../../src/core/base/go/template/index.ts'
import { isRecord, stringAt, type JsonRecord } from '../../../src/core/base/json.ts'

/** What the oracle (test/go-oracle/template) says of one template on one set of data. */
export interface Vector {
  readonly name?: string
  readonly data: string
  readonly template: string
  readonly text?: string
  readonly invalidUtf8?: boolean
  readonly failed?: string
  readonly syntax?: string
}

/** What we say, in the oracle's words; `unknown` is allowed anywhere and counted. */
export interface OracleComparison {
  readonly kind: 'same' | 'unknown' | 'different'
  readonly ours: string
}

/** Reads the vectors of a file. */
export function readVectors(file: string | URL): readonly Vector[] {
  const json: readonly Vector[] = JSON.parse(readFileSync(file, 'utf8'))
  return json
}

/** Reads the named data of a corpus. */
export function readData(file: string | URL): ReadonlyMap<string, TemplateData> {
  const corpus: { readonly data: Readonly<Record<string, JsonRecord>> } = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  return new Map(Object.entries(corpus.data).map(([name, json]) => [name, templateData(json)]))
}

function templateData(json: JsonRecord): TemplateData {
  const objects: Partial<Record<'podMeta' | 'podSpec' | 'nodeMeta' | 'nodeSpec', GoObject>> = {}
  for (const key of ['podMeta', 'podSpec', 'nodeMeta', 'nodeSpec'] as const) {
    const value = json[key]
    if (isRecord(value)) objects[key] = { value, complete: true }
  }
  return {
    trustDomain: stringAt(json, 'trustDomain') ?? '',
    clusterName: stringAt(json, 'clusterName') ?? '',
    clusterDomain: stringAt(json, 'clusterDomain') ?? '',
    ...objects,
  }
}

/** Holds one vector against our evaluator. */
export function compare(vector: Vector, data: TemplateData | undefined): OracleComparison {
  const ours = say(vector.template, data)
  if (ours.startsWith('unknown')) return { kind: 'unknown', ours }
  return { kind: ours === oracle(vector) ? 'same' : 'different', ours }
}

function oracle(vector: Vector): string {
  if (vector.syntax !== undefined) return 'syntax error'
  if (vector.failed !== undefined) return 'failed'
  return `text ${vector.invalidUtf8 === true} ${vector.text ?? ''}`
}

function say(template: string, data: TemplateData | undefined): string {
  const parsed = parseTemplate(template)
  if (parsed.kind === 'unsupported') return `unknown: ${parsed.construct}`
  if (parsed.kind === 'syntax error') return parsed.kind
  if (data === undefined) return 'no such data'
  const rendered = parsed.render(data)
  if (rendered.kind === 'unknown') return `unknown: ${rendered.why}`
  if (rendered.kind === 'failed') return rendered.kind
  return `text ${rendered.invalidUtf8} ${rendered.text}`
}

if (import.meta.main) {
  const [vectorFile = '', corpusFile = ''] = process.argv.slice(2)
  const data = readData(corpusFile)
  const counts = { same: 0, unknown: 0, different: 0 }
  const reasons = new Map<string, number>()
  for (const vector of readVectors(vectorFile)) {
    const verdict = compare(vector, data.get(vector.data))
    counts[verdict.kind]++
    if (verdict.kind === 'unknown') reasons.set(verdict.ours, (reasons.get(verdict.ours) ?? 0) + 1)
    if (verdict.kind === 'different')
      process.stdout.write(`${JSON.stringify(vector)}\n  ours: ${JSON.stringify(verdict.ours)}\n`)
  }
  const common = [...reasons].toSorted(([, left], [, right]) => right - left).slice(0, 25)
  process.stdout.write(
    `${JSON.stringify(counts)}\n${common.map(([why, count]) => `${count} ${why}\n`).join('')}`,
  )
}
