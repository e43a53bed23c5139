// Findings by their code, worst first: what they share is printed once, and each row has what is special about one object. Ten
// objects with one problem are one block.
import { groupsBy, type Group } from '@kleym/shared/core/base/groups.ts'
import { type Finding, findingEntry } from '@kleym/shared/core/findings/index.ts'
import { fixText, SEVERITY_MARK, shortSubject, viewEvidence, viewFinding, withCode } from './findings.ts'
import type { Layout } from './layout.ts'
import { BLANK, indent, line, MARKS, span, type Block, type Lines } from './line.ts'
import { namesText } from './names.ts'
import { displayWidth } from './width.ts'
import { wrap } from './wrap.ts'

/**
 * The findings, a block for each code and severity, with a blank line between two. `findings` are in their total order; what
 * `told` is, and its fix, stands above already: only its evidence is shown. Line by line: there may be ten thousand findings.
 */
export function* viewFindingGroups(findings: readonly Finding[], layout: Layout, told?: Finding): Lines {
  const groups = layout.wide
    ? findings.map((one): Group<Finding> => [one])
    : groupsBy(findings, ({ code, severity }) => `${severity} ${code}`)
  let isFirst = true
  for (const group of groups) {
    if (!isFirst) yield BLANK
    isFirst = false
    yield* viewGroup(group, layout, told)
  }
}

function* viewGroup(group: Group<Finding>, layout: Layout, told: Finding | undefined): Lines {
  const [first] = group
  if (group.length === 1) {
    yield* first === told ? viewEvidence(first, layout) : viewFinding(first, layout)
    return
  }
  const { width } = layout
  const shared = sharedBy(group)
  const texts = [
    ...shared.evidence,
    ...shared.subjects
      .filter((name) => shared.evidence.every((text) => !text.includes(name)))
      .map((name) => `each with ${name}`),
  ]
  const head = line(
    MARKS[SEVERITY_MARK[first.severity]],
    ' ',
    span(`${findingEntry(first.code).title}: ${group.length}`, 'bold'),
  )
  yield* withCode(head, first.code, layout)
  for (const text of texts) yield* wrap(line(`  ${text}`), width, 4)
  yield* rows(group, shared, layout)
  if (shared.fix !== undefined) yield* wrap(line(`  fix: ${fixText(shared.fix, layout)}`), width, 7)
}

/** What all findings of a group have in common. */
interface Shared {
  readonly evidence: readonly string[]
  /** Related objects, by the names that are shown. */
  readonly subjects: readonly string[]
  /** Undefined: they do not have the same. */
  readonly fix: string | undefined
}

function sharedBy(group: Group<Finding>): Shared {
  const [first] = group
  const names = first.related.map(shortSubject)
  let common = new Set(names)
  for (const { related } of group)
    if (common.size > 0) common = common.intersection(new Set(related.map(shortSubject)))
  return {
    evidence: first.evidence.filter((text) => group.every(({ evidence }) => evidence.includes(text))),
    subjects: names.filter((name) => common.has(name)),
    fix: group.every(({ fix }) => fix === first.fix) ? first.fix : undefined,
  }
}

/** A row for each text: the objects, then the text about them. */
function* rows(group: Group<Finding>, shared: Shared, layout: Layout): Lines {
  const textsOf = (one: Finding): readonly string[] => [
    one.summary,
    ...one.evidence.filter((text) => !shared.evidence.includes(text)),
    ...(shared.fix === undefined ? [`fix: ${fixText(one.fix, layout)}`] : []),
  ]
  const nameOf = (one: Finding): string =>
    namesText([
      shortSubject(one.subject),
      ...one.related.map(shortSubject).filter((name) => !shared.subjects.includes(name)),
    ])
  const all = group.map((one) => ({ one, texts: textsOf(one) }))
  const blocks = groupsBy(all, ({ texts }) => JSON.stringify(texts))
  const listed = group[0].severity === 'info' ? blocks.slice(0, NOTES_MAX) : blocks
  const alike = listed.map((same) => ({
    name: namesText(same.map(({ one }) => nameOf(one))),
    texts: same[0].texts,
  }))
  const widest = alike.reduce((most, { name }) => Math.max(most, displayWidth(name)), 0)
  const column = widest <= layout.width * NAME_SHARE ? widest : undefined
  const width = layout.width - INDENT
  const at = column === undefined ? 2 : column + 2
  // One line for each object, where all of them fit.
  const isShort = alike.every(({ texts }) => at + displayWidth(texts.join('; ')) <= width)
  for (const { name, texts } of alike)
    yield* indent(row(name, isShort ? [texts.join('; ')] : texts, column, width), INDENT)
  const more = group.length - listed.reduce((count, same) => count + same.length, 0)
  if (more > 0) yield* indent([line(`${more} more; -o json tells each`)], INDENT)
}

/** So many rows of one code are listed where each is information alone: ten thousand hide what has to be done. */
const NOTES_MAX = 20

/** How far the rows stand from the left. */
const INDENT = 4

/** The part of a line that names may take; where one is longer, all stand on lines of their own. */
const NAME_SHARE = 0.3

function row(name: string, texts: readonly string[], column: number | undefined, width: number): Block {
  const at = column === undefined ? 2 : column + 2
  const below = texts.flatMap((text) => wrap(line(text), width - at, 2))
  if (column === undefined) return [...wrap(line(span(name, 'bold')), width, 2), ...indent(below, at)]
  const [first = [], ...rest] = below
  return [[span(name, 'bold'), span(' '.repeat(at - displayWidth(name))), ...first], ...indent(rest, at)]
}
