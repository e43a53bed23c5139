// The order of steps from a registration to bindings. If possible, no container is without an identity between two steps. If
// not, the step says so.
import { present } from '../../base/present.ts'
import { acceptLines, keptLines } from '../rename/consumers.ts'
import type { Migration, Uncovered } from './migrate.ts'

/** One step. */
export interface MigrationStep {
  readonly title: string
  /** What to do, and what to look at before the next step, a sentence each. */
  readonly lines: readonly string[]
}

/** What the steps come to for the registration. */
export type Advice = 'keep' | 'ask' | 'narrow' | 'settle' | 'delete'

/** What the steps do to a registration. */
export function adviceOf(migration: Migration): Advice {
  const { oldIds, uncovered, remainder, open } = migration
  if (isKeptWhole(migration) || remainder.some(({ mustStay }) => mustStay)) return 'keep'
  if (oldIds.length === 0 && open.length === 0) return 'ask'
  if (uncovered.length > 0) return 'narrow'
  return open.length > 0 ? 'settle' : 'delete'
}

/** Whether there are bindings to apply. */
export function isApplied({ suggestions }: Migration): boolean {
  return suggestions.pools.some(({ suggested }) => suggested.length > 0)
}

function isKeptWhole(migration: Migration): boolean {
  return !isApplied(migration) && migration.newIds.length === 0 && migration.uncovered.length > 0
}

/** The steps, in their order. */
export function migrationSteps(migration: Migration): readonly MigrationStep[] {
  const { changes, consumers } = migration
  if (isKeptWhole(migration)) return [keepAll(migration)]
  // A container that holds two IDs may present either, and a fallback gives way at once: consumers know the new ID before that.
  return present(
    changes.length > 0 && { title: 'Let consumers accept both IDs', lines: acceptLines(changes, consumers) },
    isApplied(migration) && { title: 'Apply the bindings', lines: applyLines(migration) },
    takeAway(migration),
  )
}

function keepAll({ uncovered, open }: Migration): MigrationStep {
  return {
    title: 'Keep the old registration',
    lines: [
      `no binding can be proven for its pods, and without it these lose its ID: ${uncoveredText(uncovered)}`,
      ...(open.length === 0 ? [] : ['what is not certain is listed above']),
    ],
  }
}

/** The containers that no binding covers; why stands above the steps. */
function uncoveredText(uncovered: readonly Uncovered[]): string {
  return uncovered.map(({ container, pods }) => `${container} of ${pods.text()}`).join('; ')
}

function applyLines({ object, following, changes, effects, suggestions }: Migration): readonly string[] {
  const { name } = object.meta
  // The names of bindings depend on those that were suggested before.
  const asked = [...following, name].map((one) => `clusterspiffeid/${one}`).join(' ')
  const { hint } = object.spec
  const isHintOfBoth = suggestions.pools.some(({ suggested }) => suggested.some(({ key }) => key === hint))
  const { stranded } = effects.apply
  const isOther = changes.length > 0
  return present(
    `kubectl kleym migrate ${asked} -o yaml | kubectl apply -f -`,
    isOther
      ? 'wait until kubectl get iib says Ready and in force for each of them'
      : 'wait until kubectl get iib says Ready for each of them; InForce may say Masked until the old registration is gone, since the older entry counts',
    object.spec.fallback
      ? `ClusterSPIFFEID/${name} is a fallback: it gives way as soon as a binding reaches a pod, so no container has both IDs`
      : isOther &&
          (isHintOfBoth
            ? `both identities have the hint ${hint}: the Workload API hands out only the older one (KLM307) until ClusterSPIFFEID/${name} is deleted`
            : 'from here on the containers hold both identities: a client that takes the first one may get either'),
    stranded.length > 0 &&
      `this leaves ${stranded.length === 1 ? '1 container' : `${stranded.length} containers`} without an identity, since a fallback gives way for the whole pod: ${stranded
        .slice(0, NAMED)
        .map(({ pod, container }) => `${container} of ${pod}`)
        .join(', ')}${stranded.length > NAMED ? ' and more' : ''}`,
  )
}

const NAMED = 5

function takeAway(migration: Migration): MigrationStep {
  const { object, oldIds, kept, uncovered, remainder, effects, open } = migration
  const { name } = object.meta
  const stays = remainder.filter(({ mustStay }) => mustStay)
  const look = `look first: kubectl kleym diff --without clusterspiffeid/${name}`
  const advice = adviceOf(migration)
  if (advice === 'keep')
    return {
      title: 'Keep the old registration',
      lines: [
        `it says ${stays.map(({ what }) => what).join(' and ')}, and no binding can: ${stays.map(({ consequence }) => consequence).join('; ')}`,
      ],
    }
  if (advice === 'ask')
    return {
      title: 'Ask whether the old registration is needed',
      lines: ['no container holds an ID of it now; pods that come later may', look],
    }
  if (advice === 'narrow')
    return {
      title: 'Narrow the old registration, do not delete it',
      lines: [
        `narrow its podSelector to the pods that no binding covers; without it these lose its ID: ${uncoveredText(uncovered)}`,
        ...(open.length === 0 ? [] : ['what is not certain is listed above']),
      ],
    }
  if (advice === 'settle')
    return { title: 'Settle what is not certain before you delete the old registration', lines: [] }
  return {
    title: 'Delete the old registration',
    lines: present(
      look,
      `kubectl delete clusterspiffeid ${name}`,
      effects.whole.stranded.length === 0
        ? 'no container is left without an identity'
        : `${effects.whole.stranded.length} containers are left without an identity`,
      kept.length !== oldIds.length && 'then take the old ID out of what names it',
      ...keptLines(kept),
    ),
  }
}
