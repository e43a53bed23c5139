// The report of `why`: the chains of the containers that are asked about, and where the worst of them ends.
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Chain, Hop } from '@kleym/shared/core/answers/index.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { missingRbacRules } from '../../cluster/rbac.ts'
import { causesOf, missingOf, type Cause } from '../../frame/causes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { namedPods } from '../../output/name.ts'
import type { Answer } from '../../text/answer.ts'
import { unreadIn } from '../parts/unread-hops.ts'
import { viewWhy } from './view.ts'

/** Makes the report. */
export function whyFrame(chains: readonly Chain[], input: AnswerInput): Frame {
  const [worst] = chains
  const firstLine = worst === undefined ? undefined : chainText(worst)
  const isOpen = worst !== undefined && worst.broken === undefined && worst.open !== undefined
  const causes: readonly Cause[] = isOpen
    ? [...unread(worst, input), { leaves: 'a difference', text: chainText(worst) }]
    : []
  return {
    kind: 'WhyReport',
    ...reported(
      async () => (await import('./schema.ts')).whyReportSchema,
      () => ({ chains }),
    ),
    findings: [],
    judged: { count: chains.length, what: 'container' },
    causes,
    ...(worst?.broken !== undefined && firstLine !== undefined && { differences: [firstLine] }),
    names: () => namedPods(chains.map(({ subject }) => subject.pod)),
    answer: () => answerOf(chains, missingOf(causes)),
    view: (layout) => viewWhy(chains, layout),
  }
}

/** What could not be read, and keeps hops from being known: by their own causes, and what the prediction lacks. */
function unread({ hops, subject }: Chain, input: AnswerInput): readonly Cause[] {
  // Which settings it depends on is in the hops too.
  return causesOf(input, { pods: new Set([subject.pod]), unread: unreadIn(hops) }).filter(
    ({ leaves }) => leaves === 'anything',
  )
}

function answerOf(chains: readonly Chain[], missing: readonly UnknownReason[]): Answer {
  const [worst, ...others] = chains
  if (worst === undefined) return { mark: 'note', text: ['no container is in scope'] }
  const alike = others.filter((one) => one.broken !== undefined || one.open !== undefined).length
  const more = alike === 0 ? [] : [[`${counted(alike, 'more container')} below`]]
  const fix = fixOf(worst)
  const isGood = worst.broken === undefined && worst.open === undefined
  return {
    mark: isGood ? 'ok' : 'warn',
    text: [endText(worst)],
    reasons: [
      ...(fix === undefined ? [] : [[`fix: ${fix}`]]),
      ...missingRbacRules(missing).map((rule) => [rule]),
      ...more,
    ],
  }
}

/** One sentence: where the way ends, why, and what to do. */
export function chainText(chain: Chain): string {
  const fix = fixOf(chain)
  return `${endText(chain)}${fix === undefined ? '' : `; fix: ${fix}`}`
}

function fixOf({ broken, open }: Chain): string | undefined {
  return (broken ?? open)?.fix
}

/** Where the way ends, and why. */
function endText({ subject, registrations, hops, broken, open }: Chain): string {
  const { pod, container } = subject
  const who = `container ${container.name} of ${podText(pod)}`
  if (broken !== undefined) return `${who}: broken at ${placeOf(broken, hops)}: ${broken.text}`
  if (open !== undefined) return `${who}: not known at ${placeOf(open, hops)}: ${open.text}`
  const ids = new Set(registrations.map(({ spiffeId }) => spiffeId))
  return `${who} holds ${[...ids].join(' and ')}: all ${hops.length} hops are good`
}

/** `hop 4, on the server`. */
function placeOf(hop: Hop, hops: readonly Hop[]): string {
  return `hop ${hops.indexOf(hop) + 1}, ${hop.name}`
}
