// The manifests that made-up clusters consist of, as an API server would hold them: with UIDs, as raw JSON values, so that
// reading them is part of what is measured.
import { BINDING_GROUP, BINDING_KIND, BINDING_VERSION } from '@kleym/shared/core/model/names.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'

type Labels = Readonly<Record<string, string>>

/** A UID that depends on nothing but the object: no randomness, so that two runs measure the same cluster. */
export function uidOf(kind: string, ...names: readonly string[]): string {
  return `${kind}-${names.join('-')}-uid`
}

/** A Namespace with the label that every API server sets, and a tier that selectors use. */
export function namespaceObject(name: string, labels: Labels = {}): RawObject {
  return object('v1', 'Namespace', '', name, {}, { 'kubernetes.io/metadata.name': name, ...labels })
}

/** A Node. */
export function nodeObject(name: string): RawObject {
  return object('v1', 'Node', '', name, { spec: {} })
}

/** An InferencePool of the GA group that selects by these labels. */
export function poolObject(namespace: string, name: string, labels: Labels): RawObject {
  return object('inference.networking.k8s.io/v1', 'InferencePool', namespace, name, {
    spec: { selector: { matchLabels: labels }, targetPorts: [{ number: 8000 }] },
  })
}

/** An InferenceObjective that leads to a pool. */
export function objectiveObject(namespace: string, name: string, pool: string): RawObject {
  return object('inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective', namespace, name, {
    spec: {
      priority: 0,
      poolRef: { group: 'inference.networking.k8s.io', kind: 'InferencePool', name: pool },
    },
  })
}

/** What a binding asks for. */
export interface BindingAsk {
  readonly namespace: string
  readonly name: string
  readonly pool: string
  readonly objective: string
  readonly container: string
}

/** A PerObjective InferenceIdentityBinding. */
export function bindingObject({ namespace, name, pool, objective, container }: BindingAsk): RawObject {
  return object(`${BINDING_GROUP}/${BINDING_VERSION}`, BINDING_KIND, namespace, name, {
    spec: {
      poolRef: { name: pool },
      objectiveRef: { name: objective },
      serviceAccountName: SERVICE_ACCOUNT,
      containerName: container,
    },
  })
}

/** An accepted XAccessPolicy on a Gateway, with these rules. */
export function accessPolicyObject(
  namespace: string,
  name: string,
  gateway: string,
  rules: readonly Readonly<Record<string, unknown>>[],
): RawObject {
  const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: gateway }
  return object('agentic.networking.x-k8s.io/v1alpha1', 'XAccessPolicy', namespace, name, {
    spec: { targetRefs: [target], action: 'Allow', rules },
    status: { ancestors: [{ ancestorRef: target, conditions: [{ type: 'Accepted', status: 'True' }] }] },
  })
}

/** The service account of every pod and binding of these clusters. */
export const SERVICE_ACCOUNT = 'model-server'

/** What a pod runs. */
export interface PodAsk {
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly node: string
  readonly containers: readonly string[]
}

/** A running Pod of a ReplicaSet. */
export function podObject({ namespace, name, labels, node, containers }: PodAsk): RawObject {
  const owner = name.slice(0, name.lastIndexOf('-'))
  return {
    value: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name,
        uid: uidOf('pod', namespace, name),
        labels: { ...labels, 'pod-template-hash': '6d9c7b5f4' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: `${owner}-uid` }],
      },
      spec: {
        serviceAccountName: SERVICE_ACCOUNT,
        nodeName: node,
        containers: containers.map((container) => ({
          name: container,
          image: `registry.example.org/${container}:1`,
        })),
      },
      status: { phase: 'Running' },
    },
  }
}

/** A Deployment whose pods carry the label `app` with its name. */
export function workloadObject(namespace: string, name: string, container: string): RawObject {
  return object('apps/v1', 'Deployment', namespace, name, {
    spec: {
      template: {
        metadata: { labels: { app: name } },
        spec: {
          serviceAccountName: SERVICE_ACCOUNT,
          containers: [{ name: container, image: `registry.example.org/${container}:1` }],
        },
      },
    },
  })
}

/** A ClusterSPIFFEID of somebody else's. */
export function foreignObject(name: string, spec: Readonly<Record<string, unknown>>): RawObject {
  return object('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID', '', name, {
    spec: { className: CLASS_NAME, ...spec },
  })
}

/** SCM's class, and ours. */
export const CLASS_NAME = 'spire-mgmt-spire'
/** The SPIFFE ID template that nearly everybody writes. */
export const USUAL_TEMPLATE =
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'

/** The catch-all that the SPIRE charts install. */
export function defaultObject(): RawObject {
  return foreignObject('spire-mgmt-spire-default', {
    spiffeIDTemplate: USUAL_TEMPLATE,
    namespaceSelector: {
      matchExpressions: [
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['spire-server', 'spire-system'] },
      ],
    },
    fallback: true,
    hint: 'default',
  })
}

function object(
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  rest: Readonly<Record<string, unknown>>,
  labels?: Labels,
): RawObject {
  return {
    value: {
      apiVersion,
      kind,
      metadata: {
        name,
        uid: uidOf(kind.toLowerCase(), namespace, name),
        creationTimestamp: '2026-01-05T09:00:00Z',
        generation: 1,
        ...(namespace === '' ? {} : { namespace }),
        ...(labels === undefined ? {} : { labels }),
      },
      ...rest,
    },
  }
}
