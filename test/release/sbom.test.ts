// The bills of materials: they name what is there, nothing that is not, and point at nothing that they do not name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runtimePackages } from '../../scripts/release/lock.ts'
import { cycloneDx } from '../../scripts/release/sbom.ts'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { ROOT } from '../e2e/plugin.ts'
import { artefact, RELEASE_MAX_MS, released, thisPlatform } from './released.ts'

beforeAll(released, RELEASE_MAX_MS)

const LOCK: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

/** The documents of the release, each with packages that must be there and ones that must not. */
const DOCUMENTS = [
  {
    file: 'kubectl-kleym.cdx.json',
    inside: ['@oclif/core', 'yaml', 'zod', 'bun'],
    outside: ['vitest', 'esbuild', 'pino', 'typescript'],
  },
  {
    file: `kleym-operator-linux-${thisPlatform().arch}.cdx.json`,
    inside: ['pino', 'prom-client', 'zod', 'node', 'libc6', 'libstdc++6'],
    outside: ['vitest', 'esbuild', 'ink', '@oclif/core'],
  },
] as const

describe.each(DOCUMENTS)('$file', ({ file, inside, outside }) => {
  const read = (): unknown => JSON.parse(artefact(file).toString('utf8'))

  test('is CycloneDX 1.6 about this version', () => {
    const document = read()
    expect(document).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
    expect(stringAt(document, 'serialNumber')).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(stringAt(document, 'metadata', 'timestamp')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(stringAt(document, 'metadata', 'component', 'name')).toBe(
      file.replace(/(?:-linux-\w+)?\.cdx\.json$/, ''),
    )
  })

  test('names what runs and nothing that only builds or tests', () => {
    const names = listAt(read(), 'components').map((one) => stringAt(one, 'name'))
    expect(names).toEqual(expect.arrayContaining([...inside]))
    expect(outside.filter((name) => names.includes(name))).toEqual([])
  })

  test('says of each what it is, from where, in which version', () => {
    for (const component of listAt(read(), 'components')) {
      expect(component).toMatchObject({
        type: expect.stringMatching(/^(?:library|platform)$/) as unknown,
        version: expect.stringMatching(/^\d/) as unknown,
      })
      // What is ours is on no registry.
      const purl =
        stringAt(component, 'name') === '@kleym/shared' ? 'pkg:npm/ours@0' : stringAt(component, 'purl')
      expect(purl).toMatch(/^pkg:(?:npm|deb)\/.+@.+$/)
    }
  })

  test('has one reference for each, and none to anything else', () => {
    const document = read()
    const program = stringAt(document, 'metadata', 'component', 'bom-ref') ?? ''
    const refs = [program, ...listAt(document, 'components').map((one) => stringAt(one, 'bom-ref') ?? '')]
    expect(new Set(refs).size).toBe(refs.length)
    const relations = listAt(document, 'dependencies')
    expect(new Set(relations.map((one) => stringAt(one, 'ref')))).toEqual(new Set(refs))
    expect(relations).toHaveLength(refs.length)
    const pointedAt = relations.flatMap((one) => listAt(one, 'dependsOn'))
    expect(pointedAt.filter((ref) => !refs.includes(String(ref)))).toEqual([])
  })
})

test('the hash of a package is that of the lock', () => {
  const [, ...packages] = runtimePackages(LOCK, 'operator')
  const zod = packages.find(({ name }) => name === 'zod')
  const document: unknown = JSON.parse(cycloneDx({ name: 'x', packages, ingredients: [], made: 0 }))
  const said = listAt(document, 'components').find((one) => stringAt(one, 'name') === 'zod')
  const [hash] = listAt(said, 'hashes')
  const content = Buffer.from(stringAt(hash, 'content') ?? '', 'hex').toString('base64')
  expect(`sha512-${content}`).toBe(zod?.integrity)
})

describe('what a workspace rests on', () => {
  const lock = {
    packages: {
      app: { name: '@k/app', version: '1.0.0', dependencies: { a: '^1', shared: '1' } },
      'node_modules/shared': { resolved: 'shared', link: true },
      shared: { name: 'shared', version: '1.0.0', dependencies: { b: '*' } },
      'node_modules/a': {
        version: '1.2.3',
        license: 'MIT',
        integrity: 'sha512-AA==',
        dependencies: { b: '1' },
      },
      'node_modules/a/node_modules/b': { version: '1.0.0', integrity: 'sha512-AA==' },
      'node_modules/b': { version: '2.0.0', integrity: 'sha512-AA==' },
      'node_modules/tool': { version: '9.0.0', dev: true },
    },
  }

  test('is what Node would find, the nearest first', () => {
    expect(runtimePackages(lock, 'app').map(({ path, dependencies }) => [path, ...dependencies])).toEqual([
      ['app', 'node_modules/a', 'shared'],
      ['node_modules/a', 'node_modules/a/node_modules/b'],
      ['node_modules/a/node_modules/b'],
      ['node_modules/b'],
      ['shared', 'node_modules/b'],
    ])
  })

  test.each<[string, unknown, string]>([
    ['no lock', {}, 'has no packages'],
    ['no such workspace', { packages: {} }, 'has no app'],
    [
      'a missing package',
      { packages: { app: { dependencies: { a: '1' } } } },
      'has no a, which app depends on',
    ],
  ])('with %s it says so', (_, broken, message) => {
    expect(() => runtimePackages(broken, 'app')).toThrow(message)
  })
})
