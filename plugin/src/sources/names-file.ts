// The files of `--names`: who is named outside of the cluster.
import { resolve } from 'node:path'
import { SCHEME } from '@kleym/shared/core/model/naming/ids-in-text.ts'
import { NAMES_FILE_KIND, namesInJson, namesInList } from '@kleym/shared/core/model/naming/names-outside.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { KleymError } from '../io/errors.ts'
import { decodeUtf8, sealOf } from './decode.ts'
import { readBounded } from './files.ts'
import { looksLikeJson } from './json.ts'
import { parse } from './load.ts'

/** Reads the files. Throws a KleymError for one that cannot be read, or that names nobody. */
export function readNamesFiles(files: readonly string[], cwd: string): Promise<readonly RawObject[]> {
  return Promise.all(files.map((file) => readNamesFile(file, cwd)))
}

async function readNamesFile(file: string, cwd: string): Promise<RawObject> {
  const fail = (why: string, fix: string): KleymError =>
    new KleymError('usage', { what: 'cannot read the names', where: `--names ${file}`, why, fix })
  const bytes = await readBounded({ name: file, path: resolve(cwd, file) })
  if (!(bytes instanceof Uint8Array)) throw fail(bytes.why, 'correct the path')
  const seal = sealOf(bytes)
  if (seal !== undefined) throw fail(seal.why, seal.fix)
  const { text } = decodeUtf8(bytes)
  const list = looksLikeJson(text) ? undefined : namesInList(text)
  const { documents, faults } = list === undefined ? await parse(file, bytes) : NOTHING
  const [fault] = faults
  if (fault !== undefined)
    throw fail(`${fault.why} (line ${fault.line ?? 1})`, looksLikeJson(text) ? fault.fix : FIX)
  // A text of any other language may be one long string of YAML.
  const other = documents.find(({ value }) => typeof value === 'string' && value.includes(SCHEME))
  if (other !== undefined) throw fail(`it is neither JSON, YAML nor a list (line ${other.line})`, FIX)
  const names = list ?? documents.flatMap(({ value }) => namesInJson(value))
  if (names.length === 0) throw fail('it names nobody', FIX)
  const metadata = { namespace: '', name: file }
  return {
    value: { apiVersion: 'kleym.sonda.red', kind: NAMES_FILE_KIND, metadata },
    origin: { file, document: 1, line: 1 },
    names,
  }
}

const NOTHING = { documents: [], faults: [] }
const FIX = 'give a role of Vault or a trust policy as JSON or YAML, or a list of SPIFFE IDs, one a line'
