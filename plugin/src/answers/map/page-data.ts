// What the page is given beside the report, as data: types alone, since the page in the browser reads them too.
import type { MapEdge, MapNode } from './graph.ts'

/** A finding of the report, as far as the page reads it. */
export interface PageFinding {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly summary: string
  readonly evidence: readonly string[]
  readonly fix: string
}

/** What `explain` says of one binding, as far as the page shows it. */
export interface PageExplanation {
  readonly steps: readonly { readonly name: string; readonly outcome: string; readonly text: string }[]
  readonly selectors: readonly {
    readonly selector: string
    readonly object: string
    readonly field: string
  }[]
  /** What collides with it, and why. */
  readonly peers: readonly { readonly binding: string; readonly proof: string }[]
  /** The verdict once everything has settled, where it differs. */
  readonly afterwards: string | null
  /** What kleym must still do about its output. */
  readonly due: string | null
}

/** The report of `-o json`, as far as the page reads it. */
export interface PageReport {
  readonly scope: {
    readonly namespace: string | null
    readonly spiffeID: string | null
    readonly selected: boolean
    readonly compared: boolean
  }
  readonly nodes: readonly MapNode[]
  readonly edges: readonly MapEdge[]
  readonly findings: readonly PageFinding[]
  readonly summary: Readonly<Record<'error' | 'warning' | 'info' | 'suppressed', number>>
}

/** What stands in the page as JSON. */
export interface PageData {
  readonly report: PageReport
  /** For each finding of the report, in their order: the ids of the nodes that it is about. */
  readonly findingNodes: readonly (readonly string[])[]
  /** By binding. Of a very large estate only the first ones. */
  readonly explanations: Readonly<Record<string, PageExplanation>>
  /** What is not known, a sentence each. */
  readonly unknowns: readonly string[]
  /** How far the world of the answer goes: ` among these files`; empty for a cluster. */
  readonly world: string
  /** The flags of the source that was asked: a command that is copied asks the same. */
  readonly echo: string
  /** What was asked, for people: `context prod`. */
  readonly source: string
  /** When the page was made: `2026-11-26 23:05 UTC`. */
  readonly made: string
}
