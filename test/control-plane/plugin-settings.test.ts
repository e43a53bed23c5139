// `kubectl kleym settings --write` on a real cluster: what the chart's Deployment and SCM's ConfigMap say becomes `.kleym.yaml`, and the
// answers about files then need no flag (docs/settings.md).
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCM_LAYOUTS } from '@kleym/testing/scm-layouts.ts'
import { parse } from 'yaml'
import { dig } from '../../shared/src/core/base/json.ts'
import { CHAT_BINDING, CHAT_OBJECTS } from '../../plugin/test/support/chat-world.ts'
import { built } from '../e2e/plugin.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { CHART, demand, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE } from './helm.ts'
import { kubectlKleym, type PluginRun } from './kubectl-kleym.ts'
import { namespace } from './objects.ts'

let cp: ControlPlane
const [LAYOUT] = SCM_LAYOUTS

beforeAll(async () => {
  await built()
  cp = await startControlPlane({
    without: ['inferenceidentitybindings.kleym.sonda.red'],
    controllers: [],
    users: [{ name: 'nobody' }],
  })
  const helm = await helmOn(cp)
  await cp.apply([RELEASE_NAMESPACE, ...(LAYOUT?.namespaces ?? [])].map((name) => namespace(name)))
  await cp.apply(LAYOUT?.objects ?? [])
  const values = [`className=${LAYOUT?.className}`, 'outputLabels.team=ml', 'variantLabelKey=llm-d.ai/role']
  const settings = values.flatMap((value) => ['--set-string', value])
  await demand(helm('install', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...LEAST, ...settings))
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

function kleym(...args: readonly string[]): Promise<PluginRun> {
  return kubectlKleym(cp, args)
}

function written(): string {
  return readFileSync(join(cp.folder, '.kleym.yaml'), 'utf8')
}

const SAID = {
  trustDomain: 'example.org',
  className: LAYOUT?.className,
  outputLabels: { team: 'ml' },
  variantLabelKey: 'llm-d.ai/role',
  scmConfig: expect.objectContaining({ clusterName: 'prod', trustDomain: 'example.org' }),
}

test('the operator and SCM of the cluster become the file, and the file is enough for files', async () => {
  rmSync(join(cp.folder, '.kleym.yaml'), { force: true })
  const { code, stdout, stderr } = await kleym('settings', '--write')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^✓ wrote \.kleym\.yaml; every setting is given/)
  expect(parse(written())).toEqual(SAID)
  expect(written()).toMatch(
    new RegExp(`^# Settings of kubectl kleym .*Deployment ${RELEASE_NAMESPACE}/${RELEASE}`),
  )

  writeFileSync(join(cp.folder, 'app.yaml'), `${CHAT_BINDING}---\n${CHAT_OBJECTS}`)
  for (const command of [
    ['explain', 'demo/chat'],
    ['conflicts', '-A'],
    ['who-selects', '-A'],
    ['map', '-A'],
  ]) {
    const ran = await kleym(...command, '--offline', '-f', 'app.yaml')
    expect([ran.code, ran.stdout.slice(0, 1)]).toEqual([0, '✓'])
  }
})

test('the file agrees with the cluster that it is from, and is never written over', async () => {
  const { code, stdout } = await kleym('settings')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^✓ every setting is given/)
  const before = written()
  const again = await kleym('settings', '--write')
  expect(again.stderr).toContain('the file is there already')
  expect(again.code).toBe(2)
  expect(written()).toBe(before)
})

test('with --context it is a section beside what is there', async () => {
  const context = (await cp.kubectl(['config', 'current-context'])).stdout.trim()
  const before = written()
  const { code, stdout } = await kleym('settings', '--write', '--context', context)
  expect(stdout).toContain(`wrote .kleym.yaml, context ${context}`)
  expect(code).toBe(0)
  expect(written().startsWith(before)).toBe(true)
  expect(parse(written())).toEqual({ ...SAID, contexts: { [context]: SAID } })
})

test('a cluster that says otherwise than the file counts first, and the difference is reported', async () => {
  writeFileSync(join(cp.folder, '.kleym.yaml'), 'trustDomain: other.example\n')
  const { stdout } = await kleym('conflicts', '-A', '--allow-empty', '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({
    settings: { trustDomain: 'example.org' },
    findings: [expect.objectContaining({ code: 'KLM520' })],
  })
})

test.each([
  ['the cluster counts before the environment', [], { KLEYM_TRUST_DOMAIN: 'other.example' }, 'example.org'],
  ['a flag counts before the cluster', ['--trust-domain', 'other.example'], {}, 'other.example'],
])('%s, and the difference is reported', async (_, flags, env, trustDomain) => {
  rmSync(join(cp.folder, '.kleym.yaml'), { force: true })
  const args = ['conflicts', '-A', '--allow-empty', '-o', 'json', ...flags]
  const { stdout } = await kubectlKleym(cp, args, { env })
  expect(JSON.parse(stdout)).toMatchObject({
    settings: { trustDomain },
    findings: [expect.objectContaining({ code: 'KLM520' })],
  })
})

test('what the cluster does not say comes from the environment first, and then from the file', async () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: RELEASE_NAMESPACE,
    name: 'kleym-operator',
  }
  await cp.admin.delete(deployment)
  writeFileSync(join(cp.folder, '.kleym.yaml'), 'trustDomain: file.example\n')
  const domainWith = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
    const { stdout } = await kubectlKleym(cp, ['conflicts', '-A', '--allow-empty', '-o', 'json'], { env })
    return dig(JSON.parse(stdout), 'settings', 'trustDomain')
  }
  expect(await domainWith({})).toBe('file.example')
  expect(await domainWith({ KLEYM_TRUST_DOMAIN: 'env.example' })).toBe('env.example')
})

test('who may read neither gets an error, and no file', async () => {
  rmSync(join(cp.folder, '.kleym.yaml'), { force: true })
  const { code, stderr } = await kubectlKleym(cp, ['settings', '--write'], { user: 'nobody' })
  expect(stderr).toContain('no source says any setting')
  expect(code).toBe(2)
  expect(() => written()).toThrow('ENOENT')
})
