// A dump of a cluster that failed in part is no whole world: what it shows to be missing is not known. With the executable
// that ships.
import { beforeAll, expect, test } from 'vitest'
import { built, kleym } from './plugin.ts'
import { SCM_CONFIG, SETTINGS, SMALL, workspace } from './workspace.ts'

beforeAll(built)

const REFUSED = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message: 'clusterspiffeids.spire.spiffe.io is forbidden',
  details: { group: 'spire.spiffe.io', kind: 'clusterspiffeids' },
})
const FIRST_PAGE = JSON.stringify({
  kind: 'ClusterSPIFFEIDList',
  apiVersion: 'spire.spiffe.io/v1alpha1',
  metadata: { continue: 'abc' },
  items: [],
})

test.each([
  ['a list that was refused', 'a.json', REFUSED],
  ['the first page of a list', 'a.json', FIRST_PAGE],
  ['a table', 'a.json', '{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}'],
  ['an error of kubectl', 'a.yaml', 'error: You must be logged in to the server (Unauthorized)\n'],
])('%s in a dump leaves it open what clashes and who holds what', async (_, name, text) => {
  const cwd = workspace({ [`dump/${name}`]: text, 'all.yaml': SMALL, 'scm.yaml': SCM_CONFIG })
  for (const command of ['conflicts', 'who-selects -A', 'diff']) {
    const args = [...command.split(' '), '--offline', '--live', 'dump', '-f', 'all.yaml', ...SETTINGS]
    const { code, stdout } = await kleym(args, { cwd })
    expect([command, code]).toEqual([command, 4])
    expect(stdout).toContain('incomplete')
    expect(stdout).not.toMatch(/✓ nothing clashes|no ClusterSPIFFEID of others/)
  }
})
