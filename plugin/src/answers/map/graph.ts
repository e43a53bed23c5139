// The data of a map: boxes within boxes, and edges between them, as the report has them (graph-schema.ts). Types and words
// alone, since the page in the browser reads them too (page/).
import type * as z from 'zod'
import type { edgeSchema, nodeSchema } from './graph-schema.ts'

/** A box of the map. */
export type MapNode = z.output<typeof nodeSchema>
/** What leads from one box to another. */
export type MapEdge = z.output<typeof edgeSchema>
/** What a change does to a part of the map; null: nothing, or there is nothing to compare with. */
export type MapChange = NonNullable<MapNode['change']>

type NodeOf<Kind extends MapNode['kind']> = Extract<MapNode, { readonly kind: Kind }>
type EdgeOf<Kind extends MapEdge['kind']> = Extract<MapEdge, { readonly kind: Kind }>

/** A namespace. */
export type NamespaceNode = NodeOf<'namespace'>
/** Pods of one workload that look the same on the map. */
export type PodsNode = NodeOf<'pods'>
/** A container of such pods. */
export type ContainerNode = NodeOf<'container'>
/** A binding. */
export type BindingNode = NodeOf<'binding'>
/** A ClusterSPIFFEID that is not an output of a binding here, or a ClusterStaticEntry. */
export type RegistrationNode = NodeOf<'ClusterSPIFFEID'> | NodeOf<'ClusterStaticEntry'>
/** A SPIFFE ID. */
export type IdentityNode = NodeOf<'identity'>
/** An access policy. */
export type PolicyNode = NodeOf<'policy'>
/** Something that could not be read, or that the cluster does not serve. */
export type GapNode = NodeOf<'gap'>

/** A registration that selects the pod of a container, and its verdict: the words of `who-selects`. */
export type RegistrationEdge = EdgeOf<'registration'>
/** A container that holds an identity. */
export type HoldsEdge = EdgeOf<'holds'>
/** What asks for an identity, whether or not a container gets it. */
export type AsksEdge = EdgeOf<'asks'>
/** A policy, and the identity or the pods that one of its rules names. */
export type NamesEdge = EdgeOf<'names'>

/** What a box has beside its kind, its id and its label, unless more is known of it. */
export const BARE = { namespace: '', parent: null, findings: [], change: null } as const

/** A whole map. */
export interface MapGraph {
  readonly nodes: readonly MapNode[]
  readonly edges: readonly MapEdge[]
}
