// What publishes a release, against a registry on this machine: the shell scripts that the workflow runs, with the real crane
// and the real Helm. Signing needs the workflow's identity, and is not run anywhere but there.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packChart } from '../../scripts/release/chart.ts'
import { sha256 } from '../../scripts/release/krew-manifest.ts'
import { tarGz } from '../../scripts/release/tar.ts'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import { ROOT } from '../e2e/plugin.ts'
import { VERSION } from '../release/released.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { CHART } from './helm.ts'
import { freePorts } from './ports.ts'

let folder: string
let registry: ChildProcess
let host: string
/** A port at which nothing listens. */
let nowhere: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kleym-publish-'))
  mkdirSync(join(folder, 'bin'))
  for (const name of ['crane', 'helm'] as const)
    symlinkSync(await ensureClient(name), join(folder, 'bin', name))
  const [port = 0, other = 0] = await freePorts(2)
  host = `127.0.0.1:${port}`
  nowhere = `127.0.0.1:${other}`
  registry = spawn(join(folder, 'bin/crane'), ['registry', 'serve', '--address', host], { stdio: 'ignore' })
  await until(async () => (await fetch(`http://${host}/v2/`).catch(() => undefined))?.ok, 'the registry')
}, FIRST_BUILD_MS)
afterAll(() => {
  registry?.kill('SIGKILL')
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** Runs a program with crane and Helm on its PATH, and nothing of this machine's own logins. */
function run(program: string, ...args: readonly string[]): Promise<Ended> {
  return ended(
    spawn(program, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
        HOME: folder,
        TMPDIR: folder,
        HELM_PUSH_FLAGS: '--plain-http',
      },
    }),
  )
}

function script(name: string, ...args: readonly string[]): Promise<Ended> {
  return run(join(ROOT, 'scripts/publish', `${name}.sh`), ...args)
}

/** What a script prints where it must succeed. */
async function printed(running: Promise<Ended>): Promise<string> {
  const { status, stdout, stderr } = await running
  if (status !== 0) throw new Error(`it ended with ${String(status)}: ${stderr}`)
  return stdout.trim()
}

interface Spoilt {
  /** The architecture that the image says it is for; absent: the one that it is named for. */
  readonly says?: string
  /** What is put in the place of a layer. */
  readonly layer?: Buffer
  readonly images?: number
}

/** The archive of an OCI layout with one small image, as `docker buildx build --output type=oci` makes it. */
async function archiveOf(arch: string, content: string, spoilt: Spoilt = {}): Promise<string> {
  const blobs = new Map<string, Buffer>()
  const blob = (mediaType: string, bytes: Buffer): { mediaType: string; digest: string; size: number } => {
    blobs.set(sha256(bytes), bytes)
    return { mediaType, digest: `sha256:${sha256(bytes)}`, size: bytes.length }
  }
  const type = 'application/vnd.oci.image'
  const file = [{ name: 'kleym-operator', bytes: Buffer.from(content), executable: true }]
  const bytes = await tarGz(file, 0)
  const layer = blob(`${type}.layer.v1.tar+gzip`, bytes)
  // The digest of a layer without its compression is not what this is about: an empty layer's would do as well.
  const config = blob(
    `${type}.config.v1+json`,
    Buffer.from(
      JSON.stringify({
        architecture: spoilt.says ?? arch,
        os: 'linux',
        rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(await unpacked(bytes))}`] },
      }),
    ),
  )
  const manifest = blob(
    `${type}.manifest.v1+json`,
    Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: `${type}.manifest.v1+json`, config, layers: [layer] }),
    ),
  )
  if (spoilt.layer !== undefined) blobs.set(layer.digest.slice('sha256:'.length), spoilt.layer)
  const index = { schemaVersion: 2, manifests: Array(spoilt.images ?? 1).fill(manifest) }
  const path = join(folder, `image-${crypto.randomUUID()}.tar`)
  const files = [...blobs].map(([name, data]) => ({ name: `blobs/sha256/${name}`, bytes: data }))
  const rest = { 'oci-layout': { imageLayoutVersion: '1.0.0' }, 'index.json': index }
  const others = Object.entries(rest).map(([name, data]) => ({
    name,
    bytes: Buffer.from(JSON.stringify(data)),
  }))
  writeFileSync(path, await tarGz([...files, ...others], 0))
  return path
}

async function unpacked(bytes: Buffer): Promise<Buffer> {
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream('gzip'))
  return Buffer.from(await new Response(stream).arrayBuffer())
}

/** A layout of both architectures whose programs hold this text; its folder and its digest. */
async function layoutOf(content: string): Promise<{ layout: string; digest: string }> {
  const layout = join(folder, `layout-${crypto.randomUUID()}`)
  const archives = await Promise.all(
    ['amd64', 'arm64'].map(async (arch) => `${arch}=${await archiveOf(arch, `${content} ${arch}`)}`),
  )
  return { layout, digest: await printed(script('image-layout', layout, ...archives)) }
}

describe('the image', () => {
  test('is pushed by the digest that was known before, has no name then, and both architectures once it has one', async () => {
    const image = `${host}/team/kleym-operator`
    const { layout, digest } = await layoutOf('one')
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await printed(script('push-image', layout, image))).toBe(digest)
    expect(await printed(run('crane', 'ls', image))).toBe('')
    await printed(script('tag-image', image, digest, VERSION))
    expect(await printed(run('crane', 'ls', image))).toBe(VERSION)
    expect(await printed(run('crane', 'digest', `${image}:${VERSION}`))).toBe(digest)
    const index: unknown = JSON.parse(await printed(run('crane', 'manifest', `${image}:${VERSION}`)))
    const platforms = [
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux' },
    ]
    expect(index).toMatchObject({ manifests: platforms.map((platform) => ({ platform })) })
    const config = await printed(run('crane', 'config', '--platform', 'linux/arm64', `${image}@${digest}`))
    expect(JSON.parse(config)).toMatchObject({ architecture: 'arm64' })
  })

  test('a version that exists is not moved, and the same once more is no error', async () => {
    const image = `${host}/team/moved`
    const [first, second] = await Promise.all([layoutOf('first'), layoutOf('second')])
    for (const { layout } of [first, second]) await printed(script('push-image', layout, image))
    await printed(script('tag-image', image, first.digest, '1.0.0'))
    await printed(script('tag-image', image, first.digest, '1.0.0'))
    const { status, stderr } = await script('tag-image', image, second.digest, '1.0.0')
    expect(status).not.toBe(0)
    expect(stderr).toContain(`error: ${image}:1.0.0 is not tagged`)
    expect(stderr).toContain(`it is ${first.digest}, and was to be ${second.digest}`)
    expect(await printed(run('crane', 'digest', `${image}:1.0.0`))).toBe(first.digest)
  })

  test('a registry that does not answer is no free name', async () => {
    const { status, stderr } = await script('tag-image', `${nowhere}/x`, `sha256:${'0'.repeat(64)}`, '1.0.0')
    expect(status).not.toBe(0)
    expect(stderr).toContain(`error: it is not known whether ${nowhere}/x:1.0.0 exists`)
  })

  test('the same archives give the same digest', async () => {
    const [one, again] = [await layoutOf('same'), await layoutOf('same')]
    expect(again.digest).toBe(one.digest)
    expect(readFileSync(join(again.layout, 'index.json'))).toEqual(
      readFileSync(join(one.layout, 'index.json')),
    )
  })

  test.each<[what: string, spoilt: Spoilt, says: RegExp]>([
    [
      'of another architecture',
      { says: 's390x' },
      /is not for linux\/amd64\n {2}why: {2}it is for linux\/s390x/,
    ],
    ['with another layer', { layer: Buffer.from('evil') }, /is damaged\n {2}why: {2}its SHA-256 is/],
    ['that is two', { images: 2 }, /is not one image\n {2}why: {2}its index names 2 manifests/],
  ])('an archive %s is refused', async (_what, spoilt, says) => {
    const archive = await archiveOf('amd64', 'spoilt', spoilt)
    const { status, stderr } = await script('image-layout', join(folder, 'spoilt'), `amd64=${archive}`)
    expect(stderr).toMatch(says)
    expect(status).not.toBe(0)
  })
})

describe('what is handed to the jobs that publish', () => {
  test('the operator in the image must be the one that was tested', async () => {
    const { layout } = await layoutOf('tested')
    const [same, other] = ['tested amd64', 'tested arm64'].map((content) => {
      const path = join(folder, `operator-${crypto.randomUUID()}`)
      writeFileSync(path, content)
      return path
    })
    await printed(script('expect-operator', layout, 'amd64', same ?? ''))
    const { status, stderr } = await script('expect-operator', layout, 'amd64', other ?? '')
    expect(stderr).toContain('error: the image for amd64 is not of the operator that was tested')
    expect(status).not.toBe(0)
  })

  test.each<[what: string, spoil: (files: string) => void, says: string]>([
    ['a changed file', (files) => writeFileSync(join(files, 'a.tgz'), 'evil'), 'a.tgz: FAILED'],
    [
      'a file more',
      (files) => writeFileSync(join(files, 'b.tgz'), 'evil'),
      'error: b.tgz is not of this release',
    ],
    [
      'a changed file, with its checksum changed too',
      (files) => {
        writeFileSync(join(files, 'a.tgz'), 'evil')
        writeFileSync(join(files, 'SHA256SUMS'), `${sha256(Buffer.from('evil'))}  a.tgz\n`)
      },
      'error: SHA256SUMS is another one',
    ],
  ])('%s is found', async (_what, spoil, says) => {
    const files = join(folder, `files-${crypto.randomUUID()}`)
    mkdirSync(files)
    writeFileSync(join(files, 'a.tgz'), 'good')
    const sums = Buffer.from(`${sha256(Buffer.from('good'))}  a.tgz\n`)
    writeFileSync(join(files, 'SHA256SUMS'), sums)
    await printed(script('check-files', files, sha256(sums)))
    spoil(files)
    const { status, stdout, stderr } = await script('check-files', files, sha256(sums))
    expect(stdout + stderr).toContain(says)
    expect(status).not.toBe(0)
  })
})

describe('the chart', () => {
  test('is pushed once, and its version is never overwritten', async () => {
    const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0 })
    const archive = join(folder, name)
    writeFileSync(archive, bytes)
    const repository = `${host}/team/charts`
    const digest = await printed(script('push-chart', archive, repository))
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await printed(run('crane', 'ls', `${repository}/kleym`))).toBe(VERSION)
    const manifest: unknown = JSON.parse(
      await printed(run('crane', 'manifest', `${repository}/kleym@${digest}`)),
    )
    expect(manifest).toMatchObject({ layers: [{ digest: `sha256:${sha256(bytes)}` }] })
    const { status, stderr } = await script('push-chart', archive, repository)
    expect(status).not.toBe(0)
    expect(stderr).toContain(`${repository}/kleym:${VERSION} exists, as ${digest}`)
  })

  test('a registry that does not answer is no free version', async () => {
    const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0 })
    writeFileSync(join(folder, name), bytes)
    const { status, stderr } = await script('push-chart', join(folder, name), `${nowhere}/charts`)
    expect(status).not.toBe(0)
    expect(stderr).toContain(`it is not known whether ${nowhere}/charts/kleym:${VERSION} exists`)
  })
})
