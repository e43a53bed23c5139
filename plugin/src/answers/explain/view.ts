// How `explain` looks: the answer, the reason, the fix, then the derivation. Refused bindings come first; of a
// binding that was not asked for by name, only the answer is shown.
import type { Explanation } from '@kleym/shared/core/explain/explanation.ts'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { Judgement } from '@kleym/shared/core/plan/plan.ts'
import { judgementWord } from '@kleym/shared/core/plan/judgement-text.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import { shortPodText } from '@kleym/shared/core/objects/pod-index.ts'
import { codeOfReason, findingEntry } from '@kleym/shared/core/registry/findings.ts'
import { viewFinding, viewFindingUnder } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Line } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'
import {
  reachRows,
  viewDerivation,
  viewNamedBy,
  viewSteps,
  type DerivationLayout,
} from './derivation-view.ts'

/** What the view shows beside the explanations. */
export interface ExplainLayout extends DerivationLayout {
  /** The findings that name a binding, by its key. */
  readonly findingsByBinding: ReadonlyMap<string, readonly Finding[]>
  /** The findings that stop all registrations of the cluster, those of ready bindings too. */
  readonly clusterWide: readonly Finding[]
  /** Whether the bindings were asked for by name. */
  readonly named: boolean
  /** What is said where no binding is in scope: `no binding is in scope; 3 bindings were found`. */
  readonly scopeText: string
}

/** All explanations, worst first, with a line that counts them where there are several. */
export function viewExplanations(explanations: readonly Explanation[], layout: ExplainLayout): Block {
  if (explanations.length === 0) {
    const mark = layout.incomplete === true ? MARKS.warn : MARKS.note
    return [
      ...layout.clusterWide.flatMap((one) => [...viewFinding(one, layout), BLANK]),
      line(mark, ` ${layout.scopeText}`),
    ]
  }
  const inFull = layout.named || layout.wide || explanations.length === 1
  const sorted = explanations.toSorted((a, b) => RANK[a.judgement.state] - RANK[b.judgement.state])
  const head = explanations.length === 1 ? [] : [...summary(explanations), BLANK]
  const hint = inFull
    ? []
    : [
        BLANK,
        ...wrap(
          line(span('The derivation of one: kubectl kleym explain NAMESPACE/NAME, of all: -o wide', 'dim')),
          { width: layout.width, hang: 0 },
        ),
      ]
  const blocks = sorted.map((one) => viewExplanation(one, layout, inFull))
  const stop = layout.clusterWide.flatMap((one) => [...viewFinding(one, layout), BLANK])
  return [...stop, ...head, ...blocks.flatMap((block, at) => (at === 0 ? block : [BLANK, ...block])), ...hint]
}

type BindingState = Judgement['state']
const RANK: Readonly<Record<BindingState, number>> = {
  refused: 0,
  undetermined: 1,
  waiting: 1,
  deleting: 2,
  ready: 3,
}

function summary(explanations: readonly Explanation[]): Block {
  const counts = new Map<BindingState, number>()
  for (const { judgement } of explanations)
    counts.set(judgement.state, (counts.get(judgement.state) ?? 0) + 1)
  const states: readonly BindingState[] = ['refused', 'undetermined', 'waiting', 'deleting', 'ready']
  const parts = states.flatMap((state) =>
    counts.has(state) ? [`${counts.get(state)} ${judgementWord(state)}`] : [],
  )
  return [line(span(`${counted(explanations.length, 'binding')}: ${parts.join(', ')}`, 'bold'))]
}

function viewExplanation(one: Explanation, layout: ExplainLayout, inFull: boolean): Block {
  const about = layout.findingsByBinding.get(one.key) ?? []
  switch (one.judgement.state) {
    case 'refused':
      return viewRefused(one, about, layout, inFull)
    case 'undetermined':
    case 'waiting':
      return viewUndetermined(one, about, layout, inFull)
    case 'deleting':
      return heading(
        line(MARKS.note, ' ', span(one.key, 'bold'), ' is being deleted; its registrations go with it'),
        layout,
      )
    case 'ready':
      return viewReady(one, about, layout, inFull)
  }
}

function viewRefused(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const { verdict } = one
  const code = verdict === undefined ? undefined : codeOfReason(verdict.reason)
  if (verdict === undefined || code === undefined) return []
  const entry = findingEntry(code)
  const own = about.find((finding) => finding.code === code)
  return [
    ...heading(
      line(MARKS.bad, ' ', span(one.key, 'bold'), ` is refused: ${entry.title} (${verdict.reason})`),
      layout,
    ),
    ...paragraph(verdict.message, layout),
    ...peerLines(one, layout),
    ...paragraph(`fix: ${own?.fix ?? entry.fix}`, layout),
    ...one.withdrawn.flatMap(({ name }) => paragraph(`ClusterSPIFFEID/${name} is withdrawn`, layout)),
    ...(inFull
      ? [more(code), BLANK, ...viewSteps(one.steps, layout), ...viewNamedBy(one, layout)]
      : [more(code)]),
  ]
}

function viewUndetermined(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const { verdict } = one
  const code = verdict === undefined ? undefined : codeOfReason(verdict.reason)
  if (verdict === undefined || code === undefined) return []
  return [
    ...heading(
      line(
        MARKS.warn,
        ' ',
        span(one.key, 'bold'),
        ` is ${judgementWord(one.judgement.state)} (${verdict.reason})`,
      ),
      layout,
    ),
    ...paragraph(verdict.message, layout),
    ...paragraph(
      `fix: ${about.find((finding) => finding.code === code)?.fix ?? findingEntry(code).fix}`,
      layout,
    ),
    ...(one.afterwards?.ready === 'True' ? paragraph('afterwards it is ready', layout) : []),
    ...(inFull
      ? [more(code), BLANK, ...viewSteps(one.steps, layout), ...viewNamedBy(one, layout)]
      : [more(code)]),
  ]
}

function viewReady(
  one: Explanation,
  about: readonly Finding[],
  layout: ExplainLayout,
  inFull: boolean,
): Block {
  const containers = one.reach?.reached.reduce((sum, reached) => sum + reached.containers.length, 0) ?? 0
  const pending = isOffline(layout) ? undefined : pendingText(one)
  const who =
    containers > 0 && pending !== undefined
      ? `${counted(containers, 'container')} will get, once ${pending},`
      : containers > 0
        ? `${counted(containers, 'container')} ${containers === 1 ? 'gets' : 'get'}${layout.unsettled === true ? ' as assumed' : ''}`
        : one.podsUnknown !== undefined
          ? 'but which containers it reaches is unknown:'
          : one.reach !== undefined && one.reach.perhaps.length > 0
            ? 'but whether it reaches a container is undetermined:'
            : `but reaches no container${isOffline(layout) ? ' among these files' : ''}:`
  const why =
    containers > 0 || inFull || one.reach === undefined
      ? []
      : reachRows(one.reach, one.podsUnknown).filter(([label]) => label !== 'reaches' && label !== 'pods')
  return [
    ...heading(
      line(
        containers === 0 || pending !== undefined ? MARKS.warn : MARKS.ok,
        ' ',
        span(one.key, 'bold'),
        ` is ready${containers === 0 ? ',' : ':'} ${who}`,
      ),
      layout,
    ),
    line(`  ${one.identity?.spiffeId ?? ''}`),
    ...about.flatMap((finding) => viewFindingUnder(finding, layout)),
    ...(about.length > 0 ? [] : table(why, { width: layout.width, indent: 4 })),
    ...(inFull ? [BLANK, ...viewDerivation(one, layout)] : []),
  ]
}

/** What kleym has yet to write in a cluster: until then the identity is not there, or is another one. */
function pendingText({ output }: Explanation): string | undefined {
  if (output === undefined || output.state === 'in step') return undefined
  return `kleym has ${output.state === 'to be created' ? 'created' : 'updated'} its ClusterSPIFFEID`
}

/** Whether files are all there is. */
function isOffline({ world = '' }: Layout): boolean {
  return world !== ''
}

/** Every peer with its proof and witness; a person wants the name first. */
function peerLines(one: Explanation, layout: ExplainLayout): Block {
  const shown = layout.wide || layout.named ? one.peers : one.peers.slice(0, 3)
  const lines = shown.flatMap(({ binding, relation, proof, witness }) => {
    const seen = witness === undefined ? 'no such pod exists now' : `for example ${shortPodText(witness)}`
    return wrap(line('  ', MARKS.note, ` ${binding} (${relation}): ${proof}; ${seen}`), {
      width: layout.width,
      hang: 4,
    })
  })
  const rest = one.peers.length - shown.length
  return rest > 0 ? [...lines, line(`  and ${counted(rest, 'more peer')}`)] : lines
}

/** The first line of a binding: names can be longer than a line. */
function heading(text: Line, { width }: Layout): Block {
  return wrap(text, { width, hang: 2 })
}

function paragraph(text: string, { width }: Layout): Block {
  return wrap(line(`  ${text}`), { width, hang: 2 })
}

function more(code: string): Line {
  return line(span(`  ${code}, more: kubectl kleym explain ${code}`, 'dim'))
}
