// The SPIFFE IDs that one cluster gives, the bindings and registrations that give them, and how many containers hold each.
import { Holdings, literalId, type State } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { Steps } from '../../base/steps.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { splitNamespacedName } from '../../model/namespaced-name.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { isAskedFor, sourceText, TRUST_DOMAIN, type EntrySource } from '../../predict/index.ts'

/** What gives an ID in one cluster. */
export interface Giver {
  /** `binding team-a/llama`, `ClusterSPIFFEID/default`. */
  readonly text: string
  readonly subject: Subject
  /** Containers that certainly hold the ID from it. */
  readonly containers: number
  /** Containers that may. */
  readonly perhaps: number
  /** Whether it stands for the ID whether or not there is a pod: a ClusterSPIFFEID of kleym's, or a static entry. */
  readonly isDeclared: boolean
}

/** The givers of each ID, by its text. */
export type GivenIds = ReadonlyMap<string, readonly Giver[]>

/** What a cluster gives. */
export interface ClusterIds {
  readonly ids: GivenIds
  /** What gives some container an ID that kleym cannot tell, by `sourceText`. */
  readonly unfollowed: ReadonlySet<string>
}

/** Lists what is given, a step for each pod. An ID with a part that is not known is given perhaps; one whose trust domain is not known, left out. */
export function* givenIds(state: State): Steps<ClusterIds> {
  const bindings = state.bindingsByOutput()
  const ids = new Map<string, Map<string, Mutable>>()
  const giverOf = (spiffeId: string, source: EntrySource): Mutable | undefined => {
    if (!spiffeId.startsWith('spiffe://') || spiffeId.startsWith(UNKNOWN_DOMAIN)) return undefined
    const givers = getOrCreate(ids, spiffeId, () => new Map<string, Mutable>())
    const text = sourceText(source)
    return getOrCreate(givers, text, () => ({
      ...nameOf(source, bindings.get(source.name)),
      containers: 0,
      perhaps: 0,
      isDeclared: false,
    }))
  }
  const { trustDomain } = state.base.settings
  const { objects } = state.prediction()
  for (const { object, ownership } of state.outputs) {
    const { spiffeIDTemplate } = object.spec
    const source = { kind: 'ClusterSPIFFEID', name: object.meta.name } as const
    if (ownership.kind === 'ours') {
      const giver = giverOf(spiffeIDTemplate, source)
      if (giver !== undefined) giver.isDeclared = true
      continue
    }
    // It may give the ID to a pod that is not there yet.
    const id = literalId(spiffeIDTemplate, trustDomain)
    const handling = objects.get(sourceText(source))?.handling.state
    const mayGive = handling !== 'ignored' && handling !== 'invalid'
    if (id?.startsWith(`spiffe://${trustDomain ?? ''}/`) === true && mayGive) giverOf(id, source)
  }
  for (const { source, entry, verdict } of state.prediction().staticEntries()) {
    const giver = entry === undefined || !isAskedFor(verdict) ? undefined : giverOf(entry.spiffeId, source)
    if (giver !== undefined) giver.isDeclared = true
  }
  const unfollowed = new Set<string>()
  const holdings = new Holdings(state, { isOfLater: true })
  for (const pod of state.base.podsInQuestion) {
    yield
    for (const { held, perhaps, unfollowed: others } of holdings.of(pod)) {
      for (const { source, spiffeId = '' } of held) {
        const giver = giverOf(spiffeId, source)
        if (giver !== undefined) giver[hasHole(spiffeId) ? 'perhaps' : 'containers']++
      }
      for (const { source, spiffeId = '' } of perhaps) {
        const giver = giverOf(spiffeId, source)
        if (giver !== undefined) giver.perhaps++
      }
      for (const { source, outcome } of others) {
        const spiffeId = outcome.verdict.state === 'unknown' ? outcome.verdict.spiffeId : undefined
        const giver = spiffeId === undefined ? undefined : giverOf(spiffeId, source)
        if (giver === undefined) unfollowed.add(sourceText(source))
        else giver.perhaps++
      }
    }
  }
  return { ids: new Map([...ids].map(([id, givers]) => [id, [...givers.values()]])), unfollowed }
}

const UNKNOWN_DOMAIN = `spiffe://${TRUST_DOMAIN}`

/** Whether a part of the ID is known only when its pod runs. */
export function hasHole(spiffeId: string): boolean {
  return spiffeId.includes('<')
}

/** Whether it certainly gives the ID, to a container or to whatever pod there will be. */
export function isCertain({ containers, isDeclared }: Giver): boolean {
  return containers > 0 || isDeclared
}

type Mutable = { -readonly [Key in keyof Giver]: Giver[Key] }

function nameOf(
  source: EntrySource,
  binding: Parameters<typeof splitNamespacedName>[0] | undefined,
): Pick<Giver, 'text' | 'subject'> {
  if (binding === undefined)
    return { text: sourceText(source), subject: { kind: source.kind, namespace: '', name: source.name } }
  return { text: `binding ${binding}`, subject: { kind: BINDING_KIND, ...splitNamespacedName(binding) } }
}
