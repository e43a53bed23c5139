// Whether an AuthorizationPolicy lets a client in by its ID: by the matching that `naming/istio-policies.test.ts` holds against istiod.
import { listAt, stringAt, type JsonRecord } from '../../src/core/base/json.ts'
import { istioSources } from '../../src/core/model/naming/istio-source.ts'
import { matchesRule } from '../naming/matches-rule.ts'

const MESH = { trustDomain: 'example.org', aliases: [] }

/** Whether a policy of a namespace of consumers lets a client with this ID in. */
export function letsIn(policy: JsonRecord, id: string): boolean {
  const namespace = stringAt(policy, 'metadata', 'namespace') ?? ''
  const isMatched = listAt(policy['spec'], 'rules').some((rule, at) =>
    matchesRule(rule, istioSources(rule, at, namespace, MESH), id),
  )
  return isMatched !== (stringAt(policy, 'spec', 'action') === 'DENY')
}
