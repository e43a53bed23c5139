// Objects whose type is nearly one that is read: a letter too many in the kind, one wrong in the group, a version that no
// CRD serves. Skipping them in silence would leave an answer that looks complete and judges nothing.
import { apiVersionOf, groupOfApiVersion, type Kind } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_GROUP } from '@kleym/shared/core/model/names.ts'
import { editDistance } from '@kleym/shared/core/base/text/suggest.ts'
import type { Origin } from '@kleym/shared/core/model/objects/raw.ts'
import type { WantedKind } from './wanted-kind.ts'

/** What is wrong with the type of an object. */
export interface Miss {
  /** The API server knows no such kind; or it does, and this version of it is none that kleym knows. */
  readonly kind: 'not served' | 'unknown version'
  readonly why: string
  readonly fix: string
}

/** An object that is nearly of a kind that is read, and is not read. */
export interface MisspelledObject {
  readonly apiVersion: string
  readonly kind: string
  /** As far as the object names them; empty where it does not. */
  readonly namespace: string
  readonly name: string
  readonly miss: Miss
  readonly origin: Origin
}

/** Why an object of this type is not read although it seems to be meant; undefined where nothing is near, and for what is read. */
export function missOf(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  known: readonly WantedKind[],
): Miss | undefined {
  const group = groupOfApiVersion(apiVersion)
  const read = known.find((one) => one.kind === kind && one.group === group)
  if (read !== undefined) return missOfVersion(read, apiVersion.slice(apiVersion.indexOf('/') + 1))
  const near = nearestKind({ group, kind }, known)
  const isOwnGroup = group === BINDING_GROUP || isNear(group, BINDING_GROUP)
  if (near === undefined && !isOwnGroup) return undefined
  const meant = near ?? known.find((one) => one.group === BINDING_GROUP)
  return {
    kind: 'not served',
    why: `no API server serves a kind ${kind} of group ${group === '' ? '(core)' : group}`,
    fix: meant === undefined ? 'correct apiVersion and kind' : `did you mean ${typeText(meant)}?`,
  }
}

function missOfVersion({ group, kind, versions }: WantedKind, version: string): Miss | undefined {
  if (versions === undefined || versions.includes(version)) return undefined
  const fix = `did you mean ${versions.map((one) => apiVersionOf({ group, version: one })).join(' or ')}?`
  return group === BINDING_GROUP
    ? { kind: 'not served', why: `kleym's CRD serves no version ${version} of ${kind}`, fix }
    : {
        kind: 'unknown version',
        why: `no version ${version} of ${kind} (${group}) is known to kleym, and another version may mean something else`,
        fix,
      }
}

/** `kind: InferencePool of inference.networking.k8s.io/v1`, as a manifest has it. */
function typeText({ group, kind, versions = [] }: WantedKind): string {
  const [version] = versions
  return version === undefined
    ? `kind ${kind} of group ${group === '' ? '(core)' : group}`
    : `kind ${kind} of ${apiVersionOf({ group, version })}`
}

/** The kind with the fewest edits between it and what is written, kind and group together. */
function nearestKind(
  written: Pick<Kind, 'group' | 'kind'>,
  known: readonly WantedKind[],
): WantedKind | undefined {
  const edits = ({ group, kind }: WantedKind): number =>
    editDistance(written.kind, kind) + editDistance(written.group, group)
  const near = known.filter(
    ({ group, kind }) =>
      (written.kind === kind || isNear(written.kind, kind)) &&
      (written.group === group || (isNear(written.group, group) && !isOtherStage(written.group, group))),
  )
  return near.toSorted((a, b) => edits(a) - edits(b))[0]
}

/** A slip of the finger: the same letters in another case, or one edit; two where there are many letters. */
function isNear(written: string, known: string): boolean {
  if (written === '' || known === '') return false
  if (written.toLowerCase() === known.toLowerCase()) return true
  return editDistance(written, known) <= (known.length >= LONG ? 2 : 1)
}

const LONG = 8

/** `x-k8s.io` becomes `k8s.io` when an API graduates: that is another group, and no slip. */
function isOtherStage(left: string, right: string): boolean {
  const [one, other] = [left, right].map((group) => group.replace(/(^|\.)x-k8s\.io$/, '$1k8s.io'))
  return one === other
}
