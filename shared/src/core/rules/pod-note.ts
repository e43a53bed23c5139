// What a pod shows, as a note: a sentence without the pod's own name, so that what many pods show alike falls together
// into one finding that names a few of them and counts the rest.
import { subjectOfKey } from '../findings/subjects.ts'
import { mayBecome } from '../go/template/mentions.ts'
import { lazy } from '../lazy.ts'
import { namespacedName } from '../namespaced-name.ts'
import { bindingsByOutput, type State } from '../analysis/state.ts'
import { BINDING_KIND } from '../names.ts'
import type { Namespace } from '../objects/pod.ts'
import type { FindingCode } from '../registry/findings.ts'
import { pathIn } from '../spire/spiffe-id.ts'
import { sourceText, type EntrySource } from '../spire/prediction.ts'
import { subjectText, type Subject } from '../findings/finding.ts'
import { compareBytes } from '../text/bytes.ts'
import { sourceSubject } from './install-rules.ts'
import type { PodIdentities } from './pod-identities.ts'

/** What one rule finds on one pod. */
export interface Note {
  readonly code: FindingCode
  readonly subject: Subject
  readonly related: readonly Subject[]
  /** The containers that it is about, by name; absent: all of the pod. */
  readonly containers?: readonly string[]
  /** The sentence, given how many pods show it, and in which namespaces: `namespaces a, b, c, d, e and 4 more`. */
  readonly summary: (pods: string, namespaces: string) => string
  readonly evidence?: readonly string[]
  /** What the pod shows only perhaps: why, and what decides it. Absent: it is certain. */
  readonly depends?: { readonly on: string; readonly why: string }
}

/** A rule over one pod: what it shows, in no order. */
export type PodRule = (facts: PodIdentities, scan: Scan) => readonly Note[]

/** What all rules may look up in one scan of pods. */
export interface Scan {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, Subject>
  /** The binding behind an ID of ours, as a subject; where our trust domain is not known, by the path of the ID. */
  readonly bindingOfId: (spiffeId: string) => Subject | undefined
  /** The binding of an ID of ours that an ID with placeholders, such as `<node name>`, may become. */
  readonly bindingThatMayBe: (spiffeId: string) => Subject | undefined
  /** A namespace by its name. */
  readonly namespaceOf: (name: string) => Namespace | undefined
  /** Whether a policy or a webhook may mount the Workload API in pods that are yet to be made. */
  readonly mayMountWorkloadApi: boolean
}

/** Makes the look-ups of a scan. */
export function scanOf(state: State): Scan {
  const bindings = new Map(
    [...bindingsByOutput(state)].map(([output, key]) => [output, subjectOfKey(key)] as const),
  )
  const isDomainKnown = state.base.config.trustDomain.kind === 'set'
  const keyOf = (spiffeId: string): string => (isDomainKnown ? spiffeId : pathIn(spiffeId))
  const ids = new Map(
    state.outputs.flatMap(({ object }) => {
      const binding = bindings.get(object.meta.name)
      return binding === undefined ? [] : [[keyOf(object.spec.spiffeIDTemplate), binding] as const]
    }),
  )
  const sorted = lazy(() => [...ids.keys()].toSorted(compareBytes))
  const bindingThatMayBe = (spiffeId: string): Subject | undefined => {
    const id = keyOf(spiffeId)
    if (!id.includes('<')) return undefined
    const start = id.slice(0, id.indexOf('<'))
    const all = sorted()
    for (let at = placeOf(start, all); all[at]?.startsWith(start) === true; at++) {
      const one = all[at] ?? ''
      if (mayBecome(id, one)) return ids.get(one)
    }
    return undefined
  }
  const namespaces = lazy(() => new Map(state.base.snapshot.namespaces.map((one) => [one.name, one])))
  return {
    bindings,
    bindingOfId: (spiffeId) => ids.get(keyOf(spiffeId)),
    bindingThatMayBe,
    mayMountWorkloadApi: state.base.snapshot.mayMountWorkloadApi,
    namespaceOf: (name) => namespaces().get(name),
  }
}

/** Where in texts in byte order those begin that are not before `text`. */
function placeOf(text: string, sorted: readonly string[]): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (compareBytes(sorted[middle] ?? '', text) < 0) from = middle + 1
    else to = middle
  }
  return from
}

/** What makes two notes the same. */
export function noteKey({ code, subject, related, evidence, depends }: Note): string {
  return JSON.stringify([code, subjectText(subject), related.map(subjectText), evidence ?? [], depends?.why])
}

/** The binding behind a source where it is ours, else the object itself. */
export function ownerOf(source: EntrySource, { bindings }: Scan): Subject {
  return (source.kind === 'ClusterSPIFFEID' ? bindings.get(source.name) : undefined) ?? sourceSubject(source)
}

/** The same as a sentence has it: `binding team-a/chat`, `ClusterSPIFFEID/default`. */
export function ownerText(source: EntrySource, scan: Scan): string {
  const { kind, namespace, name } = ownerOf(source, scan)
  return kind === BINDING_KIND ? `binding ${namespacedName(namespace, name)}` : sourceText(source)
}
