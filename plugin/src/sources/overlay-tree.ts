// The kustomizations of a tree: which files they include, which of these they change, and which kustomizations no other one
// includes.
import { dirname } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { FoundFile, FoundOverlay } from './files.ts'
import { readKustomization, type Kustomization } from './kustomization.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'
import { reachOf } from './reach.ts'

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
  /** The roots that take one in, through however many others; of a root none. */
  readonly rootsOf: (one: OverlayReading) => readonly OverlayReading[]
  /** Those that one takes in, through however many others. */
  readonly below: (one: OverlayReading) => readonly OverlayReading[]
  /** The files that are no objects, by their paths without links: patches, and what generators read. */
  readonly patches: ReadonlySet<string>
  /** The files that are taken in. */
  readonly taken: ReadonlySet<string>
  /** They take in each other in more ways than are followed: what they change is not known. */
  readonly isTangled: boolean
  /** Who changes the objects of a file. */
  readonly changersOf: (file: FoundFile) => readonly OverlayReading[]
}

/** How many resources are followed, those of one kustomization once for each that is over it. */
const STEPS_MAX = 1_000_000

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
  const roots = overlays.filter(
    ({ kustomization: { overlay, isComponent } }) => !isComponent && !children.has(overlay.path),
  )
  /** For each file that is taken in: the kustomizations that it is a part of. */
  const changers = new Map<string, Set<OverlayReading>>()
  /** For each kustomization that others take in: these. */
  const over = new Map<OverlayReading, Set<OverlayReading>>()
  let steps = 0
  for (const top of overlays) {
    // Each is gone into once for each that is over it: there may be more ways from one to another than can be counted.
    const open = [top]
    const seen = new Set(open)
    for (let one = open.pop(); one !== undefined; one = open.pop())
      for (const path of one.kustomization.resources) {
        if (++steps > STEPS_MAX) break
        const below = byFolder.get(path)
        if (below === undefined) getOrCreate(changers, path, () => new Set<OverlayReading>()).add(top)
        else if (!seen.has(below)) {
          seen.add(below)
          open.push(below)
          getOrCreate(over, below, () => new Set<OverlayReading>()).add(top)
        }
      }
  }
  const taken = new Set(changers.keys())
  const patches = new Set(
    overlays.flatMap(({ kustomization }) => kustomization.others).filter((path) => !taken.has(path)),
  )
  return {
    overlays,
    roots,
    rootsOf: (one) => roots.filter((root) => over.get(one)?.has(root)),
    below: (one) => overlays.filter((other) => over.get(other)?.has(one)),
    patches,
    taken,
    isTangled: steps > STEPS_MAX,
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
 * Notes what the kustomizations that include the file of an object may make of it, where they put it; `text` is all of it. Returns whether one
 * changes it.
 */
export function noteChanges(
  changers: readonly OverlayReading[],
  object: { readonly namespace: string | undefined; readonly name: string | undefined },
  kind: WantedKind,
  text: string,
): boolean {
  const changing = changers.filter(({ kustomization: { changes } }) => {
    const moves = changes.namespace !== undefined && changes.namespace !== object.namespace
    const isChanged = changes.kinds === 'all' || changes.kinds.has(kind.kind)
    return isChanged || changes.renames || (kind.namespaced && moves)
  })
  for (const { changed, kustomization } of changing) {
    const { kinds, namespace, movesAnywhere, renames } = kustomization.changes
    const place = {
      namespace: movesAnywhere ? undefined : (namespace ?? object.namespace),
      name: renames || kinds === 'all' ? undefined : object.name,
    }
    changed.push(...reachOf(kind, place, text))
  }
  return changing.length > 0
}
