// What a person has chosen to see, and which rows and boxes that is.
import type { ContainerState } from '../../parts/container-states.ts'
import type { MapNode } from '../graph.ts'
import type { World } from './world.ts'

/** The filters, the namespaces that are open, and what is selected. */
export interface Choice {
  search: string
  namespace: string
  finding: string
  identity: string
  changesOnly: boolean
  readonly states: Set<ContainerState>
  /** Namespaces whose boxes are drawn. */
  readonly opened: Set<string>
  selected: string | undefined
}

/** Nothing is filtered, opened or selected. */
export function noChoice(): Choice {
  return {
    search: '',
    namespace: '',
    finding: '',
    identity: '',
    changesOnly: false,
    states: new Set(),
    opened: new Set(),
    selected: undefined,
  }
}

/** Whether anything is filtered. */
export function isFiltered({ search, namespace, finding, identity, changesOnly, states }: Choice): boolean {
  return `${search.trim()}${namespace}${finding}${identity}` !== '' || changesOnly || states.size > 0
}

/** The rows that pass the filters. */
export function chosenRows(world: World, choice: Choice): readonly MapNode[] {
  const words = choice.search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return world.rows.filter(
    (node) =>
      words.every((word) => world.textOf(node).includes(word)) &&
      (choice.namespace === '' || isIn(world, node, choice.namespace)) &&
      (choice.states.size === 0 || (node.kind === 'container' && choice.states.has(node.state))) &&
      (choice.finding === '' || world.findingsOf(node).some(({ code }) => code === choice.finding)) &&
      (choice.identity === '' || concernsIdentity(world, node, choice.identity)) &&
      (!choice.changesOnly || isChanged(world, node)),
  )
}

function isIn(world: World, node: MapNode, namespace: string): boolean {
  if (node.namespace !== '') return node.namespace === namespace
  const ends = [...world.from(node.id).map(({ to }) => to), ...world.to(node.id).map(({ from }) => from)]
  return ends.some((id) => world.node(id)?.namespace === namespace)
}

function concernsIdentity(world: World, node: MapNode, identity: string): boolean {
  if (node.id === identity) return true
  const spiffeId = identity.slice('identity/'.length)
  return world
    .from(node.id)
    .some((edge) => edge.to === identity || (edge.kind === 'registration' && edge.spiffeID === spiffeId))
}

function isChanged(world: World, node: MapNode): boolean {
  return (
    node.change !== null ||
    [...world.from(node.id), ...world.to(node.id)].some(
      (edge) => edge.kind === 'holds' && edge.change !== null,
    )
  )
}

/**
 * The boxes to draw for some rows: the rows, what gives them identities, the identities that they hold, and the policies that
 * name these.
 */
export function boxesFor(world: World, rows: Iterable<MapNode>): ReadonlySet<string> {
  const boxes = new Set<string>()
  const withIdentity = (identity: string): void => {
    boxes.add(identity)
    for (const edge of world.to(identity)) if (edge.kind === 'names') boxes.add(edge.from)
  }
  const withContainer = (id: string): void => {
    boxes.add(world.boxOf(id))
    for (const edge of world.registrationsOf(id)) if (edge.verdict !== 'dead') boxes.add(edge.from)
    for (const { to } of world.holdsOf(id)) withIdentity(to)
  }
  for (const node of rows) {
    if (node.kind === 'container') withContainer(node.id)
    else if (node.kind === 'identity') {
      withIdentity(node.id)
      for (const edge of world.to(node.id)) if (edge.kind !== 'names') boxes.add(world.boxOf(edge.from))
    } else if (node.kind !== 'namespace' && node.kind !== 'workload') {
      boxes.add(node.id)
      for (const edge of world.from(node.id))
        if (edge.kind !== 'registration' || edge.verdict !== 'dead') boxes.add(world.boxOf(edge.to))
    }
  }
  return boxes
}

/** The rows of the namespaces that are open. */
export function openedRows(world: World, { opened }: Choice): readonly MapNode[] {
  return world.rows.filter(({ namespace, kind }) => kind !== 'namespace' && opened.has(namespace))
}
