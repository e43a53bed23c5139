// The release moves to another namespace, with the real Helm, by the commands of docs/upgrade.md: no output is made anew, and no
// binding is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringAt } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_INSTALL } from '../../shared/src/core/model/names.ts'
import { startDeployed } from './chart-operator.ts'
import { commandsIn, shellOn, type Shell } from './chart-shell.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { CHART, demand, helmOn, LEAST, RELEASE, type Helm } from './helm.ts'
import { estate, member, outputs, outputsOf, untilReason } from './objects.ts'
import { freePorts } from './ports.ts'
import { until } from '@kleym/testing/wait.ts'

let cp: ControlPlane
let helm: Helm
let shell: Shell
beforeAll(async () => {
  cp = await startControlPlane({ without: ['inferenceidentitybindings.kleym.sonda.red'] })
  ;[helm, shell] = await Promise.all([helmOn(cp), shellOn(cp)])
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

async function works(commands: string | undefined): Promise<void> {
  if (commands === undefined) throw new Error('the page has no such commands')
  const { status, stderr } = await shell(commands)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

async function uids(): Promise<readonly (string | undefined)[]> {
  return (await outputs(cp)).map((output) => stringAt(output, 'metadata', 'uid'))
}

test('a release that moves keeps every output, and bindings are followed from the new namespace', async () => {
  const [, , move, afterMove] = commandsIn('upgrade.md')
  const [probes = 0, metrics = 0] = await freePorts(2)
  const ports = ['--set', `probes.port=${probes}`, '--set', `metrics.port=${metrics}`]
  await demand(
    helm('install', RELEASE, CHART, '--namespace', 'old', '--create-namespace', ...LEAST, ...ports),
  )
  const first = await startDeployed(cp, 'old')
  await first.leads()
  await cp.apply([...estate('team-a'), ...member('team-a', 'chat')])
  await untilReason(cp, 'team-a', 'chat', 'Reconciled')
  const before = await uids()
  // The kubelet ends it after the first command.
  expect(await first.stop()).toBe('exit code 0')

  await works(move)
  const second = await startDeployed(cp, 'new')
  await second.leads()
  await until(async () => {
    const [output] = await outputsOf(cp, 'team-a', 'chat')
    return stringAt(output, 'metadata', 'annotations', ANNOTATION_INSTALL) === 'new/kleym-operator'
  }, 'the output to be marked anew')
  await works(afterMove)
  await cp.apply(member('team-a', 'late', { containerName: 'late' }))
  await untilReason(cp, 'team-a', 'late', 'Reconciled')
  await untilReason(cp, 'team-a', 'chat', 'Reconciled')
  expect(await uids()).toEqual(expect.arrayContaining([...before]))
  expect(await second.stop()).toBe('exit code 0')
})
