// How the views of `who-selects` name a registration and its reason, and what they show beside the pods.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { sourceText } from '@kleym/shared/core/predict/index.ts'
import type { Layout } from '../../text/layout.ts'
import type { NamedIds } from '../parts/named-by.ts'
import type { ContainerFilter, ShownRegistration } from '../parts/pod-answers.ts'

/** What the view shows beside the pods. */
export interface WhoSelectsLayout extends Layout {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
  readonly filter: ContainerFilter
  /** Who names the identities; undefined where there are no policies to speak of. */
  readonly named: NamedIds | undefined
  /** What kleym must still do about an output, by its name. */
  readonly pending: ReadonlyMap<string, string>
  /** The refused bindings that are for a container, a sentence each. */
  readonly refusedFor: (pod: Pod, container: string) => readonly string[]
  /** How many pods that exist carry the labels of a template. */
  readonly running: (pod: Pod) => number
}

/** A reason names objects; an output of ours is better known by its binding. */
export function readable(why: string, { bindings, wide }: WhoSelectsLayout): string {
  if (wide) return why
  return why.replaceAll(/ClusterSPIFFEID\/([a-z0-9.-]+)/g, (whole, name: string) => {
    const binding = bindings.get(name)
    return binding === undefined ? whole : `InferenceIdentityBinding ${binding}`
  })
}

/** `InferenceIdentityBinding/chat` for an output of ours, the object itself for others. */
export function originText({ source }: ShownRegistration, { bindings, wide }: WhoSelectsLayout): string {
  const binding = source.kind === 'ClusterSPIFFEID' ? bindings.get(source.name) : undefined
  if (binding === undefined) return sourceText(source)
  return wide
    ? `InferenceIdentityBinding ${binding} through ${sourceText(source)}`
    : `InferenceIdentityBinding ${binding}`
}

/** `, hint team-a/chat`; empty where the registration has none. */
export function hintText({ hint, sharesHint }: ShownRegistration): string {
  if (hint === '') return ''
  return `, hint ${hint}${sharesHint ? ', which another identity of the container has too' : ''}`
}
