// What must hold in every state that a cluster goes through (docs/contract.md §6 to §8), as a reading of its whole history:
// never two live outputs of ours on the same container of common pods, and no refusal reported while an output is there.
import { createHash } from 'node:crypto'
import { isRecord, keysOf, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { followHistory, replay, type RecordedChange } from './history.ts'
import { conditionOf, ownerOf, ownerUidOf } from './objects.ts'

export interface NeverTwo {
  /** Rejects when one of the two was broken at any moment since the beginning; resolves with all changes. */
  holds(): Promise<readonly RecordedChange[]>
  stop(): void
}

/** Watches a control plane from now on. To be asked at the end of a test, or of a file. */
export async function watchNeverTwo(cp: Pick<ControlPlane, 'etcdPort'>): Promise<NeverTwo> {
  const history = await followHistory(cp)
  return {
    holds: async () => {
      const changes = await history.changes()
      const broken = [...twoAtOnce(changes), ...toldTooEarly(changes)]
      if (broken.length > 0) throw new Error(broken.slice(0, 10).join('\n'))
      return changes
    },
    stop: () => history.stop(),
  }
}

/** `namespace/name` of the bindings of a namespace with an output in the end, by etcd itself; rejects where there were ever two. */
export async function ownersInForce(neverTwo: NeverTwo, space: string): Promise<readonly string[]> {
  let outputs: ReadonlyMap<string, JsonRecord> = new Map()
  for (const state of replay(await neverTwo.holds())) outputs = state.outputs
  const owners = [...outputs.values()].map(ownerOf)
  return owners.filter((owner) => owner.startsWith(`${space}/`)).toSorted()
}

/**
 * The moments at which two outputs of ours, terminating ones included, registered two bindings for the same namespace,
 * service account, container and provably common pods: a sentence each.
 */
export function twoAtOnce(changes: readonly RecordedChange[]): readonly string[] {
  const found: string[] = []
  /** By name, what each live output of ours claims. Once ours, an output is ours until it is gone. */
  const claims = new Map<string, Claim>()
  for (const { change } of replay(changes)) {
    if (change.kind !== 'output') continue
    const { name, object, revision } = change
    const claim =
      object !== undefined && (claims.has(name) || isOurs(name, object)) ? claimOf(object) : undefined
    if (claim === undefined) {
      claims.delete(name)
      continue
    }
    claims.set(name, claim)
    for (const [other, peer] of claims) {
      if (other !== name && meet(claim, peer)) {
        found.push(
          `at version ${revision}, ${name} of ${claim.owner} and ${other} of ${peer.owner} both register ${claim.place}`,
        )
      }
    }
  }
  return found
}

/** The pairs among the outputs of one moment that do so: a sentence each. */
export function twoNow(outputs: readonly JsonRecord[]): readonly string[] {
  const places = new Map<string, { readonly name: string; readonly claim: Claim }[]>()
  for (const output of outputs) {
    const name = stringAt(output, 'metadata', 'name') ?? ''
    const claim = isOurs(name, output) ? claimOf(output) : undefined
    if (claim === undefined) continue
    places.set(claim.place, [...(places.get(claim.place) ?? []), { name, claim }])
  }
  return [...places.values()].flatMap((there) =>
    there.flatMap((one, at) =>
      there
        .slice(at + 1)
        .filter((other) => meet(one.claim, other.claim))
        .map(
          (other) =>
            `${one.name} of ${one.claim.owner} and ${other.name} of ${other.claim.owner} both register ${one.claim.place}`,
        ),
    ),
  )
}

/** The statuses that came to say `Ready=False` while an output of the binding was still there: a sentence each. */
export function toldTooEarly(changes: readonly RecordedChange[]): readonly string[] {
  const found: string[] = []
  const refused = new Map<string, boolean>()
  for (const { change, outputs } of replay(changes)) {
    if (change.kind !== 'binding') continue
    const ready = conditionOf(change.object, 'Ready')
    const isRefused = own(ready, 'status') === 'False'
    if (isRefused && refused.get(change.name) !== true) {
      const uid = stringAt(change.object, 'metadata', 'uid')
      const left = [...outputs].find(([name, output]) => isOurs(name, output) && ownerUidOf(output) === uid)
      if (left !== undefined) {
        found.push(
          `at version ${change.revision}, ${change.name} says ${stringAt(ready, 'reason')} while ${left[0]} is there`,
        )
      }
    }
    refused.set(change.name, isRefused)
  }
  return found
}

/**
 * The moments at which a binding of `owners` (`namespace/name`) that had an output of its own had none any more, neither a live one
 * nor a terminating one: a sentence each.
 */
export function leftWithout(
  changes: readonly RecordedChange[],
  owners: ReadonlySet<string>,
): readonly string[] {
  const found: string[] = []
  /** The owner of each output of ours, by name. */
  const held = new Map<string, string>()
  for (const { change } of replay(changes)) {
    if (change.kind !== 'output') continue
    const { name, object, revision } = change
    const owner = held.get(name)
    if (object !== undefined && isOurs(name, object)) held.set(name, ownerOf(object))
    else held.delete(name)
    if (owner === undefined || !owners.has(owner) || [...held.values()].includes(owner)) continue
    found.push(`at version ${revision}, ${owner} is left without ${name}`)
  }
  return found
}

interface Claim {
  /** Binding and its UID: a namesake under another UID is another binding. */
  readonly owner: string
  /** Namespace, service account, and container; or that it is of a variant, which is on all containers of its pods. */
  readonly place: string
  readonly labels: JsonRecord
}

/** The name that docs/contract.md §5 renders from the object's own annotation and SPIFFE ID ends in this hash. */
function isOurs(name: string, output: JsonRecord): boolean {
  const text = `${ownerOf(output)}\n${stringAt(output, 'spec', 'spiffeIDTemplate')}`
  return name.endsWith(`-${createHash('sha256').update(text).digest('hex').slice(0, 20)}`)
}

/** Nothing without a container or a variant: that is PoolOnly. */
function claimOf(output: JsonRecord): Claim | undefined {
  const selectors = listAt(output, 'spec', 'workloadSelectorTemplates').map(String)
  const one = (prefix: string): string | undefined => selectors.find((text) => text.startsWith(prefix))
  const isVariant = /\/pool\/[^/]+\/variant\/[^/]+$/.test(stringAt(output, 'spec', 'spiffeIDTemplate') ?? '')
  const container = isVariant ? 'of a variant' : one('k8s:container-name:')
  if (container === undefined) return undefined
  const labels = own(own(own(output, 'spec'), 'podSelector'), 'matchLabels')
  return {
    owner: `${ownerOf(output)} (UID ${ownerUidOf(output)})`,
    place: [one('k8s:ns:'), one('k8s:sa:'), container].join(' '),
    labels: isRecord(labels) ? labels : {},
  }
}

function meet(left: Claim, right: Claim): boolean {
  return (
    left.owner !== right.owner &&
    left.place === right.place &&
    (contains(left.labels, right.labels) || contains(right.labels, left.labels))
  )
}

/** Whether all pods with the second labels have the first. */
function contains(wide: JsonRecord, narrow: JsonRecord): boolean {
  return keysOf(wide).every((key) => narrow[key] === wide[key])
}
