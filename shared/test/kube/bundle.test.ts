// A bundled program with a kubeconfig: small, and it still talks to a cluster.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { json } from '@kleym/testing/faults/behaviour.ts'
import { certificatePath } from '@kleym/testing/faults/certificates.ts'
import { socksProxy } from '@kleym/testing/faults/proxies.ts'
import { faultServer } from '@kleym/testing/faults/server.ts'
import { kubeBundle } from '../../../scripts/build/kube-bundle.ts'

/** About 50 kB more than it takes, of which SOCKS is 200; with undici or the generated API it would be over a million. */
const BUNDLE_BYTES = 650_000
const KUBE = join(import.meta.dirname, '../../src/kube')

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-bundle-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('a bundle holds neither the generated API nor undici, and gets the version with a certificate and a plugin, through a SOCKS proxy', async () => {
  const outfile = join(folder, 'program.mjs')
  const program = `
    import { createApi } from './client.ts'
    import { loadCluster } from './kubeconfig.ts'
    import { systemClock as clock } from './clock.ts'
    const api = createApi(await loadCluster({ env: process.env }), { userAgent: 'bundle', clock })
    console.log((await api.raw('GET', '/version')).gitVersion)
    api.close()`
  const { metafile } = await build({
    stdin: { contents: program, resolveDir: KUBE, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    minifySyntax: true,
    plugins: [kubeBundle],
    metafile: true,
    logLevel: 'silent',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const [output] = Object.values(metafile.outputs)
  const inputs = Object.keys(output?.inputs ?? {})
  expect(
    inputs.filter((path) => /client-node\/dist\/gen\/|node_modules\/(?:undici|js-yaml|ws)\//.test(path)),
  ).toEqual([])
  expect(output?.bytes).toBeLessThan(BUNDLE_BYTES)

  await using server = await faultServer(() => json({ gitVersion: 'v1.36.3' }), {
    certificate: 'server',
    demandClient: true,
  })
  await using proxy = await socksProxy(Number(server.url.port))
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-p', JSON.stringify(JSON.stringify({ status: { token: 'from-plugin' } }))],
  }
  const kubeconfig = join(folder, 'config')
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [
        {
          name: 'c',
          cluster: {
            server: server.url.href,
            'certificate-authority': certificatePath('ca.crt'),
            'proxy-url': proxy.url,
          },
        },
      ],
      users: [
        {
          name: 'u',
          user: {
            exec,
            'client-certificate': certificatePath('client.crt'),
            'client-key': certificatePath('client.key'),
          },
        },
      ],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], {
    env: { KUBECONFIG: kubeconfig },
  })
  expect(stdout).toBe('v1.36.3\n')
  expect(proxy.tunnels).toEqual([server.url.host])
  expect(server.seen[0]?.headers.authorization).toBe('Bearer from-plugin')
})
