// What the configurations of SPIRE agents among the files say about attestation: an agent with `disable_container_selectors` never
// finds a `k8s:container-...` selector (docs/spire-facts.md §6). Found are agent.conf in a ConfigMap, as SPIRE's charts install it,
// and OpenShift's SpireAgent, whose operator writes it.
import { isRecord, own, stringAt } from '../json.ts'
import { groupOfApiVersion } from '../kinds.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'
import type { LacksContainerSelectors, Pod } from './pod.ts'

/** https://github.com/openshift/zero-trust-workload-identity-manager, api/v1alpha1 */
export const OPENSHIFT_AGENT = { group: 'operator.openshift.io', kind: 'SpireAgent' } as const

/** Undefined where no agent among these objects is told to find none. */
export function containerSelectorsLacked(objects: readonly RawObject[]): LacksContainerSelectors | undefined {
  const agents = objects.flatMap((object) => agentIn(object) ?? [])
  const lacking = agents.find(({ lacks }) => lacks)
  if (lacking === undefined) return undefined
  return {
    why: `the agent has disable_container_selectors (${lacking.source})`,
    isEverywhere: agents.every(({ lacks }) => lacks),
  }
}

function agentIn({
  value,
  origin,
}: RawObject): { readonly lacks: boolean; readonly source: string } | undefined {
  const kind = stringAt(value, 'kind') ?? ''
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const place = origin === undefined ? '' : `, ${origin.file}:${origin.line}`
  const source = `${kind} ${readMeta(value).name}${place}`
  if (group === OPENSHIFT_AGENT.group && kind === OPENSHIFT_AGENT.kind) {
    const given = own(own(own(value, 'spec'), 'workloadAttestors'), 'disableContainerSelectors')
    return { lacks: String(given) === 'true', source }
  }
  if (kind !== 'ConfigMap' || group !== '') return undefined
  const data = own(value, 'data')
  const texts = isRecord(data) ? Object.values(data).filter((one) => typeof one === 'string') : []
  const config = texts.find((text) => OF_AGENT.test(text))
  return config === undefined ? undefined : { lacks: LACKS.test(withoutComments(config)), source }
}

/** Every agent has a workload attestor, and nothing else of SPIRE has one: https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md */
const OF_AGENT = /\bWorkloadAttestor\b/
/** In HCL, or in JSON. */
const LACKS = /\bdisable_container_selectors"?\s*[=:]\s*"?true\b/

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:#|\/\/).*$/gm, '')
}

/** A pod, with what its node's agent does not find. */
export function withAgent(pod: Pod, lacked: LacksContainerSelectors | undefined): Pod {
  return lacked === undefined ? pod : { ...pod, lacksContainerSelectors: lacked }
}
