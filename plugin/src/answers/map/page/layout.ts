// Where boxes stand: dagre lays them out in columns (what gives identities, pods, identities, policies), with a frame around
// the pods of a namespace. Lines between them are curves of d3.
import { Graph, layout } from '@dagrejs/dagre'
import { linkHorizontal } from 'd3-shape'
import type { MapEdge, MapNode } from '../graph.ts'
import type { World } from './world.ts'

/** A place on the sheet, in its own units: the upper left corner, and how large it is. */
export interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A line between two boxes. */
export interface DrawnLine {
  readonly path: string
  readonly edge: MapEdge
  /** How sure it is that something is given by it. */
  readonly way: 'sure' | 'perhaps' | 'nothing'
}

/** Everything that is drawn. */
export interface Sheet {
  readonly places: ReadonlyMap<string, Place>
  /** The frames, by namespace. */
  readonly frames: ReadonlyMap<string, Place>
  readonly lines: readonly DrawnLine[]
  readonly width: number
  readonly height: number
}

/** The column of a kind, and the size of its box; style.css has the same sizes. All others stand where pods do, in a box of pods. */
const BOXES: Readonly<
  Partial<
    Record<MapNode['kind'], { readonly column: number; readonly width: number; readonly height: number }>
  >
> = {
  binding: { column: 0, width: 214, height: 66 },
  ClusterSPIFFEID: { column: 0, width: 214, height: 66 },
  ClusterStaticEntry: { column: 0, width: 214, height: 66 },
  gap: { column: 1, width: 250, height: 86 },
  identity: { column: 2, width: 284, height: 84 },
  policy: { column: 3, width: 196, height: 66 },
}
/** The box of pods: its column, its head, and each container in it. */
export const PODS = { column: 1, width: 304, head: 48, row: 30, foot: 6 } as const
const FRAME = { top: 40, side: 14, bottom: 14 } as const
const MARGIN = 24

function columnOf({ kind }: MapNode): number {
  return (BOXES[kind] ?? PODS).column
}

function sizeOf(world: World, { id, kind }: MapNode): { readonly width: number; readonly height: number } {
  const box = BOXES[kind]
  if (box !== undefined) return { width: box.width, height: box.height }
  const rows = Math.max(1, world.containersOf(id).length)
  return { width: PODS.width, height: PODS.head + rows * PODS.row + PODS.foot }
}

/** Lays out some boxes; those that the map does not have are left out. */
export function sheetOf(world: World, boxes: ReadonlySet<string>): Sheet {
  const nodes = world.nodes.filter(({ id }) => boxes.has(id))
  const edges = edgesBetween(world, boxes)
  const graph = new Graph({ compound: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 66, edgesep: 6, ranker: 'tight-tree' })
  graph.setDefaultEdgeLabel(() => ({}))
  // An invisible box before all columns: what nothing leads to still stands in its own.
  graph.setNode(ANCHOR, { width: 0, height: 0 })
  for (const node of nodes) {
    graph.setNode(node.id, sizeOf(world, node))
    const frame = frameOf(node)
    if (frame === undefined) continue
    if (!graph.hasNode(frame)) graph.setNode(frame, {})
    graph.setParent(node.id, frame)
  }
  const reached = new Set<string>()
  for (const { from, to, weight } of ranked(world, edges)) {
    graph.setEdge(from, to, { minlen: columnsApart(world, from, to), weight })
    reached.add(to)
  }
  for (const node of nodes)
    if (!reached.has(node.id)) graph.setEdge(ANCHOR, node.id, { minlen: columnOf(node) + 1, weight: 0.01 })
  layout(graph)
  const places = new Map(nodes.map(({ id }) => [id, placeOf(graph.node(id))]))
  return fitted(world, places, edges)
}

const ANCHOR = 'anchor'

function frameOf({ kind, namespace }: MapNode): string | undefined {
  const isFramed = kind === 'pods' || kind === 'gap' || kind === 'namespace'
  return isFramed && namespace !== '' ? `frame/${namespace}` : undefined
}

function columnsApart(world: World, from: string, to: string): number {
  const [left, right] = [world.node(from), world.node(to)]
  if (left === undefined || right === undefined) return 1
  return Math.max(1, columnOf(right) - columnOf(left))
}

/** dagre gives the middle of a box. */
function placeOf({ x, y, width, height }: Place): Place {
  return { x: x - width / 2, y: y - height / 2, width, height }
}

/** The edges between boxes that are drawn; a container is drawn in its pods. */
function edgesBetween(world: World, boxes: ReadonlySet<string>): readonly MapEdge[] {
  const { edges } = world.data.report
  const isDrawn = ({ from, to }: MapEdge): boolean =>
    boxes.has(world.boxOf(from)) && boxes.has(world.boxOf(to))
  const drawn = edges.filter(isDrawn)
  const living = new Set(
    drawn.flatMap((edge) => (edge.kind === 'registration' && edge.verdict !== 'dead' ? [edge.from] : [])),
  )
  const given = new Set(
    edges.flatMap((edge) =>
      edge.kind === 'registration' && edge.verdict !== 'dead' ? [`${edge.from}\n${edge.spiffeID ?? ''}`] : [],
    ),
  )
  return drawn.filter((edge) => {
    // What gives something here need not show all that it misses.
    if (edge.kind === 'registration') return edge.verdict !== 'dead' || !living.has(edge.from)
    if (edge.kind === 'asks') return !given.has(`${edge.from}\n${edge.to.slice('identity/'.length)}`)
    return true
  })
}

/** The edges as dagre ranks them: between boxes, from left to right, each pair once, the surest with most weight. */
function ranked(
  world: World,
  edges: readonly MapEdge[],
): readonly { readonly from: string; readonly to: string; readonly weight: number }[] {
  const pairs = new Map<string, { from: string; to: string; weight: number }>()
  for (const edge of edges) {
    const [from, to] = [world.boxOf(edge.from), world.boxOf(edge.to)]
    const [left, right] = edge.kind === 'names' ? [to, from] : [from, to]
    const key = `${left}\n${right}`
    const weight = wayOf(edge) === 'sure' ? 3 : 1
    const known = pairs.get(key)
    if (known === undefined) pairs.set(key, { from: left, to: right, weight })
    else known.weight = Math.max(known.weight, weight)
  }
  return [...pairs.values()]
}

/** How sure a line is. */
export function wayOf(edge: MapEdge): DrawnLine['way'] {
  switch (edge.kind) {
    case 'registration':
      if (edge.verdict === 'issued') return 'sure'
      return edge.verdict === 'depends' || edge.verdict === 'unknown' || edge.verdict === 'pending'
        ? 'perhaps'
        : 'nothing'
    case 'holds':
      if (edge.change === 'removed') return 'nothing'
      return edge.certain ? 'sure' : 'perhaps'
    case 'asks':
      return 'nothing'
    case 'names':
      return edge.how === 'exactly' ? 'sure' : 'perhaps'
  }
}

/** Everything moved to where the sheet begins, with frames and lines. */
function fitted(world: World, found: ReadonlyMap<string, Place>, edges: readonly MapEdge[]): Sheet {
  const bare = framesOf(world, found)
  const all = [...found.values(), ...bare.values()]
  const left = Math.min(...all.map(({ x }) => x))
  const top = Math.min(...all.map(({ y }) => y))
  const moved = (place: Place): Place => ({
    ...place,
    x: Math.round(place.x - left + MARGIN),
    y: Math.round(place.y - top + MARGIN),
  })
  const places = new Map([...found].map(([id, place]) => [id, moved(place)]))
  const frames = new Map([...bare].map(([namespace, place]) => [namespace, moved(place)]))
  const right = Math.max(...all.map(({ x, width }) => x + width)) - left
  const bottom = Math.max(...all.map(({ y, height }) => y + height)) - top
  return {
    places,
    frames,
    lines: edges.flatMap((edge) => lineOf(world, edge, places) ?? []),
    width: Math.ceil(right + 2 * MARGIN),
    height: Math.ceil(bottom + 2 * MARGIN),
  }
}

function framesOf(world: World, places: ReadonlyMap<string, Place>): ReadonlyMap<string, Place> {
  const frames = new Map<string, { left: number; top: number; right: number; bottom: number }>()
  for (const [id, { x, y, width, height }] of places) {
    const node = world.node(id)
    if (node === undefined || frameOf(node) === undefined) continue
    const known = frames.get(node.namespace)
    frames.set(node.namespace, {
      left: Math.min(x, known?.left ?? x),
      top: Math.min(y, known?.top ?? y),
      right: Math.max(x + width, known?.right ?? x + width),
      bottom: Math.max(y + height, known?.bottom ?? y + height),
    })
  }
  return new Map(
    [...frames].map(([namespace, { left, top, right, bottom }]) => [
      namespace,
      {
        x: left - FRAME.side,
        y: top - FRAME.top,
        width: right - left + 2 * FRAME.side,
        height: bottom - top + FRAME.top + FRAME.bottom,
      },
    ]),
  )
}

type Point = readonly [x: number, y: number]

const curve = linkHorizontal<{ readonly source: Point; readonly target: Point }, Point>()
  .x(([x]) => x)
  .y(([, y]) => y)

/** A line from the side of one box to the side of the other that faces it; a container's ends at its row. */
function lineOf(world: World, edge: MapEdge, places: ReadonlyMap<string, Place>): DrawnLine | undefined {
  const [from, to] = [rowOf(world, edge.from, places), rowOf(world, edge.to, places)]
  if (from === undefined || to === undefined) return undefined
  const isForward = from.x + from.width <= to.x
  const source: Point = [isForward ? from.x + from.width : from.x, from.y + from.height / 2]
  const target: Point = [isForward ? to.x : to.x + to.width, to.y + to.height / 2]
  const path = curve({ source, target })
  return path === null ? undefined : { path, edge, way: wayOf(edge) }
}

/** Where a box stands, or the row of a container in it. */
export function rowOf(world: World, id: string, places: ReadonlyMap<string, Place>): Place | undefined {
  const place = places.get(world.boxOf(id))
  const node = world.node(id)
  if (place === undefined || node?.kind !== 'container') return place
  const at = world.containersOf(node.parent ?? '').findIndex((one) => one.id === id)
  return { ...place, y: place.y + PODS.head + at * PODS.row, height: PODS.row }
}
