// Who did what to the API server: its audit log, read back. Writes of the kinds that kleym is about are logged with their
// bodies, other requests without; what the API server asks itself is not logged. Format: audit.k8s.io/v1.
import { open } from 'node:fs/promises'
import { isRecord, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'

/** The policy file, as JSON (which is YAML); `withBodies`: whether writes are logged with theirs. */
export function auditPolicy(withBodies: boolean): string {
  return JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', users: ['system:apiserver'] },
      { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*', '/openapi*'] },
      ...(withBodies ? [WRITES_WITH_BODIES] : []),
      { level: 'Metadata' },
    ],
  })
}

const WRITES_WITH_BODIES = {
  level: 'RequestResponse',
  verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  resources: [
    { group: 'kleym.sonda.red' },
    { group: 'spire.spiffe.io' },
    { group: 'coordination.k8s.io' },
    { group: 'events.k8s.io' },
  ],
}

/** One answered request; a watch has a second entry, of stage `ResponseStarted`, from when it was opened. */
export interface AuditEvent {
  readonly auditId: string
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic'
  readonly user: string
  readonly userAgent: string
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb: string
  /** With the query. */
  readonly uri: string
  /** Empty for the core group and for URLs that name no resource. */
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The HTTP status code. */
  readonly status: number
  /** RFC 3339 with microseconds; they sort as text. */
  readonly receivedAt: string
  readonly answeredAt: string
  /** For writes of the kinds that kleym is about: what was sent (of a patch, the patch) and what came back. */
  readonly requestObject?: unknown
  readonly responseObject?: unknown
}

/** What to look for; everything given must hold. */
export interface AuditFilter {
  /** Only what was logged after this mark. */
  readonly since?: AuditMark
  readonly user?: string
  readonly verbs?: readonly string[]
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  /** `ResponseComplete` when absent; `all` for every entry. */
  readonly stage?: AuditEvent['stage'] | 'all'
  /**
   * Waits until the log has so many. What a write has changed can be seen before its entry stands there: who counts entries of
   * writes whose effects were waited for gives their number.
   */
  readonly atLeast?: number
}

/** A place in the log. */
export interface AuditMark {
  /** Bytes from the start of the file. */
  readonly offset: number
}

/** The verbs that change something. */
export const WRITE_VERBS = ['create', 'update', 'patch', 'delete', 'deletecollection'] as const

/** The events after `since`, and the mark that ends them. Lines that are not complete yet are left for later. */
export async function readAudit(
  file: string,
  since: AuditMark = { offset: 0 },
): Promise<{ readonly events: readonly AuditEvent[]; readonly end: AuditMark }> {
  const text = await readFrom(file, since.offset)
  const complete = text.lastIndexOf(0x0a) + 1
  const events: AuditEvent[] = []
  for (const line of text.toString('utf8', 0, complete).split('\n')) {
    if (line !== '') events.push(auditEvent(JSON.parse(line)))
  }
  return { events, end: { offset: since.offset + complete } }
}

/** Whether an event is one of those that a filter asks for. */
export function matches(event: AuditEvent, filter: AuditFilter): boolean {
  const stage = filter.stage ?? 'ResponseComplete'
  return (
    (stage === 'all' || event.stage === stage) &&
    (filter.user === undefined || event.user === filter.user) &&
    (filter.verbs === undefined || filter.verbs.includes(event.verb)) &&
    (filter.resource === undefined || event.resource === filter.resource) &&
    (filter.namespace === undefined || event.namespace === filter.namespace) &&
    (filter.name === undefined || event.name === filter.name)
  )
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.alloc(Math.max(0, size - offset))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

function auditEvent(entry: unknown): AuditEvent {
  if (!isRecord(entry)) throw new TypeError('a line of the audit log is no object')
  const text = (first: string, second?: string, third?: string): string =>
    stringAt(entry, first, second, third) ?? ''
  const status = own(own(entry, 'responseStatus'), 'code')
  return {
    auditId: text('auditID'),
    stage: stageOf(text('stage')),
    user: text('user', 'username'),
    userAgent: text('userAgent'),
    verb: text('verb'),
    uri: text('requestURI'),
    group: text('objectRef', 'apiGroup'),
    resource: text('objectRef', 'resource'),
    subresource: text('objectRef', 'subresource'),
    namespace: text('objectRef', 'namespace'),
    // A POST names its object in its body alone.
    name: text('objectRef', 'name') || text('responseObject', 'metadata', 'name'),
    status: typeof status === 'number' ? status : 0,
    receivedAt: text('requestReceivedTimestamp'),
    answeredAt: text('stageTimestamp'),
    ...bodies(entry),
  }
}

function stageOf(stage: string): AuditEvent['stage'] {
  if (stage === 'ResponseStarted' || stage === 'ResponseComplete' || stage === 'Panic') return stage
  throw new TypeError(`the audit log has an unknown stage ${stage}`)
}

function bodies(entry: JsonRecord): Pick<AuditEvent, 'requestObject' | 'responseObject'> {
  const [requestObject, responseObject] = [own(entry, 'requestObject'), own(entry, 'responseObject')]
  return {
    ...(requestObject === undefined ? {} : { requestObject }),
    ...(responseObject === undefined ? {} : { responseObject }),
  }
}
