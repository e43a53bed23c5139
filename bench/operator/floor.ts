// The floor: a process that does nothing but the writes of a plan, on eight connections that stay open. Arguments: the
// plan's file, the server's port, the file of its CA, the token. It prints what that took as one line of JSON.
import { readFileSync } from 'node:fs'
import { Agent, request as httpsRequest } from 'node:https'
import process from 'node:process'
import { isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { BINDING_PLURAL, FIELD_MANAGER } from '../../shared/src/core/model/names.ts'
import type { FloorBinding } from './floor-plan.ts'

/** What the floor has taken. */
export interface FloorResult {
  /** From the first request to the last answer. */
  readonly seconds: number
  readonly cpu: number
}

const CONNECTIONS = 8
const WRITER = `?fieldManager=${FIELD_MANAGER}`

const [planFile = '', port = '', caFile = '', token = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca: readFileSync(caFile) })

interface Write {
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly body: JsonRecord | readonly JsonRecord[]
}

function send({ method, path, body }: Write): Promise<JsonRecord> {
  const payload = Buffer.from(JSON.stringify(body))
  const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json'
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'content-type': type,
    'content-length': payload.length,
  }
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const answer: unknown = JSON.parse(text)
        if ((response.statusCode ?? 500) < 300 && isRecord(answer)) resolve(answer)
        else reject(new Error(`${method} ${path}: ${text}`))
      })
    })
    request.once('error', reject)
    request.end(payload)
  })
}

async function settle(binding: FloorBinding): Promise<void> {
  const { namespace, name, uid, resourceVersion, patch, output, status, event } = binding
  const path = `/apis/kleym.sonda.red/v1alpha1/namespaces/${namespace}/${BINDING_PLURAL}/${name}`
  const patched = await send({
    method: 'PATCH',
    path: path + WRITER,
    body: patch.map((step) => retested(step, { uid, resourceVersion })),
  })
  await send({
    method: 'POST',
    path: `/apis/spire.spiffe.io/v1alpha1/clusterspiffeids${WRITER}`,
    body: output,
  })
  const meta = { uid, resourceVersion: stringAt(patched, 'metadata', 'resourceVersion') ?? '' }
  await send({ method: 'PUT', path: `${path}/status${WRITER}`, body: withMeta(status, meta) })
  await send({ method: 'POST', path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, body: event })
}

/** A step of a JSON Patch; one that tests UID or version, with those of `meta`. */
function retested(step: JsonRecord, meta: JsonRecord): JsonRecord {
  const { op, path } = step
  const field = op === 'test' && typeof path === 'string' ? path.replace('/metadata/', '') : ''
  return field in meta ? { ...step, value: meta[field] } : step
}

function withMeta(body: JsonRecord, meta: JsonRecord): JsonRecord {
  const { metadata } = body
  return { ...body, metadata: { ...(isRecord(metadata) ? metadata : {}), ...meta } }
}

function isPlan(value: unknown): value is readonly FloorBinding[] {
  return Array.isArray(value)
}

const plan: unknown = JSON.parse(readFileSync(planFile, 'utf8'))
if (!isPlan(plan)) throw new TypeError(`${planFile} holds no plan`)
const queue = plan.values()
const cpuFrom = process.cpuUsage()
const from = performance.now()
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    for (const binding of queue) await settle(binding)
  }),
)
const seconds = (performance.now() - from) / 1000
const { user, system } = process.cpuUsage(cpuFrom)
agent.destroy()
process.stdout.write(`${JSON.stringify({ seconds, cpu: (user + system) / 1e6 } satisfies FloorResult)}\n`)
