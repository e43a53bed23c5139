// Access policies of any number beside as many identities: whom does each rule name? Nine in ten rules name an identity that
// a pod holds; the others are what a resolver could be slow at: IDs that nothing gives and that nearly are there, foreign
// ones, service accounts, and sources that name everybody.
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import {
  accessPolicyObject,
  defaultObject,
  foreignObject,
  nodeObject,
  podObject,
  SERVICE_ACCOUNT,
} from './objects.ts'
import { numbered, onePoolPerBinding, outputsFor, range } from './made-up-clusters.ts'

const BINDINGS_PER_NAMESPACE = 10
const POLICIES_PER_GATEWAY = 5

/** So many bindings with a pod each, their outputs in force, and so many policies of two rules. */
export function policiesAndIdentities(count: number): readonly RawObject[] {
  const intent = onePoolPerBinding(count)
  return [
    defaultObject(),
    nodeObject('node'),
    ...intent,
    ...outputsFor(intent),
    ...range(count).map(podOf),
    ...range(count).map(policyAt),
  ]
}

/** As many templates that may each give an ID as there are policies that name one which nothing gives. */
export function danglingBesideTemplates(count: number): readonly RawObject[] {
  return [
    ...range(count).map((at) =>
      foreignObject(numbered('foreign', at), {
        spiffeIDTemplate: `spiffe://{{ .TrustDomain }}/app/${numbered('app', at)}/{{ .PodMeta.Name }}`,
        podSelector: { matchLabels: { app: numbered('app', at) } },
      }),
    ),
    ...range(count).map((at) =>
      accessPolicyObject('agents', numbered('policy', at), 'gateway', [
        { name: 'one', source: spiffe(`spiffe://example.org/app/${numbered('app', at)}`) },
      ]),
    ),
  ]
}

function podOf(at: number): RawObject {
  const pool = numbered('pool', at)
  return podObject({
    namespace: namespaceOf(at),
    name: `${pool}-6d9c7b5f4-p`,
    labels: { app: 'vllm', model: pool },
    node: 'node',
    containers: ['vllm', 'proxy'],
  })
}

function policyAt(at: number): RawObject {
  const gateway = numbered('gateway', Math.floor(at / POLICIES_PER_GATEWAY))
  return accessPolicyObject('agents', numbered('policy', at), gateway, [
    { name: numbered('first', at), source: spiffe(idOf(at)) },
    {
      name: numbered('second', at),
      ...(at % 10 === 0 ? oddSource(at / 10) : { source: spiffe(idOf(at + 1)) }),
    },
  ])
}

function oddSource(at: number): Readonly<Record<string, unknown>> {
  const odd = [
    { source: spiffe(idOf(at).replace('pool-', 'Pool-')) },
    { source: spiffe(`spiffe://example.org/ns/${namespaceOf(at)}`) },
    { source: spiffe(idOf(at).replace('example.org', 'cluster.local')) },
    {
      source: {
        type: 'ServiceAccount',
        serviceAccount: { name: SERVICE_ACCOUNT, namespace: namespaceOf(at) },
      },
    },
    {},
  ]
  return odd[at % odd.length] ?? {}
}

function spiffe(id: string): Readonly<Record<string, string>> {
  return { type: 'SPIFFE', spiffe: id }
}

function idOf(at: number): string {
  return `spiffe://example.org/ns/${namespaceOf(at)}/objective/${numbered('pool', at)}`
}

function namespaceOf(at: number): string {
  return numbered('team', Math.floor(at / BINDINGS_PER_NAMESPACE))
}
