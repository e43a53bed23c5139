// Objects of kinds that decide identities, within an object of a kind that is not read: an OpenShift Template, a ManifestWork, a
// Crossplane Object, a Kyverno policy that generates, the values of a HelmRelease; or as text, in a ConfigMap or a Secret that a
// ClusterResourceSet, an add-on manager or a Job applies. The controller that reads that object may make them.
import { isRecord, own, stringAt, walk } from '@kleym/shared/core/base/json.ts'
import { isTyped, kindOf, POLICY_KINDS, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { keyOfNames, objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import type { Origin, RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { KINDS_WITH_PODS } from '@kleym/shared/core/model/objects/workload.ts'
import { DETAILS } from './deployers.ts'
import { holdsKind, textsIn } from './held-text.ts'
import { placeIn } from './placeholders.ts'
import { placeText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOf, reachOfText } from './reach.ts'
import type { WantedKind } from './wanted-kind.ts'

/** What a controller has done, and what people write on an object, is no object to come. */
const NOT_LOOKED_INTO: ReadonlySet<string> = new Set(['metadata', 'status'])

/**
 * That a value holds objects, which are not read where they stand; undefined where it holds none that decides. The pods of an object's
 * fields are found elsewhere (shared/src/core/model/objects/pod-makers.ts); in its texts, and in what is no object, workloads count too.
 */
export function embeddedProblem(
  value: unknown,
  origin: Origin,
  wanted: readonly WantedKind[],
): InputProblem | undefined {
  const isObject = isTyped(value)
  const isDeciding = (one: WantedKind): boolean =>
    one.versions !== undefined ||
    one.kind === 'ConfigMap' ||
    POLICY_KINDS.includes(qualifiedKind(one)) ||
    (!isObject && !DETAILS.has(one.kind))
  const isInText = (one: WantedKind): boolean => isDeciding(one) || KINDS_WITH_PODS.has(qualifiedKind(one))
  const found = new Map<string, ProblemReach>()
  let isText = false
  walk(value, (here, key) => {
    if (isObject && NOT_LOOKED_INTO.has(key) && own(value, key) === here) return false
    if (typeof here === 'string')
      for (const text of textsIn(here))
        for (const reach of reachInText(text, wanted.filter(isInText))) {
          found.set(JSON.stringify(reach), reach)
          isText = true
        }
    const kind = here === value ? undefined : kindHeld(here, wanted)
    if (kind === undefined || !isDeciding(kind)) return true
    for (const reach of reachOf(kind, placeIn(here), JSON.stringify(here)))
      found.set(JSON.stringify(reach), reach)
    return false
  })
  if (found.size === 0) return undefined
  const kinds = new Set(found.values().map(({ kind }) => kind.replace(/\..*/, '')))
  return {
    kind: 'not rendered',
    what: `${isObject ? `${stringAt(value, 'kind') ?? ''} ${stringAt(value, 'metadata', 'name') ?? ''}` : origin.file} holds objects that are not read where they stand: ${[...kinds].join(', ')}`,
    where: placeText(origin),
    why: isText
      ? 'whether anything applies them is not known'
      : !isObject
        ? 'it is no object and no List by its apiVersion and kind: kubectl does not apply it, and what else reads it is not known'
        : 'what its controller makes of them is not known',
    fix: 'add what it makes as manifests of their own',
    reach: [...found.values()],
  }
}

/** What may stand in a text, which is looked through only if it gives an object's kind that decides with its group. */
function reachInText(text: string, kinds: readonly WantedKind[]): readonly ProblemReach[] {
  const wanted = kinds.filter((one) => holdsKind(text, one))
  if (wanted.length === 0) return []
  return (
    reachOfText(text, { wanted, namespace: undefined }) ?? wanted.flatMap((one) => reachOf(one, {}, text))
  )
}

/** The problems that stand for something that is not among the objects by itself. */
export function notShown(
  problems: readonly InputProblem[],
  objects: readonly RawObject[],
): readonly InputProblem[] {
  if (problems.length === 0) return problems
  const there = new Set(objects.map(({ value }) => objectKey(value)))
  const isThere = ({ kind, namespace = '', name }: ProblemReach): boolean =>
    name !== undefined && there.has(keyOfNames(kind, namespace, name))
  return problems.filter(({ reach = [] }) => !reach.every(isThere))
}

/** What refers to something within a reference: `resourceRef`, `labelSelector`. */
const OF_REFERENCES = /(?:ref|selector)s?$/i

/** A reference has a type and a name too, but no content. */
function kindHeld(value: unknown, wanted: readonly WantedKind[]): WantedKind | undefined {
  const { kind, group } = kindOf(value)
  if (kind === '' || !isRecord(value)) return undefined
  const hasContent = Object.entries(value).some(([field, one]) => isRecord(one) && !OF_REFERENCES.test(field))
  return hasContent ? wanted.find((one) => one.kind === kind && one.group === group) : undefined
}
