// The answer of `kubectl kleym map`.
import type { CommonOptions } from '../../flags/options.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { DRAWN_REGISTRATIONS } from '../../gather/answer-limits.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { WHOM_ALL_NAME } from '../../gather/question.ts'
import { finish } from '../../frame/finish.ts'
import { framedUnderPremises } from '../../frame/premises.ts'
import { gatherSides } from '../parts/base.ts'
import { choosePods } from '../parts/choose-pods.ts'
import { podAnswers, type ContainerFilter } from '../parts/pod-answers.ts'
import { requireSpiffeId } from '../parts/spiffe-id.ts'
import type { MapSide } from './build.ts'
import { mapFrame } from './frame.ts'

/** Draws who holds what. */
export async function run(options: MapOptions, context: CommandContext): Promise<CommandResult> {
  const { allNamespaces, spiffeId, selector, compare, output } = options
  requireSpiffeId(spiffeId, options.settings.trustDomain)
  const question = {
    allNamespaces,
    named: [undefined],
    ...WHOM_ALL_NAME,
  }
  const scopeOf = (input: AnswerInput): Parameters<typeof mapFrame>[1]['scope'] => ({
    namespace: input.namespaceInForce,
    isChosen: selector !== undefined,
    spiffeId,
  })
  if (compare.length > 0) {
    const input = await gatherSides({ ...options, base: compare }, question, context, '--compare')
    const base = input.base === undefined ? undefined : sideOf(input.base, options)
    const frame = mapFrame(sideOf(input, options), { scope: scopeOf(input), base, unread: input.unread })
    return finish(frame, input, output, context)
  }
  const input = await gather(options, question, context)
  const { frame, input: judged } = framedUnderPremises(
    input,
    { strict: output.strict === true || spiffeId !== undefined },
    (one) => ({
      frame: mapFrame(sideOf(one, options), { scope: scopeOf(one), base: undefined, unread: undefined }),
      input: one,
    }),
    choosePods(input, { ...options, target: undefined }),
  )
  return finish(frame, judged, output, context)
}

/** What `who-selects` says of the pods in scope. One without a container is drawn too, unless a SPIFFE ID is asked for. */
function sideOf(input: AnswerInput, { allNamespaces, selector, spiffeId, output }: MapOptions): MapSide {
  const pods = choosePods(input, { target: undefined, selector, allNamespaces, output })
  const filter: ContainerFilter = {
    container: undefined,
    spiffeId,
    isLiveState: input.isLive && input.before === input.after,
    limit: DRAWN_REGISTRATIONS,
  }
  const answers = input.drive(podAnswers(input.after, pods, filter), 'little')
  const answered = new Set(answers.map(({ pod }) => pod))
  const bare = spiffeId === undefined ? pods.filter((pod) => !answered.has(pod)) : []
  return { input, answers: [...answers, ...bare.map((pod) => ({ pod, containers: [] }))] }
}

/** What `map` is asked. */
export interface MapOptions extends CommonOptions {
  /** A label selector as written. */
  readonly selector: string | undefined
  /** Only what has to do with this ID. */
  readonly spiffeId: string | undefined
  /** The files and folders of the desired state that the files of `-f` are compared with; none: nothing is compared. */
  readonly compare: readonly string[]
}
