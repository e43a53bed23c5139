// How `suggest` looks: what there is to apply, then a block for each pool, then what is new to know about.
import { present } from '@kleym/shared/core/base/present.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import {
  suggestedText,
  type PoolSuggestions,
  type SuggestedRegistrations,
  type SuggestedBinding,
  type Suggestions,
  type NotSuggested,
  manifestsBefore,
} from '@kleym/shared/core/answers/index.ts'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { ObjectName } from '../../sources/kind-name.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { kindsText } from '../../text/findings.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'
import { changeLines, notText } from './words.ts'

/** The first lines. */
export function suggestAnswer(
  { pools }: Suggestions,
  targets: readonly ObjectName[],
  findings: readonly Finding[],
  layout: Layout,
): Answer {
  const known = layout.incomplete === true ? 'known to be ' : ''
  if (pools.length === 0) {
    const what = targets.map(({ kind, name }) => `${kind} ${name}`)
    const text =
      what.length === 0
        ? `no InferencePool is ${known}in scope${layout.world ?? ''}`
        : `no InferencePool is ${known}there that selects ${namesText(what)}${layout.world ?? ''}`
    return { mark: 'note', text: [text] }
  }
  const suggested = pools.flatMap((one) => one.suggested)
  const registrations = pools.flatMap((one) =>
    one.registrations.flatMap(({ candidate }) => manifestsBefore(candidate)),
  )
  const without = pools.filter((one) => one.suggested.length === 0 && one.existing.length === 0)
  const done = pools.filter((one) => one.suggested.length === 0 && one.existing.length > 0)
  const given = pools.filter((one) => one.suggested.length > 0)
  const refused = pools.flatMap(({ existing }) => existing.filter(({ fix }) => fix !== undefined))
  const besides = counted(registrations.length, 'ClusterSPIFFEID')
  const isAny = suggested.length + registrations.length > 0
  const all = counted(pools.length, 'pool')
  const ofPools = given.length === pools.length ? all : `${given.length} of ${all}`
  const facts = present(
    registrations.length > 0 && `${besides} suggested beside bindings that are there`,
    suggested.length > 0 && `${counted(suggested.length, 'binding')} suggested for ${ofPools}`,
    without.length > 0 && noneText(without),
    refused.length > 0 &&
      `${counted(refused.length, 'existing binding')} ${refused.length === 1 ? 'is' : 'are'} refused`,
    done.length > 0 && `${counted(done.length, 'pool')} ${done.length === 1 ? 'has' : 'have'} one already`,
  )
  const parts = isAny
    ? facts
    : facts.map((text, at) => (at === 0 ? `no binding is suggested: ${text}` : text))
  const notable = findings.filter(({ severity }) => severity !== 'info')
  return {
    mark: markOf(without.length + refused.length > 0, isAny),
    ...leadingWith(
      parts,
      ...(notable.length === 0 || !isAny ? [] : [[`${WITH_THEM}: ${kindsText(notable)}`]]),
      ...(isAny
        ? [
            [
              `apply them: kubectl kleym suggest${scopeText(targets, pools)}${layout.echo ?? ''} -o yaml | kubectl apply -f -`,
            ],
          ]
        : []),
    ),
  }
}

/** What stands before the findings that the bindings would bring. */
const WITH_THEM = 'look at what they would bring'

function scopeText(targets: readonly ObjectName[], pools: readonly PoolSuggestions[]): string {
  const namespaces = new Set(pools.map(({ pool }) => pool.namespace))
  const [only] = namespaces.size === 1 ? namespaces : []
  const place = only === undefined ? '' : ` -n ${only}`
  if (targets.length === 0) return place === '' ? ' -A' : place
  const named = targets.map(
    ({ kind, namespace, name }) =>
      ` ${kind.toLowerCase()}/${namespace === undefined ? '' : `${namespace}/`}${name}`,
  )
  return `${named.join('')}${targets.every(({ namespace }) => namespace !== undefined) ? '' : place}`
}

function noneText(pools: readonly PoolSuggestions[]): string {
  const [first] = pools
  if (first === undefined || pools.length > 1) {
    const names = pools.map(({ pool }) => `${pool.namespace}/${pool.name}`)
    return `${pools.length} pools have none: ${namesText(names)}`
  }
  const [why] = first.not
  return `1 pool has none: ${first.pool.namespace}/${first.pool.name}${why === undefined ? '' : `, ${notText({ ...why, fix: undefined })}`}`
}

function markOf(isAmiss: boolean, isAny: boolean): Answer['mark'] {
  if (isAmiss) return 'warn'
  return isAny ? 'ok' : 'note'
}

/** A block for each pool, then the findings that the bindings would bring. */
export function viewSuggestions({ pools }: Suggestions, shown: readonly Finding[], layout: Layout): Block {
  const quiet = layout.wide || pools.length <= SHOWN_QUIET ? [] : pools.filter(isQuiet)
  const told = [...new Set(pools).difference(new Set(quiet))].toSorted((a, b) => rankOf(a) - rankOf(b))
  return apart([
    ...told.map((one) => viewPool(one, layout)),
    viewQuiet(quiet, layout),
    [...viewFindingGroups(shown, layout)],
  ])
}

/** Pools that get no binding first, then those that could, then those that have one. */
function rankOf({ existing, suggested, registrations }: PoolSuggestions): number {
  if (suggested.length + registrations.length > 0) return 1
  return existing.length > 0 ? 2 : 0
}

/** So many pools are listed one by one, whatever there is to say of them. */
const SHOWN_QUIET = 3

/** Whether all that there is to say of a pool is that it has a binding, and that it is ready. */
function isQuiet({ existing, suggested, registrations, not, remarks }: PoolSuggestions): boolean {
  return (
    suggested.length + registrations.length + not.length + remarks.length === 0 &&
    existing.length > 0 &&
    existing.every(({ verdict }) => verdict === 'ready')
  )
}

function viewQuiet(pools: readonly PoolSuggestions[], { width }: Layout): Block {
  if (pools.length === 0) return []
  const names = namesText(pools.map(({ pool }) => `${pool.namespace}/${pool.name}`))
  const text = ` ${counted(pools.length, 'pool')} ${pools.length === 1 ? 'has' : 'have'} a ready binding: ${names}`
  return wrap(line(MARKS.ok, text), width, 2)
}

function viewPool(
  { pool, pods, existing, suggested, registrations, not, remarks }: PoolSuggestions,
  layout: Layout,
): Block {
  const wrapped = (mark: Mark, text: string): Block =>
    wrap(line('  ', MARKS[mark], ` ${text}`), layout.width, 6)
  return [
    line(
      span(`${pool.namespace}/${pool.name}`, 'bold'),
      span(pods.total === 0 ? '' : `  ${pods.text()}`, 'dim'),
    ),
    ...suggested.flatMap((one) => viewSuggested(one, layout)),
    ...registrations.flatMap((one) => viewRegistrations(one, layout)),
    ...[...Map.groupBy(existing, ({ fix }) => fix)].flatMap(([fix, ones]) => [
      ...ones.flatMap(({ key, verdict }) =>
        wrapped(verdict === 'ready' ? 'ok' : 'warn', `has one already: ${key}, ${verdict}`),
      ),
      ...(fix === undefined ? [] : wrap(line(`      fix: ${fix}`), layout.width, 8)),
    ]),
    ...not.flatMap((one) => wrapped(NOT_MARKS[one.state], notText(one))),
    ...remarks.flatMap((text) => wrapped('note', text)),
  ]
}

const NOT_MARKS: Readonly<Record<NotSuggested['state'], Mark>> = {
  impossible: 'bad',
  unproven: 'warn',
  open: 'note',
}

function viewRegistrations(
  { candidate, key, why, dependsOn }: SuggestedRegistrations,
  { width }: Layout,
): Block {
  const mark = MARKS[dependsOn === undefined ? 'ok' : 'warn']
  return manifestsBefore(candidate).flatMap((one) => {
    const name = span(stringAt(one, 'metadata', 'name') ?? '', 'bold')
    return [
      ...wrap(line('  ', mark, ' ', name, `: ClusterSPIFFEID beside ${key}`), width, 6),
      ...wrap(line('      ', span(stringAt(one, 'spec', 'spiffeIDTemplate') ?? '', 'add')), width, 6),
      ...why.flatMap((text) => wrap(line(`      because ${text}`), width, 8)),
    ]
  })
}

function viewSuggested(one: SuggestedBinding, { width }: Layout): Block {
  const { candidate, spiffeId, why } = one
  const head = line(
    '  ',
    MARKS[one.dependsOn === undefined ? 'ok' : 'warn'],
    ' ',
    span(candidate.name, 'bold'),
    `: ${suggestedText(one)}, service account ${candidate.serviceAccountName}`,
  )
  return [
    ...wrap(head, width, 6),
    ...wrap(line('      ', span(spiffeId, 'add')), width, 6),
    ...why.flatMap((text) => wrap(line(`      because ${text}`), width, 8)),
    ...changeLines(one).flatMap((text) => wrap(line(`      ${text}`), width, 8)),
  ]
}
