// `-o openreports` against the CRDs that the OpenReports project ships (github.com/openreports/reports-api v0.2.1, config/crd): a real
// API server takes every report, with strict validation, and a tenant reads the one of its namespace.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord, listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { ROOT } from '../house/files.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { installAndWait } from './crds.ts'
import { reportCrds } from './module-crds.ts'
import { namespace } from './objects.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  for (const crd of await reportCrds()) await installAndWait(cp.admin, crd)
})
afterAll(() => cp?.stop())

const ESTATE = ['--offline', '-R', '-f', 'examples/estate']
const ENTRIES = ['--entries', 'examples/server/entries.json', '--as-of', '2026-11-22T12:00:00Z']

test.each([
  ['conflicts', ['conflicts', '-A', ...ESTATE]],
  ['policies', ['policies', '-A', ...ESTATE]],
  ['verify', ['verify', '-A', ...ENTRIES, ...ESTATE]],
])(
  'the API server takes every report of %s, and each holds the findings of its namespace',
  async (command, args) => {
    const report: unknown = JSON.parse((await inProcess([...args, '-o', 'json'], ROOT)).stdout)
    const { stdout } = await inProcess([...args, '-o', 'openreports'], ROOT)
    const items = listAt(JSON.parse(stdout), 'items')
    expect(items.length).toBeGreaterThan(0)
    const spaces = items.flatMap((one) => stringAt(one, 'metadata', 'namespace') ?? [])
    await cp.apply(spaces.map((space) => namespace(space)))
    const file = join(cp.folder, `${command}.json`)
    writeFileSync(file, stdout)
    const { status, stderr } = await cp.kubectl(['apply', '--server-side', '--validate=strict', '-f', file])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const found = listAt(report, 'findings').filter(isRecord)
    for (const space of spaces) {
      const stored = await cp.admin.get({
        apiVersion: 'openreports.io/v1alpha1',
        kind: 'Report',
        name: `kleym-${command}`,
        namespace: space,
      })
      const codes = listAt(stored, 'results').map((one) => stringAt(one, 'policy'))
      const expected = found
        .filter((one) => stringAt(one, 'subject', 'namespace') === space)
        .map((one) => stringAt(one, 'code'))
      // Those whose pods are there, or a related object, stand there too.
      expect(codes).toEqual(expect.arrayContaining(expected))
    }
  },
)

test('the command of the page takes the reports of earlier answers away, and no others', async () => {
  await cp.apply([namespace('other')])
  const others = { apiVersion: 'openreports.io/v1alpha1', kind: 'Report', name: 'others', namespace: 'other' }
  const { apiVersion, kind, ...metadata } = others
  await cp.admin.create({ apiVersion, kind, metadata, results: [] })
  const page = readFileSync(join(ROOT, 'docs/ci.md'), 'utf8')
  const [, command = ''] = /`kubectl (delete reports[^`]+)`/.exec(page) ?? []
  expect((await cp.kubectl(command.split(' '))).status).toBe(0)
  const { stdout } = await cp.kubectl([
    'get',
    'reports.openreports.io,clusterreports.openreports.io',
    '-A',
    '-o',
    'name',
  ])
  expect(stdout.trim()).toBe('report.openreports.io/others')
})
