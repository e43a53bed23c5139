// `--without`: what deleting an object does, compared with the answer where it is still there.
import { beforeAll, expect, test } from 'vitest'
import { built, ESTATE, kleym } from './plugin.ts'

beforeAll(built)

test('diff --without shows what the deletion does, and nothing that is due anyway', async () => {
  const { stdout, code } = await kleym(['diff', ...ESTATE, '--without', 'iib/team-a/chat'])
  expect(code).toBe(1)
  expect(stdout).toContain('1 to delete\n  -  team-a/chat  binding team-a/chat is gone')
  expect(stdout).toContain('pending without this change: 4 ClusterSPIFFEIDs')
  expect(stdout).toContain('- 3 containers lose spiffe://example.org/ns/team-a/objective/chat: vllm of')
  expect(stdout).toContain('all 3 are left without an identity')
  expect(stdout).toContain('team-a/chat is deleted')
  expect(stdout).not.toContain('deepseek-r1')
})

test('explain --without the colliding peer finds the other one ready', async () => {
  const { stdout, code } = await kleym([
    'explain',
    'playground/phi',
    ...ESTATE,
    '--without',
    'iib/playground/phi-eu',
  ])
  expect(code).toBe(0)
  expect(stdout).toContain('✓ playground/phi is ready')
})
