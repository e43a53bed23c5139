// How `who-selects` looks: one block per pod, one row per container with the identity it is issued, and below it every
// other registration with the reason why not. Containers that nothing tells apart share one row.
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { Container, Pod } from '@kleym/shared/core/objects/pod.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import { podText, PodCount } from '@kleym/shared/core/objects/pod-index.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { WhoHolds } from '@kleym/shared/core/policies/who-holds.ts'
import type { Layout } from '../../text/layout.ts'
import {
  undecidedText,
  type ContainerAnswer,
  type ContainerFilter,
  type PodAnswer,
  type ShownRegistration,
} from './model.ts'
import { viewFinding } from '../../text/findings.ts'
import { BLANK, line, MARKS, span, type Block, type Line, type Mark } from '../../text/line.ts'
import { displayWidth } from '../../text/width.ts'
import { namedIdRows, type NamedIds } from '../policies/named-by.ts'
import { namesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'

/** What the view shows beside the pods. */
export interface WhoSelectsLayout extends Layout {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
  readonly filter: ContainerFilter
  /** Who names the identities; undefined where there are no policies to speak of. */
  readonly named: NamedIds | undefined
  /** What becomes of the ID of `--spiffe-id` in all that there is. */
  readonly lookup: WhoHolds | undefined
  /** What kleym has yet to do about an output, by its name. */
  readonly pending: ReadonlyMap<string, string>
  /** How many pods that exist carry the labels of a template. */
  readonly running: (pod: Pod) => number
}

/** The whole view. */
export function viewWhoSelects(answers: readonly PodAnswer[], layout: WhoSelectsLayout): Block {
  const findings = layout.findings
    .filter(({ severity }) => severity === 'error')
    .flatMap((one) => [BLANK, ...viewFinding(one, layout)])
  if (answers.length === 0) {
    const mark = layout.incomplete === true ? MARKS.warn : MARKS.note
    const named = layout.filter.spiffeId === undefined ? [] : viewNamed(layout)
    const head = wrap(line(mark, ` ${emptyText(layout)}`), { width: layout.width, hang: 2 })
    return [...head, ...viewLookup(layout), ...named, ...findings]
  }
  const alike = [...Map.groupBy(answers, (answer) => signature(answer, layout)).values()]
  return [
    ...alike.flatMap((group, at) => [...(at === 0 ? [] : [BLANK]), ...viewAlike(group, layout)]),
    ...viewNamed(layout),
    ...findings,
  ]
}

/** Where nobody in scope holds an ID: what gives it, who holds it elsewhere, or what is nearly it. */
function viewLookup({ lookup, filter, width }: WhoSelectsLayout): Block {
  if (lookup === undefined) return []
  const { resolution, near } = lookup
  const isElsewhere = resolution.state === 'resolved' && filter.container === undefined
  const rows = [
    `${isElsewhere ? 'out of scope, ' : ''}${resolution.text}`,
    ...(near.length === 0 ? [] : [`did you mean ${near.join(' or ')}?`]),
  ]
  return rows.flatMap((row) => wrap(line(`  ${row}`), { width, hang: 4 }))
}

function viewNamed({ named, wide, width }: WhoSelectsLayout): Block {
  if (named === undefined) return []
  const rows = namedIdRows(named, { wide })
  return [
    BLANK,
    line(span('Named by access policies', 'bold')),
    ...rows.flatMap((row) => wrap(line(`  ${row}`), { width, hang: 4 })),
  ]
}

/** A template that may render the ID for a pod that is not there gives it to none of those that are. */
function isUnknown(lookup: WhoHolds | undefined): boolean {
  return lookup?.resolution.state === 'unknown' && lookup.resolution.because !== 'template'
}

function emptyText({ filter, incomplete, unsettled, lookup, world = '' }: WhoSelectsLayout): string {
  const { spiffeId, container } = filter
  const isOpen = incomplete === true || unsettled === true || isUnknown(lookup)
  if (spiffeId !== undefined)
    return `no container ${isOpen ? 'is known to' : 'would'} hold ${spiffeId}${world}`
  const known = incomplete === true ? 'known to be ' : ''
  return container === undefined
    ? `no pod is ${known}in scope`
    : `no pod ${known}in scope has a container ${container}`
}

/** Pods of which everything shown is the same are shown once. */
function signature(answer: PodAnswer, layout: WhoSelectsLayout): string {
  if (layout.wide) return podText(answer.pod)
  return JSON.stringify([
    answer.pod.namespace,
    answer.pod.ref.kind,
    answer.pod.serviceAccountName,
    containerRows(answer, layout),
  ])
}

function viewAlike(group: readonly PodAnswer[], layout: WhoSelectsLayout): Block {
  const [first] = group
  if (first === undefined) return []
  const head = wrap(
    podHead(
      group.map(({ pod }) => pod),
      layout,
    ),
    { width: layout.width, hang: 2 },
  )
  return [...head, BLANK, ...containerRows(first, layout)]
}

/** A template that is asked about may be that of pods that run. */
function notThereYet(running: number): string {
  if (running === 0) return ', not running yet'
  return running === 1 ? ', 1 pod with its labels is there' : `, ${running} pods with its labels are there`
}

function accountText({ serviceAccountName, perhaps }: Pod): string {
  if (perhaps?.knowsAccount === false) return 'service account not known'
  return `service account ${serviceAccountName === '' ? '(none)' : serviceAccountName}`
}

function podHead(pods: readonly Pod[], { running }: Pick<WhoSelectsLayout, 'running'>): Line {
  const [first] = pods
  if (first === undefined) return []
  const account = accountText(first)
  if (pods.length > 1) {
    const nodes = [...new Set(pods.flatMap(({ nodeName }) => nodeName ?? []))]
    const on =
      nodes.length === 0 ? '' : ` on ${nodes.length === 1 ? `node ${nodes[0]}` : `${nodes.length} nodes`}`
    return line(
      `${PodCount.of(pods).text()} in ${first.namespace}${on}, ${account}: `,
      span(namesText(pods.map(({ ref }) => ref.name)), 'bold'),
    )
  }
  const where = first.exists
    ? first.nodeName === undefined
      ? ', on no node yet'
      : ` on node ${first.nodeName}`
    : notThereYet(running(first))
  return line(span(podText(first), 'bold'), `${where}, ${account}`)
}

/** A title up to this width stands beside its registrations; if one is longer, all stand above them. */
const BESIDE_MAX = 14

/** The rows of all containers; one that reads the same as an earlier one says only that. */
function containerRows({ containers }: PodAnswer, layout: WhoSelectsLayout): Block {
  const widest = Math.max(...containers.map(({ container }) => displayWidth(containerTitle(container))))
  const column = widest <= BESIDE_MAX ? widest : undefined
  const seen = new Map<string, string>()
  return containers.flatMap((answer) => {
    const title = containerTitle(answer.container)
    const body = registrationRows(answer, layout)
    const key = JSON.stringify(body)
    const twin = seen.get(key)
    if (twin !== undefined && !layout.wide)
      return [line('  ', span(title, 'bold'), span(`: as ${twin}`, 'dim'))]
    seen.set(key, answer.container.name)
    return withTitle(title, body, column, layout)
  })
}

function containerTitle({ name, role }: Container): string {
  return role === 'regular' ? name : `(${role}) ${name}`
}

function withTitle(
  title: string,
  body: readonly Line[],
  column: number | undefined,
  { width }: Layout,
): Block {
  const at = column === undefined ? 4 : column + 4
  const rows = body.flatMap((row) => wrap(row, { width: width - at, hang: 4 })).map((row) => shift(row, at))
  if (column === undefined) return [line('  ', span(title, 'bold')), ...rows]
  const [first = [], ...rest] = rows
  return [
    [span('  '), span(title, 'bold'), span(' '.repeat(at - 2 - displayWidth(title))), ...first.slice(1)],
    ...rest,
  ]
}

function shift(row: Line, columns: number): Line {
  return [span(' '.repeat(columns)), ...row]
}

function registrationRows(
  { registrations, notRead, undecided }: ContainerAnswer,
  layout: WhoSelectsLayout,
): readonly Line[] {
  const issued = registrations.filter(({ verdict }) => verdict === 'issued')
  const others = registrations.filter(({ verdict }) => verdict !== 'issued')
  const isComing = others.some(({ verdict }) => verdict === 'pending')
  const open = others.some(({ verdict }) => verdict === 'depends' || verdict === 'unknown')
  const none =
    issued.length > 0 || layout.filter.spiffeId !== undefined
      ? []
      : [
          isComing
            ? line(MARKS.warn, ' no identity yet')
            : open || notRead !== undefined || layout.unsettled === true
              ? line(MARKS.warn, ' no certain identity')
              : line(MARKS.bad, ` no identity${layout.world ?? ''}`),
        ]
  const several =
    new Set(issued.map(({ spiffeId }) => spiffeId)).size > 1
      ? [line(MARKS.warn, ` ${issued.length} identities: which one a client gets first is not defined`)]
      : []
  return [
    ...none,
    ...issued.flatMap((one) => issuedRows(one, layout)),
    ...several,
    ...others.flatMap((one) => otherRows(one, layout)),
    ...undecidedRows(undecided),
  ]
}

function issuedRows(one: ShownRegistration, layout: WhoSelectsLayout): readonly Line[] {
  const hint =
    one.hint === ''
      ? ''
      : `, hint ${one.hint}${one.sharesHint ? ', which another identity here has too' : ''}`
  const pending = layout.pending.get(one.source.name)
  return [
    line(MARKS.ok, ' ', span(one.spiffeId ?? '', 'ok')),
    line(`    ${originText(one, layout)}${hint}`),
    ...(pending === undefined ? [] : [line('    ', span(pending, 'dim'))]),
  ]
}

/** More bindings than this are counted. */
const UNDECIDED_SHOWN = 3

function undecidedRows(undecided: ContainerAnswer['undecided']): readonly Line[] {
  const more = undecided.length - UNDECIDED_SHOWN
  return [
    ...undecided
      .slice(0, UNDECIDED_SHOWN)
      .map((one) => line(MARKS.warn, ` perhaps another identity: ${undecidedText(one)}`)),
    ...(more > 0 ? [line(`    and ${counted(more, 'more such binding')}`)] : []),
  ]
}

const VERDICT_MARKS: Readonly<Record<Exclude<ShownRegistration['verdict'], 'issued'>, Mark>> = {
  dead: 'note',
  masked: 'note',
  displaced: 'note',
  ignored: 'note',
  failed: 'warn',
  refused: 'bad',
  depends: 'warn',
  unknown: 'warn',
  pending: 'warn',
}

/** Why a registration is not issued: the ID, the verdict with its reason, and where it comes from unless the reason says so. */
function otherRows(one: ShownRegistration, layout: WhoSelectsLayout): readonly Line[] {
  if (one.verdict === 'issued') return []
  const origin = originText(one, layout)
  const selector = one.selector === undefined ? '' : `${one.selector}: `
  const why = `${selector}${readable(one.why ?? '', layout)}`
  const from = one.spiffeId === undefined || why.includes(origin) ? '' : ` (${origin})`
  return [
    line(MARKS[VERDICT_MARKS[one.verdict]], ` ${one.spiffeId ?? origin}`),
    line('    ', span(one.verdict, 'bold'), `: ${why}${from}`),
  ]
}

/** A reason names objects; an output of ours is better known by its binding. */
function readable(why: string, { bindings, wide }: WhoSelectsLayout): string {
  if (wide) return why
  return why.replaceAll(/ClusterSPIFFEID\/([a-z0-9.-]+)/g, (whole, name: string) => {
    const binding = bindings.get(name)
    return binding === undefined ? whole : `InferenceIdentityBinding ${binding}`
  })
}

/** `InferenceIdentityBinding/chat` for an output of ours, the object itself for others. */
function originText({ source }: ShownRegistration, { bindings, wide }: WhoSelectsLayout): string {
  const binding = source.kind === 'ClusterSPIFFEID' ? bindings.get(source.name) : undefined
  if (binding === undefined) return sourceText(source)
  return wide
    ? `InferenceIdentityBinding ${binding} through ${sourceText(source)}`
    : `InferenceIdentityBinding ${binding}`
}
