// Documents that need no parsing: the lines of their text say that they are of a kind that no answer reads, and that they hold
// no pods and install no chart. Rendered charts are full of such, CRDs of ten thousand lines among them.
import { OPENSHIFT_PROVIDER } from '@kleym/shared/core/analysis/index.ts'
import { groupOfApiVersion, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { isReadByMakers } from '@kleym/shared/core/model/objects/known-makers.ts'
import { mayMakePodsByText } from '@kleym/shared/core/model/objects/pod-makers.ts'
import { PART_KINDS } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import { kindsChangedBy, podChangeOf } from '@kleym/shared/core/model/objects/pod-changers.ts'
import { mayHoldIds } from '@kleym/shared/core/model/ids-in-text.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { CRD, scopeInText, type KindScope } from './crd-scopes.ts'
import { mayHoldEncoded } from './held-text.ts'
import { mayBeFailedRead } from './failed-read.ts'
import { plainKindOf } from './kinds-in-text.ts'
import { missOf } from './near-miss.ts'
import { ACCOUNT, type WantedKind } from './wanted-kind.ts'
import { placeholderIn } from './placeholders.ts'
import { mayDeploy } from './fetching.ts'

/** The type of a document that is not read. */
export interface UnreadType {
  readonly kind: string
  readonly apiVersion: string
  /** What it says of another kind, where it is a CRD. */
  readonly scope?: KindScope | undefined
}

/** Tells the type of the one document in a text where it surely is of no use; undefined: it has to be read. With `mentions`, for its SPIFFE IDs too. */
export function unreadTypes({
  wanted,
  mentions = false,
  isCompared = false,
}: {
  readonly wanted: readonly WantedKind[]
  readonly mentions?: boolean | undefined
  readonly isCompared?: boolean | undefined
}): (text: string) => UnreadType | undefined {
  const kinds = new Set(wanted.map(({ kind }) => kind))
  const noted = new Set([ACCOUNT, ...PART_KINDS.keys()].map((one) => one.split('.')[0]))
  const known = new Map<string, boolean>()
  const isUnread = ({ kind, apiVersion }: UnreadType): boolean => {
    const group = groupOfApiVersion(apiVersion)
    return (
      !kind.endsWith('List') &&
      !wanted.some((one) => one.kind === kind && one.group === group) &&
      !mayBeFailedRead({ kind, apiVersion }) &&
      qualifiedKind({ group, kind }) !== OPENSHIFT_PROVIDER &&
      placeholderIn(apiVersion) === undefined &&
      missOf({ kind, apiVersion }, wanted) === undefined
    )
  }
  return (text) => {
    // Nearly all that is wanted says so on one line, and needs no other look.
    const kind = KIND.exec(text)?.[1]
    if (kind === undefined || kinds.has(kind) || (isCompared && noted.has(kind))) return undefined
    if (mentions && mayHoldIds(text)) return undefined
    const type = plainKindOf(text)
    if (type === undefined) return undefined
    const unread = getOrCreate(known, `${type.apiVersion} ${type.kind}`, () => isUnread(type))
    if (!unread) return undefined
    const kindOf = { group: groupOfApiVersion(type.apiVersion), kind: type.kind }
    // Its schema has fields of the names below, and it holds none of them.
    if (qualifiedKind(kindOf) === CRD) {
      const scope = scopeInText(text)
      // What CRDs define is asked then, of kinds that are read in which versions too.
      const isTold = scope !== undefined && !wanted.some((one) => qualifiedKind(one) === scope.kind)
      return isCompared && !isTold ? undefined : { ...type, scope }
    }
    // An object in it has an API version of its own, and a workload that it takes pods from is referred to.
    const first = text.indexOf('apiVersion')
    const mayHoldObjects =
      text.includes('apiVersion', first + 1) || /workload_?ref/i.test(text) || mayHoldEncoded(text)
    const isKept =
      mayMakePodsByText(kindOf, text) ||
      isReadByMakers(kindOf) ||
      podChangeOf(kindOf, '', () => text) !== undefined ||
      kindsChangedBy(kindOf, text, wanted).length > 0
    return mayHoldObjects || isKept || mayDeploy(kindOf, () => text) ? undefined : type
  }
}

const KIND = /^kind:[ \t]*["']?([A-Za-z0-9]+)/m
