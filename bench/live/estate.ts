// The cluster that the plugin is measured on: namespaces of some 500 pods, pools with two bindings each, a Deployment
// behind each pool, nodes, the operator's Deployment, SPIRE's catch-all and the configuration of its controller manager.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { binding, namespace, objective, pool } from '../../test/control-plane/objects.ts'
import { OPERATOR_NAMESPACE } from '../../test/control-plane/operator-access.ts'
import { TRUST_DOMAIN } from '../../test/control-plane/operator.ts'
import { CLASS_NAME, defaultObject } from '../objects.ts'
import { numbered, range } from '../made-up-clusters.ts'
import { CONTAINERS, poolLabels, SERVICE_ACCOUNT, templateOf, type PoolPodAsk } from './pods.ts'

export interface EstateSize {
  readonly bindings: number
  readonly pods: number
}

/** The size that a command line asks for. Throws where it is none. */
export function sizeFrom(
  given: { readonly [flag in keyof EstateSize]?: string | undefined },
  otherwise: EstateSize,
): EstateSize {
  const numberAt = (flag: keyof EstateSize): number => {
    const text = given[flag]
    const number = text === undefined ? otherwise[flag] : Number(text)
    if (Number.isInteger(number) && number > 0) return number
    throw new Error(`--${flag} ${String(text)}: give a whole number above 0, e.g. 1000`)
  }
  return { bindings: numberAt('bindings'), pods: numberAt('pods') }
}

export interface LiveEstate {
  /** In the order in which they must be there; those of one list in any order. */
  readonly stages: readonly (readonly JsonRecord[])[]
  /** The Deployment of the operator, which is among them: a controller would report its status. */
  readonly operator: JsonRecord
  readonly pods: readonly PoolPodAsk[]
}

const PODS_PER_NAMESPACE = 500
const PODS_PER_NODE = 100
const BINDINGS_PER_POOL = CONTAINERS.length
const SCM_NAMESPACE = 'spire-server'

/** Where a pool is. */
interface Place {
  readonly namespace: string
  readonly pool: string
}

/** The same arguments give the same estate. */
export function liveEstate({ bindings, pods }: EstateSize): LiveEstate {
  const spaces = range(Math.max(1, Math.ceil(pods / PODS_PER_NAMESPACE))).map((at) => numbered('team', at))
  const places = range(Math.ceil(bindings / BINDINGS_PER_POOL)).map((at) => placeOf(at, spaces))
  const operator = operatorDeployment()
  const nodes = range(Math.ceil(pods / PODS_PER_NODE)).map((at) => numbered('node', at))
  return {
    stages: [
      [...spaces, SCM_NAMESPACE].map(namespace),
      [
        ...nodes.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })),
        catchAll(),
        scmConfig(),
        operator,
        ...places.flatMap((place) => [
          pool(place.namespace, place.pool, poolLabels(place.pool)),
          deployment(place),
          ...CONTAINERS.map((container) =>
            objective(place.namespace, objectiveName(place, container), place.pool),
          ),
        ]),
      ],
      range(bindings).map((at) => bindingAt(at, places)),
    ],
    operator,
    pods: range(pods).map((at) => podAt(at, places)),
  }
}

/** The first binding of the estate: what `explain` and `who-selects` are asked about. */
export const FIRST = { namespace: numbered('team', 0), pool: numbered('pool', 0) }

/** What the Deployment's controller reports of an operator that runs. */
export const AVAILABLE = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 }

/** The name of an objective, and of its binding. */
export function objectiveName({ pool: of }: Pick<Place, 'pool'>, container: string): string {
  return `${of}-${container}`
}

function placeOf(at: number, spaces: readonly string[]): Place {
  return {
    namespace: spaces[at % spaces.length] ?? '',
    pool: numbered('pool', Math.floor(at / spaces.length)),
  }
}

function placeAt(at: number, places: readonly Place[]): Place {
  const place = places[at % places.length]
  if (place === undefined) throw new Error('an estate needs a binding at least')
  return place
}

function bindingAt(at: number, places: readonly Place[]): JsonRecord {
  const place = placeAt(Math.floor(at / BINDINGS_PER_POOL), places)
  const containerName = CONTAINERS[at % BINDINGS_PER_POOL] ?? CONTAINERS[0]
  return binding(place.namespace, objectiveName(place, containerName), {
    poolRef: { name: place.pool },
    serviceAccountName: SERVICE_ACCOUNT,
    containerName,
  })
}

function podAt(at: number, places: readonly Place[]): PoolPodAsk {
  return {
    ...placeAt(at, places),
    at: Math.floor(at / places.length),
    node: numbered('node', Math.floor(at / PODS_PER_NODE)),
  }
}

function deployment({ namespace: space, pool: name }: Place): JsonRecord {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: space },
    spec: { selector: { matchLabels: poolLabels(name) }, template: templateOf(name) },
  }
}

/** The operator as its chart installs it: its arguments tell the plugin its settings. */
function operatorDeployment(): JsonRecord {
  const labels = { 'app.kubernetes.io/name': 'kleym', 'app.kubernetes.io/component': 'operator' }
  const args = [`--trust-domain=${TRUST_DOMAIN}`, `--clusterspiffeid-class-name=${CLASS_NAME}`]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'kleym-operator', namespace: OPERATOR_NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'operator', image: 'registry.example.org/kleym/operator', args }] },
      },
    },
  }
}

/** What the SPIRE charts install for every pod without a registration of its own. */
function catchAll(): JsonRecord {
  const { apiVersion, kind, spec } = defaultObject().value
  return { apiVersion, kind, metadata: { name: 'spire-mgmt-spire-default' }, spec }
}

function scmConfig(): JsonRecord {
  const config = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    clusterName: 'bench',
    trustDomain: TRUST_DOMAIN,
    className: CLASS_NAME,
    ignoreNamespaces: ['kube-system', SCM_NAMESPACE],
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'spire-controller-manager', namespace: SCM_NAMESPACE },
    data: { 'controller-manager-config.yaml': JSON.stringify(config) },
  }
}
