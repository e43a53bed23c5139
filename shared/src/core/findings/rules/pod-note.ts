// What a pod shows, as a note: a sentence without the pod's own name, so that what many pods show alike falls together
// into one finding that names a few of them and counts the rest.
import { namespacesByName } from '../../snapshot/index.ts'
import { subjectOfKey, compareSubjects, subjectText, type Subject } from '../../model/objects/subject.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import type { State } from '../../analysis/index.ts'
import type { Namespace, Pod } from '../../model/objects/pod.ts'
import type { FindingCode } from '../registry/findings.ts'
import { pathIn } from '../../model/spiffe-id.ts'
import { sourceText, type EntrySource, type PodIdentities } from '../../predict/index.ts'
import { beginningWith, compareBytes } from '../../base/text/bytes.ts'
import type { Truth } from '../../model/truth/truth.ts'
import { sourceSubject } from './install-rules.ts'
import { rightsOf, type Right } from './rights.ts'

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
  /** The several things that it is about: the SPIFFE ID that is given away, the containers. A further one is new. */
  readonly parts?: readonly string[]
  /** Whether the pod shows it. */
  readonly holds: Truth
}

/** A rule over one pod: what it shows, in no order. */
export type PodRule = (facts: PodIdentities, lookups: PodLookups) => readonly Note[]

/** What all rules may look up in one scan of pods. */
export interface PodLookups {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, Subject>
  /** The bindings behind an ID of ours, as subjects; where our trust domain is not known, by the path of the ID. */
  readonly bindingsOfId: (spiffeId: string) => readonly Subject[]
  /** The bindings of all IDs of ours that an ID with placeholders, such as `<node name>`, may become. */
  readonly bindingsThatMayBe: (spiffeId: string) => readonly Subject[]
  /** A namespace by its name. */
  readonly namespaceOf: (name: string) => Namespace | undefined
  /** The rights that entries give to whoever holds an ID. */
  readonly rightsOf: (spiffeId: string) => readonly Right[]
  /** Whether a policy or a webhook may mount the Workload API in pods that do not exist yet. */
  readonly mayMountWorkloadApi: boolean
}

/** Makes the look-ups of a lookups. */
export function podLookupsOf(state: State): PodLookups {
  const bindings = new Map(
    [...state.bindingsByOutput()].map(([output, key]) => [output, subjectOfKey(key)] as const),
  )
  const isDomainKnown = state.base.config.trustDomain.kind === 'set'
  const keyOf = (spiffeId: string): string => (isDomainKnown ? spiffeId : pathIn(spiffeId))
  const ids = new Map<string, Subject[]>()
  for (const { object } of state.outputs) {
    const binding = bindings.get(object.meta.name)
    if (binding !== undefined) getOrCreate(ids, keyOf(object.spec.spiffeIDTemplate), () => []).push(binding)
  }
  const sorted = lazy(() => [...ids.keys()].toSorted(compareBytes))
  const bindingsThatMayBe = (spiffeId: string): readonly Subject[] => {
    const id = keyOf(spiffeId)
    if (!id.includes('<')) return []
    const start = id.slice(0, id.indexOf('<'))
    const found: Subject[] = []
    for (const one of beginningWith(start, sorted()))
      if (mayBecome(id, one)) found.push(...(ids.get(one) ?? []))
    return found
  }
  const namespaces = namespacesByName(state.base.snapshot)
  return {
    bindings,
    bindingsOfId: (spiffeId) => ids.get(keyOf(spiffeId)) ?? [],
    bindingsThatMayBe,
    rightsOf: rightsOf(state),
    mayMountWorkloadApi: state.base.snapshot.mayMountWorkloadApi,
    namespaceOf: (name) => namespaces.get(name),
  }
}

/** Bindings of one identity, or of identities that something may give, up to so many have a note each. */
const ONE_BY_ONE_MAX = 16

/**
 * A note for each binding whose identity a pod gets from elsewhere. Of very many, one for those of the pod's own namespace, and one
 * for all of them together, which is the same for the pods of all namespaces: the first is its subject, the others are related.
 */
export function notesOfBindings(
  bindings: readonly Subject[],
  pod: Pod,
  noteOf: (subject: Subject, others: readonly Subject[], isTheft: boolean) => Note,
): readonly Note[] {
  const isTheft = ({ namespace }: Subject): boolean => namespace !== pod.namespace
  if (bindings.length <= ONE_BY_ONE_MAX) return bindings.map((one) => noteOf(one, [], isTheft(one)))
  const noteOfAll = ([first, ...others]: readonly Subject[], theft: boolean): readonly Note[] =>
    first === undefined ? [] : [noteOf(first, others, theft)]
  const all = bindings.toSorted(compareSubjects)
  return [
    ...noteOfAll(
      all.filter((one) => !isTheft(one)),
      false,
    ),
    ...noteOfAll(all.some(isTheft) ? all : [], true),
  ]
}

/** What makes two notes the same. There may be a hundred thousand: plain text joins faster than JSON. */
export function noteKey({ code, subject, related, summary, evidence = [], holds }: Note): string {
  let key = `${code}\n${subjectText(subject)}\n`
  for (const one of related) key += `${subjectText(one)}\t`
  key += `\n${summary('', '')}\n${holds.causes.key}`
  for (const one of evidence) key += `\n${one}`
  return key
}

/** The binding behind a source; undefined if it is no output of ours. */
export function bindingOf({ kind, name }: EntrySource, { bindings }: PodLookups): Subject | undefined {
  return kind === 'ClusterSPIFFEID' ? bindings.get(name) : undefined
}

/** The binding behind a source where it is ours, else the object itself. */
export function ownerOf(source: EntrySource, lookups: PodLookups): Subject {
  return bindingOf(source, lookups) ?? sourceSubject(source)
}

/** The same as a sentence has it: `binding team-a/chat`, `ClusterSPIFFEID/default`. */
export function ownerText(source: EntrySource, lookups: PodLookups): string {
  const binding = bindingOf(source, lookups)
  return binding === undefined
    ? sourceText(source)
    : `binding ${namespacedName(binding.namespace, binding.name)}`
}
