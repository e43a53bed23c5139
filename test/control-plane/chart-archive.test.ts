// The chart's archive of a release is what the real Helm would have packed, but for the times in it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packChart } from '../../scripts/release/chart.ts'
import { membersOf, type TarMember } from '../../scripts/release/tar.ts'
import { VERSION } from '../release/released.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { CHART, demand } from './helm.ts'
import { runKubectl } from './kubectl.ts'

const folder = mkdtempSync(join(tmpdir(), 'kleym-chart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function contents(members: readonly TarMember[]): ReadonlyMap<string, string> {
  return new Map(members.map(({ name, bytes }) => [name, bytes.toString('utf8')]))
}

const MANIFEST = 'kleym/Chart.yaml'

function withoutManifest(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...files].filter(([name]) => name !== MANIFEST))
}

let helm: string
beforeAll(async () => {
  helm = await ensureClient('helm')
}, FIRST_BUILD_MS)

test('it has the files that Helm packs, as they are', async () => {
  await demand(runKubectl(helm, ['package', CHART, '--destination', folder], undefined, folder))
  const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0 })
  // Helm writes Chart.yaml anew, without its comments.
  const ours = contents(await membersOf(bytes))
  const helms = contents(await membersOf(readFileSync(join(folder, name))))
  expect(new Set(ours.keys())).toEqual(new Set(helms.keys()))
  expect(ours.get(MANIFEST)).toContain(`version: ${VERSION}`)
  expect(withoutManifest(ours)).toEqual(withoutManifest(helms))
})

test('the chart of a release names its image by its digest, needs no registry of its user, and changes nothing else', async () => {
  const image = { registry: 'ghcr.io/example', digest: `sha256:${'0'.repeat(64)}` }
  const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0, image })
  const archive = join(folder, `released-${name}`)
  writeFileSync(archive, bytes)
  const render = (...args: readonly string[]): Promise<string> =>
    demand(runKubectl(helm, ['template', 'kleym', archive, ...args], undefined, folder))
  const rendered = await render('--set', 'trustDomain=example.org')
  const images = [...rendered.matchAll(/^ +image: "?([^"\n]+)"?$/gm)].map(([, one]) => one)
  expect(new Set(images)).toEqual(new Set([`ghcr.io/example/kleym-operator@${image.digest}`]))
  const mirrored = await render(
    '--set',
    'trustDomain=example.org',
    '--set',
    'image.registry=mirror.example.org',
  )
  expect(mirrored).toContain(`mirror.example.org/kleym-operator@${image.digest}`)
  const plain = contents(await membersOf((await packChart(CHART, { version: VERSION, made: 0 })).bytes))
  const changed = [...contents(await membersOf(bytes))].filter(([file, text]) => plain.get(file) !== text)
  expect(changed.map(([file]) => file)).toEqual(['kleym/values.yaml'])
})

test('the chart of the repository names no image, and is refused until its user does', async () => {
  const args = ['template', 'kleym', CHART, '--set', 'trustDomain=example.org']
  const { status, stderr } = await runKubectl(helm, args, undefined, folder)
  expect(stderr).toContain('image.registry: is not set, and this chart comes with no image')
  expect(status).not.toBe(0)
})

test('a chart of another version is not released', async () => {
  await expect(packChart(CHART, { version: '999.0.0', made: 0 })).rejects.toThrow(
    'the chart is not of this release',
  )
})
