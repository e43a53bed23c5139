// A change that leaves no operator: nothing that an answer says of it will be done.
import { expect, test } from 'vitest'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM, operatorDeployment } from '../support/chat-world.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const REST = [CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM].join('---\n')
const OPERATOR = operatorDeployment('acme.example', 'spire')
const STOPPED = OPERATOR.replace('spec:\n', 'spec:\n  replicas: 0\n')
const OTHER = operatorDeployment('acme.example', 'spire', { name: 'kleym-2' })
const SETTINGS = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', 'spire']
const ZERO = 'the operator is down: its Deployment asks for 0 replicas'
const GONE = 'the operator is down: its Deployment is not there any more'

async function ask(args: readonly string[], files: Readonly<Record<string, string>>): Promise<Ran> {
  const ran = await inProcess([...args, '-A', '--offline', ...SETTINGS], await workspace(files))
  return { ...ran, stdout: ran.stdout.replaceAll(/\s+/g, ' ') }
}

test.each(['explain', 'conflicts'])('%s of files whose operator has no replica', async (command) => {
  const stopped = await ask([command, '-f', 'all.yaml'], { 'all.yaml': `${REST}---\n${STOPPED}` })
  expect(stopped.stdout.startsWith(`✗ ${ZERO}; `)).toBe(true)
  expect(stopped.code).toBe(1)
  const runs = await ask([command, '-f', 'all.yaml'], { 'all.yaml': `${REST}---\n${OPERATOR}` })
  expect(runs.stdout).not.toContain('KLM543')
})

test.each([
  ['is stopped', STOPPED, ZERO],
  ['is deleted', '', GONE],
  ['stays', OPERATOR, undefined],
  ['is another', OTHER, undefined],
  ['is one of two, and the other goes on', `${STOPPED}---\n${OTHER}`, undefined],
])('a change after which the operator %s', async (_what, after, said) => {
  const files = { 'base/all.yaml': `${REST}---\n${OPERATOR}`, 'head/all.yaml': `${REST}---\n${after}` }
  const { stdout, code } = await ask(['diff', '--base', 'base', '-f', 'head'], files)
  const first = said === undefined ? '✓ ' : `✗ ${said}; `
  expect(stdout.slice(0, first.length)).toBe(first)
  expect(stdout.includes('KLM543')).toBe(said !== undefined)
  expect(code).toBe(said === undefined ? 0 : 1)
})

test('is no finding of a change that finds the operator stopped', async () => {
  const files = {
    'base/all.yaml': `${REST}---\n${STOPPED}`,
    'head/all.yaml': `${REST}---\n${STOPPED}`,
  }
  const { stdout } = await ask(['diff', '--base', 'base', '-f', 'head'], files)
  expect(stdout).toContain('findings new: none')
})

test('an operator that may be in what was not read is not known to be gone', async () => {
  const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kleym, namespace: kleym-system}
spec: {chart: {spec: {chart: kleym, sourceRef: {kind: HelmRepository, name: kleym}}}}
`
  const files = { 'base/all.yaml': `${REST}---\n${OPERATOR}`, 'head/all.yaml': `${REST}---\n${release}` }
  const { stdout, code } = await ask(['diff', '--base', 'base', '-f', 'head'], files)
  expect(stdout).toMatch(/^! the operator is down: .*depends: /)
  expect(code).toBe(4)
})

test('--without the operator', async () => {
  const files = { 'live/all.yaml': `${REST}---\n${OPERATOR}` }
  const without = ['--live', 'live', '--without', 'deployment/kleym-system/kleym']
  expect((await ask(['diff', ...without], files)).stdout).toContain(GONE)
  expect((await ask(['explain', ...without], files)).stdout).toContain(GONE)
})
