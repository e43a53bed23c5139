// The seventh hop: a way from the container to the socket of the Workload API, and that its client is told the right one.
import { namespacesByName } from '../../snapshot/index.ts'
import { meshOf } from '../../analysis/index.ts'
import { listAt, stringAt } from '../../base/json.ts'
import {
  containerSpec,
  isOfSpire,
  socketMounts,
  SPIFFE_CSI_DRIVER,
  workloadApiAccess,
  WORKLOAD_API_VARIABLES,
} from '../../model/objects/workload-api.ts'
import { NO, YES } from '../../model/truth/truth.ts'
import { type ChainFacts, configOfPod } from './facts.ts'
import { broken, good, notKnown, openHop, type HopAnswer, notShown } from './hop.ts'

/** Judges the hop. */
export function reachableHop(facts: ChainFacts): HopAnswer {
  const { pod, container, analysis } = facts.subject
  const access = workloadApiAccess(pod, container)
  if (isOfSpire(pod)) return good('it is a part of SPIRE itself')
  if (access === NO) {
    const helper = pod.containers.find((one) => one !== container && workloadApiAccess(pod, one) === YES)
    const namespace = namespacesByName(analysis.snapshot).get(pod.namespace)
    const mesh = meshOf(pod, namespace)
    const text = `container ${container.name} has no way to the Workload API: no volume of ${SPIFFE_CSI_DRIVER}, and no hostPath with the socket of an agent`
    const fix = `mount a volume of ${SPIFFE_CSI_DRIVER} in container ${container.name}`
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
  if (access === YES && told !== undefined && told.path === undefined)
    return notShown(
      `${told.name} of container ${container.name} is ${told.value ?? 'set from elsewhere'}, and whether that is the socket at ${socketMounts(pod, container).join(', ')} is not in the spec`,
      `set ${told.name} to unix://${socketMounts(pod, container)[0] ?? ''}/SOCKET, or see what it is: kubectl exec -n ${pod.namespace} ${pod.ref.name} -c ${container.name} -- printenv ${told.name}`,
      'Pod',
    )
  const mounts = socketMounts(pod, container)
  const configured = configOfPod(facts)?.socketPath?.split('/').at(-1)
  if (told?.path !== undefined && access === YES) {
    const { path } = told
    const mount = mounts.find((at) => path === at || path.startsWith(at.endsWith('/') ? at : `${at}/`))
    const right = `unix://${mounts[0] ?? ''}/${configured ?? 'SOCKET'}`
    if (mount === undefined)
      return broken(
        `${told.name} is ${told.value}, and the socket is mounted at ${mounts.join(', ')}`,
        `set ${told.name} to ${right}, or mount the volume there`,
      )
    const file = path.split('/').at(-1)
    if (configured !== undefined && path !== mount && file !== configured)
      return broken(
        `${told.name} is ${told.value}, and the agent names its socket ${configured}`,
        `set ${told.name} to ${right}`,
      )
  }
  return access === YES
    ? good(
        `the socket is mounted at ${mounts.join(', ')}${told === undefined ? '' : `, and ${told.name} is ${told.value}`}`,
      )
    : openHop(
        access,
        undefined,
        `kubectl exec -n ${pod.namespace} ${pod.ref.name} -c ${container.name} -- spire-agent api fetch x509 -socketPath SOCKET`,
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
  for (const one of listAt(containerSpec(pod, container), 'env')) {
    const [name, value] = [stringAt(one, 'name') ?? '', stringAt(one, 'value')]
    if (!WORKLOAD_API_VARIABLES.includes(name) || value === '') continue
    const path =
      value?.includes('$(') === true ? undefined : /^(?:unix:(?:\/\/)?)?(\/.*)$/.exec(value ?? '')?.[1]
    return { name, value, path: path === undefined ? undefined : withoutDots(path) }
  }
  return undefined
}

/** `/a/../b` as the kernel reads it. */
function withoutDots(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `/${parts.join('/')}`
}
