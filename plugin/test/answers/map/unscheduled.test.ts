// An ID that a policy names and that only a pod which waits for a node will be given: the map does not say that nobody holds it.
import { expect, test } from 'vitest'
import { SCM, SETTINGS } from '../../support/door-rows.ts'
import { inProcess } from '../../support/in-process.ts'
import { WEB_POLICY, WEB_WORLD, webPod } from '../../support/web-world.ts'
import { workspace } from '../../support/workspace.ts'

test.each([
  ['web', 'unknown'],
  ['other', 'unheld'],
])('of a pod that waits, labelled %s, the ID is %s', async (label, state) => {
  const files = WEB_WORLD + webPod('one', '', label) + WEB_POLICY
  const cwd = await workspace({ 'all.yaml': files, 'scm.conf': SCM })
  const args = ['map', '--offline', '-f', 'all.yaml', ...SETTINGS]
  const { stdout } = await inProcess([...args, '-o', 'json'], cwd)
  expect(JSON.parse(stdout)).toMatchObject({
    nodes: expect.arrayContaining([expect.objectContaining({ kind: 'identity', state })]),
  })
})
