// A mutating webhook in the way of kleym's outputs: what it may make of one, and which of them it spares.
import { isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '@kleym/shared/core/model/names.ts'
import { CLUSTER_SPIFFE_IDS } from '@kleym/shared/kube/resources.ts'
import { failure, metadataOf, type SimulatedCluster } from './cluster.ts'
import type { Dice } from './dice.ts'

/** Makes another object of an output. */
export type Alteration = (output: JsonRecord) => JsonRecord

/** The finalizer that somebody other than kleym sets, and that a person takes away. */
export const FOREIGN_FINALIZER = 'someone.example/holds'

const specOf = (output: JsonRecord): JsonRecord => (isRecord(output['spec']) ? output['spec'] : {})
/** The output with other fields in its spec. */
export const withSpec = (output: JsonRecord, spec: JsonRecord): JsonRecord => ({
  ...output,
  spec: { ...specOf(output), ...spec },
})
/** The output with other metadata. */
export const withMetadata = (output: JsonRecord, metadata: JsonRecord): JsonRecord => ({
  ...output,
  metadata: { ...metadataOf(output), ...metadata },
})

function withSelectors(output: JsonRecord, change: (selector: string) => readonly string[]): JsonRecord {
  const selectors = listAt(output, 'spec', 'workloadSelectorTemplates')
  return withSpec(output, { workloadSelectorTemplates: selectors.flatMap((text) => change(String(text))) })
}

export const stripAnnotations: Alteration = (output) => withMetadata(output, { annotations: {} })
const stripUid: Alteration = (output) => {
  const key = stringAt(output, 'metadata', 'annotations', ANNOTATION_BINDING) ?? ''
  return withMetadata(output, { annotations: { [ANNOTATION_BINDING]: key } })
}
const swapUid: Alteration = (output) => {
  const key = stringAt(output, 'metadata', 'annotations', ANNOTATION_BINDING) ?? ''
  const annotations = { [ANNOTATION_BINDING]: key, [ANNOTATION_BINDING_UID]: 'uid-of-somebody' }
  return withMetadata(output, { annotations })
}
export const stripSelectors: Alteration = (output) =>
  withSelectors(output, (text) => (/^k8s:(sa|container-name):/.test(text) ? [] : [text]))
const stripAccount: Alteration = (output) =>
  withSelectors(output, (text) => (text.startsWith('k8s:sa:') ? [] : [text]))
export const moveToProxy: Alteration = (output) =>
  withSelectors(output, (text) => [text.replace(/^k8s:container-name:.*$/, 'k8s:container-name:proxy')])
export const switchAdminOn: Alteration = (output) => withSpec(output, { admin: true })
const changeId: Alteration = (output) =>
  withSpec(output, { spiffeIDTemplate: 'spiffe://example.org/ns/team-b/pool/other' })
export const setFinalizer: Alteration = (output) => withMetadata(output, { finalizers: [FOREIGN_FINALIZER] })
const stripLabels: Alteration = (output) => withMetadata(output, { labels: {} })

/** A policy that lets no output be written. */
export const denies: Alteration = (output) => {
  const message = "ValidatingAdmissionPolicy 'outputs' with binding 'outputs' denied request: not here"
  throw failure(403, 'Forbidden', message, String(metadataOf(output)['name']))
}

// Not among them: what alters labels or a TTL alone. That stays, after the webhook too, until the object changes.
const ALTERATIONS: readonly (readonly [string, Alteration, number])[] = [
  ['strips annotations', stripAnnotations, 4],
  ['strips annotations and labels', (output) => stripLabels(stripAnnotations(output)), 2],
  ['strips the UID', stripUid, 1],
  ['swaps the UID', swapUid, 1],
  ['strips selectors', stripSelectors, 2],
  ['strips the service account', stripAccount, 1],
  ['moves it to proxy', moveToProxy, 1],
  ['moves it to proxy without annotations', (output) => stripAnnotations(moveToProxy(output)), 2],
  ['switches admin on', switchAdminOn, 1],
  ['changes the ID without annotations', (output) => stripAnnotations(changeId(output)), 1],
  ['denies it', denies, 4],
  ['holds it', setFinalizer, 1],
  ['holds it without annotations', (output) => stripAnnotations(setFinalizer(output)), 2],
]

/** Which outputs it alters: all of them, every other call, or those whose name ends in an even digit. */
const SCOPES = ['each', 'every other', 'some names'] as const

/** Puts a webhook in the way of all operators; says which. */
export function installWebhook(server: SimulatedCluster, dice: Dice): string {
  const [what, alter] = dice.weighted(ALTERATIONS.map((one) => [one, one[2]] as const)) ?? ['', stripLabels]
  const scope = dice.pick(SCOPES) ?? 'each'
  let calls = 0
  server.admission = (resource, object, by) => {
    if (resource !== CLUSTER_SPIFFE_IDS || by === 'user') return object
    calls += 1
    if (scope === 'every other' && calls % 2 === 0) return object
    const digit = Number.parseInt(stringAt(object, 'metadata', 'name')?.at(-1) ?? '', 16)
    return scope === 'some names' && digit % 2 === 1 ? object : alter(object)
  }
  return `${what}, ${scope}`
}

/** Takes the webhook away. */
export function removeWebhook(server: SimulatedCluster): void {
  server.admission = (_, object) => object
}
