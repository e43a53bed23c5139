// How far a document that cannot be read reaches: the kinds, the namespace and the name that its text shows plainly. What
// the question does not read is reached by nothing.
import { mayHoldScmConfig } from '@kleym/shared/core/model/subject-groups.ts'
import {
  groupOfApiVersion,
  OBJECTIVE_KIND,
  OPENSHIFT_AGENT,
  POOL_KIND,
  qualifiedKind,
} from '@kleym/shared/core/model/kinds.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { OPENSHIFT_PROVIDER } from '@kleym/shared/core/analysis/index.ts'
import { mayHoldAgentConfig } from '@kleym/shared/core/model/objects/agent-config.ts'
import { kindsChangedBy, podChangeOf } from '@kleym/shared/core/model/objects/pod-changers.ts'
import { isUnreadKind, mayMakePodsByText } from '@kleym/shared/core/model/objects/pod-makers.ts'
import { CRD } from './crd-scopes.ts'
import { everythingIn } from './deployers.ts'
import { splitDocuments } from './document.ts'
import { mayDeploy, mayFetch } from './fetching.ts'
import { holdsKind, textsIn } from './held-text.ts'
import { isPlainlyUntyped, kindsMentioned, plainTypeOf } from './kinds-in-text.ts'
import type { WantedKind } from './wanted-kind.ts'
import type { ProblemReach } from './problem.ts'

/** What is known about the objects that are not read. */
export interface ReachRules {
  readonly wanted: readonly WantedKind[]
  /** The namespace of objects that name none; undefined: whichever they are rendered into. */
  readonly namespace: string | undefined
}

/** What a text may hold, which may be the rest of a stream; empty: nothing that is read; undefined: anything. */
export function reachOfText(text: string, rules: ReachRules): readonly ProblemReach[] | undefined {
  const reaches = [...splitDocuments(text)].map((document) => reachOfDocument(document.text, rules))
  return reaches.includes(undefined) ? undefined : reaches.flatMap((reach) => reach ?? [])
}

function reachOfDocument(text: string, rules: ReachRules): readonly ProblemReach[] | undefined {
  const { wanted } = rules
  if (isPlainlyUntyped(text)) return reachWithin(text, undefined, wanted)
  const type = plainTypeOf(text)
  if (type !== undefined && !type.kind.endsWith('List')) {
    const group = groupOfApiVersion(type.apiVersion)
    const known = wanted.find((one) => one.kind === type.kind && one.group === group)
    if (known === undefined) return reachOfOther({ group, kind: type.kind }, text, type.namespace, wanted)
    const namespace = type.isMetadataPlain ? (type.namespace ?? rules.namespace) : undefined
    const own = reachOf(known, { namespace, name: type.isMetadataPlain ? type.name : undefined }, text)
    return known.versions === undefined ? [...own, ...reachWithin(text, known, wanted)] : own
  }
  const kinds = kindsMentioned(
    text,
    wanted.map(({ kind }) => kind),
  )
  if (kinds === 'anything') return undefined
  const groups = new Set(text.matchAll(GROUP).map(([, group]) => group ?? ''))
  const others = [...kinds].filter((kind) => !wanted.some((one) => one.kind === kind))
  return [
    ...(others.length > 0 && OPEN_GROUP.test(text) ? reachOfOpenType(text, wanted) : []),
    ...wanted.filter(({ kind }) => kinds.has(kind)).flatMap((one) => reachOf(one, {}, text)),
    ...others.flatMap((kind) =>
      [...groups].flatMap((group) => reachOfOther({ group, kind }, text, undefined, wanted)),
    ),
  ]
}

/** The group of an object, in YAML or JSON. */
const GROUP = /\bapiVersion["']?[ \t]*:[ \t]*["']?([a-z0-9.-]+)\//g

/** A group that is filled in later. */
const OPEN_GROUP = /\bapiVersion["']?[ \t]*:[ \t]*["']?[^\s"'#/]*(?:\{\{|\$[{(])/

/** What an object may make whose group or kind is filled in later, beside what it may be: what its text shows that it deploys and holds. */
export function reachOfOpenType(text: string, wanted: readonly WantedKind[]): readonly ProblemReach[] {
  if (mayFetch(text)) return everythingIn(wanted, undefined)
  const pods = wanted.filter(({ kind }) => kind === 'Pod' && CONTAINERS.test(text))
  return [...pods.flatMap((one) => reachOf(one, {}, text)), ...reachWithin(text, undefined, wanted)]
}

const CONTAINERS = /containers["']?[ \t]*:/

/** What an object of any other kind may make, by its text: what it deploys, the objects that it holds, pods. */
function reachOfOther(
  type: { readonly group: string; readonly kind: string },
  text: string,
  namespace: string | undefined,
  wanted: readonly WantedKind[],
): readonly ProblemReach[] {
  if (qualifiedKind(type) === CRD) return []
  if (mayDeploy(type, () => text)) return everythingIn(wanted, undefined)
  const isMaker = isUnreadKind(type)
  const makesPods =
    mayMakePodsByText(type, '') ||
    podChangeOf(type, '', () => text) !== undefined ||
    (mayMakePodsByText(type, text) && CONTAINERS.test(text))
  const changed = new Set(kindsChangedBy(type, text, wanted))
  const isMade = (one: WantedKind): boolean =>
    changed.has(one) ||
    (makesPods && one.kind === 'Pod') ||
    (isMaker && (one.kind === POOL_KIND || one.kind === OBJECTIVE_KIND)) ||
    (one.kind === CLUSTER_SPIFFE_ID_KIND && qualifiedKind(type) === OPENSHIFT_PROVIDER)
  const made = wanted.filter(isMade).flatMap((one) => reachOf(one, { namespace }, text))
  return [...made, ...reachWithin(text, undefined, wanted)]
}

/** The objects that a text holds of kinds that decide, beside the one that it is. */
function reachWithin(
  text: string,
  itself: WantedKind | undefined,
  wanted: readonly WantedKind[],
): readonly ProblemReach[] {
  const texts = [text, ...(text.match(ENCODED) ?? []).flatMap((one) => textsIn(one))]
  return wanted
    .filter(
      (one) => one !== itself && one.versions !== undefined && texts.some((held) => holdsKind(held, one)),
    )
    .flatMap((one) => reachOf(one, {}, text))
}

/** What is long enough to be an object in base64. */
const ENCODED = /[A-Za-z0-9+/=]{64,}/g

/** What says how agents are configured, in whatever form. */
export const AGENT: ProblemReach = {
  kind: qualifiedKind(OPENSHIFT_AGENT),
  namespace: undefined,
  name: undefined,
}

/** The reach of an object of a known kind; empty for a ConfigMap whose text does not mention the configuration of SCM, or of an agent. */
export function reachOf(
  { group, kind, namespaced }: WantedKind,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  text: string,
): readonly ProblemReach[] {
  const ofAgent = kind === 'ConfigMap' && mayHoldAgentConfig(text) ? [AGENT] : []
  if (kind === 'ConfigMap' && !mayHoldScmConfig(text)) return ofAgent
  return [
    ...ofAgent,
    {
      kind: qualifiedKind({ group, kind }),
      namespace: namespaced ? namespace : undefined,
      name,
      ...(kind === CLUSTER_SPIFFE_ID_KIND ? { mayBeOutput: text.includes(OUTPUT_MARK) } : {}),
    },
  ]
}

/** What the name and the labels of every output of kleym begin with. */
const OUTPUT_MARK = 'kleym'
