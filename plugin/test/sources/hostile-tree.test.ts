// Trees that a stranger wrote to keep whoever looks at them busy for ever. Each ends soon, and what was not looked at is
// not known rather than absent.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kindsMentioned, plainTypeOf } from '../../src/sources/kinds-in-text.ts'
import { actionForAnotherTool } from '../../src/sources/helm-action.ts'
import { placeholderIn } from '../../src/sources/placeholders.ts'
import { load } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

/** In milliseconds: some hundred times what each takes, and nothing against what it took that is described here. */
const SOON_MS = 20_000

async function soon<T>(run: () => T | Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await run()
  expect(performance.now() - began, 'milliseconds').toBeLessThan(SOON_MS)
  return result
}

/** How long a hostile text takes to be gone through. */
async function msToRead(text: string): Promise<number> {
  const root = await workspace({ 'Chart.yaml': CHART, 'templates/x.yaml': text })
  const began = performance.now()
  await load(root, { recursive: true })
  placeholderIn(text)
  actionForAnotherTool(text)
  kindsMentioned(text, ['InferencePool'])
  plainTypeOf(text)
  return performance.now() - began
}

const CHART = 'apiVersion: v2\nname: app\nversion: 0.1.0\n'
const POOL = 'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {name: a}\n'

describe('a chart', () => {
  test.each(['templates', 'charts'])('whose %s folder links to itself ten times', async (folder) => {
    const root = await workspace({ 'Chart.yaml': CHART, [`${folder}/x/templates/x.yaml`]: 'kind: Service\n' })
    for (let link = 0; link < 10; link++) symlinkSync('.', join(root, folder, `link${link}`))
    const { problems } = await soon(() => load(root, { recursive: true }))
    // Helm would follow the links: what is behind them is not known.
    expect(problems).toMatchObject([{ kind: 'not rendered', where: '.' }])
    expect(problems[0]?.reach).toBeUndefined()
  })

  test('whose links to files are read, as those of a mounted ConfigMap are', async () => {
    const root = await workspace({ 'Chart.yaml': CHART, 'real.yaml.txt': POOL, 'templates/_.tpl': '' })
    symlinkSync('../real.yaml.txt', join(root, 'templates', 'x.yaml'))
    const { problems } = await load(root, { recursive: true })
    expect(problems).toMatchObject([{ reach: [{ kind: 'InferencePool.inference.networking.k8s.io' }] }])
  })

  test('of more files than are looked through may hold anything', async () => {
    const files = Array.from({ length: 5_001 }, (_, number) => [
      `templates/${number}.yaml`,
      'kind: Service\n',
    ])
    const root = await workspace({ 'Chart.yaml': CHART, ...Object.fromEntries(files) })
    const { problems } = await soon(() => load(root, { recursive: true }))
    expect(problems).toMatchObject([{ kind: 'not rendered', why: expect.stringContaining('anything') }])
  })
})

describe('kustomizations', () => {
  test('of which each takes in two that take in the same two', async () => {
    const files: Record<string, string> = {}
    for (let level = 0; level < 60; level++)
      for (const side of ['a', 'b'])
        files[`${side}${level}/kustomization.yaml`] = `resources: [../a${level + 1}, ../b${level + 1}]\n`
    files['a60/kustomization.yaml'] = 'resources: [x.yaml]\n'
    files['b60/kustomization.yaml'] = 'resources: [../a60]\nnamePrefix: x-\n'
    files['a60/x.yaml'] = POOL
    const root = await workspace(files)
    const { problems, objects } = await soon(() => load(root, { recursive: true }))
    expect(objects).toEqual([])
    expect(problems).toMatchObject([{ where: 'b60' }])
  })

  test('of which each takes in all others: what they change is not known', async () => {
    const folders = Array.from({ length: 120 }, (_, number) => `d${number}`)
    const resources = `resources:\n${folders.map((name) => `- ../${name}\n`).join('')}`
    const files = folders.map((name) => [`${name}/kustomization.yaml`, resources])
    const root = await workspace({ ...Object.fromEntries(files), 'a.yaml': POOL })
    const { problems } = await soon(() => load(root, { recursive: true }))
    expect(problems).toMatchObject([{ what: 'cannot follow what the kustomizations take in' }])
    expect(problems[0]?.reach).toBeUndefined()
  })

  test('with a list without end counts as one that cannot be read', async () => {
    const root = await workspace({
      'kustomization.yaml': `resources:\n${'- a.yaml\n'.repeat(200_000)}`,
      'a.yaml': POOL,
    })
    const { problems } = await soon(() => load(root, { recursive: true }))
    expect(problems).toMatchObject([{ what: 'left out a kustomization that cannot be read' }])
    expect(problems[0]?.reach).toBeUndefined()
  })
})

test('folders that link to each other are gone into once', async () => {
  const root = await workspace({ 'a.yaml': POOL })
  for (const name of ['a', 'b']) {
    mkdirSync(join(root, name))
    for (let link = 0; link < 10; link++) symlinkSync('..', join(root, name, `link${link}`))
  }
  const { objects } = await soon(() => load(root, { recursive: true }))
  expect(objects).toHaveLength(1)
})

const MANY = 1_000_000
test.each<[string, string]>([
  ['comments of templates that begin and never end', '{{/*'.repeat(MANY)],
  ['a line of actions', `kind: ${'{{'.repeat(MANY)}\n`],
  ['blanks below metadata', `kind: InferencePool\nmetadata:\n${' '.repeat(MANY)}`],
  ['{{ without an end', '{{'.repeat(MANY)],
  ['${ without an end', '${a:'.repeat(MANY)],
  ['<word without an end', '<a '.repeat(MANY)],
  ['escapes in quotes', `"${String.raw`\x41`.repeat(MANY)}"`],
  ['escaped quotes', String.raw`\"`.repeat(MANY)],
  ['kinds without a colon', 'kind '.repeat(MANY)],
  ['kinds without a value', 'kind: '.repeat(MANY)],
  ['lines of nothing', '\n'.repeat(MANY)],
  ['separators', '---\n'.repeat(MANY)],
])('a text of a million times %s', async (_, text) => {
  expect(await msToRead(text)).toBeLessThan(SOON_MS)
})
