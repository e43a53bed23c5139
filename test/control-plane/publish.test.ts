// What publishes a release, against a registry on this machine: the shell scripts that the workflow runs, with the real crane
// and the real Helm. Signing needs the workflow's identity, and is not run anywhere but there.
import { spawn, type ChildProcess } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
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
  return runWith({}, program, ...args)
}

function runWith(
  variables: Readonly<Record<string, string>>,
  program: string,
  ...args: readonly string[]
): Promise<Ended> {
  return ended(
    spawn(program, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
        HOME: folder,
        TMPDIR: folder,
        HELM_PUSH_FLAGS: '--plain-http',
        ...variables,
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

/** A file of a layer that the image may not hold, or may not hold twice. */
type LayerFile = Parameters<typeof tarGz>[0][number]

interface Spoilt {
  /** Beside the operator, in its layer. */
  readonly beside?: readonly LayerFile[]
  /** A layer over it, with another operator. */
  readonly over?: boolean
  /** In the configuration, over what the Dockerfile says. */
  readonly config?: Readonly<Record<string, unknown>>
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
  const operator = { name: 'kleym-operator', executable: true }
  const bill = { name: 'usr/share/doc/kleym-operator/sbom.cdx.json', bytes: Buffer.from(`"${content}"`) }
  const file = [{ ...operator, bytes: Buffer.from(content) }, bill, ...(spoilt.beside ?? [])]
  const bytes = await tarGz(file, 0)
  const top = await tarGz([{ ...operator, bytes: Buffer.from('evil') }], 0)
  const layer = blob(`${type}.layer.v1.tar+gzip`, bytes)
  // The digest of a layer without its compression is not what this is about: an empty layer's would do as well.
  const config = blob(
    `${type}.config.v1+json`,
    Buffer.from(
      JSON.stringify({
        architecture: spoilt.says ?? arch,
        os: 'linux',
        config: {
          Entrypoint: ['/kleym-operator'],
          User: '65532:65532',
          Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
          WorkingDir: '/',
          ...spoilt.config,
        },
        rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(await unpacked(bytes))}`] },
      }),
    ),
  )
  const manifest = blob(
    `${type}.manifest.v1+json`,
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: `${type}.manifest.v1+json`,
        config,
        layers: [layer, ...(spoilt.over === true ? [blob(`${type}.layer.v1.tar+gzip`, top)] : [])],
      }),
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
    expect(await printed(script('push-image', layout, image, digest))).toBe(digest)
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

  test('a layout with another digest than the one that was built is not pushed', async () => {
    const image = `${host}/team/exchanged`
    const [built, other] = await Promise.all([layoutOf('built'), layoutOf('exchanged')])
    const { status, stderr } = await script('push-image', other.layout, image, built.digest)
    expect(stderr).toContain(`it is ${other.digest}, and ${built.digest} was built`)
    expect(status).not.toBe(0)
    expect((await run('crane', 'digest', `${image}@${other.digest}`)).status).not.toBe(0)
  })

  test('its bill of materials comes out of it, and not out of what was put in its place', async () => {
    const { layout } = await layoutOf('billed')
    expect(await printed(script('image-sbom', layout, 'arm64'))).toBe('"billed arm64"')
    const blobs = join(layout, 'blobs/sha256')
    for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), '{}')
    const { status, stdout, stderr } = await script('image-sbom', layout, 'arm64')
    expect(stderr).toContain('is damaged')
    expect(stdout).toBe('')
    expect(status).not.toBe(0)
  })

  test('a version that exists is not moved, and the same once more is no error', async () => {
    const image = `${host}/team/moved`
    const [first, second] = await Promise.all([layoutOf('first'), layoutOf('second')])
    for (const { layout, digest } of [first, second])
      await printed(script('push-image', layout, image, digest))
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

  test('a 404 of anything but the tag is no free name', async () => {
    const proxy = createServer((request, response) => {
      response.writeHead(request.url === '/v2/' ? 401 : 404, {
        'www-authenticate': `Bearer realm="http://${String(request.headers.host)}/token",service="x"`,
      })
      response.end()
    })
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
    try {
      const address = proxy.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const name = `127.0.0.1:${String(port)}/team/x`
      const { status, stderr } = await script('tag-image', name, `sha256:${'0'.repeat(64)}`, '1.0.0')
      expect(stderr).toContain(`error: it is not known whether ${name}:1.0.0 exists`)
      expect(stderr).toContain('404')
      expect(status).not.toBe(0)
    } finally {
      proxy.close()
    }
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
  test.each<[what: string, spoilt: Spoilt, says: string]>([
    ['a layer over the operator that was tested', { over: true }, 'it has 2 layers'],
    [
      'a library that is loaded first',
      { beside: [{ name: 'etc/ld.so.preload', bytes: Buffer.from('/x.so') }] },
      'there is etc/ld.so.preload',
    ],
    [
      'a program beside it',
      { beside: [{ name: 'usr/share/doc/x/sh', bytes: Buffer.from('evil'), executable: true }] },
      'there is usr/share/doc/x/sh',
    ],
    ['another start', { config: { Entrypoint: ['/lib64/ld-linux-x86-64.so.2'] } }, 'ld-linux-x86-64.so.2'],
    ['an argument', { config: { Cmd: ['--check'] } }, '--check'],
    ['root', { config: { User: '' } }, '"User":""'],
    ['a variable', { config: { Env: ['LD_PRELOAD=/x.so'] } }, 'LD_PRELOAD=/x.so'],
  ])('an image with %s is refused', async (_what, spoilt, says) => {
    const layout = join(folder, `layout-${crypto.randomUUID()}`)
    const tested = join(folder, 'operator-tested')
    writeFileSync(tested, 'tested')
    await printed(script('image-layout', layout, `amd64=${await archiveOf('amd64', 'tested', spoilt)}`))
    for (const executable of [[tested], []]) {
      const { status, stderr } = await script('expect-operator', layout, 'amd64', ...executable)
      expect(stderr).toContain(says)
      expect(status).not.toBe(0)
    }
  })

  test('the operator in the image must be the one that was tested', async () => {
    const { layout } = await layoutOf('tested')
    const [same, other] = ['tested amd64', 'tested arm64'].map((content) => {
      const path = join(folder, `operator-${crypto.randomUUID()}`)
      writeFileSync(path, content)
      return path
    })
    await printed(script('expect-operator', layout, 'amd64', same ?? ''))
    await printed(script('expect-operator', layout, 'arm64'))
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
      'a file of settings more',
      (files) => writeFileSync(join(files, '.npmrc'), 'registry=http://evil'),
      'error: .npmrc is not of this release',
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

/** A folder with the files of a release of these contents, and the checksum of its SHA256SUMS. */
function release(...contents: readonly string[]): { files: string; sum: string } {
  const files = join(folder, `files-${crypto.randomUUID()}`)
  mkdirSync(files)
  for (const [at, content] of contents.entries()) writeFileSync(join(files, `${at}.tgz`), content)
  const lines = contents.map((content, at) => `${sha256(Buffer.from(content))}  ${at}.tgz\n`)
  writeFileSync(join(files, 'SHA256SUMS'), lines.join(''))
  return { files, sum: sha256(Buffer.from(lines.join(''))) }
}

test('a release that was made again is compared byte for byte, and what differs is named', async () => {
  const built = release('one', 'two')
  await printed(script('same-release', built.files, release('one', 'two').files, built.sum))
  for (const [other, named] of [
    [release('one', 'evil'), '1.tgz '],
    [release('one'), '1.tgz '],
    [release('one', 'two', 'three'), '2.tgz '],
  ] as const) {
    const { status, stderr } = await script('same-release', built.files, other.files, built.sum)
    expect(stderr).toContain(`why:  these differ: ${named}\n`)
    expect(status).not.toBe(0)
  }
  const { status, stderr } = await script('same-release', built.files, built.files, '0'.repeat(64))
  expect(stderr).toContain('error: SHA256SUMS is another one')
  expect(status).not.toBe(0)
})

test('a commit that does not stand on the branch is not released', async () => {
  const repository = join(folder, 'repository')
  mkdirSync(repository)
  const git = (...args: readonly string[]): Promise<string> =>
    printed(run('git', '-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args))
  await git('init', '--quiet', '--initial-branch=main')
  for (const text of ['first', 'second']) await git('commit', '--quiet', '--allow-empty', '-m', text)
  await git('switch', '--quiet', '--create', 'other')
  await git('commit', '--quiet', '--allow-empty', '-m', 'not merged')
  const expectMerged = (commit: string, branch: string): Promise<Ended> =>
    runWith(
      { GIT_DIR: join(repository, '.git') },
      join(ROOT, 'scripts/publish/expect-merged.sh'),
      commit,
      branch,
    )
  for (const merged of ['main', 'main~1']) await printed(expectMerged(await git('rev-parse', merged), 'main'))
  const strange = await git('rev-parse', 'other')
  const { status, stderr } = await expectMerged(strange, 'main')
  expect(stderr).toContain(`error: ${strange} is not released\n  why:  it does not stand on main`)
  expect(status).not.toBe(0)
  expect((await expectMerged(strange, 'nowhere')).status).not.toBe(0)
})

/** The line of the page that begins so, as a shell of its reader runs it for this version. */
async function typed(begin: string, change = (line: string): string => line): Promise<Ended> {
  const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
  const line = page.split('\n').find((one) => one.startsWith(begin)) ?? ''
  expect(line, `a line of the page that begins with ${begin}`).not.toBe('')
  return run('sh', '-e', '-c', `VERSION=${VERSION}\n${change(line)}`)
}

describe('what docs/install.md tells its reader to type', () => {
  test('shows the image that the chart names, and prints the digest of the chart that it pulls', async () => {
    const image = { registry: 'ghcr.io/example', digest: `sha256:${'a'.repeat(64)}` }
    const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0, image })
    writeFileSync(join(folder, name), bytes)
    const shown = await printed(typed('helm show values kleym-$VERSION.tgz'))
    expect(shown.split('\n').map((line) => line.trim().replaceAll('"', ''))).toEqual([
      'registry: ghcr.io/example',
      'repository: kleym-operator',
      `digest: ${image.digest}`,
    ])
    const digest = await printed(script('push-chart', join(folder, name), `${host}/verified/charts`))
    const { status, stdout, stderr } = await typed('helm pull oci://ghcr.io/$OWNER/charts/kleym', (line) =>
      line
        .replace('ghcr.io/$OWNER', `${host}/verified`)
        .replace(/ *#.*/, ' --plain-http --destination "$TMPDIR"'),
    )
    expect(stdout + stderr).toContain(digest)
    expect(status).toBe(0)
  })

  test('compares what was downloaded with the checksums, and fails for a changed file and for none', async () => {
    const files = join(folder, 'SHA256SUMS')
    writeFileSync(join(folder, 'one.tgz'), 'good')
    writeFileSync(files, `${sha256(Buffer.from('good'))}  one.tgz\n${'0'.repeat(64)}  another.tgz\n`)
    const check = 'sha256sum --check'
    expect(await printed(typed(check))).toBe('one.tgz: OK')
    writeFileSync(join(folder, 'one.tgz'), 'evil')
    expect((await typed(check)).status).not.toBe(0)
    rmSync(join(folder, 'one.tgz'))
    expect((await typed(check)).status).not.toBe(0)
    rmSync(files)
  })
})

/** A cosign and a gh that write down what they are called with, and end so. */
function recorder(status: number): { bin: string; calls: () => readonly string[] } {
  const bin = join(folder, `recorder-${crypto.randomUUID()}`)
  const log = join(bin, 'calls')
  mkdirSync(bin)
  writeFileSync(log, '')
  for (const name of ['cosign', 'gh'])
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nprintf '%s' ${name} >>${log}\nprintf ' <%s>' "$@" >>${log}\necho >>${log}\nexit ${status}\n`,
      { mode: 0o755 },
    )
  return { bin, calls: () => readFileSync(log, 'utf8').trim().split('\n') }
}

describe('what the workflow verifies before it names or drafts anything', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  const image = `ghcr.io/example/kleym-operator@${digest}`
  const chart = `ghcr.io/example/charts/kleym@${digest}`
  const archive = `kubectl-kleym-v${VERSION}-linux-amd64.tar.gz`
  const REPOSITORY = { GITHUB_REPOSITORY: 'example/kleym', GITHUB_REF: `refs/tags/v${VERSION}` }

  /** Runs the script of the workflow; what it called. */
  async function verified(
    status: number,
    ...args: readonly string[]
  ): Promise<{ ended: Ended; calls: readonly string[] }> {
    const { bin, calls } = recorder(status)
    const PATH = [bin, process.env['PATH'] ?? ''].join(delimiter)
    const path = join(ROOT, 'scripts/publish/verify-signed.sh')
    return { ended: await runWith({ ...REPOSITORY, PATH }, path, ...args), calls: calls() }
  }

  /** Runs what the page gives its reader to type for the same; what it called. */
  async function read(): Promise<readonly string[]> {
    const { bin, calls } = recorder(0)
    const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
    const lines = page
      .split('\n')
      .filter((line) => /^(OWNER|RELEASE|SIGNER|MAKER)=|^(cosign|gh) /.test(line))
      .map((line) => line.replace('OWNER=example; VERSION=0.1.0', `OWNER=example; VERSION=${VERSION}`))
      .map((line) => line.replace('sha256:...', digest))
    const PATH = [bin, process.env['PATH'] ?? ''].join(delimiter)
    await printed(runWith({ PATH }, 'bash', '-euc', lines.join('\n')))
    return calls()
  }

  test('is what docs/install.md tells its reader to type, and nothing else', async () => {
    const files = join(folder, 'verified')
    mkdirSync(files)
    writeFileSync(join(files, archive), 'good')
    writeFileSync(join(files, 'SHA256SUMS'), `${sha256(Buffer.from('good'))}  ${archive}\n`)
    const runs = [
      await verified(0, 'chart', chart),
      await verified(0, 'image', image),
      await verified(0, 'files', files),
    ]
    for (const { ended: one } of runs) await printed(Promise.resolve(one))
    const typedByReader = await read()
    expect(typedByReader).toHaveLength(7)
    expect(runs.flatMap(({ calls }) => calls)).toEqual(typedByReader)
    for (const call of typedByReader) expect(call).toContain(`example/kleym/.github/workflows/release.yml`)
    writeFileSync(join(files, archive), 'evil')
    expect((await verified(0, 'files', files)).ended.status).not.toBe(0)
  })

  test.each(['image', 'chart', 'files'])('stops the job where %s has no such signature', async (what) => {
    const { ended: one, calls } = await verified(1, what, what === 'files' ? folder : image)
    expect(one.status).not.toBe(0)
    expect(calls).toHaveLength(1)
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
    // The job that was run again: there is nothing to do.
    expect(await printed(script('push-chart', archive, repository))).toBe(digest)
    const other = await packChart(CHART, { version: VERSION, made: 60 * 60 * 24 })
    writeFileSync(archive, other.bytes)
    const { status, stderr } = await script('push-chart', archive, repository)
    expect(status).not.toBe(0)
    expect(stderr).toContain(`${repository}/kleym:${VERSION} exists, as ${digest}, with another content`)
    expect(await printed(run('crane', 'digest', `${repository}/kleym:${VERSION}`))).toBe(digest)
  })

  test('a registry that does not answer is no free version', async () => {
    const { name, bytes } = await packChart(CHART, { version: VERSION, made: 0 })
    writeFileSync(join(folder, name), bytes)
    const { status, stderr } = await script('push-chart', join(folder, name), `${nowhere}/charts`)
    expect(status).not.toBe(0)
    expect(stderr).toContain(`it is not known whether ${nowhere}/charts/kleym:${VERSION} exists`)
  })
})
