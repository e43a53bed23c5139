// The first lines of `who-selects`: how many containers hold how many identities, or who holds the one that was asked for.
import { present } from '@kleym/shared/core/base/present.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import type { WhoHolds } from '@kleym/shared/core/analysis/index.ts'
import { isPossible } from '@kleym/shared/core/predict/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { span, type Piece } from '../../text/line.ts'
import { SEVERAL_WHY } from '../parts/container-states.ts'
import {
  commonOf,
  holdingOf,
  holdingTexts,
  markOfStates,
  nearestOf,
  NOT_ISSUED,
  NOTHING_IN_COMMON,
  stateOf,
  worstHolding,
  type Common,
  type CommonRegistration,
  type Holding,
} from '../parts/holdings.ts'
import type { ContainerAnswer, PodAnswer, ShownRegistration } from '../parts/pod-answers.ts'
import { originText, readable, type WhoSelectsLayout } from './registration-text.ts'

/** The answer about the containers of some pods. */
export function containersAnswer(answers: readonly PodAnswer[], layout: WhoSelectsLayout): Answer {
  const containers = answers.flatMap((answer) => answer.containers)
  const [only] = containers
  if (only === undefined) return { mark: 'note', text: ['no container is in scope'] }
  if (containers.length === 1 && answers[0] !== undefined) return oneContainer(answers[0], only, layout)
  const common = commonOf(answers)
  const holdings = containers.map((one) => holdingOf(one, common, layout.unsettled))
  const states = containers.map((one, at) => stateOf(one, holdings[at] ?? 'none', layout.bindings))
  const open = [...common.values()].filter(({ one }) => isPossible(one))
  const [pod, ...others] = answers
  const who = pod === undefined || others.length > 0 ? '' : `${podText(pod.pod)}: `
  const [lead, ...rest] = holdingTexts(holdings, open.length > 0)
  return {
    mark: markOfStates(states, open.length > 0 || holdings.includes('some')),
    ...leadingWith([`${who}${lead}`, ...rest, ...openForAll(open)], ...reasonsOf(answers, common, layout)),
  }
}

/** What may come on top for every container. */
function openForAll(open: readonly CommonRegistration[]): readonly string[] {
  const [first, ...others] = open
  if (first === undefined) return []
  const whom = open.every(({ except }) => except.length === 0) ? 'for all' : 'for nearly all'
  return others.length === 0
    ? [`${first.one.spiffeId ?? 'one more identity'} undetermined ${whom}`]
    : [`${open.length} more identities undetermined ${whom}`]
}

/** The reasons of the containers in the worst state, where all of them have the same. */
function reasonsOf(
  answers: readonly PodAnswer[],
  common: Common,
  layout: WhoSelectsLayout,
): NonNullable<Answer['reasons']> {
  const containers = answers.flatMap((answer) => answer.containers)
  // Of many pods, the refused bindings are not asked for each.
  const pod = answers.length === 1 ? answers[0]?.pod : undefined
  const holdings = containers.map((one) => holdingOf(one, common, layout.unsettled))
  const worst = worstHolding(holdings)
  if (worst === undefined || worst === 'one') return []
  const whys = containers
    .filter((_, at) => holdings[at] === worst)
    .map((one) => whyTexts(one, worst, layout, pod))
  const [first] = whys
  const isShared = new Set(whys.map((texts) => JSON.stringify(texts))).size === 1
  return first === undefined || !isShared ? [] : first.map((text) => [text])
}

function oneContainer(answer: PodAnswer, one: ContainerAnswer, layout: WhoSelectsLayout): Answer {
  const holding = holdingOf(one, NOTHING_IN_COMMON, layout.unsettled)
  const ids = [
    ...new Set(
      one.registrations.filter(({ verdict }) => verdict === 'issued').map(({ spiffeId }) => spiffeId ?? ''),
    ),
  ]
  const who: readonly Piece[] = [span(podText(answer.pod), 'bold'), `, container ${one.container.name}, `]
  const says: Readonly<Record<Holding, string>> = {
    one: `holds ${ids.join(', ')}`,
    some: `holds ${ids.join(', ')}, and perhaps more`,
    several: `holds ${ids.length} identities`,
    none: `holds no identity${layout.world ?? ''}`,
    pending: 'holds no identity yet',
    undetermined: `undetermined: it may hold ${candidatesText(one.registrations)}, or none`,
  }
  return {
    mark: markOfStates([stateOf(one, holding, layout.bindings)], holding === 'some'),
    text: [...who, says[holding]],
    ...(holding === 'one'
      ? {}
      : { reasons: whyTexts(one, holding, layout, answer.pod).map((text) => [text]) }),
  }
}

/** The identities that a container may get. */
function candidatesText(registrations: readonly ShownRegistration[]): string {
  const open = registrations.filter(isPossible)
  const ids = [...new Set(open.flatMap(({ spiffeId }) => spiffeId ?? []))]
  const isUnknown = ids.length === 0 || open.some(({ spiffeId }) => spiffeId === undefined)
  return [...ids, ...(isUnknown ? ['an unknown identity'] : [])].join(' or ')
}

/** Why a container holds what it holds: of several registrations of a kind the nearest to one that is issued. */
function whyTexts(
  { container, registrations, notRead, undecided }: ContainerAnswer,
  holding: Holding,
  layout: WhoSelectsLayout,
  pod: Pod | undefined,
): readonly string[] {
  const nearest = (wanted: readonly ShownRegistration['verdict'][]): readonly string[] => {
    const first = nearestOf(registrations, wanted, layout.bindings)
    return first === undefined ? [] : [whyText(first, layout)]
  }
  const gap =
    notRead === undefined
      ? []
      : [undecided.length > 0 ? notRead : 'a registration that could not be read may give it another']
  const settings = layout.unsettled === true ? ['some settings are unknown'] : []
  switch (holding) {
    case 'several':
      return [SEVERAL_WHY]
    case 'pending':
      return nearest(['pending'])
    case 'none': {
      const refused = pod === undefined ? [] : layout.refusedFor(pod, container.name)
      const why = [...nearest(NOT_ISSUED), ...refused]
      return why.length > 0 ? why : ['no registration selects the pod']
    }
    case 'undetermined': {
      const open = [...nearest(['depends', 'unknown']), ...gap]
      return [...nearest(NOT_ISSUED), ...(open.length > 0 ? open : settings)]
    }
    case 'some':
    case 'one': {
      const open = [...nearest(['depends', 'unknown']), ...gap]
      return open.length > 0 ? open : nearest(['pending'])
    }
  }
}

function whyText(one: ShownRegistration, layout: WhoSelectsLayout): string {
  const selector = one.selector === undefined ? '' : `${one.selector} does not match: `
  const said = one.verdict === 'dead' ? selector : ''
  return `${originText(one, layout)} ${VERDICT_WORDS[one.verdict]}: ${said}${readable(one.why ?? '', layout)}`
}

const VERDICT_WORDS: Readonly<Record<ShownRegistration['verdict'], string>> = {
  issued: 'gives one',
  dead: 'does not reach it',
  masked: 'is masked',
  displaced: 'is displaced',
  ignored: 'is ignored',
  failed: 'fails to render',
  refused: 'is refused by the SPIRE server',
  depends: 'may give one',
  unknown: 'may give one',
  pending: 'is not written yet',
}

/** The answer to `--spiffe-id`; `lookup`: who holds the ID, in scope or out of it. */
export function holdersAnswer(
  answers: readonly PodAnswer[],
  spiffeId: string,
  layout: WhoSelectsLayout,
  lookup: WhoHolds | undefined,
): Answer {
  const containers = answers.flatMap((answer) => answer.containers)
  const isAdded = containers.some(({ container }) => container.injectedBy !== undefined)
  const all = containers.flatMap(({ container, registrations }) =>
    container.injectedBy === undefined ? [registrations] : [],
  )
  const holds = all.filter((list) => list.some(({ verdict }) => verdict === 'issued')).length
  const pending = all.filter(
    (list) =>
      list.every(({ verdict }) => verdict !== 'issued') && list.some(({ verdict }) => verdict === 'pending'),
  ).length
  const open = all.length - holds - pending
  const id = span(spiffeId, 'bold')
  const parts = present(
    holds > 0 && `${counted(holds, 'container')} ${holds === 1 ? 'holds' : 'hold'} it`,
    pending > 0 && `${counted(pending, 'container')} will, once kleym has written its ClusterSPIFFEID`,
    open > 0 && `${open === 1 && holds + pending === 0 ? '1 container' : open} undetermined`,
  )
  const added = isAdded ? ', and so may any container that a webhook adds' : ''
  if (holds > 0) {
    const mark = open + pending > 0 || isAdded ? 'warn' : 'ok'
    return { mark, text: [id, `: ${parts.join(', ')}${added}`] }
  }
  const isDoubted = isOpenLookup(lookup) || layout.incomplete === true || layout.unsettled === true
  const { container } = layout.filter
  const elsewhere = lookup?.resolution.state === 'resolved' ? 'container in scope' : 'container'
  const none = `no ${container === undefined ? elsewhere : `container ${container}`} ${isDoubted || isAdded || open > 0 ? 'is known to hold' : 'holds'} it`
  const where = pending > 0 ? '' : (layout.world ?? '')
  return {
    mark: parts.length > 0 || isAdded || isDoubted ? 'warn' : 'note',
    text: [
      id,
      `: ${[pending > 0 && open === 0 ? `${none} yet` : none, ...parts, ...(isAdded ? ['any that a webhook adds may'] : [])].join('; ')}${where}`,
    ],
  }
}

/** A template that may render the ID for a future pod gives it to no existing pod. */
function isOpenLookup(lookup: WhoHolds | undefined): boolean {
  return lookup?.resolution.state === 'unknown' && lookup.resolution.because !== 'template'
}
