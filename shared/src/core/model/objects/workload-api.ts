// Whether a container can reach the Workload API of the node's SPIRE agent, as its pod's spec shows it: the agent serves a Unix
// socket, which a container sees only through a volume that is mounted in it. Sources: SPIFFE's CSI driver
// (https://github.com/spiffe/spiffe-csi), whose name an install may change, and the paths of SPIRE's charts and quick start.
import { isRecord, listAt, own, recordsAt, stringAt, textsAt, type JsonRecord } from '../../base/json.ts'
import { all, any, known, NO, open, YES, type Truth } from '../truth/truth.ts'
import { atRuntime } from '../truth/unknown.ts'
import type { Container, Pod } from './pod.ts'

/** The name of SPIFFE's CSI driver, unless an install gives it another. */
export const SPIFFE_CSI_DRIVER = 'csi.spiffe.io'

/** What a container mounts may hold the socket, or may not. */
const UNSEEN = open(atRuntime('a volume of the container may hold the socket of an agent', 'Pod'))

/** The variables of a container that are read here: what is kept of live objects must hold them. */
export const WORKLOAD_API_VARIABLES: readonly string[] = ['SPIFFE_ENDPOINT_SOCKET']

/** The lists of a pod spec that hold containers which SPIRE attests. */
const LISTS = ['containers', 'initContainers']
/** Inline CSI drivers that are known to hold no socket. */
const OTHER_CSI_DRIVERS: ReadonlySet<string> = new Set([
  'secrets-store.csi.k8s.io',
  'csi.cert-manager.io',
  'csi.trust-manager.io',
  'inline.storage.kubernetes.io',
])
/** Folders of a node in which no agent puts its socket. */
const NO_SOCKET =
  /^\/(?:dev|proc|sys|lib\/modules|usr\/share\/zoneinfo|etc\/localtime|etc\/ssl|usr\/local\/nvidia)(?:\/|$)/
/** Types of a hostPath that are no folder and no socket. */
const NO_FOLDER: ReadonlySet<string> = new Set(['File', 'FileOrCreate', 'CharDevice', 'BlockDevice'])
/** As a word or the beginning of one: `inspire` is another. */
const OF_SPIRE = /(?<![a-z])(?:spire|spiffe)/i
/** Programs of SPIRE itself: they serve the socket, or talk to the server in other ways. */
const SPIRES_OWN =
  /^(?:spire-server|spire-agent|spire-controller-manager|spiffe-csi-driver|spire-tpm-plugin|oidc-discovery-provider|spire-ha-agent|tornjak-backend)$/

/** What a container's spec says: the mapping in the pod's lists; undefined where a webhook adds it. */
export function containerSpec({ spec }: Pod, { name, injectedBy }: Container): JsonRecord | undefined {
  if (injectedBy !== undefined) return undefined
  return LISTS.flatMap((list) => recordsAt(spec, list)).find((one) => own(one, 'name') === name)
}

/** Whether a container can reach the Workload API. Never throws. */
export function workloadApiAccess(pod: Pod, container: Container): Truth {
  const spec = containerSpec(pod, container)
  if (spec === undefined || !isShownWhole(pod) || isOfWindows(pod)) return UNSEEN
  return any(...mountsOf(pod, spec).map(({ access }) => access), isToldOtherwise(spec) ? UNSEEN : NO)
}

/** Why a container whose access is `NO` has none, as a clause. Never throws. */
export function whyNoAccess(pod: Pod, container: Container): string {
  const mounted = new Set(
    listAt(containerSpec(pod, container), 'volumeMounts').map((one) => own(one, 'name')),
  )
  const refused = listAt(pod.spec, 'volumes').find(
    (one) => mounted.has(own(one, 'name')) && stringAt(one, 'csi', 'driver') === SPIFFE_CSI_DRIVER,
  )
  return refused === undefined
    ? `no volume of ${SPIFFE_CSI_DRIVER}, and no hostPath with the socket of an agent`
    : `volume ${stringAt(refused, 'name') ?? ''} is of ${SPIFFE_CSI_DRIVER}, which refuses it: it needs readOnly: true and no fsType`
}

/** Whether a container has the socket of an agent at a path. Never throws. */
export function hasSocketAt(pod: Pod, container: Container, path: RegExp): Truth {
  const mounts = mountsOf(pod, containerSpec(pod, container))
  return any(...mounts.filter(({ at }) => path.test(at)).map(({ access }) => access))
}

/** Where a container mounts a volume, and whether that leads to the socket of an agent. */
export interface SocketMount {
  readonly at: string
  readonly access: Truth
  /** Whether it is the folder in which the socket stands, as SPIFFE's CSI driver mounts it. A hostPath may be the socket, or hold its folder. */
  readonly isFolder: boolean
  /** What of the node is mounted; undefined: it is no hostPath. */
  readonly hostPath: string | undefined
}

/** Where in a container the socket of an agent is mounted. */
export function socketMounts(pod: Pod, container: Container): readonly SocketMount[] {
  return mountsOf(pod, containerSpec(pod, container)).filter(({ access }) => access === YES)
}

function mountsOf(pod: Pod, spec: JsonRecord | undefined): readonly SocketMount[] {
  const volumes = new Map(listAt(pod.spec, 'volumes').map((one) => [stringAt(one, 'name') ?? '', one]))
  return listAt(spec, 'volumeMounts').map((mount) => {
    const volume = volumes.get(stringAt(mount, 'name') ?? '')
    const access = accessThrough(volume, pod)
    const isPart = ['subPath', 'subPathExpr'].some((field) => (stringAt(mount, field) ?? '') !== '')
    return {
      at: stringAt(mount, 'mountPath') ?? '',
      access: isPart ? all(access, UNSEEN) : access,
      isFolder: isRecord(own(volume, 'csi')),
      hostPath: stringAt(volume, 'hostPath', 'path'),
    }
  })
}

/** What tells the client in a container the address of the Workload API: of two the last counts, as the kubelet sets it. */
export function toldVariable(container: JsonRecord | undefined): unknown {
  return listAt(container, 'env').findLast((one) =>
    WORKLOAD_API_VARIABLES.includes(stringAt(one, 'name') ?? ''),
  )
}

/**
 * Whether the volumes of a pod are shown. Admission mounts a token into each pod that an API server stores, so one that exists
 * and has no volumes was trimmed, unless it wants no token and is as the API server has it: a dump is, where its containers have
 * what every API server fills in.
 */
function isShownWhole({ exists, spec, origin }: Pod): boolean {
  if (!exists || own(spec, 'volumes') !== undefined) return true
  if (own(spec, 'automountServiceAccountToken') !== false) return false
  return (
    origin === undefined ||
    listAt(spec, 'containers').every((one) => own(one, 'terminationMessagePath') !== undefined)
  )
}

/** On Windows an agent serves a named pipe, for which no volume is needed. */
function isOfWindows({ spec }: Pod): boolean {
  return (
    stringAt(spec, 'os', 'name') === 'windows' ||
    stringAt(spec, 'nodeSelector', 'kubernetes.io/os') === 'windows'
  )
}

/** `volume` is undefined where a mount names none of the pod's: a StatefulSet claims it, or the spec is a part of one. */
function accessThrough(volume: unknown, { ref: { kind } }: Pod): Truth {
  if (volume === undefined) return kind === 'StatefulSet' || kind === 'LeaderWorkerSet' ? NO : UNSEEN
  const csi = own(volume, 'csi')
  if (isRecord(csi)) {
    const driver = stringAt(csi, 'driver') ?? ''
    if (driver === SPIFFE_CSI_DRIVER) return known(isPublished(csi))
    return OTHER_CSI_DRIVERS.has(driver) ? NO : UNSEEN
  }
  const host = own(volume, 'hostPath')
  if (!isRecord(host)) return NO
  const path = stringAt(host, 'path') ?? ''
  if (NO_FOLDER.has(stringAt(host, 'type') ?? '')) return NO
  if (OF_SPIRE.test(path)) return YES
  return NO_SOCKET.test(path) ? NO : UNSEEN
}

/**
 * Whether SPIFFE's CSI driver mounts the volume. It refuses one that containers may write, and one with a file system; the pod then
 * does not start (https://github.com/spiffe/spiffe-csi/blob/v0.2.7/pkg/driver/driver.go, `NodePublishVolume`).
 */
function isPublished(csi: JsonRecord): boolean {
  return own(csi, 'readOnly') === true && (stringAt(csi, 'fsType') ?? '') === ''
}

/** Whether the container is told of an agent that is no socket in its own file system. */
function isToldOtherwise(container: JsonRecord): boolean {
  const variable = toldVariable(container)
  return variable !== undefined && !/^(?:unix:|\/)/.test(stringAt(variable, 'value') ?? '')
}

/**
 * Whether a container runs a part of SPIRE itself. The agent's image also holds its client (`spire-agent api`), and may be there to run
 * something else.
 */
export function isOfSpire(pod: Pod, container: Container): boolean {
  if (!isSpiresImage(container.image)) return false
  const spec = containerSpec(pod, container)
  const [program] = textsAt(spec, 'command')
  const isProgram = program === undefined || SPIRES_OWN.test(program.split('/').at(-1) ?? '')
  return isProgram && !wordsOf(spec).includes('api')
}

/** Whether an image is of SPIRE itself, by its name. */
export function isSpiresImage(image: string | undefined): boolean {
  return SPIRES_OWN.test(imageName(image))
}

/** The command and the arguments of a container, or the command of a hook. */
export function wordsOf(spec: unknown): readonly string[] {
  return ['command', 'args'].flatMap((list) => textsAt(spec, list))
}

/** The last part of an image's name: `spire-agent` of `ghcr.io/spiffe/spire-agent:1.15.3`. */
export function imageName(image: string | undefined): string {
  const [name = ''] = (image?.split('/').at(-1) ?? '').split(/[:@]/)
  return name
}

/** Labels and annotations of a pod that ask for something of SPIFFE: a webhook may mount the socket where it finds them. */
export function asksForSpiffe({ labels, metadata }: Pod): boolean {
  const annotations = own(metadata, 'annotations')
  const said = [...labels, ...(isRecord(annotations) ? Object.entries(annotations) : [])]
  return said.some(([key, value]) => OF_SPIRE.test(key) || (ASKING.test(key) && OF_SPIRE.test(String(value))))
}

/** `inject.istio.io/templates: sidecar,spire`: https://istio.io/latest/docs/ops/integrations/spire/ */
const ASKING = /inject|template/i
