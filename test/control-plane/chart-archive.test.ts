// The chart's archive of a release is what the real Helm would have packed, but for the times in it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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

test('a chart of another version is not released', async () => {
  await expect(packChart(CHART, { version: '999.0.0', made: 0 })).rejects.toThrow(
    'the chart is not of this release',
  )
})
