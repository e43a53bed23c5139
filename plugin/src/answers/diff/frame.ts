// The report of `diff`: the change of every ClusterSPIFFEID of ours, then which containers gain or lose which identity.
import { present } from '@kleym/shared/core/base/present.ts'
import { podText, type Holder } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  editedText,
  effectOf,
  type Effect,
  affectedPolicies,
  type AffectedPolicy,
} from '@kleym/shared/core/answers/index.ts'
import { comparingEntries, hasPolicies, type State } from '@kleym/shared/core/analysis/index.ts'
import { FEDERATED_TRUST_DOMAIN, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/model/names.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { compareFindings, findingKey, type Finding } from '@kleym/shared/core/findings/index.ts'
import { subjectsIn } from '../parts/assertion-results.ts'
import { reportOfBudgets } from '../parts/budgets.ts'
import type { BudgetDifference } from '../parts/budgets-schema.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import type { DiffInput } from '../parts/base.ts'
import { affectedText, isDifference } from './policies-view.ts'
import type { ObjectChange } from './changes.ts'
import { stayingKinds, viewSides } from './sides-view.ts'
import { isChangeShown, isFindingShown, isPolicyShown, narrowEffect, type Narrowed } from './narrow.ts'
import { diffAnswer, toldFinding } from './answer.ts'
import type { DiffTests } from './tests.ts'
import { viewDiff } from './view.ts'
import { viewDisagreements, whatDiffers } from './disagreements-view.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { causesOf, type Cause } from '../../frame/causes.ts'
import { isOperatorDown } from '../../frame/operator-down.ts'

/** The states that a diff compares. */
export function statesOf(input: DiffInput): readonly [before: State, after: State] {
  // Over a live side, the effect is that of the files alone: what kleym would write without them is no part of it.
  return [input.before === input.after ? input.after.now : input.before.settled, input.after.settled]
}

/** What a report is made of beside its input. */
export interface DiffParts {
  readonly changes: readonly ObjectChange[]
  /** The unified diff, of what is not narrowed away. */
  readonly shown: string
  /** With `--tests`. */
  readonly tests: DiffTests | undefined
  /** The bindings that the text is narrowed to; undefined: all. */
  readonly narrowed: Narrowed | undefined
  /** The files are all there is: no finding about them is known to have been there before. */
  readonly isAllThereIs: boolean
}

/** Makes the report. */
export function diffFrame(
  input: DiffInput,
  { changes, shown, tests, narrowed, isAllThereIs }: DiffParts,
): Frame {
  const [baseline, future] = statesOf(input)
  const change = effectOf(baseline, future, {
    drive: input.drive,
    ...(input.unread !== undefined && { unread: input.unread }),
  })
  const { findings } = change
  const stayed = isAllThereIs ? findings.unchanged : []
  const added = [...newInputFindings(input), ...findings.added, ...stayed].toSorted(compareFindings)
  const unchanged = isAllThereIs ? [] : findings.unchanged
  const effect = { ...change, findings: { ...findings, added, unchanged } }
  const affected = affectedBy(baseline, future)
  const entries = entriesOf(baseline, future, input)
  // The same objects come to the same under any settings, bindings that await one included.
  const isSame = input.base !== undefined && input.base.contents === input.contents
  const judgements =
    input.base === undefined
      ? input.after.now.judgements.values()
      : isSame
        ? []
        : [...input.base.after.settled.judgements.values(), ...future.judgements.values()]
  // What was given is not what is there: nothing that follows is about the install as it is, so this comes first.
  const { disagreements } = input.operator
  const ownershipUnknown = input.after.now.outputs
    .filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
    .map(({ object }) => object.meta.name)
  const staying = stayingKinds(input)
  const broken = tests?.findings ?? []
  const shownEffect = (kept: readonly Finding[]): Effect => ({
    ...narrowEffect(effect, narrowed),
    findings: {
      ...effect.findings,
      added: kept.filter((one) => !disagreements.includes(one) && isFindingShown(narrowed, one)),
    },
  })
  const shownChanges = changes.filter((one) => isChangeShown(narrowed, one))
  const shownPolicies = (affected ?? []).filter((one) => isPolicyShown(narrowed, one))
  const causes = causesOf(input, {
    judgements,
    pods: podsOf(effect.uncertain, input),
    further: [
      ...(tests?.unknown ?? []),
      ...undecidedBy(effect, affected ?? [], disagreements),
      ...unreadRelationships(effect, [baseline, future]),
      ...(effect.unfollowed ? [{ leaves: 'a registration', of: [] } as const] : []),
    ],
  })
  return {
    kind: 'DiffReport',
    ...reported(
      async () => (await import('./schema.ts')).diffReportSchema,
      () => ({
        baseSettings: input.base,
        takenToStay: staying,
        changes,
        ownershipUnknown,
        effect: { effect, affected },
        entries,
        tests: tests && { ...tests.counts, brokenAssertions: tests.brokenAssertions },
      }),
    ),
    findings: [...disagreements, ...added, ...broken].toSorted(compareFindings),
    judged: {
      count: [input.before, input.after].reduce((sum, one) => sum + subjectsIn(one), 0),
      what: 'binding, pod or registration',
    },
    hides: (one) => !disagreements.includes(one) && !broken.includes(one) && !isFindingShown(narrowed, one),
    suppressionScope: { all: () => [...disagreements, ...added, ...broken, ...effect.findings.unchanged] },
    differences: [
      ...changes.map(({ kind, name, because }) => `${kind} ClusterSPIFFEID/${name}: ${because}`),
      ...effectTexts(effect),
      // Where more is open, that is the answer: who gains or loses an ID by the edit is not known.
      ...(causes.length === 0 ? effect.edited.map(editedText) : []),
      ...(affected ?? []).filter(isDifference).map(affectedText),
    ],
    isUnifiedDiff: true,
    ...(tests !== undefined && { placeOf: tests.placeOf }),
    causes: isSame ? causes.filter(({ leaves }) => leaves !== 'what depends on a setting') : causes,
    names: () =>
      changes.map(({ name }) => ({
        kind: CLUSTER_SPIFFE_ID_KIND,
        group: SPIRE_GROUP,
        namespace: '',
        name,
      })),
    answer: (layout, kept) =>
      diffAnswer(
        {
          effect: shownEffect(kept),
          objects: shownChanges.filter(({ dueAlready }) => !dueAlready).length,
          affected: shownPolicies,
          staying: staying.reduce((sum, { count }) => sum + count, 0),
          disagrees: whatDiffers(disagreements),
          others:
            narrowed === undefined ? 0 : countOf(effect, changes) - countOf(shownEffect([]), shownChanges),
        },
        layout,
      ),
    view: (layout, kept) => [
      ...viewDiff(shown, shownChanges, shownEffect(kept.filter((one) => !broken.includes(one))), {
        ...layout,
        ownershipUnknown: ownershipUnknown.length,
        affected: shownPolicies,
        entries: narrowed === undefined ? entries : undefined,
        head: [
          ...viewDisagreements(
            kept.filter((one) => disagreements.includes(one)),
            layout,
          ),
          ...viewSides(input, staying, layout),
        ],
        isPartOfWorld: staying.length > 0,
        isDisputed: disagreements.length > 0,
        told: toldFinding(shownEffect(kept)),
      }),
      ...(tests?.view(kept, layout) ?? []),
    ],
  }
}

function undecidedBy(
  { uncertain }: Effect,
  affected: readonly AffectedPolicy[],
  disagreements: readonly Finding[],
): readonly Cause[] {
  const held = uncertain.length
  const named = affected.filter(({ change }) => change === 'perhaps').length
  const what = whatDiffers(disagreements)
  const texts = present(
    held > 0 && `what ${counted(held, 'container')} would hold, before or after the change`,
    named > 0 && `whom ${counted(named, 'rule')} of policies would name, before or after the change`,
    what !== undefined &&
      `what the change does under ${what}, which ${what === 'the settings files' ? 'differ' : 'are not those of this answer'}`,
  )
  // The first says enough.
  return texts.slice(0, 1).map((text) => ({ leaves: 'a difference', text }))
}

/** A relationship with a trust domain is seen to change, and not all that there are could be read. */
function unreadRelationships({ edited }: Effect, states: readonly State[]): readonly Cause[] {
  const { kind } = FEDERATED_TRUST_DOMAIN
  if (!edited.some((one) => one.kind === kind)) return []
  const unread = [qualifiedKind(FEDERATED_TRUST_DOMAIN)]
  const [why] = states.flatMap(({ base: { snapshot } }) => snapshot.rest.ofKinds(unread) ?? [])
  return why === undefined ? [] : [{ leaves: 'anything', why, kind }]
}

/** The pods for which the effect of the change is uncertain. */
function podsOf(holders: readonly Holder[], { after, before }: DiffInput): ReadonlySet<Pod> {
  const named = new Set(holders.map(({ pod }) => pod))
  return new Set(
    [after, before].flatMap(({ podsInQuestion, snapshot: { templates } }) =>
      [...podsInQuestion, ...templates.read].filter((pod) => named.has(podText(pod))),
    ),
  )
}

/** What the change does to the number of entries, and to what is above a limit. */
function entriesOf(before: State, after: State, { drive }: DiffInput): BudgetDifference {
  const compared = drive(comparingEntries(before, after), 'little')
  const had = new Set(reportOfBudgets(compared.before, before).over.map(({ limit }) => limit))
  const { over } = reportOfBudgets(compared.after, after)
  return { change: compared.change, over: over.filter(({ limit }) => !had.has(limit)) }
}

/** What the change does to rules of policies; undefined where there are no policies to speak of. */
function affectedBy(before: State, after: State): readonly AffectedPolicy[] | undefined {
  const isAny = [before, after].some((one) => hasPolicies(one.policies()))
  return isAny ? affectedPolicies(before, after) : undefined
}

/** What the files show by themselves and those of `--base` do not: what is nearly of a kind that is read, and that no operator is left. */
function newInputFindings({ base, inputFindings }: DiffInput): readonly Finding[] {
  const had = new Set(base?.inputFindings.map(findingKey))
  return inputFindings.filter((one) => (isNearMiss(one) || isOperatorDown(one)) && !had.has(findingKey(one)))
}

/** What a change does beside objects of kleym's: a registration that is not kleym's may be what gives or takes an identity. */
function effectTexts({ gained, lost, verdicts }: Effect): readonly string[] {
  return [
    ...lost.map(
      ({ spiffeId, containers }) => `${counted(containers.length, 'container')} no longer with ${spiffeId}`,
    ),
    ...gained.map(
      ({ spiffeId, containers }) => `${counted(containers.length, 'container')} newly with ${spiffeId}`,
    ),
    ...verdicts.map(
      ({ binding, before, after }) => `${binding}: ${before ?? '(not there)'} → ${after ?? '(deleted)'}`,
    ),
  ]
}

/** How many things a change does, to tell how many of them are not shown. */
function countOf({ gained, lost, verdicts, edited }: Effect, changes: readonly ObjectChange[]): number {
  return (
    gained.length +
    lost.length +
    verdicts.length +
    edited.length +
    changes.filter(({ dueAlready }) => !dueAlready).length
  )
}
