// What `suggest` says of made-up pools, against the operator on a real API server: every suggested binding is admitted and Ready, and
// every one that was said to be impossible is refused for the reason that was told.
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../shared/src/core/model/names.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built } from '../e2e/plugin.ts'
import type { ControlPlane } from './control-plane.ts'
import { kubectlKleym } from './kubectl-kleym.ts'
import { bindingId, namespace, objective, olderPool, pool, untilReason } from './objects.ts'
import { startLeading, startOperatorPlane, stopAll, TRUST_DOMAIN, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

const SEED = 20_261_122
const SPACES = runs(72)
/** No object of this cluster tells them: without the key, pods with roles would be left open. */
const SETTINGS = ['--trust-domain', TRUST_DOMAIN, '--variant-label-key', DEFAULT_VARIANT_LABEL_KEY]
/** What the made-up pools must show at least. */
const LEAST = { PoolOnly: 10, PerVariant: 10, PerObjective: 8, IdentityCollision: 5, AmbiguousPoolRef: 3 }

let cp: ControlPlane
let operator: RunningOperator
beforeAll(async () => {
  await built()
  cp = await startOperatorPlane()
  operator = await startLeading(cp)
})
afterAll(() => stopAll(operator, cp))

interface Draft {
  readonly roles: readonly string[]
  readonly objectives: number
  readonly accounts: readonly string[]
  readonly containers: readonly string[]
  /** A pool within the pool, another of its name in the other group, or neither. */
  readonly beside: 'inner' | 'other group' | 'none'
}

const DRAFT: fc.Arbitrary<Draft> = fc.record({
  roles: fc.constantFrom(['prefill', 'decode'], [], [], []),
  objectives: fc.constantFrom(0, 1, 1, 1, 2, 2),
  accounts: fc.constantFrom(['runner'], ['runner'], ['runner', 'other']),
  containers: fc.constantFrom(['vllm'], ['vllm'], ['vllm', 'proxy']),
  beside: fc.constantFrom('none', 'none', 'none', 'inner', 'other group'),
})

/** A namespace with pool `llama`, its pods' templates and objectives, and what stands beside it. */
function objectsOf(
  { roles, objectives, accounts, containers, beside }: Draft,
  space: string,
): readonly JsonRecord[] {
  const labels = { app: 'llama', ...(beside === 'inner' && { tier: 'gold' }) }
  const others = {
    inner: [pool(space, 'inner', { app: 'llama', tier: 'gold' }), objective(space, 'inner', 'inner')],
    'other group': [olderPool(space, 'llama', { app: 'another' })],
    none: [],
  }
  const variants = roles.length === 0 ? [undefined] : roles
  return [
    namespace(space),
    pool(space, 'llama', { app: 'llama' }),
    ...others[beside],
    ...Array.from({ length: objectives }, (_, at) => objective(space, `chat-${at}`, 'llama')),
    ...accounts.flatMap((account) =>
      variants.map((variant) =>
        deployment(space, `${account}-${variant ?? 'all'}`, account, containers, {
          ...labels,
          ...(variant !== undefined && { [DEFAULT_VARIANT_LABEL_KEY]: variant }),
        }),
      ),
    ),
  ]
}

function deployment(
  space: string,
  name: string,
  serviceAccountName: string,
  containers: readonly string[],
  labels: JsonRecord,
): JsonRecord {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: space },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName,
          containers: containers.map((container) => ({ name: container, image: `${container}:1` })),
        },
      },
    },
  }
}

async function report(): Promise<JsonRecord> {
  const { stdout, stderr } = await kubectlKleym(cp, ['suggest', '-A', '-o', 'json', ...SETTINGS])
  if (stdout === '') throw new Error(`suggest printed no report: ${stderr}`)
  requireValidReport(stdout)
  return JSON.parse(stdout)
}

/** Applies bindings, and waits until the operator says this of each of them. */
async function applied(manifests: readonly JsonRecord[], reason: string): Promise<void> {
  await cp.apply(manifests)
  await Promise.all(
    manifests.map((one) =>
      untilReason(
        cp,
        stringAt(one, 'metadata', 'namespace') ?? '',
        stringAt(one, 'metadata', 'name') ?? '',
        reason,
      ),
    ),
  )
}

async function gone(manifests: readonly JsonRecord[]): Promise<void> {
  const ids = manifests.map((one) =>
    bindingId(stringAt(one, 'metadata', 'namespace') ?? '', stringAt(one, 'metadata', 'name') ?? ''),
  )
  await Promise.all(ids.map((id) => cp.admin.delete(id)))
  for (const id of ids)
    await until(async () => (await cp.admin.get(id)) === undefined, `${id.namespace}/${id.name} to go`)
}

function manifestsIn(items: readonly unknown[], field: string): readonly JsonRecord[] {
  return items.flatMap((one) => {
    const found: readonly unknown[] = field === 'manifest' ? [dig(one, field)] : listAt(one, field)
    return found.filter(isRecord)
  })
}

test(
  'suggested bindings are Ready, and impossible ones are refused for the reason that was told',
  async () => {
    const drafts = fc.sample(DRAFT, { seed: SEED, numRuns: SPACES })
    await cp.apply(drafts.flatMap((draft, at) => objectsOf(draft, `made-${at}`)))
    const before = await report()
    const pools = listAt(before, 'pools')
    const seen = new Map<string, number>()
    const count = (what: string, times: number): void => void seen.set(what, (seen.get(what) ?? 0) + times)

    const impossible = pools
      .flatMap((one) => listAt(one, 'notSuggested'))
      .filter((one) => stringAt(one, 'state') === 'impossible' && listAt(one, 'manifests').length > 0)
    for (const [reason, same] of Map.groupBy(impossible, (one) => stringAt(one, 'reason') ?? '')) {
      const manifests = manifestsIn(same, 'manifests')
      count(reason, same.length)
      await applied(manifests, reason)
      await gone(manifests)
    }

    const suggested = pools.flatMap((one) => listAt(one, 'suggested'))
    const manifests = manifestsIn(suggested, 'manifest')
    for (const one of manifests) count(stringAt(one, 'spec', 'mode') ?? '', 1)
    await applied(manifests, 'Reconciled')

    const after = await report()
    expect(dig(after, 'counts', 'suggested')).toBe(0)
    const rare = Object.entries(LEAST).filter(([what, least]) => (seen.get(what) ?? 0) < leastSeen(least))
    expect({ rare, seen }).toEqual({ rare: [], seen })
  },
  10 * 60_000,
)
