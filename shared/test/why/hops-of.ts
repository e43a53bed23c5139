// The hops of container `vllm` of pod `llama-0` in namespace `team-a`, for tests of single hops.
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import type { Config } from '../../src/core/decide/settings/config.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { ScmSettings } from '../../src/core/model/objects/scm-settings.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import type { UnknownReason } from '../../src/core/model/unknown-reason.ts'
import { chainOf } from '../../src/core/answers/why/chain.ts'
import type { ChainFacts } from '../../src/core/answers/why/facts.ts'
import type { Hop, HopName } from '../../src/core/answers/why/hop.ts'
import { readSpireParts } from '../../src/core/answers/why/spire-parts.ts'
import { subjectOf } from '../../src/core/answers/why/subject.ts'
import { pod } from '@kleym/testing/finding-cases.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'

const NO_GAPS = { agentGaps: [], scmGaps: [], configGaps: [] }
const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', uid: 'n', labels: {} } }
const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } }

/** What a chain is worked out from. */
export interface HopsGiven extends Partial<Pick<ChainFacts, 'server' | 'agent' | 'now'>> {
  readonly objects: readonly JsonRecord[]
  /** More labels of the pod. */
  readonly labels?: JsonRecord
  /** Fields of the pod's spec. */
  readonly spec?: JsonRecord
  /** The pod's status. */
  readonly status?: JsonRecord
  readonly config?: Config
  /** Of SCM; it handles everything if they are left out. */
  readonly settings?: ScmSettings
  readonly absentKinds?: readonly string[]
  readonly gaps?: Readonly<Record<string, UnknownReason>>
  readonly spiffeId?: string
  /** Objects of SPIRE itself. */
  readonly parts?: readonly JsonRecord[]
  /** The objects are manifests. */
  readonly manifests?: boolean
}

/** One of the hops. */
export function hopOf(wanted: HopName, given: HopsGiven): Hop {
  const snapshot = readSnapshot({
    objects: [
      ...[NAMESPACE, NODE, podWith(given)].map((value) => ({ value })),
      ...given.objects.map((value) => ({
        value,
        ...(given.manifests === true && { isManifest: true as const }),
      })),
    ],
    gaps: new Map(Object.entries(given.gaps ?? {})),
    absentKinds: new Set(given.absentKinds),
  })
  const analysis = analyse(snapshot, given.config ?? CONFIG, given.settings ?? HANDLES_EVERYTHING)
  const [there] = snapshot.pods.read
  const container = there?.containers.find(({ name }) => name === 'vllm')
  if (there === undefined || container === undefined) throw new Error('there is no pod')
  const isLiveState = given.manifests !== true
  const { hops } = chainOf({
    subject: subjectOf({ analysis, isLiveState, pod: there, container, spiffeId: given.spiffeId }),
    parts: readSpireParts(
      (given.parts ?? []).map((value) => ({ value })),
      NO_GAPS,
    ),
    server: given.server,
    agent: given.agent,
    now: given.now,
    commands: { entries: 'ENTRIES', agentLog: () => 'LOG' },
  })
  const hop = hops.find((one) => one.name === wanted)
  if (hop === undefined) throw new Error(`there is no hop ${wanted}`)
  return hop
}

function podWith({ labels, spec, status }: HopsGiven): JsonRecord {
  const all = pod({
    labels: { app: 'llama', ...labels },
    spec: { containers: [{ name: 'vllm' }], ...spec },
  })
  return { ...all, ...(status !== undefined && { status }) }
}
