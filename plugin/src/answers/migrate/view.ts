// How `migrate` looks: what becomes of each registration, then bindings, containers, remainder and steps.
import { present } from '@kleym/shared/core/base/present.ts'
import { type Finding, lossText } from '@kleym/shared/core/findings/index.ts'
import {
  type HeldIdentities,
  type Migration,
  type MigrationStep,
  migrationSteps,
  suggestedText,
} from '@kleym/shared/core/answers/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, BLANK, line, MARKS, span, type Block } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'
import { cutOffLines } from '../parts/cut-offs.ts'
import { beforeLines, notText } from '../suggest/words.ts'
import type { NamedInTest } from './tests.ts'

/** The first lines. */
export function migrateAnswer(migrations: readonly Migration[], layout: Layout): Answer {
  const known = layout.incomplete === true ? 'known to be ' : ''
  if (migrations.length === 0)
    return {
      mark: 'note',
      text: [`no ClusterSPIFFEID that is not kleym's is ${known}there${layout.world ?? ''}`],
    }
  const idle = migrations.filter((one) => one.oldIds.length + one.open.length === 0 && !mustStay(one))
  const whole = migrations.filter((one) => !idle.includes(one) && isWhole(one))
  const rest = migrations.filter((one) => !idle.includes(one) && mustStay(one))
  const open = migrations.filter((one) => ![...idle, ...whole, ...rest].includes(one))
  const wider = migrations.filter(({ others }) => others.length > 0)
  const bindings = new Set(
    migrations.flatMap(({ suggestions }) =>
      suggestions.pools.flatMap(({ suggested }) => suggested.map(({ key }) => key)),
    ),
  )
  const replaced = whole.filter(({ newIds }) => newIds.length > 0)
  const doubled = whole.filter(({ newIds }) => newIds.length === 0)
  const parts = present(
    replaced.length > 0 &&
      `bindings can take the place of ${counted(replaced.length, 'ClusterSPIFFEID')}: ${namesOf(replaced)}`,
    doubled.length > 0 &&
      `${counted(doubled.length, 'ClusterSPIFFEID')} can go, since others give the same IDs: ${namesOf(doubled)}`,
    rest.length > 0 &&
      `${counted(rest.length, 'ClusterSPIFFEID')} must stay, at least in part: ${namesOf(rest)}`,
    open.length > 0 &&
      `whether ${counted(open.length, 'ClusterSPIFFEID')} can go is not certain: ${namesOf(open)}`,
    idle.length > 0 &&
      `${counted(idle.length, 'ClusterSPIFFEID')} ${idle.length === 1 ? 'gives' : 'give'} no container an identity: ${namesOf(idle)}`,
    wider.length > 0 && `containers without the old ID hold the new one: ${namesOf(wider)}`,
    `${counted(bindings.size, 'binding')} to apply`,
  )
  const cutOffs = migrations.flatMap((one) => one.cutOffs)
  const mark =
    rest.length + open.length + wider.length + cutOffs.length > 0 ? 'warn' : whole.length > 0 ? 'ok' : 'note'
  return { mark, ...leadingWith(parts, ...cutOffLines(cutOffs)) }
}

function namesOf(some: readonly Migration[]): string {
  return namesText(some.map(({ object }) => object.meta.name))
}

/** Whether the registration can go, as far as containers are concerned. */
function isWhole(one: Migration): boolean {
  return one.open.length === 0 && !mustStay(one)
}

/** Whether a part of it must stay, whatever is not certain. */
function mustStay({ uncovered, remainder }: Migration): boolean {
  return uncovered.length > 0 || remainder.some((one) => one.mustStay)
}

/** A block for each registration, then what is new to know about. */
export function viewMigrations(
  migrations: readonly Migration[],
  tests: readonly (readonly NamedInTest[])[],
  shown: readonly Finding[],
  layout: Layout,
): Block {
  return apart([
    ...migrations.map((one, at) => viewMigration(one, tests[at] ?? [], layout, at > 0)),
    [...viewFindingGroups(shown, layout)],
  ])
}

function viewMigration(
  migration: Migration,
  tests: readonly NamedInTest[],
  layout: Layout,
  isFurther: boolean,
): Block {
  const { object, oldIds, suggestions, uncovered, open } = migration
  const { width } = layout
  const row = (mark: keyof typeof MARKS, text: string): Block =>
    wrap(line('  ', MARKS[mark], ` ${text}`), width, 6)
  const head = line(
    span(`ClusterSPIFFEID/${object.meta.name}`, 'bold'),
    object.spec.fallback ? '  fallback' : '',
  )
  return [
    head,
    ...(isFurther ? row('note', 'as it is once the steps above are taken') : []),
    ...row(
      'note',
      oldIds.length === 0
        ? 'no container holds an ID of it'
        : `gives${open.length === 0 ? '' : ', or may give,'} ${namesText(oldIds)}`,
    ),
    ...suggestions.pools.flatMap(({ pool, suggested, existing, not }) => [
      ...suggested.flatMap((one) => [
        ...row(
          one.dependsOn === undefined ? 'ok' : 'warn',
          `${one.key}: ${suggestedText(one)} of InferencePool ${pool.name}: ${one.spiffeId}`,
        ),
        ...beforeLines(one.candidate).flatMap((text) => row('note', text)),
      ]),
      ...existing.flatMap(({ key, verdict }) =>
        row(verdict === 'ready' ? 'ok' : 'warn', `has one already: ${key}, ${verdict}`),
      ),
      ...not.flatMap((one) =>
        row(one.state === 'open' ? 'note' : 'warn', `${pool.namespace}/${pool.name}: ${notText(one)}`),
      ),
    ]),
    ...uncovered.flatMap(({ container, pods, why }) =>
      row('warn', `not covered: ${container} of ${pods.text()}: ${why}`),
    ),
    ...openTexts(migration).flatMap((text) => row('warn', `not known: ${text}`)),
    ...viewMoves(migration, layout),
    ...viewRemainder(migration, layout),
    ...viewTests(tests, layout),
    ...viewSteps(migrationSteps(migration), layout),
  ]
}

/** What a registration gives to some pods is not certain: a sentence for each reason. */
export function openTexts({ object, open }: Migration): readonly string[] {
  return open.map((who) => `what ClusterSPIFFEID/${object.meta.name} gives to ${who}`)
}

function viewMoves({ moves }: Migration, { width, wide }: Layout): Block {
  const shown = wide ? moves : moves.slice(0, MOVES_SHOWN)
  const common = perhapsOfAll(moves)
  const text = (held: HeldIdentities): string => idsText(held, common)
  return present(
    ...(moves.length === 0 ? [] : [BLANK, line(span('  Containers, before and after', 'bold'))]),
    ...(common.size === 0
      ? []
      : wrap(line(span(`    each perhaps with ${[...common].join(' and ')}`, 'dim')), width, 6)),
    ...shown.flatMap((move) => {
      const { container, pods, before, during, after } = move
      const states = [text(before), text(during), text(after)].filter((one, at, all) => one !== all[at - 1])
      const [only = ''] = states
      const moved = states.length === 1 ? `${only}, as before` : (exchangeText(move) ?? states.join(' → '))
      return wrap(line(`    ${container} of ${pods.text()}: ${moved}`), width, 6)
    }),
    shown.length < moves.length && line(`    and ${moves.length - shown.length} more, which -o wide shows`),
  )
}

/** The sentence for a container that certainly holds one thing and then another; undefined for any other. */
function exchangeText({ before, during, after }: Migration['moves'][number]): string | undefined {
  const all = [before, during, after]
  if (all.some(({ perhaps, isOther }) => perhaps.length > 0 || isOther)) return undefined
  const isAtOnce = [before, after].some(({ ids }) => String(ids) === String(during.ids))
  const lost = before.ids.filter((id) => !after.ids.includes(id))
  return !isAtOnce || lost.length === 0 || after.ids.length === 0
    ? undefined
    : lossText({
        spiffeId: lost.join(' and '),
        instead: after.ids.filter((id) => !before.ids.includes(id)),
        kept: after.ids.filter((id) => before.ids.includes(id)),
      })
}

/** More than these fill a screen. */
const MOVES_SHOWN = 12

/** The IDs that every container may hold at any time; none where a container may hold one that is not known. */
function perhapsOfAll(moves: Migration['moves']): ReadonlySet<string> {
  const states = moves.flatMap(({ before, during, after }) => [before, during, after])
  const [first, ...others] = states.map(({ perhaps }) => new Set(perhaps))
  if (first === undefined) return new Set()
  return others.reduce((common, one) => common.intersection(one), first)
}

function idsText({ ids, perhaps, isOther }: HeldIdentities, common: ReadonlySet<string>): string {
  const own = perhaps.filter((one) => !common.has(one))
  const may = [...own, ...(isOther ? ['another'] : [])].join(' or ')
  if (may === '') return ids.length === 0 ? 'nothing' : ids.join(' and ')
  return ids.length === 0 ? `perhaps ${may}` : `${ids.join(' and ')} (perhaps ${may})`
}

function viewRemainder({ remainder }: Migration, { width }: Layout): Block {
  if (remainder.length === 0) return []
  return [
    BLANK,
    line(span('  What no binding can say', 'bold')),
    ...table(
      remainder.map(({ what, old, next, consequence }) => [
        what,
        `${old} → ${next ?? 'nothing'}: ${consequence}`,
      ]),
      { width, indent: 4 },
    ),
  ]
}

function viewTests(tests: readonly NamedInTest[], { width }: Layout): Block {
  if (tests.length === 0) return []
  return [
    BLANK,
    line(span('  Identity tests', 'bold')),
    ...tests.flatMap(({ file, line: at, what, how }) =>
      wrap(line(`    ${file}:${at} ${how === 'names' ? 'names' : 'would break:'} ${what}`), width, 6),
    ),
  ]
}

/** The steps, numbered. */
export function viewSteps(steps: readonly MigrationStep[], { width, echo = '' }: Layout): Block {
  return [
    BLANK,
    line(span('  Steps', 'bold')),
    ...steps.flatMap(({ title, lines }, at) => [
      ...wrap(line(`    ${at + 1}. `, span(title, 'bold')), width, 7),
      ...lines.flatMap((text) => wrap(line(`       ${withEcho(text, echo)}`), width, 9)),
    ]),
  ]
}

/** A suggested command asks the same files or cluster as this answer. */
function withEcho(text: string, echo: string): string {
  // The files do not hold the bindings yet, so without them the step would seem to take an identity away.
  const isOffline = echo.includes(' --offline')
  return text.replace(
    /kubectl kleym (migrate clusterspiffeid\/\S+(?: clusterspiffeid\/\S+)*|who-selects -A --spiffe-id \S+|diff --without (\S+))/,
    (_, command: string, object?: string) =>
      object === undefined || !isOffline
        ? `kubectl kleym ${command}${echo}`
        : `kubectl kleym migrate ${object}${echo} -o yaml | kubectl kleym diff${echo} -f - --without ${object}`,
  )
}
