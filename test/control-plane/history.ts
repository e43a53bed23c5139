// Every state that the bindings and the ClusterSPIFFEIDs of a control plane go through, in the one order in which they
// came to be. It follows etcd itself, not the API server: no event is lost when that is killed, and writes of the two
// kinds stand in one order. https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ (64-bit numbers are text).
import { request, type IncomingMessage } from 'node:http'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { callEtcd } from './etcd.ts'
import { until, within } from '@kleym/testing/wait.ts'

/** One object came to be, was changed, or was removed for good. */
export interface RecordedChange {
  /** etcd's; the object's `resourceVersion`. */
  readonly revision: number
  readonly kind: 'binding' | 'output'
  /** `<namespace>/<name>` of a binding, the name of an output. */
  readonly name: string
  /** As it is now; undefined when it is gone for good. */
  readonly object: JsonRecord | undefined
}

export interface History {
  /** All changes up to now, in order; what was there at the beginning comes first. Rejects when some may be missing. */
  changes(): Promise<readonly RecordedChange[]>
  stop(): void
}

const BINDINGS = '/registry/kleym.sonda.red/inferenceidentitybindings/'
const OUTPUTS = '/registry/spire.spiffe.io/clusterspiffeids/'
/** Keys between the two kinds of the API server's own are passed over. */
const RANGE = { key: base64(BINDINGS), range_end: base64('/registry/spire.spiffe.io0') }
/** A key of no kind, within the range. */
const FENCE = '/registry/kleym.sonda.red/~fence'

/** Follows a control plane from now on, until `stop` or its end. */
export async function followHistory({ etcdPort }: Pick<ControlPlane, 'etcdPort'>): Promise<History> {
  const changes: RecordedChange[] = []
  let fence = ''
  let broken: string | undefined
  const take = (kv: unknown, isGone: boolean): void => {
    const key = text(own(kv, 'key'))
    if (key === FENCE) fence = text(own(kv, 'value'))
    const change = changeOf(key, kv, isGone)
    if (change !== undefined) changes.push(change)
  }
  const now = await callEtcd(etcdPort, 'kv/range', RANGE)
  for (const kv of listAt(now, 'kvs')) take(kv, false)
  changes.sort((a, b) => a.revision - b.revision)
  const from = Number(stringAt(now, 'header', 'revision')) + 1
  const stream = await openWatch(etcdPort, { ...RANGE, start_revision: String(from) })
  readLines(stream, (line) => {
    const message: unknown = JSON.parse(line)
    const result = own(message, 'result')
    if (result === undefined || own(result, 'canceled') === true) broken ??= line
    for (const event of listAt(result, 'events')) take(own(event, 'kv'), stringAt(event, 'type') === 'DELETE')
  }).then(
    () => (broken ??= 'the stream has ended'),
    (error: unknown) => (broken ??= String(error)),
  )
  return {
    changes: async () => {
      const mark = crypto.randomUUID()
      await callEtcd(etcdPort, 'kv/put', { key: base64(FENCE), value: base64(mark) })
      await until(() => fence === mark || broken !== undefined, 'the history to catch up')
      if (broken !== undefined) throw new Error(`the history of etcd has a gap: ${broken}`)
      return changes
    },
    stop: () => stream.destroy(),
  }
}

/** The states of one kind as they follow on each other: each change with what was there before it and is there after it. */
export function* replay(changes: readonly RecordedChange[]): Iterable<{
  readonly change: RecordedChange
  readonly outputs: ReadonlyMap<string, JsonRecord>
  readonly bindings: ReadonlyMap<string, JsonRecord>
}> {
  const [outputs, bindings] = [new Map<string, JsonRecord>(), new Map<string, JsonRecord>()]
  for (const change of changes) {
    const objects = change.kind === 'output' ? outputs : bindings
    if (change.object === undefined) objects.delete(change.name)
    else objects.set(change.name, change.object)
    yield { change, outputs, bindings }
  }
}

function changeOf(key: string, kv: unknown, isGone: boolean): RecordedChange | undefined {
  const kind = key.startsWith(BINDINGS) ? 'binding' : key.startsWith(OUTPUTS) ? 'output' : undefined
  if (kind === undefined) return undefined
  const name = key.slice((kind === 'binding' ? BINDINGS : OUTPUTS).length)
  const object: unknown = isGone ? undefined : JSON.parse(text(own(kv, 'value')))
  if (!isGone && !isRecord(object)) throw new TypeError(`etcd holds no JSON object at ${key}`)
  const revision = Number(stringAt(kv, 'mod_revision'))
  return { revision, kind, name, object: isRecord(object) ? object : undefined }
}

function openWatch(port: number, create: JsonRecord): Promise<IncomingMessage> {
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method: 'POST', path: '/v3/watch' }, resolve)
    call.once('error', reject)
    call.end(JSON.stringify({ create_request: create }))
  })
  return within(answer, 'etcd to open a watch')
}

async function readLines(stream: IncomingMessage, take: (line: string) => void): Promise<void> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') take(line)
  }
}

function base64(plain: string): string {
  return Buffer.from(plain).toString('base64')
}

function text(encoded: unknown): string {
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : ''
}
