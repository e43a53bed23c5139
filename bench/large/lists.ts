// `npm run bench:large-lists` (`-- --objects 300`, `-- --only TEXT`): the search for the worst contents of large objects. A process with the operator's caches and the flags of
// its executable lists 300 objects of 1.5 MB of each content, from a server of this bench: no API server is there, which would need
// minutes for some of them, and refuse none. It says how large that process became; nothing is asserted (docs/performance.md).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { binding, olderPool } from '../../test/control-plane/objects.ts'
import { NODE_FLAGS } from '../../scripts/build/node.ts'
import { machineLine } from '../machine.ts'

const { values: options } = parseArgs({
  options: { objects: { type: 'string', default: '300' }, only: { type: 'string', default: '' } },
})
const OBJECTS = Number(options.objects)
const BYTES = 1_500_000
const MIB = 2 ** 20

/** `count` texts of a form, where each takes `around` bytes more than itself, that fill an object. */
function filling(around: number, text: (at: number) => string): readonly string[] {
  const texts: string[] = []
  for (let bytes = 0; bytes < BYTES; bytes += around + (texts.at(-1)?.length ?? 0))
    texts.push(text(texts.length))
  return texts
}

function keysOf(texts: readonly string[], value: unknown): JsonRecord {
  return Object.fromEntries(texts.map((text) => [text, value]))
}

const short = (at: number): string => at.toString(36)
const long = (at: number): string => `${'x'.repeat(250)}${at}`

function nested(depth: number): unknown {
  let value: unknown = {}
  for (let at = 0; at < depth; at++) value = { a: value }
  return value
}

const SHORT_LABELS = { labels: keysOf(filling(6, short), '') }

/** The metadata of a binding, or of another kind, or the spec of a pool, by what fills it. */
const CONTENTS: readonly {
  readonly name: string
  /** How the path of the kind ends, where it is no binding and no pool. */
  readonly ending?: string
  readonly metadata?: JsonRecord
  readonly selector?: JsonRecord
  readonly more?: JsonRecord
}[] = [
  { name: 'nothing: 2 KB', more: { status: { text: 'x'.repeat(2_000) } } },
  { name: 'one long annotation', metadata: { annotations: { note: 'x'.repeat(BYTES) } } },
  { name: 'one long annotation beyond Latin-1', metadata: { annotations: { note: '語'.repeat(BYTES / 3) } } },
  { name: 'short finalizers', metadata: { finalizers: filling(5, (at) => `a/${short(at)}`) } },
  { name: 'long finalizers', metadata: { finalizers: filling(5, (at) => `a/${long(at)}`) } },
  { name: 'short labels', metadata: SHORT_LABELS },
  {
    name: 'short labels of an objective',
    ending: 'inference.networking.x-k8s.io/v1alpha2/inferenceobjectives',
    metadata: SHORT_LABELS,
  },
  { name: 'short labels of a ClusterSPIFFEID', ending: 'clusterspiffeids', metadata: SHORT_LABELS },
  { name: 'labels with values', metadata: { labels: keysOf(filling(68, short), 'v'.repeat(63)) } },
  {
    name: 'short owners',
    metadata: {
      ownerReferences: filling(50, short).map((uid) => ({ apiVersion: 'v', kind: 'k', name: 'n', uid })),
    },
  },
  {
    name: 'managed fields, wide',
    metadata: {
      managedFields: [
        {
          fieldsV1: keysOf(
            filling(8, (at) => `f:${short(at)}`),
            {},
          ),
        },
      ],
    },
  },
  {
    name: 'managed fields, deep',
    metadata: { managedFields: Array.from({ length: 25 }, () => ({ fieldsV1: nested(10_000) })) },
  },
  {
    name: 'managed fields of many managers',
    metadata: { managedFields: filling(25, short).map((manager) => ({ manager, fieldsV1: {} })) },
  },
  { name: 'short keys of a selector', selector: keysOf(filling(7, short), 'x') },
  {
    name: '64 long keys of a selector',
    selector: keysOf(
      Array.from({ length: 64 }, (_, at) => `${'k'.repeat(BYTES / 66)}${at}`),
      'x',
    ),
  },
  {
    name: 'conditions of a status',
    more: {
      status: { conditions: filling(2_000, short).map((type) => ({ type, message: 'm'.repeat(1_980) })) },
    },
  },
  {
    name: 'short conditions of a status',
    more: { status: { conditions: filling(30, short).map((type) => ({ type, status: 'True' })) } },
  },
  {
    name: 'empty mappings (nothing admits them)',
    more: { status: { list: Array.from({ length: BYTES / 3 }, () => ({})) } },
  },
]

interface Served {
  readonly path: string
  /** An object without its name and version, which come first in the text. */
  readonly rest: string
}

function served({ ending, metadata, selector, more }: (typeof CONTENTS)[number]): Served {
  const one = selector === undefined ? binding('team', 'NAME') : olderPool('team', 'NAME', { app: 'llama' })
  const object = {
    ...one,
    ...more,
    metadata: { namespace: 'team', ...metadata },
    ...(selector === undefined ? {} : { spec: { selector } }),
  }
  return {
    path:
      selector === undefined
        ? (ending ?? 'inferenceidentitybindings')
        : 'inference.networking.x-k8s.io/v1alpha2/inferencepools',
    rest: JSON.stringify(object).replace(
      '{"namespace":',
      '{"name":"NAME","uid":"NAME","resourceVersion":"7","namespace":',
    ),
  }
}

/** Lists by a process of its own; its largest size, in MiB. */
async function measured(content: (typeof CONTENTS)[number]): Promise<number> {
  const { path, rest } = served(content)
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const from = Number(url.searchParams.get('continue') ?? '0')
    const limit = Number(url.searchParams.get('limit') ?? OBJECTS)
    const isListed = url.pathname.endsWith(path)
    const to = isListed ? Math.min(from + limit, OBJECTS) : 0
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(
      `{"metadata":{"resourceVersion":"7","continue":"${to < OBJECTS && isListed ? to : ''}"},"items":[`,
    )
    for (let at = from; at < to; at++)
      response.write(`${at > from ? ',' : ''}${rest.replaceAll('"NAME"', `"o-${at}"`)}`)
    response.end(']}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, join(import.meta.dirname, 'list-once.ts'), String(port)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const out: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text))
  const [code] = await once(child, 'exit')
  server.close()
  if (code !== 0) throw new Error(`it has ended with ${String(code)}`)
  return Number(out.join(''))
}

process.stdout.write(`${machineLine()}\n${OBJECTS} objects of ${(BYTES / MIB).toFixed(2)} MiB\n\n`)
for (const content of CONTENTS.filter(({ name }) => name.includes(options.only)))
  process.stdout.write(`${content.name.padEnd(40)}${(await measured(content)).toFixed(0).padStart(6)} MiB\n`)
