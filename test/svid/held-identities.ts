// Which identities the containers of a cluster hold by the entries that a real server holds: the agent of the pod's node asks for
// those below it, and hands out each whose selectors a container has.
import type { Analysis } from '../../shared/src/core/analysis/states/analysis.ts'
import type { WrittenTest } from '../../shared/src/core/answers/identity-tests/generate.ts'
import type { ContainersWritten } from '../../shared/src/core/answers/identity-tests/schema.ts'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import type { Container, Pod } from '../../shared/src/core/model/objects/pod.ts'
import { judgeSelector } from '../../shared/src/core/predict/spire/attestor.ts'
import type { HeldEntry } from './spire.ts'

/** A container, and the IDs that it holds for certain. */
export interface HeldContainer {
  readonly pod: Pod
  readonly container: string
  readonly ids: ReadonlySet<string>
  /** Whether it may hold others: a selector is known only on the node. */
  readonly isOpen: boolean
}

/** All containers of the pods of a snapshot. */
export function heldContainers(
  { snapshot }: Pick<Analysis, 'snapshot'>,
  held: readonly HeldEntry[],
): readonly HeldContainer[] {
  const uids = new Map((snapshot.nodes ?? []).map(({ name, uid }) => [name, uid ?? '']))
  const byParent = Map.groupBy(held, ({ parentId }) => parentId)
  return snapshot.pods.read.flatMap((pod) => {
    const agent = `spiffe://example.org/spire/agent/k8s_psat/prod/${uids.get(pod.nodeName ?? '') ?? 'none'}`
    const entries = byParent.get(agent) ?? []
    return pod.containers.map((container): HeldContainer => {
      const matches = entries.map((entry) => ({ entry, match: matchOf(pod, container, entry) }))
      const ids = matches.filter(({ match }) => match === 'yes').map(({ entry }) => entry.spiffeId)
      return {
        pod,
        container: container.name,
        ids: new Set(ids),
        isOpen: matches.some(({ match }) => match === 'depends'),
      }
    })
  })
}

function matchOf(
  pod: Pod,
  container: Container,
  { selectors, storeSvid }: HeldEntry,
): 'yes' | 'no' | 'depends' {
  if (storeSvid) return 'no'
  const matches = new Set(
    selectors.map((text) => {
      const colon = text.indexOf(':')
      const selector = { type: text.slice(0, colon), value: text.slice(colon + 1), placeholders: [] }
      return judgeSelector(pod, container, selector).match
    }),
  )
  return matches.has('no') ? 'no' : matches.has('depends') ? 'depends' : 'yes'
}

/** The assertions of generated tests that are not true of what containers hold, in a line each. */
export function untrueOf(tests: readonly WrittenTest[], all: readonly HeldContainer[]): readonly string[] {
  return tests.flatMap(({ metadata, spec }) => [
    ...(spec.identities ?? []).flatMap(({ spiffeID, heldBy }) => {
      const wanted = heldBy.exactly ?? heldBy.atLeast ?? []
      const isWanted = (one: HeldContainer): boolean => wanted.some((selector) => isMeant(one, selector))
      const wrong = all.filter(
        (one) => one.ids.has(spiffeID) !== isWanted(one) && (heldBy.exactly !== undefined || isWanted(one)),
      )
      const isMissed = wanted.some((selector) => !all.some((one) => isMeant(one, selector)))
      return wrong.length === 0 && !isMissed ? [] : [`${metadata.name}: holders of ${spiffeID}`]
    }),
    ...(spec.containers ?? []).flatMap(({ subject, holds }) => {
      const wanted = [...(holds.exactly ?? holds.atLeast ?? [])].map((id) =>
        typeof id === 'string' ? id : id.spiffeID,
      )
      const meant = all.filter((one) => isMeant(one, subject))
      const isTrue = meant.every(
        ({ ids }) =>
          wanted.every((id) => ids.has(id)) && (holds.atLeast !== undefined || ids.size === wanted.length),
      )
      return isTrue && meant.length > 0 ? [] : [`${metadata.name}: ${JSON.stringify(subject)}`]
    }),
    ...(spec.rules ?? []).flatMap(({ everyContainer, holds }) => {
      if (everyContainer === undefined) return [`${metadata.name}: a rule that is not generated`]
      const only = holds?.only ?? []
      const wrong = all.filter(
        (one) => isMeant(one, everyContainer) && [...one.ids].some((id) => !only.includes(id)),
      )
      return wrong.length === 0 ? [] : [`${metadata.name}: ${JSON.stringify(everyContainer)} holds others`]
    }),
  ])
}

/** By the fields that `--generate` writes, read once more and by themselves. */
function isMeant({ pod, container }: HeldContainer, selector: ContainersWritten): boolean {
  const { namespace, notInNamespaces, workload, part, pod: name, container: wanted, ...rest } = selector
  if (Object.keys(rest).length > 0 || part !== undefined)
    throw new Error(`a selector that is not generated here: ${JSON.stringify(selector)}`)
  const owners = listAt(pod.metadata, 'ownerReferences').map(
    (owner) => `${stringAt(owner, 'kind')?.toLowerCase() ?? ''}/${stringAt(owner, 'name') ?? ''}`,
  )
  return (
    (namespace === undefined || namespace === pod.namespace) &&
    notInNamespaces?.includes(pod.namespace) !== true &&
    (name === undefined || name === pod.ref.name) &&
    (workload === undefined || owners.includes(workload)) &&
    (wanted === undefined || wanted === container)
  )
}
