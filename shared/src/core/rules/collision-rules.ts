// Findings about bindings among themselves: provable collisions, label sets that may overlap, one SPIFFE ID twice. They
// read the claim index, so that their cost follows what there is to report.
import { subjectOfKey } from '../findings/subjects.ts'
import type { Analysis } from '../analysis/analysis.ts'
import { claimsContainerOf, type Claim } from '../collide/claim.ts'
import { relationOf, type ClaimGroup } from '../collide/claim-index.ts'
import type { PoolLabels } from '../objects/pool-selector.ts'
import { getOrCreate } from '../get-or-create.ts'
import { BINDING_KIND } from '../names.ts'
import type { Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import { finding, type Finding, type Subject } from '../findings/finding.ts'
import { podText } from '../objects/pod-index.ts'
import { counted } from '../text/counted.ts'

/** More pairs than this in one group of claims are summed up in the last of them. */
const OVERLAPS_MAX = 200
/**
 * The most bindings of one label set that a finding about two label sets names. A set with more has a finding of its
 * own, which names them all; else 5,000 narrow sets within a wide one of 5,000 bindings would name 25 million.
 */
const SIDE_MAX = 100

const FIX_OF_VARIANTS =
  'Give one of the bindings its own variant or service account, or pools that share no pod.'

/**
 * The most findings about one label set within another. 5,000 bindings can make six million such pairs; that each of them is
 * refused is a finding of its own.
 */
export const CONTAINED_MAX = 2_000

/** The findings about claims; `bindings`, by `namespace/name`: label sets of no other need be compared. */
export function collisionFindings(analysis: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  return [...collisions(analysis, bindings), ...overlaps(analysis), ...sharedIds(analysis)]
}

/** `{app: llama, region: eu}`: a label set as people write it. */
export function labelsText(labels: PoolLabels): string {
  return `{${[...labels].map(([key, value]) => `${key}: ${value}`).join(', ')}}`
}

/** One finding per set of equal claims, and one per two sets of which one contains the other. */
function collisions(analysis: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  const { groups } = analysis.settled.claims
  const isAsked = ({ declared }: ClaimGroup): boolean =>
    bindings === undefined || declared.some(({ owner }) => bindings.has(owner))
  const equal = groups.filter(({ declared }) => declared.length > 1).map((group) => samePods(analysis, group))
  const contained: Finding[] = []
  for (const [wide, narrow] of containedSets(analysis)) {
    if (!isAsked(wide) && !isAsked(narrow)) continue
    if (contained.length === CONTAINED_MAX) return [...equal, ...withMore(contained)]
    contained.push(contains(analysis, wide, narrow))
  }
  return [...equal, ...contained]
}

/** Two label sets with claims, of which the first contains all pods of the second. */
function* containedSets({ settled }: Analysis): Iterable<readonly [wide: ClaimGroup, narrow: ClaimGroup]> {
  const { claims: index } = settled
  for (const group of index.groups) {
    const [claim] = group.declared
    if (claim === undefined) continue
    for (const { relation, group: other } of index.overlapsOf(claim)) {
      if (relation === 'Contains' && other.declared.length > 0) yield [group, other]
    }
  }
}

/** The last of them says that there are more. */
function withMore(findings: readonly Finding[]): readonly Finding[] {
  const last = findings.at(-1)
  if (last === undefined) return findings
  const more =
    'there are more label sets within others than are told one by one; explain names all peers of a binding'
  return [...findings.slice(0, -1), { ...last, evidence: [...last.evidence, more] }]
}

function samePods(analysis: Analysis, group: ClaimGroup): Finding {
  return collisionFinding(analysis, group.declared, group, `both select ${labelsText(group.labels)}`)
}

function contains(analysis: Analysis, wide: ClaimGroup, narrow: ClaimGroup): Finding {
  const proof = `every pod of ${labelsText(narrow.labels)} is also a pod of ${labelsText(wide.labels)}`
  const named = [...wide.declared.slice(0, SIDE_MAX), ...narrow.declared.slice(0, SIDE_MAX)]
  const unnamed = wide.declared.length + narrow.declared.length - named.length
  const more = unnamed === 0 ? '' : `; ${unnamed} more with these label sets are not named here`
  return collisionFinding(analysis, named, narrow, `${proof}${more}`)
}

/** `common` are the labels of the pods that all of these claim. */
function collisionFinding(
  analysis: Analysis,
  claims: readonly Claim[],
  { labels: common }: ClaimGroup,
  proof: string,
): Finding {
  const [first, ...others] = claims.map(claimSubject)
  const claim = claims[0]
  const witnesses = claim === undefined ? [] : analysis.pods().withLabels(claim.namespace, common)
  return finding('KLM301', {
    subject: first ?? { kind: BINDING_KIND, namespace: '', name: '' },
    related: others,
    ...(claim?.containerName === undefined && { fix: FIX_OF_VARIANTS }),
    summary: `${counted(others.length + 1, 'binding')} claim ${claimed(claim)}the same pods`,
    evidence: [
      `same service account ${claim?.serviceAccountName ?? ''}; ${proof}`,
      witnessText(witnesses, claim, 'would hold every one of these identities'),
    ],
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
 * Label sets that exclude each other nowhere and contain each other neither way. Sets with the same keys exclude each
 * other; others are joined on the keys that they have in common, so that only pairs that do overlap cost anything.
 */
function overlaps(analysis: Analysis): readonly Finding[] {
  const groups = new Map<string, ClaimGroup[]>()
  for (const group of analysis.settled.claims.groups) {
    const claim = group.declared[0]
    if (claim === undefined) continue
    const key = JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])
    getOrCreate(groups, key, () => []).push(group)
  }
  return [...groups.values()].flatMap((alike) => overlapsAmong(analysis, alike))
}

function overlapsAmong(analysis: Analysis, groups: readonly ClaimGroup[]): readonly Finding[] {
  const findings: Finding[] = []
  for (const like of alikeInCommonKeys(groups)) {
    const byKeys = [...Map.groupBy(like, ({ labels }) => [...labels.keys()].join('\n')).values()]
    for (const [at, left] of byKeys.entries()) {
      for (const right of byKeys.slice(at + 1)) {
        for (const [one, other] of compatiblePairs(left, right)) {
          if (relationOf(one.labels, other.labels) !== undefined) continue
          if (findings.length >= OVERLAPS_MAX) return findings
          findings.push(overlapFinding(analysis, one, other))
        }
      }
    }
  }
  return findings
}

/**
 * Splits label sets by their values of the keys that all of them have (`app`, mostly): sets of different parts exclude
 * each other. Each part is split again, since it may have further keys in common.
 */
function alikeInCommonKeys(groups: readonly ClaimGroup[]): readonly (readonly ClaimGroup[])[] {
  const [first] = groups
  if (first === undefined || groups.length < 2) return []
  const common = [...first.labels.keys()].filter((key) => groups.every(({ labels }) => labels.has(key)))
  const parts = [
    ...Map.groupBy(groups, ({ labels }) => JSON.stringify(common.map((key) => labels.get(key)))).values(),
  ]
  return parts.length === 1 ? parts : parts.flatMap(alikeInCommonKeys)
}

function* compatiblePairs(
  left: readonly ClaimGroup[],
  right: readonly ClaimGroup[],
): Iterable<readonly [ClaimGroup, ClaimGroup]> {
  const keys = [...(left[0]?.labels.keys() ?? [])].filter((key) => right[0]?.labels.has(key))
  const joinKey = ({ labels }: ClaimGroup): string => JSON.stringify(keys.map((key) => labels.get(key)))
  const byJoin = Map.groupBy(right, joinKey)
  for (const one of left) for (const other of byJoin.get(joinKey(one)) ?? []) yield [one, other]
}

function overlapFinding(analysis: Analysis, one: ClaimGroup, other: ClaimGroup): Finding {
  const [first, ...rest] = [...one.declared, ...other.declared].toSorted((a, b) =>
    compareBytes(a.owner, b.owner),
  )
  const both = new Map([...one.labels, ...other.labels])
  const [left, right] = [labelsText(one.labels), labelsText(other.labels)].toSorted(compareBytes)
  const witnesses = first === undefined ? [] : analysis.pods().withLabels(first.namespace, both)
  return finding('KLM302', {
    subject: first === undefined ? { kind: BINDING_KIND, namespace: '', name: '' } : claimSubject(first),
    ...(first?.containerName === undefined && { fix: FIX_OF_VARIANTS }),
    related: rest.map(claimSubject),
    summary: `a pod may carry both ${left} and ${right}, and ${first?.containerName === undefined ? 'it' : `container ${first.containerName}`} is claimed by both sides`,
    evidence: [witnessText(witnesses, first, 'carries both')],
  })
}

/** Ready bindings that render one SPIFFE ID. */
function sharedIds(analysis: Analysis): readonly Finding[] {
  const byId = new Map<string, Subject[]>()
  for (const { binding } of analysis.compiled) {
    const judgement = analysis.now.judgements.get(binding.key)
    if (judgement?.state !== 'ready') continue
    const { namespace, name } = binding.meta
    getOrCreate(byId, judgement.resolved.identity.spiffeId, () => []).push({
      kind: BINDING_KIND,
      namespace,
      name,
    })
  }
  return [...byId].flatMap(([spiffeId, [first, ...others]]) =>
    first === undefined || others.length === 0
      ? []
      : [
          finding('KLM304', {
            subject: first,
            related: others,
            summary: `${counted(others.length + 1, 'binding')} stand for ${spiffeId}`,
          }),
        ],
  )
}

function claimSubject({ owner }: Claim): Subject {
  return owner === '' ? { kind: BINDING_KIND, namespace: '', name: '' } : subjectOfKey(owner)
}
