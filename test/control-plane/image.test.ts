// The operator's image where there is no container engine: its root file system is assembled as the Dockerfile does it, and
// the operator runs with that as its root and with the image's user, as a pod on a real control plane would.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  OPERATOR as EXECUTABLE,
  rootFs,
  USER,
  writeRootFs,
  type RootFs,
} from '../../scripts/image/root-fs.ts'
import { sha256 } from '../../scripts/release/krew-manifest.ts'
import { ROOT } from '../e2e/plugin.ts'
import type { ControlPlane } from './control-plane.ts'
import { estate, member, untilReason } from './objects.ts'
import { OPERATOR, OPERATOR_NAMESPACE } from './operator-access.ts'
import { startOperatorPlane, TRUST_DOMAIN } from './operator.ts'
import { freePorts } from './ports.ts'
import type { Program } from './processes.ts'
import { expectReady } from './status-words.ts'
import { printedBy } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'

/** Where the kubelet mounts the service account: the only thing in the container that is not of the image. */
const MOUNT = 'var/run/secrets/kubernetes.io/serviceaccount'

let image: RootFs
beforeAll(() => {
  image = rootFs(ROOT, 0)
})

test('holds the operator, the libraries that it starts with, its user and the licences, and nothing else', () => {
  const names = image.files.map(({ name }) =>
    name.replace(/^lib(?:64)?\/.*/, 'lib').replace(/^usr\/share\/doc\/lib.*/, 'doc'),
  )
  expect([...new Set(names)]).toEqual([
    'etc/group',
    'etc/nsswitch.conf',
    'etc/passwd',
    EXECUTABLE,
    'lib',
    'usr/share/doc/kleym-operator/LICENSE',
    'usr/share/doc/kleym-operator/NOTICES',
    'usr/share/doc/kleym-operator/sbom.cdx.json',
    'doc',
    'usr/share/doc/node/LICENSE',
  ])
  const libraries = image.files.filter(({ name }) => name.startsWith('lib'))
  expect(libraries.filter(({ name }) => !/\/(?:lib[\w+]+|ld-linux-[\w-]+)\.so\.\d+$/.test(name))).toEqual([])
})

test('assembled again, it has the same bytes', () => {
  expect(sums(rootFs(ROOT, 0))).toEqual(sums(image))
})

describe('as the root of a process on a control plane', () => {
  let cp: ControlPlane
  let folder: string
  let operator: Program
  let probes: number
  beforeAll(async () => {
    cp = await startOperatorPlane()
    folder = join(cp.folder, 'root-fs')
    writeRootFs(image.files, folder, 0)
    mountServiceAccount(cp, folder)
    const [first = 0, second = 0] = await freePorts(2)
    probes = first
    operator = await cp.start(start(cp, folder, [first, second]))
  })
  afterAll(() => cp?.stop())

  test('becomes ready, makes a binding ready, writes no file, and ends when it is asked to', async () => {
    const before = listing(folder)
    await until(async () => {
      if (operator.ended() !== undefined) throw new Error(operator.lastWords())
      return (await fetch(`http://127.0.0.1:${probes}/readyz`)).status === 200
    }, 'the operator in the image to be ready')
    await cp.apply([...estate('team-a'), ...member('team-a', 'chat')])
    expectReady(await untilReason(cp, 'team-a', 'chat', 'Reconciled'))
    expect(userOf(operator.pid)).toBe(process.getuid?.() === 0 ? USER : process.getuid?.())
    await operator.signal('SIGTERM')
    await operator.end()
    expect(operator.ended()).toBe('exit code 0')
    expect(listing(folder)).toEqual(before)
  })
})

function sums({ files }: RootFs): readonly string[] {
  return files.map(({ name, bytes }) => `${name} ${sha256(bytes)}`)
}

/** The user of a process, as this system sees it. */
function userOf(pid: number): number {
  return statSync(`/proc/${pid}`).uid
}

function mountServiceAccount(cp: ControlPlane, folder: string): void {
  const mount = join(folder, MOUNT)
  mkdirSync(mount, { recursive: true })
  writeFileSync(join(mount, 'token'), cp.tokenOf(OPERATOR))
  writeFileSync(join(mount, 'ca.crt'), cp.ca)
  writeFileSync(join(mount, 'namespace'), OPERATOR_NAMESPACE)
}

function start(
  cp: ControlPlane,
  folder: string,
  [probes, metrics]: readonly [number, number],
): Parameters<ControlPlane['start']>[0] {
  const [command, ...first] = confined(folder)
  return {
    name: 'operator-in-image',
    command,
    args: [
      ...first,
      `--trust-domain=${TRUST_DOMAIN}`,
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ],
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(cp.port) },
  }
}

/** The operator with another root, and as another user: root may simply do it, other users need a user namespace. */
function confined(folder: string): readonly [string, ...string[]] {
  const command: readonly [string, ...string[]] =
    process.getuid?.() === 0
      ? ['chroot', `--userspec=${USER}:${USER}`, folder, `/${EXECUTABLE}`]
      : [
          'unshare',
          '--user',
          `--map-user=${USER}`,
          `--map-group=${USER}`,
          `--root=${folder}`,
          `/${EXECUTABLE}`,
        ]
  try {
    printedBy(command[0], [...command.slice(1), '--version'])
  } catch (error) {
    throw new Error(
      'this user may not start a program with another root\n' +
        '  fix:  allow user namespaces (kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu), or run as root',
      { cause: error },
    )
  }
  return command
}

/** Every file with its size, its time and what it holds where it is small. */
function listing(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const stat = statSync(join(folder, name))
      const held = stat.isFile() && stat.size < 1_000_000 ? sha256(readFileSync(join(folder, name))) : ''
      return `${name} ${stat.size} ${stat.mtimeMs} ${held}`
    })
}
