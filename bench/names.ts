// Names in objects of other programs, and IDs in any string, beside many pods: a fifth as many policies of Istio and half as many strings
// as pods. Most name what a pod holds; the others are patterns, dead forms and IDs that nothing gives.
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { clusterOf, numbered, range } from './made-up-clusters.ts'

const PODS_PER_BINDING = 100
const STRINGS_PER_OBJECT = 10

/** So many pods of a hundredth as many bindings, and those who name them. */
export function namesBesidePods(pods: number): readonly RawObject[] {
  const bindings = pods / PODS_PER_BINDING
  const { objects, outputs } = clusterOf({ pods, clusterSpiffeIds: bindings, foreignShare: 0 })
  const ids = outputs.flatMap(({ value }) => idOf(value))
  const idAt = (at: number): string => ids[at % ids.length] ?? ''
  return [
    ...objects,
    ...outputs,
    ...range(pods / 5).map((at) => policyAt(at, idAt(at))),
    ...range(pods / 2 / STRINGS_PER_OBJECT).map((at) =>
      configMapAt(
        at,
        range(STRINGS_PER_OBJECT).map((key) => idAt(at * STRINGS_PER_OBJECT + key)),
      ),
    ),
  ]
}

function idOf(output: RawObject['value']): readonly string[] {
  const text = /spiffe:\/\/[^"{]+/.exec(JSON.stringify(output))?.[0]
  return text === undefined ? [] : [text]
}

/** The forms of a principal; each policy has one. */
const FORMS: readonly ((id: string, at: number) => string)[] = [
  (id) => id.slice('spiffe://'.length),
  (id) => id.slice('spiffe://'.length),
  (id) => id.slice('spiffe://'.length),
  (id) => `${id.slice('spiffe://'.length)}*`,
  (id) => `*${id.slice(id.indexOf('/ns/'))}`,
  (id) => id,
  (id, at) => `${id.slice('spiffe://'.length)}-${at}`,
  (_, at) => `example.org/ns/team-${at % 100}/*`,
]

function policyAt(at: number, id: string): RawObject {
  const principal = FORMS[at % FORMS.length]?.(id, at) ?? ''
  return {
    value: {
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name: numbered('policy', at), namespace: 'callers' },
      spec: { rules: [{ from: [{ source: { principals: [principal] } }] }] },
    },
  }
}

function configMapAt(at: number, ids: readonly string[]): RawObject {
  const data = Object.fromEntries(ids.map((id, key) => [`k${key}`, `match: {exact: "${id}"}`]))
  const metadata = { name: numbered('config', at), namespace: 'callers' }
  return { value: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } }
}
