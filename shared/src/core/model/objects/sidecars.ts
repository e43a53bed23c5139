// Containers that a webhook adds to a pod when it is made: they stand in no template, and whether one comes depends on the webhook.
import { stringAt } from '../../base/json.ts'
import { UNKNOWN_CONTAINER, type Container, type Namespace, type Pod } from './pod.ts'

/** Where a key and its values ask for a sidecar, or keep it away. */
interface Word {
  readonly key: string
  /** The values that ask for it; undefined: any that does not keep it away. */
  readonly asks: readonly string[] | undefined
}

/** A webhook that adds containers. */
interface Injector {
  readonly name: string
  readonly containers: readonly string[]
  /** Labels or annotations of the pod; they decide before those of its namespace. */
  readonly pod: readonly Word[]
  /** Labels or annotations of the namespace. */
  readonly namespace: readonly Word[]
  readonly source: string
}

const TRUE: readonly string[] = ['true']
const ENABLED: readonly string[] = ['enabled']
/** What keeps a sidecar away, under every key. */
const REFUSING: ReadonlySet<string> = new Set(['false', 'disabled'])

const INJECTORS: readonly Injector[] = [
  {
    name: 'Istio',
    containers: ['istio-proxy', 'istio-init', 'istio-validation'],
    pod: [
      { key: 'sidecar.istio.io/inject', asks: TRUE },
      { key: 'istio.io/rev', asks: undefined },
    ],
    namespace: [
      { key: 'istio-injection', asks: ENABLED },
      { key: 'istio.io/rev', asks: undefined },
    ],
    source: 'https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/',
  },
  {
    name: 'Linkerd',
    containers: ['linkerd-proxy', 'linkerd-init'],
    pod: [{ key: 'linkerd.io/inject', asks: ['enabled', 'ingress'] }],
    namespace: [{ key: 'linkerd.io/inject', asks: ['enabled', 'ingress'] }],
    source: 'https://linkerd.io/2/features/proxy-injection/',
  },
  {
    name: 'Kuma',
    containers: ['kuma-sidecar', 'kuma-init'],
    pod: [{ key: 'kuma.io/sidecar-injection', asks: ['enabled', 'true'] }],
    namespace: [{ key: 'kuma.io/sidecar-injection', asks: ['enabled', 'true'] }],
    source: 'https://kuma.io/docs/latest/production/dp-config/dpp-on-kubernetes/',
  },
  {
    name: 'Consul',
    containers: ['consul-dataplane', 'consul-connect-inject-init'],
    pod: [{ key: 'consul.hashicorp.com/connect-inject', asks: TRUE }],
    namespace: [],
    source: 'https://developer.hashicorp.com/consul/docs/k8s/annotations-and-labels',
  },
  {
    name: 'Dapr',
    containers: ['daprd'],
    pod: [{ key: 'dapr.io/enabled', asks: TRUE }],
    namespace: [],
    source: 'https://docs.dapr.io/reference/arguments-annotations-overview/',
  },
  {
    name: "Vault's agent injector",
    containers: ['vault-agent', 'vault-agent-init'],
    pod: [{ key: 'vault.hashicorp.com/agent-inject', asks: TRUE }],
    namespace: [],
    source: 'https://developer.hashicorp.com/vault/docs/platform/k8s/injector/annotations',
  },
  {
    name: "OpenTelemetry's operator",
    containers: ['otc-container'],
    pod: [{ key: 'sidecar.opentelemetry.io/inject', asks: undefined }],
    namespace: [{ key: 'sidecar.opentelemetry.io/inject', asks: undefined }],
    source: 'https://github.com/open-telemetry/opentelemetry-operator',
  },
]

/** The names of all containers that webhooks are known to add. */
export const INJECTED_CONTAINERS: ReadonlySet<string> = new Set(
  INJECTORS.flatMap(({ containers }) => containers),
)

/** The containers of a pod or a template by role and name. What a webhook adds stands in no template, and in every pod that exists. */
export function shapeOf({ containers }: Pick<Pod, 'containers'>): string {
  const ofTemplate = containers.filter(({ name }) => !INJECTED_CONTAINERS.has(name))
  return ofTemplate.map(({ name, role }) => `${role} ${name}`).join('\n')
}

/** The annotations of pods and namespaces by which they are asked for: what is kept of live objects must hold them. */
export const INJECTION_KEYS: readonly string[] = [
  ...new Set(INJECTORS.flatMap(({ pod, namespace }) => [...pod, ...namespace].map(({ key }) => key))),
]

/**
 * A pod that does not exist yet, with the containers that a webhook may add, of those that are asked for by name. If only
 * the name of the namespace is known, any webhook may.
 */
export function withInjected(pod: Pod, namespace: Namespace | undefined, asked: ReadonlySet<string>): Pod {
  if (pod.exists || asked.size === 0) return pod
  const there = new Set(pod.containers.map(({ name }) => name))
  const ofWebhooks = INJECTORS.filter((injector) => mayInject(injector, pod, namespace)).flatMap(
    ({ name: injectedBy, containers }) =>
      containers.map((name) => ({ name, role: 'injected sidecar' as const, image: undefined, injectedBy })),
  )
  const added = [...ofWebhooks, ...(pod.addedByPolicies ?? [])].filter(
    ({ name }) => (asked.has(name) || name === UNKNOWN_CONTAINER) && !there.has(name),
  )
  return added.length === 0 ? pod : { ...pod, containers: [...pod.containers, ...added] }
}

/**
 * The containers of a pod, and those that a webhook may add to one that does not exist yet: whatever is given to the pod as a whole
 * is theirs too.
 */
export function containersThatMayBe(pod: Pod, namespace: Namespace | undefined): readonly Container[] {
  const ofPolicies = pod.addedByPolicies?.map(({ name }) => name) ?? []
  const asked = ofPolicies.length === 0 ? INJECTED_CONTAINERS : INJECTED_CONTAINERS.union(new Set(ofPolicies))
  return withInjected(pod, namespace, asked).containers
}

/** Whether the labels or annotations of a pod ask for what an injector adds, whatever its namespace says. */
export function asksItself(pod: Pod, injectedBy: string): boolean {
  if (pod.addedByPolicies?.some((one) => one.injectedBy === injectedBy) === true) return true
  return INJECTORS.some((injector) => injector.name === injectedBy && ofPod(injector, pod) === 'asks')
}

/** Whether a value of such a key may ask for a sidecar. */
export function mayAsk(value: string | undefined): boolean {
  return value !== undefined && !REFUSING.has(value)
}

function mayInject(injector: Injector, pod: Pod, namespace: Namespace | undefined): boolean {
  if (injector.pod.some(({ key }) => pod.askedByAdmission?.has(key) === true)) return true
  const asked = ofPod(injector, pod)
  if (asked !== 'says nothing') return asked === 'asks'
  if (injector.namespace.length === 0) return false
  if (namespace?.complete !== true) return true
  const { labels, annotations, possible, choices } = namespace
  const isAsked = (key: string): boolean =>
    possible?.has(key) === true && [...(choices?.get(key) ?? ['any'])].some(mayAsk)
  if (injector.namespace.some(({ key }) => isAsked(key))) return true
  return judge(injector.namespace, (key) => labels.get(key) ?? annotations?.get(key)) === 'asks'
}

function ofPod(injector: Injector, pod: Pod): ReturnType<typeof judge> {
  return judge(injector.pod, (key) => pod.labels.get(key) ?? stringAt(pod.metadata, 'annotations', key))
}

function judge(
  words: readonly Word[],
  valueOf: (key: string) => string | undefined,
): 'asks' | 'refuses' | 'says nothing' {
  let isAsked = false
  for (const { key, asks } of words) {
    const value = valueOf(key)
    if (value === undefined) continue
    if (REFUSING.has(value)) return 'refuses'
    isAsked ||= asks === undefined || asks.includes(value)
  }
  return isAsked ? 'asks' : 'says nothing'
}

/** The names of containers that a selector of a registration, or a binding, asks for. */
export function containersAskedFor(
  selectors: Iterable<string>,
  containerNames: Iterable<string | undefined>,
): ReadonlySet<string> {
  const asked = new Set<string>()
  const add = (name: string | undefined): void => {
    if (name !== undefined) asked.add(name)
  }
  for (const selector of selectors)
    if (selector.startsWith(CONTAINER_NAME)) add(selector.slice(CONTAINER_NAME.length))
  for (const name of containerNames) add(name)
  return asked
}

const CONTAINER_NAME = 'k8s:container-name:'
