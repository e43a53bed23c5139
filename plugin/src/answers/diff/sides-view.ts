// The lines right below the answer of `diff`: what it compares, and what it assumes. A deletion shows only between two desired
// states; over `--live`, an object in no file is treated as unchanged.
import { OBJECTIVE_KIND, POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { counted, fewText } from '@kleym/shared/core/base/text/counted.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { Layout } from '../../text/layout.ts'
import { line, MARKS, type Block } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { shorten, wrap } from '../../text/wrap.ts'
import type { DiffInput } from '../parts/base.ts'

/** The objects of one kind that are treated as unchanged. */
export interface StayingKind {
  readonly kind: string
  readonly count: number
  /** The first few, as `namespace/name`, or the name of a cluster-scoped object. */
  readonly named: readonly string[]
}

/** More names of one kind would hide what the answer is about. */
const NAMED_MAX = 3
/** The kinds that an answer begins with; the others follow in byte order. */
const FIRST_KINDS: readonly string[] = [BINDING_KIND, POOL_KIND, OBJECTIVE_KIND]

/** What is treated as unchanged, without kleym's own output, which follows from the bindings. */
export function stayingKinds({ takenToStay = [], after }: DiffInput): readonly StayingKind[] {
  const own = new Set(
    after.now.outputs.flatMap(({ object, ownership }) =>
      ownership.kind === 'ours' || ownership.kind === 'orphan' ? [object.meta.name] : [],
    ),
  )
  const staying = takenToStay.filter(({ kind, name }) => kind !== CLUSTER_SPIFFE_ID_KIND || !own.has(name))
  return [...Map.groupBy(staying, ({ kind }) => kind)]
    .map(([kind, objects]) => ({
      kind,
      count: objects.length,
      named: objects.slice(0, NAMED_MAX).map(({ namespace, name }) => nameText(namespace, name)),
    }))
    .toSorted((left, right) => placeOf(left) - placeOf(right) || compareBytes(left.kind, right.kind))
}

function placeOf({ kind }: StayingKind): number {
  const at = FIRST_KINDS.indexOf(kind)
  return at < 0 ? FIRST_KINDS.length : at
}

/** What is compared; nothing where the files are all there is. */
export function viewSides(input: DiffInput, staying: readonly StayingKind[], layout: Layout): Block {
  return input.base === undefined ? stayRows(staying, layout) : betweenRows(input.base, input, layout.width)
}

function stayRows(staying: readonly StayingKind[], { width, wide }: Layout): Block {
  if (staying.length === 0) return []
  const objects = staying.reduce((sum, { count }) => sum + count, 0)
  const which = `${counted(objects, 'live object')} ${objects === 1 ? 'is' : 'are'} not in your files`
  const text = `${which}; treated as unchanged. A deletion does not show here; to compare two desired states, use --base`
  const head = wrap(line(MARKS.warn, ` ${text}`), width, 2)
  if (!wide) return head
  return [
    ...head,
    ...table(
      staying.map(({ kind, count, named }) => [String(count), kind, fewText(named, NAMED_MAX, count)]),
      { width, indent: 4 },
    ),
  ]
}

function nameText(namespace: string, name: string): string {
  return namespace === '' ? name : namespacedName(namespace, name)
}

function betweenRows(base: AnswerInput, head: AnswerInput, width: number): Block {
  const [left, right] = [base, head].map(({ after }) =>
    counted(after.snapshot.bindings.read.length, 'binding'),
  )
  return [
    ...wrap(
      line(MARKS.note, ` two desired states, each as kleym settles it: ${left} in base, ${right} in head`),
      width,
      2,
    ),
    ...settingsTexts(base, head).flatMap((text) =>
      wrap(line(MARKS.warn, ` the two sides have different settings: ${text}`), width, 2),
    ),
  ]
}

/** The settings in which the sides differ: what follows from them changes without any binding doing so. */
function settingsTexts(base: AnswerInput, head: AnswerInput): readonly string[] {
  const [left, right] = [factsOf(base), factsOf(head)]
  return Object.keys({ ...left, ...right }).flatMap((what) => {
    const [from = NOT_GIVEN, to = NOT_GIVEN] = [left[what], right[what]]
    return from === to ? [] : [`${what} ${shorten(from, SETTING_WIDTH)} → ${shorten(to, SETTING_WIDTH)}`]
  })
}

const NOT_GIVEN = '(not given)'
/** What a file gives may be of any length. */
const SETTING_WIDTH = 120

/** kleym's own settings and all of SCM's, by name. */
function factsOf({ operator, after }: AnswerInput): Readonly<Record<string, string>> {
  const { trustDomain, className } = operator.config
  const { source: _source, assumed, unfollowed, ...scm } = after.settings
  const ofScm = [...Object.entries(scm), ...(unfollowed ?? [])].map(([name, value]) => {
    const isOpen = name === 'className' && assumed.includes(name)
    return [`SCM's ${name}`, isOpen ? '(not known)' : settingText(value)] as const
  })
  return {
    'trust domain': trustDomain.kind === 'set' ? trustDomain.value : '(not known)',
    "kleym's class": operator.classNameSource === undefined ? '(not known)' : orNone(className),
    ...Object.fromEntries(ofScm),
  }
}

function settingText(value: unknown): string {
  if (value === undefined) return NOT_GIVEN
  if (value instanceof Set || Array.isArray(value)) return orNone([...value].map(settingText).join(' '))
  if (value instanceof Map || isRecord(value)) {
    const entries = [...(value instanceof Map ? value : Object.entries(value))]
    return orNone(
      entries.map(([key, one]) => (one === undefined ? key : `${key}=${settingText(one)}`)).join(' '),
    )
  }
  return orNone(typeof value === 'string' ? value : JSON.stringify(value))
}

function orNone(value: string): string {
  return value === '' ? '(none)' : value
}
