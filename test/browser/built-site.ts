// The documentation site as `npm run docs` builds it, and a server that serves it on this machine alone.
import { spawn } from 'node:child_process'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import process from 'node:process'
import { ended } from '@kleym/testing/child-process.ts'
import { SITE_HTML } from '../../scripts/docs.ts'
import { ROOT } from '../house/files.ts'

/** The first build on a machine installs VitePress before. */
export const BUILD_MAX_MS = 540_000

/** Builds the site as a person does. Rejects with all that it has printed where that fails. */
export async function buildSite(): Promise<void> {
  const npm = process.env['npm_execpath']
  // Without npm around, its name on PATH; on Windows that is a script, which only a shell starts.
  const [command, ...first] = npm === undefined ? ['npm'] : [process.env['npm_node_execpath'] ?? 'node', npm]
  const child = spawn(command ?? 'npm', [...first, 'run', 'docs'], {
    cwd: ROOT,
    shell: npm === undefined && process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { status, stdout, stderr } = await ended(child, '', BUILD_MAX_MS)
  if (status !== 0) throw new Error(`npm run docs ended with ${String(status)}:\n${stdout}${stderr}`)
}

/** The pages of the site, as paths in it, e.g. `findings/KLM101.html`. */
export function htmlPages(): readonly string[] {
  return readdirSync(SITE_HTML, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.html') && path !== '404.html' && !path.startsWith('files/'))
    .toSorted()
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

/** A site that is served. */
export interface ServedSite {
  /** Where it is, without a slash at the end. */
  readonly origin: string
  close(): void
}

/** Serves the built site. */
export function serveSite(): Promise<ServedSite> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname)
    const file = join(SITE_HTML, path.endsWith('/') ? `${path}index.html` : path)
    // `join` has taken out every `..`: what leaves the folder does not begin with it.
    if (!file.startsWith(SITE_HTML) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain; charset=utf-8' })
    createReadStream(file).pipe(response)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0
      resolve({
        origin: `http://127.0.0.1:${port}`,
        close: () => server.closeAllConnections() ?? server.close(),
      })
    })
  })
}
