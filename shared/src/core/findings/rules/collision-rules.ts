// Findings about bindings among themselves: provable collisions, label sets that may overlap, one SPIFFE ID twice. They
// read the claim index, so that their cost follows what there is to report.
import { present } from '../../base/present.ts'
import { subjectOfKey, type Subject, bindingSubject } from '../../model/objects/subject.ts'
import type { Analysis } from '../../analysis/index.ts'
import {
  claimsContainerOf,
  type Claim,
  type ClaimGroup,
  type Relation,
  overlappingSets,
} from '../../decide/index.ts'
import type { PoolLabels } from '../../model/objects/pool-selector.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { BINDING_KIND } from '../../model/names.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { Steps } from '../../base/steps.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { finding, type Finding, type Parts, type Observation } from '../finding/finding.ts'
import type { Rule } from '../finding/rule.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { counted } from '../../base/text/counted.ts'
import type { FindingCode } from '../registry/findings.ts'

/** The code of bindings that provably collide. */
const COLLISION = 'KLM301'
/** The code of bindings that collide on a pod that carries the labels of both. */
const OVERLAP = 'KLM302'

/**
 * So many pairs of label sets of one container that may overlap are findings of their own. Where there are more, each binding of
 * such a label set has one. As with `PAIRS_PER_SET`, it is a question of that container alone.
 */
const OVERLAPS_MAX = 200
/**
 * The most bindings of one label set that a finding about two label sets names. A set with more has a finding of its
 * own, which names them all; else 5,000 narrow sets within a wide one of 5,000 bindings would name 25 million.
 */
const SIDE_MAX = 100

const FIX_OF_VARIANTS =
  'Give one of the bindings its own variant or service account, or pools that share no pod.'

/**
 * How many pairs of label sets are findings of their own, if one contains the other, for each label set that claims the same
 * container. 5,000 bindings can make six million pairs: where there are more, each binding has one finding that counts its peers. It
 * is a question of that container alone, so that what other namespaces do changes nothing.
 */
const PAIRS_PER_SET = 4

/** The findings about claims; `bindings`, by `namespace/name`: label sets of no other need be compared. A step for each label set. */
export function* collisionFindings(
  analysis: Analysis,
  bindings?: ReadonlySet<string>,
): Steps<readonly Finding[]> {
  const containers = groupsByContainer(analysis)
  const claims: ClaimsOfAll = { analysis, partsOf: partsAmong(analysis) }
  const found = containers
    .flat()
    .flatMap((group) => (group.declared.length > 1 ? [samePods(claims, group)] : []))
  for (const alike of containers) {
    found.push(
      ...(yield* containments(claims, alike, bindings)),
      ...(yield* overlapsAmong(claims, alike, bindings)),
    )
  }
  return [...found, ...sharedIds(analysis)]
}

/** What is found about claims. */
export const collisionRule: Rule = { codes: [COLLISION, OVERLAP, 'KLM304'], find: collisionFindings }

/** What the findings about claims are made from. */
interface ClaimsOfAll {
  readonly analysis: Analysis
  /** The label sets that a finding is about, each with its container: a finding about others is another one. */
  readonly partsOf: (...groups: readonly ClaimGroup[]) => Parts
}

/** Makes the key of each label set once: one may be in thousands of findings. */
function partsAmong({ settled }: Analysis): ClaimsOfAll['partsOf'] {
  const places = new Map<ClaimGroup, readonly [key: string, text: string]>()
  return (...groups) =>
    new Map(
      groups.flatMap((group) => {
        const [claim] = group.declared
        if (claim === undefined) return []
        return [
          getOrCreate(
            places,
            group,
            () => [settled.claims.placeOf(claim), labelsText(group.labels)] as const,
          ),
        ]
      }),
    )
}

/** How much of a label set is shown, in characters: 64 labels can have 24,000, and one set can be in thousands of findings. */
const LABELS_SHOWN = 1_024

/** `{app: llama, region: eu}`: a label set as people write it; of a very long one its beginning and how many labels follow. */
export function labelsText(labels: PoolLabels): string {
  const shown: string[] = []
  let length = 0
  for (const [key, value] of labels) {
    const text = `${key}: ${value}`
    length += text.length
    if (length > LABELS_SHOWN) break
    shown.push(text)
  }
  const more = labels.size - shown.length
  return `{${[...shown, ...(more === 0 ? [] : [`and ${more} more`])].join(', ')}}`
}

/** The declared groups of each container that is claimed, in a total order. */
function groupsByContainer({ settled }: Analysis): readonly (readonly ClaimGroup[])[] {
  const byContainer = new Map<string, ClaimGroup[]>()
  for (const group of settled.claims.groups) {
    const claim = group.declared[0]
    if (claim === undefined) continue
    const key = JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])
    getOrCreate(byContainer, key, () => []).push(group)
  }
  return [...byContainer.values()]
}

/** A finding for each two label sets of a container if one contains the other; if they are many, for each binding. */
function* containments(
  claims: ClaimsOfAll,
  alike: readonly ClaimGroup[],
  bindings: ReadonlySet<string> | undefined,
): Steps<readonly Finding[]> {
  if (alike.length < 2) return []
  const isAsked = ({ owner }: Claim): boolean => bindings === undefined || bindings.has(owner)
  const pairs: (readonly [wide: ClaimGroup, narrow: ClaimGroup])[] = []
  for (const group of alike) {
    yield
    for (const narrow of containedIn(claims.analysis, group)) pairs.push([group, narrow])
    if (pairs.length > PAIRS_PER_SET * alike.length) return yield* containmentsOfEach(claims, alike, isAsked)
  }
  return pairs
    .filter((pair) => pair.some(({ declared }) => declared.some(isAsked)))
    .map(([wide, narrow]) => contains(claims, wide, narrow))
}

/** The label sets with claims whose pods are all among those of one. */
function containedIn({ settled }: Analysis, { declared: [claim] }: ClaimGroup): readonly ClaimGroup[] {
  const overlaps = claim === undefined ? [] : settled.claims.overlapsOf(claim)
  return overlaps
    .filter(({ relation, group }) => relation === 'Contains' && group.declared.length > 0)
    .map(({ group }) => group)
}

function* containmentsOfEach(
  claims: ClaimsOfAll,
  alike: readonly ClaimGroup[],
  isAsked: (claim: Claim) => boolean,
): Steps<readonly Finding[]> {
  const found: Finding[] = []
  for (const group of alike) {
    yield
    found.push(...group.declared.filter(isAsked).flatMap((claim) => amongMany(claims, claim, group) ?? []))
  }
  return found
}

/** A binding whose label set contains others or is within them, among so many that its peers are counted; no peer is `related`. */
function amongMany(
  { analysis: { settled }, partsOf }: ClaimsOfAll,
  claim: Claim,
  group: ClaimGroup,
): Finding | undefined {
  const judgement = settled.judgements.get(claim.owner)
  const collision = judgement?.state === 'refused' ? judgement.collision : undefined
  if (collision === undefined) return undefined
  if (!collision.named.some(isWithin) && !settled.claims.overlapsOf(claim).some(isWithin)) return undefined
  const { name } = claimSubject(claim)
  const more = collision.count > collision.named.length ? ' and more' : ''
  const others = `${collision.named.map((peer) => claimSubject(peer.claim).name).join(', ')}${more}`
  return claimFinding(COLLISION, [claim], {
    summary: `${name} claims ${claimed(claim)}pods that ${counted(collision.count, 'other binding')} claim${collision.count === 1 ? 's' : ''} too`,
    evidence: [
      `same service account ${claim.serviceAccountName}; label sets within one another: ${others}`,
      'explain of this binding names all of them',
    ],
    parts: partsOf(group),
  })
}

function isWithin({ relation }: { readonly relation: Relation }): boolean {
  return relation !== 'SamePods'
}

function samePods(claims: ClaimsOfAll, group: ClaimGroup): Finding {
  return collisionFinding(claims, group.declared, [group], `both select ${labelsText(group.labels)}`)
}

function contains(claims: ClaimsOfAll, wide: ClaimGroup, narrow: ClaimGroup): Finding {
  const proof = `every pod of ${labelsText(narrow.labels)} is also a pod of ${labelsText(wide.labels)}`
  const named = [...wide.declared.slice(0, SIDE_MAX), ...narrow.declared.slice(0, SIDE_MAX)]
  const unnamed = wide.declared.length + narrow.declared.length - named.length
  const more = unnamed === 0 ? '' : `; ${unnamed} more with these label sets are not named here`
  return collisionFinding(claims, named, [narrow, wide], `${proof}${more}`)
}

/** The first of the groups has the labels of the pods that all of these claim. */
function collisionFinding(
  { analysis, partsOf }: ClaimsOfAll,
  claims: readonly Claim[],
  groups: readonly [ClaimGroup, ...ClaimGroup[]],
  proof: string,
): Finding {
  const [{ labels: common }] = groups
  const [claim] = claims
  const witnesses = claim === undefined ? [] : analysis.pods().withLabels(claim.namespace, common)
  return claimFinding(COLLISION, claims, {
    summary: `${counted(claims.length, 'binding')} claim ${claimed(claim)}the same pods`,
    evidence: [
      `same service account ${claim?.serviceAccountName ?? ''}; ${proof}`,
      witnessText(witnesses, claim, 'would hold every one of these identities'),
    ],
    parts: partsOf(...groups),
  })
}

/** `container vllm of `; empty for the claims of variants, which are on whole pods. */
function claimed(claim: Claim | undefined): string {
  return claim?.containerName === undefined ? '' : `container ${claim.containerName} of `
}

function witnessText(witnesses: readonly Pod[], claim: Claim | undefined, what: string): string {
  const carrier = witnesses.find(
    (pod) => pod.serviceAccountName === claim?.serviceAccountName && claimsContainerOf(claim, pod),
  )
  const witness = carrier ?? witnesses[0]
  if (witness === undefined) return 'no such pod exists now'
  return carrier === undefined
    ? `for example ${podText(witness)} is selected, though without that service account${claim?.containerName === undefined ? '' : ' and container'}`
    : `for example ${podText(witness)} ${what}`
}

/**
 * Findings about label sets that exclude each other nowhere and contain each other neither way: for each two of them, or, where they
 * are many, for each binding.
 */
function* overlapsAmong(
  claims: ClaimsOfAll,
  groups: readonly ClaimGroup[],
  bindings: ReadonlySet<string> | undefined,
): Steps<readonly Finding[]> {
  const isAsked = ({ owner }: Claim): boolean => bindings === undefined || bindings.has(owner)
  if (!groups.some(({ declared }) => declared.some(isAsked))) return []
  const { pairs, peers } = yield* overlappingSets(groups, OVERLAPS_MAX)
  if (pairs !== undefined)
    return pairs
      .filter((pair) => pair.some(({ declared }) => declared.some(isAsked)))
      .map(([one, other]) => overlapFinding(claims, one, other))
  return [...peers].flatMap(([group, peer]) =>
    group.declared.filter(isAsked).map((claim) => overlapOfOne(claims, claim, [group, peer])),
  )
}

function overlapOfOne(
  { partsOf }: ClaimsOfAll,
  claim: Claim,
  [group, peer]: readonly [ClaimGroup, ClaimGroup],
): Finding {
  const { labels } = group
  const [other] = peer.declared
  return claimFinding(OVERLAP, [claim], {
    summary: `a pod may carry both ${labelsText(labels)} and the labels of another binding, and ${claimedByBoth(claim)}`,
    evidence: present(
      other !== undefined && `for example ${labelsText(peer.labels)} of ${claimSubject(other).name}`,
      'more label sets of this container may overlap than are listed here',
    ),
    parts: partsOf(group),
  })
}

function overlapFinding({ analysis, partsOf }: ClaimsOfAll, one: ClaimGroup, other: ClaimGroup): Finding {
  const declared = [...one.declared, ...other.declared].toSorted((a, b) => compareBytes(a.owner, b.owner))
  const [first] = declared
  const both = new Map([...one.labels, ...other.labels])
  const [left, right] = [labelsText(one.labels), labelsText(other.labels)].toSorted(compareBytes)
  const witnesses = first === undefined ? [] : analysis.pods().withLabels(first.namespace, both)
  return claimFinding(OVERLAP, declared, {
    summary: `a pod may carry both ${left} and ${right}, and ${claimedByBoth(first)}`,
    evidence: [witnessText(witnesses, first, 'carries both')],
    parts: partsOf(one, other),
  })
}

function claimedByBoth(claim: Claim | undefined): string {
  return `${claim?.containerName === undefined ? 'it' : `container ${claim.containerName}`} is claimed by both sides`
}

/** Ready bindings that render one SPIFFE ID. */
function sharedIds(analysis: Analysis): readonly Finding[] {
  const byId = new Map<string, Subject[]>()
  for (const { binding } of analysis.compiled) {
    const judgement = analysis.now.judgements.get(binding.key)
    if (judgement?.state !== 'ready') continue
    getOrCreate(byId, judgement.resolved.identity.spiffeId, () => []).push(bindingSubject(binding))
  }
  return [...byId].flatMap(([spiffeId, [first, ...others]]) =>
    first === undefined || others.length === 0
      ? []
      : [
          finding('KLM304', {
            subject: first,
            related: others,
            summary: `${counted(others.length + 1, 'binding')} have the SPIFFE ID ${spiffeId}`,
          }),
        ],
  )
}

/** A finding about claims: that of the first is its subject, and the others are related. */
function claimFinding(
  code: FindingCode,
  claims: readonly Claim[],
  observed: Pick<Observation, 'summary' | 'evidence' | 'parts'>,
): Finding {
  const [subject = NO_BINDING, ...related] = claims.map(claimSubject)
  const isOfVariants = claims[0]?.containerName === undefined
  return finding(code, { subject, related, ...(isOfVariants && { fix: FIX_OF_VARIANTS }), ...observed })
}

const NO_BINDING: Subject = { kind: BINDING_KIND, namespace: '', name: '' }

function claimSubject({ owner }: Claim): Subject {
  return owner === '' ? NO_BINDING : subjectOfKey(owner)
}
