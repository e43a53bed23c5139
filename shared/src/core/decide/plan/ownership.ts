// Whose a ClusterSPIFFEID is (docs/contract.md §8): ours, an orphan of ours, or foreign. Annotations, UID and name
// decide; labels and managed fields prove nothing.
import type { NamespacedName } from '../../model/namespaced-name.ts'
import { nameFromItself } from '../compile/output.ts'
import type { Lookup } from '../../model/objects/lookup.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  ANNOTATION_GO_CLAIM,
  ANNOTATION_INSTALL,
} from '../../model/names.ts'
import type { DeclaredBinding } from '../../model/objects/binding.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { ObjectMeta } from '../../model/objects/meta.ts'

/** Whose a ClusterSPIFFEID is, with the reason where it is not ours. */
export type Ownership =
  /** `assumed`: the binding is a manifest without a UID, so only name and annotation were compared. */
  | { readonly kind: 'ours'; readonly binding: NamespacedName; readonly assumed: boolean }
  | { readonly kind: 'orphan'; readonly binding: string; readonly why: string }
  /** `install`: another install of kleym has made it. */
  | { readonly kind: 'foreign'; readonly why: string; readonly install?: string }
  | { readonly kind: 'unknown'; readonly binding: string; readonly why: UnknownReason }

/** What ownership needs of a binding. */
export type OwningBinding = Pick<DeclaredBinding, 'key' | 'meta'>

/** The ClusterSPIFFEID that a binding's status names. */
export type RecordedOutput = Readonly<Record<'name' | 'uid', string>>

/** What ownership is judged by. */
export interface OwnershipFacts {
  /** The binding of a key, by a live read where it seems to be gone. */
  binding(key: string): Lookup<OwningBinding>
  /** Whether an install that marks an output is another one than ours. Absent: none is. */
  isOtherInstall?(install: string): boolean
  /** The output that the status of a binding names, if it names one. Asked only where the name does not decide. */
  recordedOutput(key: NamespacedName): RecordedOutput | undefined
  /** The name that §5 renders for a binding now, if it renders one. */
  renderedName(key: NamespacedName): string | undefined
}

/** Stands for every install of the Go implementation, whose outputs do not say which one has made them (docs/upstream.md). */
export const GO_IMPLEMENTATION = 'the Go implementation of the same API group'

/** The install that has made an output, as its annotations tell. */
export function installOf(annotation: (key: string) => string | undefined): string | undefined {
  if (annotation(ANNOTATION_BINDING) !== undefined) return annotation(ANNOTATION_INSTALL)
  return annotation(ANNOTATION_GO_CLAIM) === undefined ? undefined : GO_IMPLEMENTATION
}

/** Judges one ClusterSPIFFEID. */
export function judgeOwnership(
  { meta, spec }: Pick<ClusterSpiffeId, 'meta' | 'spec'>,
  facts: OwnershipFacts,
): Ownership {
  const { name, annotations } = meta
  const key = annotations.get(ANNOTATION_BINDING)
  const install = installOf((one) => annotations.get(one))
  if (key === undefined) {
    const why =
      install === undefined ? `it has no annotation ${ANNOTATION_BINDING}` : `${install} has made it`
    return { kind: 'foreign', why }
  }
  if (install !== undefined && facts.isOtherInstall?.(install) === true)
    return { kind: 'foreign', why: `the install ${install} of kleym has made it`, install }
  const lookup = facts.binding(key)
  if (lookup.state === 'unknown') return { kind: 'unknown', binding: key, why: lookup.why }
  if (lookup.state === 'kind absent') return { kind: 'foreign', why: 'the kind of bindings is not there' }
  const namesItself = nameFromItself(key, spec.spiffeIDTemplate) === name
  if (lookup.state === 'absent') {
    return namesItself
      ? { kind: 'orphan', binding: key, why: `binding ${key} is gone` }
      : {
          kind: 'foreign',
          why: `it names binding ${key}, which is gone, and its name is not the one that kleym gives`,
        }
  }
  return judgeAgainst(lookup.object, meta, {
    claimed: annotations.get(ANNOTATION_BINDING_UID),
    namesItself,
    nameIsOurs: namesItself || facts.renderedName(lookup.object.key) === name,
    recorded: () => facts.recordedOutput(lookup.object.key),
  })
}

function judgeAgainst(
  binding: OwningBinding,
  output: ObjectMeta,
  {
    claimed,
    namesItself,
    nameIsOurs,
    recorded,
  }: {
    readonly claimed: string | undefined
    readonly namesItself: boolean
    readonly nameIsOurs: boolean
    readonly recorded: () => RecordedOutput | undefined
  },
): Ownership {
  const { uid } = binding.meta
  if (uid === undefined) {
    return nameIsOurs
      ? { kind: 'ours', binding: binding.key, assumed: true }
      : { kind: 'foreign', why: `its name is not one that kleym gives to an output of ${binding.key}` }
  }
  if (claimed === uid) {
    return nameIsOurs || isRecorded(recorded(), output)
      ? { kind: 'ours', binding: binding.key, assumed: false }
      : { kind: 'foreign', why: `its name is not one that kleym gives to an output of ${binding.key}` }
  }
  if ((claimed ?? '') === '')
    return { kind: 'foreign', why: `it has no annotation ${ANNOTATION_BINDING_UID}` }
  if (namesItself) {
    return { kind: 'orphan', binding: binding.key, why: `binding ${binding.key} lives under another UID` }
  }
  return {
    kind: 'foreign',
    why: `it names another UID of binding ${binding.key}, and its name is not kleym's`,
  }
}

function isRecorded(recorded: RecordedOutput | undefined, { name, uid }: ObjectMeta): boolean {
  return recorded?.name === name && recorded.uid === uid
}
