// The worst that files and servers have been found to hold, given to the shipped executable: it says what is too much and
// why, in bounded memory. What each costs stands in docs/reliability.md.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { json, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import { built, start } from './plugin.ts'

const MIB = 1024 * 1024
/** What the plugin may take for any input up to 64 MiB, in MiB. */
const MEMORY_MAX = 1024
/** In the time of the machine that the tests share with others; alone it is seconds. */
const PATIENCE_MS = 120_000
const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'kleym-worst-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** So many characters of an answer are kept, or one chunk more: it may be larger than the memory of the test. */
const BEGINNING = 10_000

interface Measured {
  readonly code: number | null
  /** Its beginning. */
  readonly stdout: string
  readonly stderr: string
  /** The most memory that was resident, in MiB; 0 where the system does not tell. */
  readonly peak: number
}

/** Runs the plugin and looks at its memory until it ends: the peak is the kernel's, not that of the looks. */
async function measure(args: readonly string[]): Promise<Measured> {
  const child = start(args)
  child.stdin.end()
  let stdout = ''
  let stderr = ''
  let peak = 0
  child.stdout.on('data', (chunk: Buffer) => {
    if (stdout.length < BEGINNING) stdout += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0))
  }, 5)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(look)
  return { code, stdout, stderr, peak }
}

/** `VmHWM` of a process, in MiB; 0 for one that has ended, and where there is no /proc. */
function peakOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** `unit` again and again, up to so many MiB. */
function filled(mib: number, head: string, unit: string, tail = ''): string {
  return head + unit.repeat(Math.floor((mib * MIB - head.length - tail.length) / unit.length)) + tail
}

describe('files', () => {
  const files: readonly (readonly [name: string, text: () => string, says: string])[] = [
    [
      '8 MiB of flow style',
      () => filled(7.9, `${HEAD}data: [`, '[],', '[]]\n'),
      'more than 1,000,000 tokens',
    ],
    [
      '8 MiB of blank lines before the first word',
      () => filled(7.9, '', '\n', `${HEAD}data: é\n`),
      'more than 1,000,000 tokens',
    ],
    ['8 MiB of depth', () => filled(7.9, `${HEAD}data: `, '['), 'more than 1,000,000 tokens'],
    [
      '8 MiB of lines in brackets',
      () => filled(7.9, `${HEAD}data: [`, 'a,\n', 'a]\n'),
      'more than 1,000,000 tokens',
    ],
    [
      '64 MiB of flow style in many documents',
      () => filled(64, '', `---\n${HEAD}data: [${'[],'.repeat(100_000)}]\n`),
      'more than 20,000,000 values',
    ],
    ['64 MiB of documents', () => filled(64, '', '---\n{a: é}\n'), 'more than 250,000 documents'],
    ['64 MiB of faults', () => filled(64, '', '---\n[\n'), 'more documents or objects'],
    ['64 MiB of JSON brackets', () => filled(64, '[', '{},', '{}]'), 'more than 20,000,000 values'],
    ['64 MiB of JSON documents', () => filled(64, '', '{}\n'), 'more than 250,000 documents'],
  ]
  test.each(files)(
    '%s',
    async (_, text, says) => {
      const file = join(folder, 'worst.yaml')
      await writeFile(file, text())
      const { code, stderr, peak } = await measure(['explain', '-A', '--offline', '-f', file])
      expect(stderr).toContain(says)
      expect(stderr).toMatch(/^ {2}fix: {2}\S/m)
      expect(code).toBe(4)
      expect(peak).toBeLessThan(MEMORY_MAX)
      expect(stderr.length).toBeLessThan(MIB)
    },
    PATIENCE_MS,
  )
})

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

/** Pods of one label, which a pool of the key `app` has. */
function manyPods(count = 20_000, containers = 1): readonly object[] {
  return numbers(count).map((at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${at}`, namespace: 'a', uid: `u${at}`, labels: { app: 'x' } },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 's',
      containers: numbers(containers).map((container) => ({ name: `c${container}`, image: 'i' })),
    },
  }))
}

/** ClusterStaticEntries that match every pod. */
function staticEntries(count: number): readonly object[] {
  return numbers(count).map((at) => ({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: `s${at}` },
    spec: {
      spiffeID: `spiffe://example.org/s${at}`,
      parentID: 'spiffe://example.org/spire/agent/x509pop/a',
      selectors: ['k8s:ns:a'],
    },
  }))
}

/** Bindings of one pool that are undetermined: no flag says which label key variants have. */
function undetermined(count: number): readonly object[] {
  const spec = { mode: 'PerVariant', poolRef: { name: 'p' }, serviceAccountName: 's' }
  return numbers(count).map((at) => ({
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name: `b${at}`, namespace: 'a' },
    spec: { ...spec, identityBoundary: { variant: `v${at}` } },
  }))
}

const SELECT_TOO_OFTEN =
  'so large an answer\n  why:  ClusterSPIFFEIDs, ClusterStaticEntries and undetermined bindings select pods more than 1,000,000 times'

/** ClusterSPIFFEIDs that select every pod. */
function registrations(count: number): readonly object[] {
  return numbers(count).map((at) => ({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: `k${at}` },
    spec: { spiffeIDTemplate: `spiffe://example.org/k${at}`, podSelector: {} },
  }))
}

function pool(name: string, labels: readonly string[]): object {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name, namespace: 'a' },
    spec: { selector: { matchLabels: Object.fromEntries(labels.map((key) => [key, 'x'])) } },
  }
}

function objective(name: string): object {
  return {
    apiVersion: 'llm-d.ai/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name, namespace: 'a' },
    spec: { poolRef: { name } },
  }
}

function binding(name: string, ref: string): object {
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name, namespace: 'a' },
    spec: {
      poolRef: { name: ref },
      objectiveRef: { name: ref },
      serviceAccountName: 's',
      containerName: 'c',
    },
  }
}

function allCollide(): readonly object[] {
  return [pool('p', ['app']), objective('p'), ...numbers(15_000).map((at) => binding(`b${at}`, 'p'))]
}

/** An operator that gives all bindings of a namespace an output. */
function operatorWithoutLimit(): object {
  const labels = { 'app.kubernetes.io/name': 'kleym' }
  const args = [
    '--trust-domain=example.org',
    '--clusterspiffeid-class-name=spire',
    '--bindings-per-namespace=0',
  ]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'kleym', namespace: 'kleym-system', labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'operator', image: 'kleym', args }] },
      },
    },
  }
}

/** 2,500 label sets over as many narrower ones, a binding to each. */
function nested(): readonly object[] {
  const wide = numbers(2_500).map((at) => [`a${at % 50}`, `b${Math.floor(at / 50)}`])
  const keys = numbers(10).flatMap((key) => [`a${key}`, `b${key}`])
  const narrow = numbers(2_500).map((at) => [...keys, `only${at}`])
  return [...wide, ...narrow].flatMap((labels, at) => [
    pool(`p${at}`, labels),
    objective(`p${at}`),
    binding(`b${at}`, `p${at}`),
  ])
}

describe('a few megabytes', () => {
  test.each<[what: string, command: string, objects: () => readonly object[], code: number, says: string]>([
    [
      'of pods and of ClusterSPIFFEIDs that select each of them',
      'conflicts',
      () => [...manyPods(), ...registrations(2_000)],
      4,
      SELECT_TOO_OFTEN,
    ],
    [
      'of pods of many containers, and of ClusterSPIFFEIDs that select each of them',
      'conflicts',
      () => [...manyPods(2_000, 100), ...registrations(20)],
      4,
      SELECT_TOO_OFTEN,
    ],
    [
      'of pods and of ClusterStaticEntries that match each of them',
      'conflicts',
      () => [...manyPods(2_000), ...staticEntries(2_000)],
      4,
      SELECT_TOO_OFTEN,
    ],
    [
      'of pods and of undetermined bindings of their pool',
      'conflicts',
      () => [...manyPods(2_000), pool('p', ['app']), ...undetermined(2_000)],
      4,
      SELECT_TOO_OFTEN,
    ],
    [
      'of pods, each with more registrations than can be shown of all',
      'who-selects',
      () => [...manyPods(), ...registrations(11)],
      4,
      'it has more than 200,000 registrations of containers',
    ],
    [
      'of the same on a page',
      'map',
      () => [...manyPods(), ...registrations(8)],
      4,
      'it has more than 150,000 registrations of containers',
    ],
    [
      'of bindings that collide, each with all others',
      'explain',
      allCollide,
      4,
      'it has more than 500,000 peers and pods',
    ],
    ['of label sets within others', 'conflicts', () => [...nested(), operatorWithoutLimit()], 1, ''],
  ])(
    '%s',
    async (_, command, objects, exit, says) => {
      const file = join(folder, 'worst.json')
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects() }))
      const args = [command, '-A', '--offline', '--trust-domain', 'example.org', '-f', file]
      const { code, stderr, peak } = await measure(args)
      expect(stderr).toContain(says)
      expect(code).toBe(exit)
      expect(peak).toBeLessThan(MEMORY_MAX)
    },
    PATIENCE_MS,
  )
})

describe('trees', () => {
  test(
    'a hundred thousand empty files hold no document',
    async () => {
      const tree = await mkdtemp(join(folder, 'empty-'))
      for (let at = 0; at < 100_000; at++) closeSync(openSync(join(tree, `${at}.yaml`), 'w'))
      const { code, stdout, peak } = await measure(['who-selects', '-A', '--offline', '-R', '-f', tree])
      expect(stdout).toContain('the files hold no document')
      expect(code).toBe(4)
      expect(peak).toBeLessThan(MEMORY_MAX)
    },
    PATIENCE_MS,
  )

  test(
    'files of 100 MB, links in circles and a pipe: a line each, and what is beside them is read',
    async () => {
      const tree = await mkdtemp(join(folder, 'large-'))
      await writeFile(join(tree, 'text.yaml'), filled(100, '', 'a: b\n'))
      // A hole in the file: no disk holds it.
      await writeFile(join(tree, 'zero.yaml'), '')
      await truncate(join(tree, 'zero.yaml'), 100 * MIB)
      await symlink('circle.yaml', join(tree, 'circle.yaml'))
      await symlink('.', join(tree, 'itself'))
      printedBy('mkfifo', [join(tree, 'pipe.yaml')])
      await writeFile(
        join(tree, 'pod.yaml'),
        'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c}]}\n',
      )
      const { code, stderr, peak } = await measure(['who-selects', '-A', '--offline', '-R', '-f', tree])
      for (const says of [
        /document 1 of \S+text\.yaml \(line 1\)\n {2}why: {2}the document is longer than 8 MiB/,
        /document 1 of \S+zero\.yaml \(line 1\)\n {2}why: {2}the document is longer than 8 MiB/,
        /circle\.yaml\n {2}why: {2}its symbolic links lead in a circle/,
        /left out \S*pipe\.yaml: it is neither a file nor a folder/,
        /1 object that names no namespace/,
      ])
        expect(stderr).toMatch(says)
      expect(code).toBe(4)
      expect(peak).toBeLessThan(MEMORY_MAX)
    },
    PATIENCE_MS,
  )
})

const BRACKETS = Buffer.from(
  filled(57, '{"kind":"List","metadata":{"resourceVersion":"1"},"items":[', '{},', '{}]}'),
)
const PIECE = 64 * 1024
/** Eight answers come side by side, and none is read beyond 16 MiB. */
const ANSWERS_MAX = 512

test.each<[string, Behaviour]>([
  [
    'says how long they are',
    { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' }, body: BRACKETS },
  ],
  [
    'sends them piece by piece',
    {
      kind: 'stream',
      ending: 'end',
      chunks: Array.from({ length: Math.ceil(BRACKETS.length / PIECE) }, (_, at) =>
        BRACKETS.subarray(at * PIECE, (at + 1) * PIECE),
      ),
    },
  ],
])(
  'a server whose every answer is 60 MB of brackets, and that %s',
  async (_, bracket) => {
    const groups = {
      groups: ['kleym.sonda.red', 'spire.spiffe.io', 'inference.networking.k8s.io', 'apps', 'batch'].map(
        (name) => ({ name, versions: [{ version: 'v1' }, { version: 'v1alpha1' }] }),
      ),
    }
    await using server = await faultServer(({ path }) => (path === '/apis' ? json(groups) : bracket))
    const { code, peak } = await measure(['explain', '-A', '--server', server.url.href])
    expect(server.seen.length).toBeGreaterThan(5)
    expect(code).toBe(4)
    expect(peak).toBeLessThan(ANSWERS_MAX)
  },
  PATIENCE_MS,
)
