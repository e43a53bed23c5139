// Holds SARIF against the JSON Schema of OASIS for SARIF 2.1.0, which a package of Microsoft's SARIF SDK brings along.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'

/** What is wrong with a document, a sentence each. */
export function sarifProblems(text: string): readonly string[] {
  const validate = validator()
  if (validate(JSON.parse(text))) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`,
  )
}

/** It takes a tenth of a second to compile, so only a test that prints SARIF does. */
const validator = lazy((): ValidateFunction => {
  // One pattern of the schema, for languages, is none with the flag u.
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })
  addFormats.default(ajv)
  return ajv.compile(sarifSchema())
})

/** It is written for draft 4, of which it uses only what draft 7 has too, its own name aside. */
function sarifSchema(): JsonRecord {
  const file = createRequire(import.meta.url).resolve(
    '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json',
  )
  const schema: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!isRecord(schema)) throw new TypeError(`${file} holds no schema`)
  const { id: _name, $schema: _draft, ...rest } = schema
  return rest
}
