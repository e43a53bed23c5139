// The seventh hop: a way from the container to the socket of the Workload API, and that its client is told the right one.
import { namespacesByName } from '../../snapshot/index.ts'
import { meshOf } from '../../analysis/index.ts'
import { stringAt } from '../../base/json.ts'
import {
  containerSpec,
  isOfSpire,
  type SocketMount,
  socketMounts,
  SPIFFE_CSI_DRIVER,
  toldVariable,
  whyNoAccess,
  workloadApiAccess,
} from '../../model/objects/workload-api.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { type ChainFacts, configOfPod, socketOnNode } from './facts.ts'
import { broken, good, notKnown, openHop, type HopAnswer, notShown } from './hop.ts'
import { isWithin, withoutDots } from './node-paths.ts'

/** Judges the hop. */
export function reachableHop(facts: ChainFacts): HopAnswer {
  const { pod, container, analysis } = facts.subject
  const access = workloadApiAccess(pod, container)
  if (isOfSpire(pod, container)) return good('it is a part of SPIRE itself')
  if (access === NO) {
    const helper = pod.containers.find((one) => one !== container && workloadApiAccess(pod, one) === YES)
    const namespace = namespacesByName(analysis.snapshot).get(pod.namespace)
    const mesh = meshOf(pod, namespace)
    const text = `container ${container.name} has no way to the Workload API: ${whyNoAccess(pod, container)}`
    const fix = `mount a volume of ${SPIFFE_CSI_DRIVER} in container ${container.name}, with readOnly: true`
    if (helper !== undefined)
      return notShown(
        `container ${helper.name} has the socket, and container ${container.name} has not: whether that one hands it an identity is not in the spec`,
        fix,
        'Pod',
      )
    return mesh === undefined || namespace?.complete !== true
      ? broken(text, fix)
      : notKnown(
          { kind: 'webhook', of: {}, injector: mesh, adds: 'a proxy that hands identities out' },
          undefined,
          fix,
        )
  }
  const told = toldSocket(pod, container)
  const mounts = socketMounts(pod, container)
  const elsewhere = access === YES ? ofAnotherFolder(mounts, socketOnNode(facts)) : undefined
  if (elsewhere !== undefined) return elsewhere
  const places = mounts.map(({ at }) => at).join(', ')
  const [first = ''] = mounts.map(({ at }) => withoutDots(at))
  const configured = configOfPod(facts)?.socketPath?.split('/').at(-1)
  const right = `unix://${first}/${configured ?? 'SOCKET'}`
  if (access === YES && told !== undefined && told.path === undefined)
    return notShown(
      `${told.name} of container ${container.name} is ${told.value ?? 'set from elsewhere'}, and whether that is the socket at ${places} is not in the spec`,
      `set ${told.name} to ${right}, or see what it is: kubectl exec -n ${pod.namespace} ${pod.ref.name} -c ${container.name} -- printenv ${told.name}`,
      'Pod',
    )
  if (told?.path !== undefined && access === YES) {
    const { path } = told
    const mount = mounts.find(({ at }) => `${path}/`.startsWith(`${withoutDots(at)}/`))
    if (mount === undefined)
      return broken(
        `${told.name} is ${told.value}, and the socket is mounted at ${places}`,
        `set ${told.name} to ${right}, or mount the volume there`,
      )
    const below = path.slice(withoutDots(mount.at).length + 1)
    if (mount.isFolder && (below === '' || below.includes('/')))
      return broken(
        `${told.name} is ${told.value}, and ${mount.at} is the folder in which the socket stands`,
        `set ${told.name} to ${right}`,
      )
    if (configured !== undefined && below !== '' && below.split('/').at(-1) !== configured)
      return broken(
        `${told.name} is ${told.value}, and the agent names its socket ${configured}`,
        `set ${told.name} to ${right}`,
      )
  }
  return access === YES
    ? good(
        `the socket is mounted at ${places}${told === undefined ? '' : `, and ${told.name} is ${told.value}`}`,
      )
    : openHop(
        access,
        undefined,
        `kubectl exec -n ${pod.namespace} ${pod.ref.name} -c ${container.name} -- spire-agent api fetch x509 -socketPath SOCKET`,
      )
}

/** Where all that a container mounts of the node lies beside the socket of its agent. A link of the node may lead there all the same. */
function ofAnotherFolder(mounts: readonly SocketMount[], socket: string | undefined): HopAnswer | undefined {
  const paths = mounts.flatMap(({ hostPath }) => hostPath ?? [])
  if (socket === undefined || paths.length < mounts.length || paths.some((path) => isWithin(socket, path)))
    return undefined
  return notShown(
    `the agent serves its socket at ${socket} of the node, and the container mounts ${paths.join(', ')}: whether that leads there is not in the spec`,
    `mount a volume of ${SPIFFE_CSI_DRIVER} with readOnly: true, or hostPath ${socket.slice(0, socket.lastIndexOf('/'))}`,
    'Pod',
  )
}

/** The address that the client in a container is told. */
interface ToldSocket {
  readonly name: string
  /** Undefined: it comes from another object. */
  readonly value: string | undefined
  /** Undefined: it is no path, or one that only the node fills in. */
  readonly path: string | undefined
}

/** Undefined: none. */
function toldSocket(
  pod: Parameters<typeof containerSpec>[0],
  container: Parameters<typeof containerSpec>[1],
): ToldSocket | undefined {
  const variable = toldVariable(containerSpec(pod, container))
  const [name, value] = [stringAt(variable, 'name'), stringAt(variable, 'value')]
  if (name === undefined || value === '') return undefined
  const path =
    value?.includes('$(') === true ? undefined : /^(?:unix:(?:\/\/)?)?(\/.*)$/.exec(value ?? '')?.[1]
  return { name, value, path: path === undefined ? undefined : withoutDots(path) }
}
