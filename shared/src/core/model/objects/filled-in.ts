// What the API server makes of a manifest: it fills in fields that the manifest leaves out, each with one value, and drops some zeros. A field
// that is missing here makes an answer open, and hides nothing.
import { canonicalText } from '../../base/json.ts'

/** The values of an object by their paths, such as `spec.ports[web].targetPort`. */
type Facts = ReadonlyMap<string, string>

/** Whether the API server may have filled a live value in, where its manifest says the rest. */
type IsDefault = (value: string, place: Place) => boolean

interface Place {
  /** The path of the object that the field is in, with a dot at its end. */
  readonly inside: string
  readonly live: Facts
  readonly manifest: Facts
}

/** A cluster chooses it. */
const ANY: IsDefault = () => true

function is(...defaults: readonly unknown[]): IsDefault {
  const texts = new Set(defaults.map(canonicalText))
  return (value) => texts.has(value)
}

function isSameAs(field: string): IsDefault {
  return (value, { inside, live }) => value === live.get(`${inside}${field}`)
}

/**
 * By the end of a path, without what stands in brackets.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/core/v1/defaults.go, and those of apps, networking, storage and
 * admissionregistration
 */
const FILLED_IN: ReadonlyMap<string, IsDefault> = new Map<string, IsDefault>([
  // Of pods and their volumes.
  ['pod.dnsPolicy', is('ClusterFirst')],
  ['pod.restartPolicy', is('Always')],
  ['pod.schedulerName', is('default-scheduler')],
  ['pod.serviceAccount', isSameAs('serviceAccountName')],
  ['ports[].protocol', is('TCP')],
  [
    'ports[].hostPort',
    (value, place) => place.live.get('pod.hostNetwork') === 'true' && isSameAs('containerPort')(value, place),
  ],
  ['fieldRef.apiVersion', is('v1')],
  ['resourceFieldRef.divisor', is('0')],
  ['configMap.defaultMode', is(420)],
  ['secret.defaultMode', is(420)],
  ['downwardAPI.defaultMode', is(420)],
  ['projected.defaultMode', is(420)],
  ['serviceAccountToken.expirationSeconds', is(3600)],
  ['hostPath.type', is('')],
  ['volumeClaimTemplate.spec.volumeMode', is('Filesystem')],
  // Of Services.
  ['spec.allocateLoadBalancerNodePorts', is(true)],
  ['spec.clusterIP', (value) => value !== '"None"'],
  ['spec.clusterIPs', ANY],
  ['spec.externalTrafficPolicy', is('Cluster')],
  ['spec.healthCheckNodePort', ANY],
  ['spec.internalTrafficPolicy', is('Cluster')],
  ['spec.ipFamilies', ANY],
  ['spec.ipFamilyPolicy', is('SingleStack')],
  ['spec.sessionAffinity', is('None')],
  ['clientIP.timeoutSeconds', is(10_800)],
  ['spec.type', is('ClusterIP')],
  ['ports[].nodePort', ANY],
  ['ports[].targetPort', isSameAs('port')],
  // Of policies of the network.
  ['spec.podSelector', is({})],
  [
    'spec.policyTypes',
    (value, { manifest }) => {
      const hasEgress = [...manifest.keys()].some((path) => path.startsWith('spec.egress'))
      return value === canonicalText(hasEgress ? ['Ingress', 'Egress'] : ['Ingress'])
    },
  ],
  // Of CSIDrivers.
  ['spec.attachRequired', is(true)],
  ['spec.fsGroupPolicy', is('ReadWriteOnceWithFSType')],
  ['spec.podInfoOnMount', is(false)],
  ['spec.requiresRepublish', is(false)],
  ['spec.seLinuxMount', is(false)],
  ['spec.storageCapacity', is(false)],
  ['spec.volumeLifecycleModes', is(['Persistent'])],
  // Of webhooks.
  ['webhooks[].failurePolicy', is('Fail')],
  ['webhooks[].matchPolicy', is('Equivalent')],
  ['webhooks[].timeoutSeconds', is(10)],
  ['rules[].scope', is('*')],
  ['clientConfig.service.port', is(443)],
])

/** Whether the API server fills in what a live object has at a path, and its manifest has not. */
export function isFilledIn(path: string, live: Facts, manifest: Facts): boolean {
  const value = live.get(path) ?? ''
  const inside = path.slice(0, path.lastIndexOf('.') + 1)
  const parts = path.replaceAll(/\[[^\]]*\]/g, '[]').split('.')
  return [2, 3].some(
    (length) => FILLED_IN.get(parts.slice(-length).join('.'))?.(value, { inside, live, manifest }) === true,
  )
}

/** Fields whose `false` or `0` the API server does not keep, since it says no more than that they are missing. */
const ZERO_DROPPED: ReadonlySet<string> = new Set([
  // Of pods.
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'hostPort',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
  // Of Services.
  'healthCheckNodePort',
  'nodePort',
  'publishNotReadyAddresses',
])
/** What is this is as good as missing, in each field. */
const NOTHING: ReadonlySet<string> = new Set(['null', '""', '{}'])
const ZERO: ReadonlySet<string> = new Set(['false', '0'])

/** Whether the API server drops what a manifest has at a path. */
export function isDropped(path: string, manifest: Facts): boolean {
  const value = manifest.get(path) ?? ''
  return NOTHING.has(value) || (ZERO.has(value) && ZERO_DROPPED.has(path.replace(/^.*\./, '')))
}
