// `migrate --from-go`: bindings of the Go implementation of the same API group (docs/upstream.md), in the shape of its v0.12 or v0.9: the
// ID of each there and here, what names the old one, and the order of steps. Its IDs follow the description of its API.
import { onceBy } from '@kleym/shared/core/base/groups.ts'
import { present } from '@kleym/shared/core/base/present.ts'
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { trustDomainText, declaredBoundary, identityPath } from '@kleym/shared/core/decide/index.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { counted, summaryText } from '@kleym/shared/core/base/text/counted.ts'
import { DEFAULT_VARIANT_LABEL_KEY, VARIANT_LABEL_KEY_FLAG } from '@kleym/shared/core/model/names.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import {
  acceptLines,
  type Consumers,
  consumersOf,
  type CutOff,
  cutOffsBy,
  type IdChange,
  type MigrationStep,
  whyNone,
} from '@kleym/shared/core/answers/index.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { finish } from '../../frame/finish.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { type Cause, causesOf } from '../../frame/causes.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { namedBindings } from '../../output/name.ts'
import type { Layout } from '../../text/layout.ts'
import { line, MARKS, span, type Block } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { cutOffLines, openCutOffs } from '../parts/cut-offs.ts'
import { MIGRATE_QUESTION, type MigrateOptions } from './run.ts'
import { viewSteps } from './view.ts'

/** What becomes of one binding. */
export interface GoMove {
  readonly binding: Binding
  /** Undefined: its status holds none, and its spec does not say it. */
  readonly oldId: string | undefined
  /** Undefined where it is not ready here. */
  readonly newId: string | undefined
  /** `ready`, or why it is not. */
  readonly verdict: string
}

/** Tells how bindings of the Go implementation stand here. */
export async function runFromGo(options: MigrateOptions, context: CommandContext): Promise<CommandResult> {
  const input = await gather({ ...options, allNamespaces: true }, MIGRATE_QUESTION, context)
  return finish(fromGoFrame(input, movesOf(input.after)), input, options.output, context)
}

function movesOf(analysis: Analysis): readonly GoMove[] {
  const { settled } = analysis
  return analysis.snapshot.bindings.read.map((binding) => {
    const judgement = settled.judgements.get(binding.key)
    return {
      binding,
      oldId: oldIdOf(binding, analysis),
      newId: judgement?.state === 'ready' ? judgement.resolved.identity.spiffeId : undefined,
      verdict: whyNone(judgement) ?? 'ready',
    }
  })
}

/** What the status says; else what v0.12 renders of a variant, and v0.9 of a pool or an objective. */
function oldIdOf(binding: Binding, { config }: Analysis): string | undefined {
  const written = binding.status?.computedSpiffeIDs?.[0]?.spiffeID
  if (written !== undefined) return written
  const path = oldPath(binding)
  return path === undefined ? undefined : `spiffe://${trustDomainText(config)}${path}`
}

function oldPath(binding: Binding): string | undefined {
  const boundary = declaredBoundary(binding)
  if (boundary?.mode !== 'PerVariant') return boundary && identityPath(boundary)
  const { namespace, pool, variant } = boundary
  const { serviceAccountName } = binding
  return serviceAccountName.ok
    ? `/ns/${namespace}/sa/${serviceAccountName.value}/inference/pool/${pool}/variant/${variant}`
    : undefined
}

/** Who names an ID that is not known could not be looked for. */
function openId({ binding, oldId }: GoMove): readonly Cause[] {
  return oldId === undefined
    ? [{ leaves: 'a statement', text: `who names the ID of binding ${binding.key} there: ${NO_OLD_ID}` }]
    : []
}

const NO_OLD_ID = 'its status holds no ID, and its spec names no boundary'

function isVariant({ binding }: GoMove): boolean {
  return declaredBoundary(binding)?.mode === 'PerVariant'
}

/** The pods that a binding for a variant selects there, and not here: the label there is fixed. */
function unlabelled(
  { binding, newId }: GoMove,
  { config, podsInQuestion, settled }: Analysis,
): readonly CutOff[] {
  const { variantLabelKey: key } = config
  const judgement = settled.judgements.get(binding.key)
  const boundary = declaredBoundary(binding)
  const isOther = key !== undefined && key !== DEFAULT_VARIANT_LABEL_KEY
  if (!isOther || judgement?.state !== 'ready' || boundary?.mode !== 'PerVariant') return []
  const { namespace, variant } = boundary
  const { serviceAccountName } = judgement.resolved.identity
  const labels = Object.entries(judgement.resolved.output.spec.podSelector.matchLabels)
  const pods = podsInQuestion.filter(
    (pod) =>
      pod.namespace === namespace &&
      pod.serviceAccountName === serviceAccountName &&
      pod.labels.get(DEFAULT_VARIANT_LABEL_KEY) === variant &&
      pod.labels.get(key) !== variant &&
      labels.every(([name, value]) => name === key || pod.labels.get(name) === value),
  )
  if (pods.length === 0) return []
  const lacking = `${summaryText(pods.map(podText))} ${pods.length === 1 ? 'has' : 'have'}`
  return [
    {
      text: `${lacking} the variant by the label ${DEFAULT_VARIANT_LABEL_KEY} and not by ${key}, so ${newId ?? ''} does not go there`,
      isOpen: false,
    },
  ]
}

/** It has an ID here, which is another than that of there, or may be. */
function isAnother({ oldId, newId }: GoMove): boolean {
  return newId !== undefined && oldId !== newId
}

/** An ID of there, and that of here; undefined: none is given here. */
type GoChange = IdChange<string | undefined>
type GoConsumers = Consumers<string | undefined>

function changesOf(moves: readonly GoMove[]): readonly GoChange[] {
  const changes = moves.flatMap(({ oldId, newId }) =>
    oldId === undefined || oldId === newId ? [] : [{ oldId, newId }],
  )
  return onceBy(changes, ({ oldId, newId }) => `${oldId} ${newId ?? ''}`)
}

/** The ID of a variant holds its service account there, and not here: bindings of several accounts then give one ID. */
function mergedIds(changes: readonly GoChange[]): readonly string[] {
  return [...Map.groupBy(changes.filter(isToAnother), ({ newId }) => newId)].flatMap(([newId, same]) =>
    same.length < 2
      ? []
      : `one ID here for ${summaryText(same.map(({ oldId }) => oldId))}: whoever accepts ${newId} for one of them accepts the others too`,
  )
}

function isToAnother(change: GoChange): change is IdChange {
  return change.newId !== undefined
}

function fromGoFrame(input: AnswerInput, moves: readonly GoMove[]): Frame {
  const changes = changesOf(moves)
  const consumers = consumersOf(input.after.settled.policies(), changes)
  const { config } = input.after
  const merged = mergedIds(changes)
  const cutOffs = [...moves.flatMap((one) => unlabelled(one, input.after)), ...cutOffsBy(consumers)]
  const steps = stepsOf(
    changes,
    consumers,
    merged,
    moves.some(isVariant) ? config.variantLabelKey : undefined,
  )
  const judgements = moves.flatMap(({ binding }) => input.after.settled.judgements.get(binding.key) ?? [])
  return {
    kind: 'MigrateReport',
    ...reported(
      async () => (await import('./schema.ts')).migrateReportSchema,
      () => ({
        registrations: [],
        fromGo: moves.map((one) => ({
          ...one,
          binding: one.binding.key,
          oldID: one.oldId,
          newID: one.newId,
          consumers: consumers.edits.filter(({ oldId, newId }) => oldId === one.oldId && newId === one.newId),
        })),
        cutOffs,
        steps,
      }),
    ),
    findings: [],
    judged: { count: moves.length, what: 'binding' },
    causes: causesOf(input, {
      judgements,
      bindings: new Set(moves.map(({ binding }) => binding.key)),
      further: [...openCutOffs(cutOffs), ...moves.flatMap(openId)],
    }),
    names: () => namedBindings(moves.map(({ binding }) => binding)),
    answer: () => {
      const refused = moves.filter(({ newId }) => newId === undefined).length
      const changed = moves.filter(isAnother).length
      return {
        mark: refused + cutOffs.length + merged.length > 0 ? 'warn' : 'note',
        text: [
          span(
            `${counted(moves.length, 'binding')}: ${changed} with another ID here, ${refused} without one`,
            'bold',
          ),
        ],
        reasons: [...merged.map((text) => [text]), ...cutOffLines(cutOffs)],
      }
    },
    view: (layout) => [...moves.flatMap((one) => viewMove(one, layout)), ...viewSteps(steps, layout)],
  }
}

function viewMove({ binding, oldId, newId, verdict }: GoMove, { width }: Layout): Block {
  const row = (text: string): Block => wrap(line(`  ${text}`), width, 4)
  return [
    line(
      newId === undefined ? MARKS.warn : MARKS.note,
      ' ',
      span(binding.key, 'bold'),
      `  ${newId === undefined ? '' : verdict}`,
    ),
    ...(newId === undefined ? row(verdict) : []),
    ...row(`there: ${oldId ?? `not known: ${NO_OLD_ID}`}`),
    ...row(`here:  ${newId ?? 'none'}`),
  ]
}

/** `key`: the label that tells variants apart here; undefined: there are none, or it is not known. */
function stepsOf(
  changes: readonly GoChange[],
  consumers: GoConsumers,
  merged: readonly string[],
  key: string | undefined,
): readonly MigrationStep[] {
  return present(
    key !== undefined &&
      key !== DEFAULT_VARIANT_LABEL_KEY && {
        title: 'Label the pods for this install',
        lines: [
          `there the label ${DEFAULT_VARIANT_LABEL_KEY} tells variants apart, and here ${key} (${VARIANT_LABEL_KEY_FLAG})`,
          'give each pod template both labels, with one value: a pod without the label of here gets no identity here',
        ],
      },
    {
      title: 'Let consumers accept both IDs',
      lines: [...acceptLines(changes.filter(isToAnother), consumers), ...merged],
    },
    {
      title: 'Delete the bindings while the other operator runs',
      lines: [
        'keep their manifests before: they are applied again below, and nothing else holds them',
        'it takes off its finalizer and its ClusterSPIFFEIDs; from here on the pods hold no identity of a binding',
      ],
    },
    {
      title: 'Remove the other operator and its CRD',
      lines: [
        'two operators would fight over the same objects: the chart is refused while the CRD is theirs',
      ],
    },
    {
      title: 'Install this operator, and apply the bindings as they are',
      lines: ['wait until kubectl get iib says Ready and in force for each'],
    },
    {
      title: 'Take the IDs of there out of what names them',
      lines: ['when every pod holds the ID of here: kubectl kleym who-selects SPIFFE-ID'],
    },
  )
}
