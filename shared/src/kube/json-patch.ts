// The operations of a JSON Patch (RFC 6902) that kleym sends. https://www.rfc-editor.org/rfc/rfc6902

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
