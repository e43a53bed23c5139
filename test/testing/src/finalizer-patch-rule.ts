// What a patch of a binding by kleym may be (docs/contract.md §8): a JSON Patch that names the UID and the version that were
// judged, and adds or removes kleym's own finalizer alone. Written anew here, so that the operator's code does not judge itself.
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'

const FINALIZERS = '/metadata/finalizers'

/** UID and version that the body of any write names: of a JSON Patch by its tests. Empty where it names none. */
export function judgedVersion(body: unknown): { readonly uid: string; readonly resourceVersion: string } {
  const named = (field: string): string =>
    Array.isArray(body)
      ? (body.map((step: unknown) => testedText(step, `/metadata/${field}`)).find((text) => text !== '') ??
        '')
      : (stringAt(body, 'metadata', field) ?? stringAt(body, field) ?? '')
  return { uid: named('uid'), resourceVersion: named('resourceVersion') }
}

/** Whether a patch adds or removes kleym's finalizer and changes nothing else. */
export function patchesFinalizerAlone(body: unknown): boolean {
  if (!Array.isArray(body) || !body.every(isRecord)) return false
  const steps = body.filter((step) => !isTestOf(step, ['/metadata/uid', '/metadata/resourceVersion']))
  if (steps.length === 0) return false
  return steps.every((step, at) => {
    const { op, path, value } = step
    if (op === 'test') return isOurFinalizer(step)
    if (op === 'add' && path === `${FINALIZERS}/-`) return value === FINALIZER
    if (op === 'add') return path === FINALIZERS && JSON.stringify(value) === JSON.stringify([FINALIZER])
    const before = steps[at - 1]
    return op === 'remove' && before !== undefined && isOurFinalizer(before) && before['path'] === path
  })
}

function isOurFinalizer({ op, path, value }: JsonRecord): boolean {
  const isOne = typeof path === 'string' && path.startsWith(`${FINALIZERS}/`)
  return op === 'test' && isOne && value === FINALIZER
}

function isTestOf({ op, path }: JsonRecord, paths: readonly string[]): boolean {
  return op === 'test' && typeof path === 'string' && paths.includes(path)
}

function testedText(step: unknown, path: string): string {
  const value = own(step, 'op') === 'test' && own(step, 'path') === path ? own(step, 'value') : ''
  return typeof value === 'string' ? value : ''
}
