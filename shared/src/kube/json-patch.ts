// The operations of a JSON Patch (RFC 6902) that kleym sends. https://www.rfc-editor.org/rfc/rfc6902
import { own } from '../core/base/json.ts'

export type PatchOperation =
  /** The patch is refused as a whole where something else stands at `path`. */
  | { readonly op: 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

export const UID_PATH = '/metadata/uid'
export const VERSION_PATH = '/metadata/resourceVersion'
export const FINALIZERS_PATH = '/metadata/finalizers'

/** The operation that holds what was seen at `path`. */
export function testOf(path: string, value: unknown): PatchOperation {
  return { op: 'test', path, value }
}

/** The value that a patch of any origin tests for at `path`; undefined where it is no JSON Patch, or tests nothing there. */
export function testedAt(patch: unknown, path: string): unknown {
  if (!Array.isArray(patch)) return undefined
  const test: unknown = patch.find(
    (operation: unknown) => own(operation, 'op') === 'test' && own(operation, 'path') === path,
  )
  return own(test, 'value')
}
