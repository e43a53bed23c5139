// How the programs come to be there: with a `go` that only plays one, since a real build takes minutes.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { ensureBinaries, type Binaries, type NoBinaries } from './binaries.ts'
import { CRD_SOURCES, PROGRAMS } from './tools.ts'
import { unzip } from './zip.ts'

let folder: string
beforeEach(() => {
  const made = mkdtempSync(join(tmpdir(), 'kleym-binaries-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  folder = made
})

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

/** A folder with a `go` that answers as the real one does, notes each build, and takes a moment for it. */
function fakeGo(
  version = '1.99.0',
  build = 'sleep 0.2; printf "#!/bin/sh\\n" > "$out"; chmod +x "$out"',
): string {
  const bin = join(folder, 'go-bin')
  mkdirSync(bin)
  const modules = CRD_SOURCES.map(({ path, version: at, sum, files }, index) => {
    const dir = join(folder, `module-${index}`)
    for (const file of files) {
      mkdirSync(join(dir, file, '..'), { recursive: true })
      writeFileSync(join(dir, file), `# of ${path}\n`)
    }
    return `"${path}@${at}") echo '${JSON.stringify({ Dir: dir, Sum: sum })}' ;;`
  })
  program(
    join(bin, 'go'),
    `case "$1" in
      env) echo go${version} ;;
      mod) case "$4" in ${modules.join('\n')} esac ;;
      build)
        for last; do if [ "$before" = -o ]; then out="$last"; fi; before="$last"; done
        echo "$last" >> ${join(folder, 'built')}
        ${build} ;;
    esac`,
  )
  return bin
}

function builds(): readonly string[] {
  const file = join(folder, 'built')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

function ensure(env: Readonly<Record<string, string>>, said: string[] = []): Promise<Binaries | NoBinaries> {
  const cache = join(folder, 'cache')
  return ensureBinaries({ env: { XDG_CACHE_HOME: cache, ...env }, say: (line) => void said.push(line) })
}

const PATH = '/usr/bin:/bin'

test('without Go and KUBEBUILDER_ASSETS there is a reason and a way out, and no error', async () => {
  const none = join(folder, 'none')
  expect(await ensure({ PATH: none })).toEqual({
    available: false,
    why: 'there is no go on the PATH, and KUBEBUILDER_ASSETS is not set',
    fix: 'install Go 1.26.0 or later (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kubectl, kube-controller-manager',
  })
})

test('a Go that is too old is no Go', async () => {
  const found = await ensure({ PATH: `${fakeGo('1.25.9')}:${PATH}` })
  expect(found).toMatchObject({ available: false })
  expect(JSON.stringify(found)).toContain('the go on the PATH is 1.25.9, which is too old')
})

test('KUBEBUILDER_ASSETS without the controller manager names it when there is no Go to build it', async () => {
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) program(join(assets, name), '')
  const found = await ensure({ PATH: join(folder, 'none'), KUBEBUILDER_ASSETS: assets })
  expect(found).toMatchObject({
    available: false,
    why: `KUBEBUILDER_ASSETS (${assets}) holds no kube-controller-manager, and there is no go on the PATH`,
  })
})

test('what KUBEBUILDER_ASSETS holds is used, and only what it lacks is built', async () => {
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  for (const name of ['etcd', 'kube-apiserver', 'kubectl']) program(join(assets, name), '')
  const found = await ensure({ PATH: `${fakeGo()}:${PATH}`, KUBEBUILDER_ASSETS: assets })
  expect(found).toMatchObject({
    available: true,
    programs: { etcd: join(assets, 'etcd'), kubectl: join(assets, 'kubectl') },
  })
  expect(builds()).toEqual(['k8s.io/kubernetes/cmd/kube-controller-manager'])
})

test('two that want the programs at the same time build them once, and say what they build', async () => {
  const env = { PATH: `${fakeGo()}:${PATH}` }
  const said: string[] = []
  const [first, second] = await Promise.all([ensure(env, said), ensure(env, said)])
  expect(first).toEqual(second)
  expect(builds()).toHaveLength(PROGRAMS.length)
  for (const name of PROGRAMS) expect(said.join('\n')).toContain(`building ${name} once, with Go`)
  const later: string[] = []
  await ensure(env, later)
  expect(later).toEqual([])
})

test('a build that fails is an error, leaves nothing that looks built, and the next try goes on', async () => {
  const env = { PATH: `${fakeGo('1.99.0', 'echo half > "$out"; exit 1')}:${PATH}` }
  await expect(ensure(env)).rejects.toThrow('go build failed (exit code 1)')
  await expect(ensure(env)).rejects.toThrow('go build failed (exit code 1)')
  expect(builds()).toHaveLength(2)
})

test('CRD files that are not those of go.sum are refused', async () => {
  const archive = zipOf('anything', 'tampered with')
  const server = createServer((_request, response) => response.end(archive))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const assets = join(folder, 'assets')
  mkdirSync(assets)
  for (const name of PROGRAMS) program(join(assets, name), '')
  const env = { PATH: join(folder, 'none'), KUBEBUILDER_ASSETS: assets, GOPROXY: `http://127.0.0.1:${port}` }
  await expect(ensure(env)).rejects.toThrow(/the files of .* are not those of .*go\.sum/)
})

/** A zip archive of a folder and one file. */
function zipOf(name: string, content: string): Buffer {
  return Buffer.from(zipSync({ 'folder/': new Uint8Array(), [name]: Buffer.from(content) }))
}

test('a zip archive gives its files, and something else is no archive', () => {
  const files = unzip(zipOf('folder/file.yaml', 'kind: Nothing\n'))
  expect([...files].map(([name, content]) => [name, Buffer.from(content).toString()])).toEqual([
    ['folder/file.yaml', 'kind: Nothing\n'],
  ])
  expect(() => unzip(Buffer.from('<html>not found</html>'))).toThrow('not a zip archive')
})
