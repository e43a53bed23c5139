// What an outsider brings: pods that do not run, containers that are attested otherwise, dumps of another server, odd selectors. No hop
// is good that is not, and none is broken that was not read.
import { writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { healthySlot, workloadStatus, type DraftPod, type WhySlot } from '@kleym/testing/why-world.ts'
import { inProcess } from '../../support/in-process.ts'
import {
  logOf,
  WhyFiles,
  type Dumped,
  type WhyGiven,
  type WhySaid,
  type WhyWorld,
} from '../../support/why-files.ts'

const cluster = new WhyFiles()
afterAll(() => cluster.end())

const plain = healthySlot('plain')
const slots = new Map<string, WhySlot>([['plain', plain]])

/** A slot whose pod is changed. */
function slotOf(
  name: string,
  change: (spec: DraftPod['spec'] & Record<string, unknown>) => void,
  container = 'app',
): void {
  const slot = healthySlot(name)
  change(slot.pod.spec)
  slots.set(name, { ...slot, container })
}

function socketFrom(name: string, env: { readonly value: string } | { readonly valueFrom: unknown }): void {
  slotOf(name, (spec) => {
    for (const one of spec.containers)
      Object.assign(one, { env: [{ name: 'SPIFFE_ENDPOINT_SOCKET', ...env }] })
  })
}

slotOf(
  'ephemeral',
  (spec) => void (spec['ephemeralContainers'] = [{ name: 'debug', image: 'busybox' }]),
  'debug',
)
slotOf(
  'init',
  (spec) => void (spec.initContainers = spec.containers.map((one) => ({ ...one, name: 'setup' }))),
  'setup',
)
slotOf('host-network', (spec) => void (spec['hostNetwork'] = true))
slotOf('windows', (spec) => {
  spec['os'] = { name: 'windows' }
  for (const one of spec.containers) delete one.volumeMounts
})
socketFrom('from-a-config-map', { valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } })
socketFrom('expanded', { value: 'unix://$(FOLDER)/spire-agent.sock' })
socketFrom('tcp', { value: 'tcp://127.0.0.1:8081' })
socketFrom('out-of-the-mount', { value: 'unix:///spiffe-workload-api/../tmp/spire-agent.sock' })
socketFrom('plain-path', { value: '/spiffe-workload-api/spire-agent.sock' })
socketFrom('empty', { value: '' })

let all: WhyWorld
beforeAll(async () => {
  all = await cluster.world('all', [...slots.values()])
})

function slotNamed(name: string): WhySlot {
  const found = slots.get(name)
  if (found === undefined) throw new Error(`there is no slot ${name}`)
  return found
}

/** Asks about the plain pod in a cluster in which something is otherwise. */
async function otherwise(
  change: (one: Dumped) => Dumped | readonly Dumped[],
  given: WhyGiven = {},
): Promise<WhySaid> {
  cluster.writeObjects('all', all.objects.flatMap(change))
  try {
    return await cluster.asked(all, plain, given)
  } finally {
    cluster.writeObjects('all', all.objects)
  }
}

const isPlain = ({ kind, metadata }: Dumped): boolean => kind === 'Pod' && metadata.namespace === plain.space
const withStatus =
  (status: unknown) =>
  (one: Dumped): Dumped =>
    isPlain(one) ? { ...one, status } : one
const waiting = (reason: string, restartCount = 0) =>
  withStatus({
    phase: 'Pending',
    containerStatuses: [{ name: 'app', restartCount, state: { waiting: { reason } } }],
  })

describe('containers and sockets', () => {
  test.each([
    [
      'ephemeral',
      1,
      /broken at hop 1, .* is an ephemeral one, and SPIRE does not attest those; fix: ask from another container/,
    ],
    ['init', 0, /all 8 hops are good/],
    ['host-network', 0, /all 8 hops are good/],
    ['windows', 4, /not known at hop 7/],
    [
      'from-a-config-map',
      4,
      /not known at hop 7, .*SPIFFE_ENDPOINT_SOCKET of container app is set from elsewhere/,
    ],
    ['expanded', 4, /not known at hop 7, .*is unix:\/\/\$\(FOLDER\)\/spire-agent\.sock/],
    ['tcp', 4, /not known at hop 7, .*is tcp:\/\/127\.0\.0\.1:8081/],
    ['out-of-the-mount', 1, /broken at hop 7, .*and the socket is mounted at \/spiffe-workload-api/],
    ['plain-path', 0, /all 8 hops are good/],
    ['empty', 0, /all 8 hops are good/],
  ] as const)('%s', async (name, code, says) => {
    const said = await cluster.asked(all, slotNamed(name))
    expect(said.line).toMatch(says)
    expect(said.code).toBe(code)
  })
})

describe('a pod that does not run', () => {
  test.each([
    [
      'a job that is done',
      withStatus({ phase: 'Succeeded' }),
      'broken',
      /has ended \(Succeeded\), and no process of it asks/,
    ],
    [
      'a pod that was evicted',
      withStatus({ phase: 'Failed', reason: 'Evicted' }),
      'broken',
      /has ended \(Failed\)/,
    ],
    [
      'an image that cannot be pulled',
      waiting('ImagePullBackOff'),
      'broken',
      /app has not started \(ImagePullBackOff\)/,
    ],
    [
      'one that is about to start',
      waiting('ContainerCreating'),
      'not known',
      /has not started \(ContainerCreating\)/,
    ],
  ] as const)('%s', async (_, change, state, says) => {
    const said = await otherwise(change)
    expect(said.line).toMatch(new RegExp(`${state} at hop 6, attested: .*${says.source}`))
  })

  test('one that has run before may have asked then', async () => {
    expect(await otherwise(waiting('CrashLoopBackOff', 4))).toMatchObject({ code: 0 })
    expect(await otherwise(waiting('ImagePullBackOff', 4))).toMatchObject({ code: 0 })
  })
})

describe('a cluster that is not as it should be', () => {
  test('the Node of the pod is not there: the third hop, and no word of ignored namespaces', async () => {
    const said = await otherwise((one) => (one.kind === 'Node' && one.metadata.name === 'n1' ? [] : one))
    expect(said.line).toMatch(/broken at hop 3, rendered: there is no Node n1/)
    expect(said.line).not.toContain('ignoreNamespaces')
  })

  test("SCM is down, and a tenant's workload of that name is not", async () => {
    const said = await otherwise(
      (one) =>
        one.kind === 'StatefulSet'
          ? [
              { ...one, status: workloadStatus(0) },
              { ...one, metadata: { ...one.metadata, namespace: 'a-tenant', uid: 'another' } },
            ]
          : one,
      { entries: '' },
    )
    expect(said).toMatchObject({ code: 4, notKnown: 'installed' })
    expect(said.line).toContain('which SCM acts on it is not known')
  })

  test('an agent that comes and one that goes: the one that is ready counts', async () => {
    const said = await otherwise((one) =>
      one.metadata.name === 'spire-agent-n1'
        ? [
            one,
            {
              ...one,
              metadata: { ...one.metadata, name: 'agent-before', uid: 'x' },
              status: { conditions: [{ type: 'Ready', status: 'False' }] },
            },
          ]
        : one,
    )
    expect(said).toMatchObject({ code: 0 })
  })
})

function withDump(text: string): Promise<WhySaid> {
  writeFileSync(join(cluster.folder, 'dump.json'), text)
  return cluster.asked(all, plain, { entries: 'dump.json' })
}

describe('dumps of entries', () => {
  test('another trust domain: it is another server, and the hop is not known', async () => {
    const held = readFileSync(join(cluster.folder, 'all-entries.json'), 'utf8')
    const said = await withDump(held.replaceAll('example.org', 'other.test'))
    expect([said.broken, said.notKnown]).toEqual([undefined, 'on the server'])
    expect(said.line).toContain('the entries are of trust domain other.test, and SCM is set to example.org')
  })

  test('no entries at all: the server has none, and the hop is broken', async () => {
    expect(await withDump('{"entries":[]}')).toMatchObject({ broken: 'on the server' })
  })

  test.each([
    [''],
    ['{}'],
    ['null'],
    ['Found 1 entry'],
    ['\u0000\u0001'],
    ['{"bundles":[]}'],
    ['{"entries":[{'],
  ])('%j is no dump, and no answer', async (text) => {
    await expect(withDump(text)).rejects.toThrow('this is no dump of the entries')
  })
})

function withSelectors(text: string): Promise<WhySaid> {
  return cluster.asked(all, plain, { log: null, flags: ['--selectors', text] })
}

/** Those of the process of the plain pod, with something between them. */
function selectorsOfPlain(between: string): string {
  const uid = /pod-uid:([\w-]+)/.exec(logOf(plain, 'app', all.objects))?.[1] ?? ''
  return ['k8s:ns:why-plain', 'k8s:sa:runner', `k8s:pod-uid:${uid}`].join(between)
}

describe('selectors by hand', () => {
  test.each([[','], [', '], [' '], ['\n']])('with %j between them', async (between) => {
    expect(await withSelectors(` ${selectorsOfPlain(between)} `)).toMatchObject({ code: 0 })
  })

  test.each([[''], ['foo'], ['k8s:'], ['[type:"k8s" value:"ns:a"]']])(
    '%j is a wrong command line',
    async (text) => {
      await expect(withSelectors(text)).rejects.toThrow('this is no selector')
    },
  )

  test('stdin is read once', async () => {
    for (const flags of [
      ['--entries', '-', '--agent-log', '-'],
      ['--entries', '-', '--entries', '-'],
    ])
      expect((await inProcess(['why', 'llama', ...flags, ...all.files], cluster.folder)).stderr).toContain(
        'stdin is given twice',
      )
  })
})

test('one name in two namespaces: each has an answer of its own', async () => {
  const { stdout } = await inProcess(['why', 'llama', '-A', ...all.files], cluster.folder, { COLUMNS: '300' })
  expect(stdout).toContain('pod why-plain/llama, container app')
  expect(stdout).toContain('pod why-tcp/llama, container app')
})
