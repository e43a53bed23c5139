// Without the trust domain it is not known whom a policy names: nothing is then said to be fine, though no binding is there
// that would say so itself (docs/assumptions.md).
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const POLICY = `apiVersion: agentic.networking.x-k8s.io/v1alpha1
kind: XAccessPolicy
metadata: {name: tools, namespace: team-a}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  action: Allow
  rules: [{name: chat, source: {type: SPIFFE, spiffe: 'spiffe://example.org/ns/team-a/objective/chat'}}]
`
const CONFLICTS = ['conflicts', '-A', '--offline', '-f', 'policy.yaml']

test('conflicts of a policy alone are not known; policies bring a warning at most, and the threshold decides the exit code', async () => {
  const folder = await workspace({ 'policy.yaml': POLICY })
  const { code, stdout, stderr } = await inProcess(CONFLICTS, folder)
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("missing kleym's trust domain; pass --trust-domain"),
  ])
  expect(stdout).not.toContain('✓')
  expect((await inProcess([...CONFLICTS, '--fail-on', 'warning'], folder)).code).toBe(4)
})

test.each([
  ['the trust domain of the ID', 'example.org', 'KLM601'],
  ['another one', 'other.org', '✓ nothing clashes'],
])('with %s it is settled', async (_, domain, says) => {
  const folder = await workspace({ 'policy.yaml': POLICY })
  const { code, stdout } = await inProcess([...CONFLICTS, '--trust-domain', domain], folder)
  expect([code, stdout]).toEqual([0, expect.stringContaining(says)])
})
