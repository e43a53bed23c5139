// What a source of a rule comes to, as types. A resolution says who holds an identity and where it comes from; whether a
// request passes is decided elsewhere (external calls, CEL, an implementation's defaults, the gateway's CA), and no text
// here says anything about it: a policy names an identity, does not name it, or that is unknown.
import { keysOf } from '../../base/json.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { PolicyTarget } from '../../model/objects/access-policy.ts'
import type { IdInText } from '../../model/ids-in-text.ts'
import type { PerhapsNamed, RuleSource } from '../../model/objects/access-rule.ts'
import type { PolicyKnowledge } from '../../snapshot/index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { EntrySource } from '../../predict/index.ts'

/** Containers of one pod that certainly hold the ID, in the order of the pod. */
export interface PolicyHolder {
  readonly pod: Pod
  readonly containers: readonly string[]
  /** What gives it to them. */
  readonly source: EntrySource
}

/** An object that gives the ID. */
export interface Declarer {
  readonly source: EntrySource
  /** The binding behind an output of kleym's, `namespace/name`, and the pool whose labels it selects by. */
  readonly binding: NamespacedName | undefined
  readonly pool: string | undefined
  /** Why no container holds it by this object: a sentence fragment; undefined where one does. */
  readonly why: string | undefined
}

/** An ID that is there and is nearly the one that is not. */
export interface NearMiss {
  readonly spiffeId: string
  readonly how: 'case' | 'trust domain' | 'prefix'
  /** `differs only in the case of letters`, `has the same path, in another trust domain`, `lies below it, and …`. */
  readonly text: string
  /** The binding that renders it, `namespace/name`; else the object that gives it. */
  readonly binding: NamespacedName | undefined
  readonly source: EntrySource
}

/** At most this many near misses are named. */
export const NEAR_MISSES_MAX = 5

/** Who may hold an ID beside those that do, and what may give it. */
export interface PerhapsHeld {
  /** `pod team-a/llama-0 vllm`. */
  readonly holders: ReadonlySet<string>
  /** By `sourceText`. */
  readonly sources: ReadonlySet<string>
  /** Why there may be such holders; undefined: there are none. */
  readonly why: string | undefined
}

/** What became of one source. `text` is one sentence fragment for a person, the same in every format. */
export type Resolution = { readonly text: string } & (
  | {
      readonly state: 'resolved'
      readonly spiffeId: string
      /** In the order of pods; never empty. */
      readonly holders: readonly PolicyHolder[]
      readonly declarers: readonly Declarer[]
      readonly perhaps: PerhapsHeld
    }
  | { readonly state: 'unheld'; readonly spiffeId: string; readonly declarers: readonly Declarer[] }
  | {
      readonly state: 'dangling'
      readonly spiffeId: string
      readonly nearMisses: readonly NearMiss[]
      /** Bindings that ask for the ID and do not get it, with the reason: `team-a/chat` and `refused (…)`. */
      readonly wantedBy: readonly { readonly binding: NamespacedName; readonly why: string }[]
      /** Why no registration can ever have this ID; undefined where one can. */
      readonly never: string | undefined
    }
  | {
      readonly state: 'foreign'
      readonly spiffeId: string
      readonly trustDomain: string
      /** ClusterSPIFFEIDs and ClusterStaticEntries that federate with it, by name. */
      readonly federatedBy: readonly EntrySource[]
      readonly nearMisses: readonly NearMiss[]
    }
  | { readonly state: 'unbounded' }
  | { readonly state: 'type mismatch'; readonly type: string; readonly filled: string }
  | {
      readonly state: 'service account'
      readonly namespace: string
      readonly name: string
      /** Pods that run under it, in order; undefined where pods are not known. */
      readonly pods: readonly Pod[] | undefined
      /** IDs of bindings that those pods hold, in byte order: none of them is the ID that the source means. */
      readonly kleymIds: readonly string[]
      /** The SPIFFE ID that the reference implementation compares with, in the trust domain that is ours. */
      readonly spiffeId: string | undefined
      /** Pods of it that hold exactly that ID. */
      readonly holders: readonly PolicyHolder[]
      /** Why another pod of the service account may hold that ID; undefined if none can. */
      readonly open: string | undefined
    }
  | { readonly state: 'not SPIFFE'; readonly type: string }
  | {
      readonly state: 'unknown'
      /** Empty for a pattern. */
      readonly spiffeId: string
      /**
       * `gap`: something could not be read. `trust domain`: it is not known. `prediction`: a registration that may give
       * it is not certain. `template`: nothing renders it now, and a template may, for a pod that is not there. `spire`:
       * it lies in the path that SPIRE keeps for its servers and agents. `mesh`, `text`: as in `PerhapsNamed`.
       */
      readonly because: 'gap' | 'trust domain' | 'prediction' | 'template' | 'spire' | PerhapsNamed['because']
      /** The objects that may give it. */
      readonly perhaps: readonly EntrySource[]
      /** Of a name that may mean several: which of them something gives, and who holds one. */
      readonly mayMean?: { readonly spiffeIds: readonly string[]; readonly holders: readonly PolicyHolder[] }
    }
  | {
      readonly state: 'pattern'
      /** The IDs that it takes in and that something gives, in byte order. */
      readonly spiffeIds: readonly string[]
      readonly holders: readonly PolicyHolder[]
      /** The bindings that give some of them. */
      readonly bindings: readonly NamespacedName[]
      /** Why it may take in others; undefined if these are all. */
      readonly open: string | undefined
    }
  /** No SPIFFE ID is equal to it. */
  | { readonly state: 'dead'; readonly standsFor: string; readonly instead: string | undefined }
  | { readonly state: 'unreadable'; readonly where: string; readonly why: string }
)

/** Whether more may be true of a source than its state says, or another state. */
export function isOpenSource(resolution: Resolution): boolean {
  const { state } = resolution
  return (
    state === 'unknown' || state === 'unreadable' || ('open' in resolution && resolution.open !== undefined)
  )
}

/** Whether what is said of a source may not be all: it is open, or containers beside those that hold its ID may hold it. */
export function mayBeMore(resolution: Resolution): boolean {
  return isOpenSource(resolution) || (resolution.state === 'resolved' && resolution.perhaps.why !== undefined)
}

/** What can become of a source. */
export type ResolutionState = Resolution['state']

/** A source of a rule with its resolution. */
export interface ResolvedSource {
  readonly source: RuleSource
  /** As a person names it: the SPIFFE ID, `service account agents/planner`, `any principal`, `OIDC`. */
  readonly text: string
  readonly resolution: Resolution
}

/** At most this many policies count for one target: the others are not accepted. */
export const POLICIES_PER_TARGET = 5

/** What does not take effect as it is written, and what the reference implementation does: a sentence for each kind. */
export const NOTE_SOURCES = {
  'not accepted':
    'KAN (reference implementation) ignores a policy unless its status names an ancestor and every ancestor says Accepted=True.',
  stale:
    'KAN (reference implementation) uses the conditions that it finds, and these are of an earlier generation. A corrected policy may keep the old ones.',
  'former target':
    'KAN (reference implementation) keeps the ancestor of a target that a policy no longer names, and counts its condition.',
  'rule replaced':
    'KAN (reference implementation) identifies the rules of a target by name alone. If two have one name, that of the later policy replaces the other.',
  'over the limit': `KAN (reference implementation) accepts ${POLICIES_PER_TARGET} policies of a namespace for one target, the oldest ones.`,
  'no action': 'KAN (reference implementation) builds no filter for a policy without an action.',
  'no rules':
    'The API says that a policy without rules matches everything; KAN (reference implementation) makes nothing of it.',
  'nothing asked':
    'KAN (reference implementation) treats Inline without an MCP method as any request of the source. It ignores methods, paths, headers, hosts and ports.',
  'section ignored':
    'KAN (reference implementation) ignores sectionName: the policy applies to the whole target.',
  'other trust domain':
    'KAN (reference implementation) compares whole IDs; its trust domain is a flag of its controller (cluster.local as shipped), which no object shows.',
  'member ignored': 'KAN (reference implementation) looks at the type of a source alone.',
  'no mTLS':
    'Istio takes the name of a client from its certificate: without mTLS there is none, and no name matches.',
} as const
export type NoteKind = keyof typeof NOTE_SOURCES
export const NOTE_KINDS: readonly NoteKind[] = keysOf(NOTE_SOURCES)

/** One thing that does not take effect as written: behaviour of the reference implementation. */
export interface PolicyNote {
  readonly kind: NoteKind
  /** What is the case here: a sentence without full stop. */
  readonly text: string
  /** What the reference implementation makes of it: a sentence that says so. */
  readonly source: string
  /** The policy that replaces the rule, `namespace/name`; undefined for other kinds. */
  readonly by: NamespacedName | undefined
}

/** A rule whose sources are resolved. */
export interface ResolvedRule {
  readonly at: number
  readonly name: string
  readonly sources: readonly ResolvedSource[]
  /** `any request`, or the types: `Inline`, `CEL`, and others in quotes; `not read` for objects of other programs. */
  readonly asks: string
  /** What it asks beside who the client is, as JSON with sorted keys: what two rules ask can be compared by it. */
  readonly authorization: string | undefined
  /** The SPIFFE IDs in its CEL texts, which are not interpreted, whole or in part. */
  readonly mentioned: readonly IdInText[]
  readonly notes: readonly PolicyNote[]
}

/** An access policy whose rules are resolved. */
export interface ResolvedPolicy {
  /** `namespace/name`. */
  readonly key: NamespacedName
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly apiVersion: string
  /** False for an object that is too old to interpret or of an unknown version: it has no rules here. */
  readonly isInterpreted: boolean
  /** Whether it is an object of another program; kleym reads its names alone. */
  readonly isNamesAlone: boolean
  readonly targets: readonly PolicyTarget[]
  readonly action: string | undefined
  readonly rules: readonly ResolvedRule[]
  /** What concerns the whole policy. */
  readonly notes: readonly PolicyNote[]
  /** What cannot be understood of it: `.spec.rules is a string, not a list`, `…/v0alpha0 is too old to interpret`. */
  readonly problems: readonly string[]
}

/** A policy as a person reads its name: without a slash in front if it is in no namespace. */
export function policyName({
  namespace,
  name,
  key,
}: Pick<ResolvedPolicy, 'namespace' | 'name' | 'key'>): string {
  return namespace === '' ? name : key
}

/**
 * How a rule names an identity. `same path`: in some trust domain, and that of the identity is not known. `perhaps`: a pattern takes it in if
 * the trust domain of the mesh is that of the identity. `excluded`: the rule is about all clients but these.
 */
export type NamingWay =
  | 'exactly'
  | 'pattern'
  | 'perhaps'
  | 'excluded'
  | 'same path'
  | 'unbounded'
  | 'service account'

/** One source of one rule that names an identity. */
export interface Naming {
  readonly way: NamingWay
  readonly policy: ResolvedPolicy
  readonly rule: ResolvedRule
  readonly source: ResolvedSource
}

/**
 * A text that holds a SPIFFE ID, whole or in part, of CEL or of any other object. It is not interpreted: it may ask for the ID, refuse it, or
 * do neither.
 */
export interface Mention {
  readonly policy: ResolvedPolicy
  readonly rule: ResolvedRule
  readonly mentioned: IdInText
}

/** Who names some identities: in the order of policies and rules, exact ones first. */
export interface NamedBy {
  readonly knowledge: PolicyKnowledge
  readonly namings: readonly Naming[]
  /** Rules whose CEL text holds it: whether they ask for it is not known. */
  readonly mentions: readonly Mention[]
  /** Other objects whose texts hold it. */
  readonly inTexts: readonly Mention[]
  /** Policies that may name it and cannot be interpreted, by key. */
  readonly uninterpreted: readonly ResolvedPolicy[]
  /** More than one rule names one of the IDs exactly, and they ask different things. */
  readonly asksDiffer: boolean
}
