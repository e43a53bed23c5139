// The files of `--names`: who is named outside of the cluster.
import { resolve } from 'node:path'
import { holdsId } from '@kleym/shared/core/model/ids-in-text.ts'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import { NAMES_FILE_KIND, namesInJson, namesInList } from '@kleym/shared/core/model/naming/names-outside.ts'
import type { PolicyRule } from '@kleym/shared/core/model/objects/access-rule.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { KleymError } from '../io/errors.ts'
import { decodeUtf8, sealOf } from './decode.ts'
import { readBounded } from './files.ts'
import { Budget, BudgetSpent } from './budget.ts'
import { looksLikeJson, parseJson } from './json.ts'
import { parse } from './load.ts'

/** Reads the files. Throws a KleymError for one that cannot be read, or that names nobody. */
export function readNamesFiles(files: readonly string[], cwd: string): Promise<readonly RawObject[]> {
  return Promise.all(files.map((file) => readNamesFile(file, cwd)))
}

/** Why no names can be read, and how to mend that. */
type Fail = (why: string, fix: string) => KleymError

async function readNamesFile(file: string, cwd: string): Promise<RawObject> {
  const fail: Fail = (why, fix) =>
    new KleymError('usage', { what: 'cannot read the names', where: `--names ${file}`, why, fix })
  const bytes = await readBounded({ name: file, path: resolve(cwd, file) })
  if (!(bytes instanceof Uint8Array)) throw fail(bytes.why, 'correct the path')
  const seal = sealOf(bytes)
  if (seal !== undefined) throw fail(seal.why, seal.fix)
  const { text } = decodeUtf8(bytes)
  const isJson = looksLikeJson(text)
  const names =
    (isJson ? undefined : namesInList(text)) ?? (await namesInDocuments(file, bytes, isJson, fail))
  if (names.length === 0) throw fail('it names nobody', FIX)
  const metadata = { namespace: '', name: file }
  return {
    value: { apiVersion: 'kleym.sonda.red', kind: NAMES_FILE_KIND, metadata },
    origin: { file, document: 1, line: 1 },
    names,
  }
}

const FIX =
  'give a role of Vault or a trust policy as JSON or YAML, as its API gives it and not as a template, or a list of SPIFFE IDs, one a line'

async function namesInDocuments(
  file: string,
  bytes: Uint8Array,
  isJson: boolean,
  fail: Fail,
): Promise<readonly PolicyRule[]> {
  const budget = new Budget()
  try {
    const { documents, faults } = await parse(file, bytes, { budget })
    const [fault] = faults
    if (fault !== undefined) throw fail(`${fault.why} (line ${fault.line ?? 1})`, isJson ? fault.fix : FIX)
    // A text of any other language may be one long string of YAML.
    const other = documents.find(({ value }) => typeof value === 'string' && holdsId(value))
    if (other !== undefined) throw fail(`it is neither JSON, YAML nor a list (line ${other.line})`, FIX)
    const values = await Promise.all(documents.map(({ value }) => unpacked(value, budget, fail)))
    // Several documents are a list: a field of one is none of another.
    return namesInJson(values.length === 1 ? values[0] : values)
  } catch (error) {
    throw error instanceof BudgetSpent ? fail(error.message, 'give the part that names clients') : error
  }
}

/** How often one JSON text may be packed in another. */
const LAYERS_MAX = 4

/**
 * A value with the JSON that its strings are: the state of Terraform has policies of AWS in that form, and the API of AWS gives them
 * percent-encoded (IAM, GetRole). What looks like JSON and is none stays a string.
 */
async function unpacked(value: unknown, budget: Budget, fail: Fail, layers = 0): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => unpacked(one, budget, fail, layers)))
  if (isRecord(value)) {
    const entries = Object.entries(value).map(
      async ([key, one]) => [key, await unpacked(one, budget, fail, layers)] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
  if (typeof value !== 'string') return value
  const text = decodedText(value)
  if (!looksLikeJson(text)) return text
  if (layers === LAYERS_MAX)
    throw fail(
      `it holds JSON in a string, ${LAYERS_MAX} times over and more`,
      'give the inner JSON by itself',
    )
  const { documents, faults } = await parseJson(text, budget)
  const [only] = documents
  return faults.length > 0 || only === undefined || documents.length > 1
    ? text
    : unpacked(only.value, budget, fail, layers + 1)
}

function decodedText(text: string): string {
  if (!/^%[57]B/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
