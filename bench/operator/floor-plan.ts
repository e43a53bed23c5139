// The writes that an operator made for each binding, taken from the audit log and turned to a second set of bindings: what
// a bare client sends to find out how fast the server takes them.
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING } from '../../shared/src/core/model/names.ts'
import type { AuditEvent } from '../../test/control-plane/audit.ts'

/** The four writes for one binding, in their order. */
export interface FloorBinding {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** Of the finalizer. */
  readonly patch: readonly JsonRecord[]
  readonly output: JsonRecord
  readonly status: JsonRecord
  readonly event: JsonRecord
}

type Bodies = Partial<Pick<FloorBinding, 'patch' | 'output' | 'status' | 'event'>>

/**
 * The plan for `bindings` (as listed), whose namespaces differ from the operator's by `to` in place of `from`, of the same
 * length. Throws where the operator has not written all four for one of them.
 */
export function floorPlan(
  events: readonly AuditEvent[],
  bindings: readonly JsonRecord[],
  { from, to }: { readonly from: string; readonly to: string },
): readonly FloorBinding[] {
  const written = new Map<string, Bodies>()
  for (const event of events) {
    const found = bodyOf(event)
    if (found === undefined) continue
    const [key, what, body] = found
    const moved: unknown = JSON.parse(JSON.stringify(body).replaceAll(from, to))
    const bodies = written.get(key.replaceAll(from, to)) ?? {}
    if (isRecord(moved) || isPatch(moved)) written.set(key.replaceAll(from, to), { [what]: moved, ...bodies })
  }
  return bindings.map((binding) => {
    const [namespace, name] = [textOf(binding, 'namespace'), textOf(binding, 'name')]
    const { patch, output, status, event } = written.get(`${namespace}/${name}`) ?? {}
    if (patch === undefined || output === undefined || status === undefined || event === undefined)
      throw new Error(`the operator has not made all four writes for ${namespace}/${name}`)
    const [uid, resourceVersion] = [textOf(binding, 'uid'), textOf(binding, 'resourceVersion')]
    return { namespace, name, uid, resourceVersion, patch, output, status, event }
  })
}

function textOf(object: JsonRecord, field: string): string {
  return stringAt(object, 'metadata', field) ?? ''
}

function isPatch(value: unknown): value is readonly JsonRecord[] {
  return Array.isArray(value) && value.every(isRecord)
}

function bodyOf(
  event: AuditEvent,
): readonly [string, keyof Bodies, JsonRecord | readonly JsonRecord[]] | undefined {
  const { verb, resource, namespace, name, requestObject: body } = event
  if (isPatch(body)) return verb === 'patch' ? [`${namespace}/${name}`, 'patch', body] : undefined
  if (!isRecord(body)) return undefined
  switch (`${verb} ${resource}`) {
    case 'update inferenceidentitybindings':
      return [`${namespace}/${name}`, 'status', body]
    case 'create clusterspiffeids':
      return [String(dig(body, 'metadata', 'annotations', ANNOTATION_BINDING)), 'output', body]
    case 'create events':
      return [
        `${stringAt(body, 'regarding', 'namespace') ?? ''}/${stringAt(body, 'regarding', 'name') ?? ''}`,
        'event',
        body,
      ]
    default:
      return undefined
  }
}
