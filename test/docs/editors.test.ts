// docs/editors.md: the schemas hold for the examples and see what is wrong, and the commands for k9s are commands of kleym.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ROOT } from '../house/files.ts'

const SCHEMAS = join(ROOT, 'docs/reference/schemas')

/** Where kubeconform looks for the schema of an object: GROUP/KIND_VERSION.json. */
function schemaPath(object: JsonRecord): string {
  const [group = '', version = ''] = (stringAt(object, 'apiVersion') ?? '').split('/')
  return join(SCHEMAS, group, `${(stringAt(object, 'kind') ?? '').toLowerCase()}_${version}.json`)
}

function compiled(path: string): ValidateFunction {
  const schema: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isRecord(schema)) throw new TypeError(`${path} is no schema`)
  return new Ajv({ strict: true, validateFormats: false }).compile(schema)
}

/** Those of `estate/refused` show what is wrong. */
function examples(kind: string): readonly JsonRecord[] {
  const folder = join(ROOT, 'examples')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml') && !name.includes('refused'))
    .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .flatMap((document) => {
      const object: unknown = document.toJS()
      return isRecord(object) && object['kind'] === kind ? [object] : []
    })
}

describe.each(['InferenceIdentityBinding', 'IdentityTest'])('the schema of %s', (kind) => {
  const objects = examples(kind)
  const [first = {}] = objects
  const validate = compiled(schemaPath(first))

  test('takes every example', () => {
    expect(objects.length).toBeGreaterThan(1)
    for (const object of objects) expect([validate(object), validate.errors]).toEqual([true, null])
  })

  test('sees a field that there is not, a field that is missing, and another kind', () => {
    const spec = own(first, 'spec')
    expect(validate({ ...first, spec: { ...Object(spec), poolReff: {} } })).toBe(false)
    expect(validate({ ...first, spec: undefined })).toBe(false)
    expect(validate({ ...first, kind: 'Pod' })).toBe(false)
  })
})

test('the schema of .kleym.yaml takes the file of the page and sees a field that there is not', () => {
  const [, file = ''] =
    /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/settings.md'), 'utf8')) ?? []
  const validate = compiled(join(ROOT, 'docs/reference/settings.schema.json'))
  expect([validate(parse(file)), validate.errors]).toEqual([true, null])
  expect(validate({ trustDomains: 'example.org' })).toBe(false)
})

describe('each command for k9s answers', () => {
  const plugins: unknown = parse(readFileSync(join(ROOT, 'examples/k9s/plugins.yaml'), 'utf8'))
  const names: Readonly<Record<string, string>> = {
    inferenceidentitybindings: 'chat',
    pods: 'llama-pqjm8lw-knkfm',
    inferencepools: 'llama',
  }

  test.each(Object.entries(Object(dig(plugins, 'plugins'))))('%s', async (_, plugin) => {
    const [flag, line] = listAt(plugin, 'args')
    expect([stringAt(plugin, 'command'), flag]).toEqual(['sh', '-c'])
    const [, words = ''] = /^kubectl kleym (.*) 2>&1 \| less -R$/.exec(String(line)) ?? []
    const [scope] = listAt(plugin, 'scopes')
    const asked = words
      .replaceAll('"', '')
      .replace('$NAMESPACE', 'team-a')
      .replace('$NAME', names[String(scope)] ?? '')
      .replace('$CONTEXT', 'prod')
    const ran = await inProcess([...asked.split(' '), '--offline', '-R', '-f', 'examples/estate'], ROOT)
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' })
    expect(ran.stdout).toContain(names[String(scope)])
  })
})
