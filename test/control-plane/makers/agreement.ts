// Whether the pods that a controller made are those that kleym expands offline from the object that it made them of.
import { readPod, type Pod } from '../../../shared/src/core/model/objects/pod.ts'
import { readSnapshot } from '../../../shared/src/core/snapshot/index.ts'
import { dig, listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { WORKLOAD_KINDS } from '../../../shared/src/core/model/objects/workload.ts'

const READ: ReadonlySet<unknown> = new Set(WORKLOAD_KINDS.map(({ kind }) => kind))

/** The pods that files with an object alone tell. */
function toldBy(value: JsonRecord): readonly Pod[] {
  const isUnread = !READ.has(value['kind'])
  const {
    templates: { read: templates },
    podMakers,
  } = readSnapshot({ objects: [{ value, ...(isUnread && { isUnread }) }] })
  return [...templates, ...podMakers.flatMap(({ pods }) => pods)]
}

/** What pods carry that the expansion does not say, a line each. `keyOf` is the template of a pod: its `nameOf`. */
export function disagreements(
  objects: readonly JsonRecord[],
  pods: readonly JsonRecord[],
  keyOf: (pod: JsonRecord) => string,
): readonly string[] {
  const told = Map.groupBy(objects.flatMap(toldBy), nameOf)
  const real = Map.groupBy(pods, keyOf)
  return [...told.keys(), ...new Set(real.keys()).difference(new Set(told.keys()))].flatMap((key) => {
    const templates = told.get(key) ?? []
    const [template] = templates
    if (template === undefined || templates.length > 1) return [`${key}: told ${templates.length} times`]
    const found = real.get(key) ?? []
    const isMade = [...real.keys()].some((one) => one.startsWith(`${template.ref.name} `))
    if (found.length === 0 && isMade) return [`${key}: no pod`]
    const lines = found.flatMap((pod) => differences(readPod({ value: pod }), template))
    return [...new Set(lines)].map((line) => `${key}: ${line}`)
  })
}

/** The object and the pods that a template belongs to. */
function nameOf({ ref, part }: Pod): string {
  return [ref.name, part].filter((word) => word !== '').join(' ')
}

/** How a real pod differs from what is certain of it. */
function differences(real: Pod, told: Pod): readonly string[] {
  const { perhaps } = told
  const isTold = (key: string): boolean =>
    told.labels.has(key) || told.unknownLabels.has(key) || told.possibleLabels.has(key)
  const labels = [
    ...[...told.labels].flatMap(([key, value]) => {
      const found = real.labels.get(key)
      return found === value ? [] : [`${key} is ${String(found)}, and not ${value}`]
    }),
    ...[...told.unknownLabels].filter((key) => !real.labels.has(key)).map((key) => `${key} is not there`),
  ]
  const untold = [...real.labels].flatMap(([key, value]) =>
    isTold(key) ? [] : [`${key}=${value} is untold`],
  )
  return [
    ...labels,
    ...(perhaps === undefined || perhaps.knowsLabels === true ? untold : []),
    ...(perhaps === undefined || perhaps.knowsAccount
      ? differ('account', real.serviceAccountName, told.serviceAccountName)
      : []),
    ...(perhaps === undefined ? differ('containers', containersOf(real), containersOf(told)) : []),
    ...ownerDiffers(real, told),
  ]
}

function differ(what: string, real: string, told: string): readonly string[] {
  return real === told ? [] : [`${what} ${real}, and not ${told}`]
}

function containersOf({ containers }: Pod): string {
  return containers.map(({ role, name }) => `${role} ${name}`).join(', ')
}

function ownerDiffers({ metadata }: Pod, { owner }: Pod): readonly string[] {
  if (owner === undefined) return []
  const real = listAt(metadata, 'ownerReferences').find((one) => dig(one, 'controller') === true)
  const name = stringAt(real, 'name') ?? ''
  return differ('owner', `${stringAt(real, 'kind')} ${name}`, `${owner.kind} ${owner.name ?? name}`)
}
