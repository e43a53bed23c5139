// The CRD files of other projects, out of the Go modules that hold them: through Go where it is there, and otherwise from
// the module proxy, so that KUBEBUILDER_ASSETS alone is enough. Either way go.sum says what they must be.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { stringAt } from '../../shared/src/core/base/json.ts'
import type { CrdSource } from './tools.ts'
import { unzip } from './zip.ts'

const PUBLIC_PROXY = 'https://proxy.golang.org'
const DOWNLOAD_MS = 300_000

interface Fetching {
  readonly go: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly say: (line: string) => void
}

/** Fills `folder` with the CRD files of these modules, unless it is there. Rejects when they cannot be had. */
export async function ensureCrdFiles(
  folder: string,
  fetching: Fetching,
  sources: readonly CrdSource[],
): Promise<void> {
  if (existsSync(folder)) return
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  try {
    for (const source of sources) {
      fetching.say(`fetching the CRDs of ${source.path} ${source.version} once`)
      const read = fetching.go
        ? readThroughGo(source, fetching.env)
        : await readFromProxy(source, fetching.env)
      for (const file of source.files) writeFileSync(join(unfinished, basename(file)), read(file))
    }
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

type ReadFile = (file: string) => Uint8Array

function readThroughGo(source: CrdSource, env: Fetching['env']): ReadFile {
  const { status, stdout, stderr } = runToEnd(
    'go',
    ['mod', 'download', '-json', `${source.path}@${source.version}`],
    { cwd: source.folder, env, ms: DOWNLOAD_MS },
  )
  const answer: unknown = stdout.trim() === '' ? undefined : JSON.parse(stdout)
  const folder = stringAt(answer, 'Dir')
  if (status !== 0 || folder === undefined)
    throw new Error(
      `go mod download ${source.path}@${source.version} failed: ${stringAt(answer, 'Error') ?? stderr.trim()}`,
    )
  if (stringAt(answer, 'Sum') !== source.sum) throw notWhatGoSumSays(source)
  return (file) => readFileSync(join(folder, file))
}

async function readFromProxy(source: CrdSource, env: Fetching['env']): Promise<ReadFile> {
  const url = `${proxyOf(env)}/${escapePath(source.path)}/@v/${source.version}.zip`
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }).catch((error: unknown) => {
    throw new Error(`${url} cannot be fetched`, { cause: error })
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const files = unzip(Buffer.from(await response.arrayBuffer()))
  if (hashOf(files) !== source.sum) throw notWhatGoSumSays(source)
  return (file) => {
    const content = files.get(`${source.path}@${source.version}/${file}`)
    if (content === undefined) throw new Error(`${source.path} ${source.version} has no file ${file}`)
    return content
  }
}

/** The first proxy of GOPROXY that is one; `direct` needs a git client, so it is not followed. */
function proxyOf(env: Fetching['env']): string {
  const listed = (env['GOPROXY'] ?? '').split(/[,|]/).find((entry) => /^https?:/.test(entry))
  return (listed ?? PUBLIC_PROXY).replace(/\/+$/, '')
}

/** https://go.dev/ref/mod#goproxy-protocol: upper-case letters are written as `!` and the lower-case letter. */
function escapePath(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`)
}

/** golang.org/x/mod/sumdb/dirhash, `Hash1`. */
function hashOf(files: ReadonlyMap<string, Uint8Array>): string {
  const sum = createHash('sha256')
  for (const name of [...files.keys()].toSorted()) {
    const content = files.get(name) ?? new Uint8Array()
    sum.update(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
  }
  return `h1:${sum.digest('base64')}`
}

function notWhatGoSumSays(source: CrdSource): Error {
  return new Error(`the files of ${source.path} ${source.version} are not those of ${source.folder}/go.sum`)
}
