// A workload: goes into the cgroup that is given, asks the Workload API for its X.509-SVIDs as any client does (gRPC over the
// agent's socket: https://github.com/spiffe/spiffe/blob/main/standards/SPIFFE_Workload_API.md), or SDS for one as Envoy does, and
// tells their IDs and hints. It keeps no key. It ends with the process that has forked it.
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import process from 'node:process'
import { runToEnd } from '@kleym/testing/child-process.ts'
import type { SvidAnswer, SvidQuestion } from './workloads.ts'

/** A method of the agent, what is asked of it, and how its answer is read. */
interface Call {
  readonly path: string
  readonly request: Buffer
  readonly svids: (message: Buffer) => SvidAnswer['svids']
}

const WORKLOAD_API: Call = {
  path: '/SpiffeWorkloadAPI/FetchX509SVID',
  request: Buffer.alloc(0),
  svids: svidsOf,
}
/** A `DiscoveryRequest` whose `resource_names` (field 3) are `default`: that is the certificate that Istio's Envoy asks for. */
const SDS_DEFAULT: Call = {
  path: '/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets',
  request: Buffer.from('\x1a\x07default'),
  svids: certificateOf,
}

process.on('message', (question: SvidQuestion) => {
  writeFileSync(question.procs, String(process.pid))
  const { id } = question
  answerTo(question).then(
    (answer) => process.send?.({ ...answer, id }),
    (error: unknown) => process.send?.({ id, status: -1, message: String(error), svids: [] }),
  )
})
process.on('disconnect', () => process.exit())

async function answerTo({ command, socket, over }: SvidQuestion): Promise<Omit<SvidAnswer, 'id'>> {
  if (command === undefined) return fetchSvids(socket, over === 'SDS' ? SDS_DEFAULT : WORKLOAD_API)
  // A child is in the cgroup of its parent.
  const { stdout, stderr } = runToEnd(command, ['api', 'fetch', 'x509', '-socketPath', socket])
  return { status: 0, message: '', svids: [], printed: `${stdout}${stderr}` }
}

/** A new connection for each question: the agent attests who has opened it. */
function fetchSvids(socket: string, { path, request, svids }: Call): Promise<Omit<SvidAnswer, 'id'>> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) })
    session.once('error', reject)
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'workload.spiffe.io': 'true',
    })
    const done = (answer: Omit<SvidAnswer, 'id'>): void => {
      session.destroy()
      resolve(answer)
    }
    const status = (headers: Record<string, unknown>): void => {
      const { 'grpc-status': code, 'grpc-message': message } = headers
      if (code !== undefined)
        done({ status: Number(code), message: typeof message === 'string' ? message : '', svids: [] })
    }
    let received = Buffer.alloc(0)
    stream.on('response', status)
    stream.on('trailers', status)
    stream.on('error', reject)
    stream.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const length = received.length < 5 ? undefined : received.readUInt32BE(1)
      if (length !== undefined && received.length >= 5 + length)
        done({ status: 0, message: '', svids: svids(received.subarray(5, 5 + length)) })
    })
    stream.end(framed(request))
  })
}

/** A message as gRPC sends it: not compressed, its length, its bytes. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** `X509SVIDResponse.svids` (field 1), of each `spiffe_id` (1) and `hint` (5). */
function svidsOf(message: Buffer): SvidAnswer['svids'] {
  return fieldsOf(message)
    .filter(({ field }) => field === 1)
    .map(({ bytes }) => {
      const fields = new Map(fieldsOf(bytes).map((one) => [one.field, one.bytes.toString('utf8')]))
      return { spiffeId: fields.get(1) ?? '', hint: fields.get(5) ?? '' }
    })
}

/**
 * The certificate of the first secret: `DiscoveryResponse.resources` (field 2), of it `Any.value` (2), `Secret.tls_certificate` (2),
 * `TlsCertificate.certificate_chain` (1) and `DataSource.inline_bytes` (2).
 */
function certificateOf(message: Buffer): SvidAnswer['svids'] {
  let bytes = message
  for (const wanted of [2, 2, 2, 1, 2])
    bytes = fieldsOf(bytes).find(({ field }) => field === wanted)?.bytes ?? Buffer.alloc(0)
  const { subjectAltName } = new X509Certificate(bytes)
  return [{ spiffeId: subjectAltName?.replace('URI:', '') ?? '', hint: '' }]
}

/** The fields of a protobuf message that are bytes; numbers are left out. */
function fieldsOf(message: Buffer): readonly { readonly field: number; readonly bytes: Buffer }[] {
  const fields: { field: number; bytes: Buffer }[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    if ((tag & 7) === 0) varint()
    else {
      const length = varint()
      fields.push({ field: tag >>> 3, bytes: message.subarray(at, at + length) })
      at += length
    }
  }
  return fields
}
