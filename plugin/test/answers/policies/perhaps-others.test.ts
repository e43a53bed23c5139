// Whom policies name, where more containers may hold the ID than are known to.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess } from '../../support/in-process.ts'
import { WEB_POLICY, WEB_WORLD, webPod } from '../../support/web-world.ts'
import { workspace } from '../../support/workspace.ts'

async function whomPoliciesName(pods: string): Promise<string> {
  const cwd = await workspace({ 'all.yaml': WEB_WORLD + WEB_POLICY + pods, 'scm.conf': SCM })
  return (await inProcess(['policies', '--offline', '-f', 'all.yaml', ...SETTINGS], cwd)).stdout
}

test('a source that a container holds has no tick while a pod that waits for a node may hold it', async () => {
  const running = webPod('one', 'nodeName: n1, ')
  expect(await whomPoliciesName(running)).toMatch(/^✓ policy team-a\/callers: 1 source resolved\n/)
  const both = await whomPoliciesName(running + webPod('two'))
  expect(both).toMatch(/^! policy team-a\/callers: 1 source resolved\n/)
  expect(both).toContain('    ! spiffe://example.org/web\n')
  expect(both).toContain('perhaps others: not certain whether ClusterSPIFFEID/mesh gives it')
})
