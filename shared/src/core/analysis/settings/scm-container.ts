// Where the SPIRE Controller Manager runs, and with which configuration: read from the pod template of a workload, since
// no chart or operator fixes its namespace or its names. It runs beside the SPIRE server or alone, and several may run in one cluster
// (docs/spire-facts.md §7).
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import type { Subject } from '../../model/objects/subject.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { readMeta } from '../../model/objects/meta.ts'

/** One key of a ConfigMap. */
export interface ConfigMapKey {
  readonly namespace: string
  readonly name: string
  /** Undefined: not told, so any key of it. */
  readonly key: string | undefined
}

/** A container that runs SCM. */
export interface ScmContainer {
  readonly workload: Subject
  readonly container: string
  /** Undefined: its configuration is no file of a ConfigMap. */
  readonly config: ConfigMapKey | undefined
  /** Whether it is given a kubeconfig, so that it acts on the objects of another cluster. */
  readonly isForOtherCluster: boolean
}

/** The kinds of workload in which SCM is looked for: beside the SPIRE server, or alone. */
export const SCM_WORKLOAD_KINDS: readonly string[] = ['Deployment', 'StatefulSet']

/** What the image of SCM is called in every distribution; a mirror may call it anything, but keeps the container's name. */
const NAME = 'spire-controller-manager'

/** The containers of a workload that run SCM; none of any other object. Never throws. */
export function scmContainers(workload: JsonRecord): readonly ScmContainer[] {
  const kind = stringAt(workload, 'kind') ?? ''
  if (!SCM_WORKLOAD_KINDS.includes(kind)) return []
  const { namespace, name } = readMeta(workload)
  const subject: Subject = { kind, namespace, name }
  const volumes = listAt(workload, 'spec', 'template', 'spec', 'volumes')
  return listAt(workload, 'spec', 'template', 'spec', 'containers')
    .filter(isScm)
    .map((container): ScmContainer => {
      const args = [...listAt(container, 'command'), ...listAt(container, 'args')].filter(
        (arg) => typeof arg === 'string',
      )
      const mounted = mountedConfig(listAt(container, 'volumeMounts'), volumes, flag(args, 'config') ?? '')
      return {
        workload: subject,
        container: stringAt(container, 'name') ?? '',
        config: mounted && { namespace, ...mounted },
        isForOtherCluster: flag(args, 'kubeconfig') !== undefined,
      }
    })
}

/** A workload for a person: `StatefulSet spire-server/spire-server`. */
export function workloadText({ kind, namespace, name }: ScmContainer['workload']): string {
  return `${kind} ${namespacedName(namespace, name)}`
}

/** The containers of all these objects that run SCM, each once, in their order. */
export function scmContainersOf(objects: Iterable<JsonRecord>): readonly ScmContainer[] {
  const byPlace = new Map<string, ScmContainer>()
  for (const object of objects) {
    for (const one of scmContainers(object)) {
      const { kind, namespace, name } = one.workload
      const place = [kind, namespace, name, one.container].join('/')
      if (!byPlace.has(place)) byPlace.set(place, one)
    }
  }
  return [...byPlace.values()]
}

function isScm(container: unknown): boolean {
  const image = (stringAt(container, 'image') ?? '').split('@')[0] ?? ''
  const repository = (image.split('/').at(-1) ?? '').split(':')[0] ?? ''
  return repository.startsWith(NAME) || (stringAt(container, 'name') ?? '').startsWith(NAME)
}

/** The value of a flag of Go's `flag` package: one dash or two, `=` or a word of its own. */
function flag(args: readonly string[], name: string): string | undefined {
  for (const [at, arg] of args.entries()) {
    const [, given, value] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    if (given === name) return value ?? args[at + 1] ?? ''
  }
  return undefined
}

/**
 * The ConfigMap that is mounted at the path of the configuration. If the path is not known, the only ConfigMap that is mounted.
 */
function mountedConfig(
  mounts: readonly unknown[],
  volumes: readonly unknown[],
  path: string,
): Omit<ConfigMapKey, 'namespace'> | undefined {
  const candidates = mounts.flatMap((mount) => {
    const volume = volumes.find((one) => own(one, 'name') === own(mount, 'name'))
    const source = own(volume, 'configMap')
    const name = stringAt(source, 'name')
    if (!isRecord(mount) || name === undefined) return []
    const at = stringAt(mount, 'mountPath') ?? ''
    const file = stringAt(mount, 'subPath')
    return [{ name, at, file, items: listAt(source, 'items') }]
  })
  const [folder, base] = [path.split('/').slice(0, -1).join('/'), path.split('/').at(-1) ?? '']
  const meant =
    candidates.find(({ at, file }) => file !== undefined && base !== '' && at.split('/').at(-1) === base) ??
    candidates.find(({ at, file }) => file === undefined && folder !== '' && at === folder) ??
    (candidates.length === 1 ? candidates[0] : undefined)
  if (meant === undefined) return undefined
  const file = meant.file ?? (base === '' ? undefined : base)
  const item = meant.items.find((one) => file !== undefined && own(one, 'path') === file)
  return { name: meant.name, key: stringAt(item, 'key') ?? file }
}
