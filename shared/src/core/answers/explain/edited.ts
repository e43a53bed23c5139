// Registrations of others that a change edits, adds or removes. That may change what entries carry, though nobody gains or loses an ID:
// TTLs, DNS names, bundles of other trust domains, a hint, and the rights of `admin` and `downstream`. A relationship with another trust
// domain counts as well: without its bundle the server refuses entries that federate with it.
import type { State } from '../../analysis/index.ts'
import type { Each } from '../../base/each.ts'
import { canonicalText, deepEqual, own, type JsonRecord } from '../../base/json.ts'
import { lazy } from '../../base/lazy.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { CLUSTER_SPIFFE_ID, CLUSTER_STATIC_ENTRY, FEDERATED_TRUST_DOMAIN } from '../../model/kinds.ts'
import { sourceText, type EntryOutcome } from '../../predict/index.ts'

/** What a change may do to a registration. */
export const REGISTRATION_CHANGES = ['edits', 'adds', 'removes'] as const

/** A registration that is not kleym's, and that a change does something to. */
export interface EditedRegistration {
  readonly kind: string
  readonly name: string
  readonly change: (typeof REGISTRATION_CHANGES)[number]
  /** The fields of its spec that differ, in byte order: `admin`; none of one that is new or gone. */
  readonly fields: readonly string[]
}

/**
 * The registrations that two states have with different specs, or that one of them has, in byte order of kind and name. One that is renamed
 * asks for the same. It counts only if another one wants its entries, since it is a younger object then.
 */
export function editedRegistrations(before: State, after: State): readonly EditedRegistration[] {
  const [had, has] = [byName(before), byName(after)]
  const [asked, asks] = [textsOf(had), textsOf(has)]
  const contested = lazy(() => contestedIn(before, had).union(contestedIn(after, has)))
  const isIn = (texts: () => ReadonlySet<string>, one: Named): boolean =>
    texts().has(textOf(one)) && !contested().has(sourceText(one))
  const added = [...has].flatMap(([key, one]): readonly EditedRegistration[] => {
    const { kind, name, spec } = one
    const other = had.get(key)?.spec
    if (other === undefined) return isIn(asked, one) ? [] : [{ kind, name, change: 'adds', fields: [] }]
    const fields = Object.keys(spec).filter((field) => !deepEqual(spec[field], other[field]))
    return fields.length === 0 ? [] : [{ kind, name, change: 'edits', fields: fields.toSorted(compareBytes) }]
  })
  const removed = [...had].flatMap(([key, one]): readonly EditedRegistration[] =>
    has.has(key) || isIn(asks, one)
      ? []
      : [{ kind: one.kind, name: one.name, change: 'removes', fields: [] }],
  )
  return [...added, ...removed].toSorted(
    (a, b) => compareBytes(a.kind, b.kind) || compareBytes(a.name, b.name),
  )
}

/** The registrations that compete for an entry with one of another spec, by `sourceText`. */
function contestedIn(state: State, specs: ReadonlyMap<string, Named>): ReadonlySet<string> {
  const contested = new Set<string>()
  const textAt = (key: string): string | undefined => {
    const one = specs.get(key)
    return one && textOf(one)
  }
  for (const { source, verdict } of outcomesIn(state)) {
    const other = verdict.state === 'masked' ? verdict.by : 'rival' in verdict ? verdict.rival : undefined
    if (other === undefined) continue
    const [left, right] = [sourceText(source), sourceText(other)]
    if (textAt(left) === textAt(right)) continue
    contested.add(left)
    contested.add(right)
  }
  return contested
}

function* outcomesIn(state: State): Iterable<EntryOutcome> {
  const prediction = state.prediction()
  yield* prediction.staticEntries()
  for (const pod of state.base.podsInQuestion) yield* prediction.entriesOf(pod)
}

/** By `sourceText`. */
function byName(state: State): ReadonlyMap<string, Named> {
  return new Map(specsOf(state).map((one) => [sourceText(one), one]))
}

/** Made only if a registration is new or gone: there may be ten thousand. */
function textsOf(specs: ReadonlyMap<string, Named>): () => ReadonlySet<string> {
  return lazy(() => new Set([...specs.values()].map(textOf)))
}

/** Equal for registrations that ask for the same. */
function textOf({ kind, spec }: Named): string {
  return `${kind} ${canonicalText(spec)}`
}

/** `edits ClusterSPIFFEID/mesh: .spec.admin, .spec.ttl`, `adds ClusterSPIFFEID/mesh`. */
export function editedText({ kind, name, change, fields }: EditedRegistration): string {
  const what = `${change} ${kind}/${name}`
  return fields.length === 0 ? what : `${what}: ${fields.map((field) => `.spec.${field}`).join(', ')}`
}

interface Named {
  readonly kind: string
  readonly name: string
  /** With the defaults of what is left out. */
  readonly spec: JsonRecord
}

function specsOf({ base, outputs }: State): readonly Named[] {
  return [
    ...outputs.flatMap(({ object: { meta, spec, rawSpec }, ownership }) =>
      ownership.kind === 'ours'
        ? []
        : [
            {
              kind: CLUSTER_SPIFFE_ID.kind,
              name: meta.name,
              spec: {
                ...spec,
                namespaceSelector: own(rawSpec, 'namespaceSelector'),
                podSelector: own(rawSpec, 'podSelector'),
              },
            },
          ],
    ),
    ...specsOfKind(CLUSTER_STATIC_ENTRY.kind, base.snapshot.staticEntries.read),
    ...specsOfKind(FEDERATED_TRUST_DOMAIN.kind, base.snapshot.federatedTrustDomains.read),
  ]
}

function specsOfKind(
  kind: string,
  objects: Each<{ readonly meta: { readonly name: string }; readonly spec: object }>,
): readonly Named[] {
  return objects.map(({ meta, spec }) => ({ kind, name: meta.name, spec: { ...spec } }))
}
