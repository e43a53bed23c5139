// `map` as machines read it: boxes, and what leads from one to another.
import type { Frame } from '../../frame/frame.ts'
import type { MapScope } from './build.ts'
import type { MapGraph } from './graph.ts'

/** The fields of a MapReport. */
export function mapFields(
  { nodes, edges }: MapGraph,
  { scope, isCompared }: { readonly scope: MapScope; readonly isCompared: boolean },
): ReturnType<Frame['fields']> {
  return {
    scope: {
      namespace: scope.namespace ?? null,
      spiffeID: scope.spiffeId ?? null,
      selected: scope.isChosen,
      compared: isCompared,
    },
    nodes,
    edges,
  }
}
