// The kustomizations of a tree together: which files they take in, which of those they change, and which of them are not
// themselves taken in by another one.
import { dirname } from 'node:path'
import type { FoundFile, FoundOverlay } from './files.ts'
import { isFolder, readKustomization, type Kustomization } from './kustomization.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'

/** What a kustomization keeps from being read as it stands. */
export interface OverlayReading {
  readonly kustomization: Kustomization
  /** What it makes of objects that it changes; grows while files are read. */
  readonly changed: ProblemReach[]
}

/** The kustomizations of a tree. */
export interface OverlayTree {
  readonly overlays: readonly OverlayReading[]
  /** Those that no other one takes in, and that are no components. */
  readonly roots: readonly OverlayReading[]
  /** The files that are no objects, by their paths without links: patches, and what generators read. */
  readonly patches: ReadonlySet<string>
  /** The files that are taken in. */
  readonly taken: ReadonlySet<string>
  /** Who changes the objects of a file. */
  readonly changersOf: (file: FoundFile) => readonly OverlayReading[]
}

/** Reads the kustomizations that were found; `parsed` gives the value of a file, `textOf` its text. */
export async function readOverlays(
  found: readonly FoundOverlay[],
  parsed: (overlay: FoundOverlay) => Promise<unknown>,
  textOf: (path: string) => string | undefined,
): Promise<OverlayTree> {
  const byFolder = new Map<string, OverlayReading>()
  for (const overlay of found) {
    const kustomization = readKustomization(overlay, await parsed(overlay), textOf)
    if (kustomization !== undefined) byFolder.set(overlay.path, { kustomization, changed: [] })
  }
  const overlays = [...byFolder.values()]
  const children = new Set(overlays.flatMap(({ kustomization }) => kustomization.resources))
  const changers = new Map<string, Set<OverlayReading>>()
  const taken = new Set<string>()
  const take = (path: string, by: readonly OverlayReading[], seen: ReadonlySet<string>): void => {
    const child = byFolder.get(path)
    if (child !== undefined && !seen.has(path)) takeIn(child, by, new Set([...seen, path]))
    if (child !== undefined || isFolder(path)) return
    taken.add(path)
    const known = changers.get(path) ?? new Set()
    for (const one of by) known.add(one)
    changers.set(path, known)
  }
  const takeIn = (
    reading: OverlayReading,
    by: readonly OverlayReading[],
    seen: ReadonlySet<string>,
  ): void => {
    for (const path of reading.kustomization.resources) take(path, [...by, reading], seen)
  }
  const roots = overlays.filter(
    ({ kustomization: { overlay, isComponent } }) => !isComponent && !children.has(overlay.path),
  )
  // What only a circle of them takes in is taken in all the same.
  for (const reading of [...roots, ...overlays]) {
    const { path } = reading.kustomization.overlay
    takeIn(reading, [], new Set([path]))
  }
  const patches = new Set(
    overlays.flatMap(({ kustomization }) => kustomization.others).filter((path) => !taken.has(path)),
  )
  return {
    overlays,
    roots,
    patches,
    taken,
    changersOf: ({ real }) => [...(changers.get(real) ?? unreadableBeside(overlays, real))],
  }
}

/** A kustomization that cannot be read may take in any file beside it. */
function unreadableBeside(overlays: readonly OverlayReading[], real: string): readonly OverlayReading[] {
  return overlays.filter(
    ({ kustomization }) => kustomization.isUnreadable && dirname(real) === kustomization.overlay.path,
  )
}

/**
 * What becomes of an object under the kustomizations that take its file in: the places where they put what they change of
 * it; undefined where all of them leave it as it stands.
 */
export function changedBy(
  changers: readonly OverlayReading[],
  object: { readonly namespace: string; readonly name: string | undefined },
  { kind, namespaced }: WantedKind,
): readonly { readonly by: OverlayReading; readonly namespace: string; readonly name: string | undefined }[] {
  return changers.flatMap((by) => {
    const { kinds, namespace, renames } = by.kustomization.changes
    const moves = namespaced && namespace !== undefined && namespace !== object.namespace
    const isChanged = kinds === 'all' || kinds.has(kind) || renames || moves
    if (!isChanged) return []
    return [
      {
        by,
        namespace: namespace ?? object.namespace,
        name: renames || kinds === 'all' ? undefined : object.name,
      },
    ]
  })
}
