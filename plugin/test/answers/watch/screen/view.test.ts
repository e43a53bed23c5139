// How the screen looks: whole frames at the sizes that people have, and what must hold at every size.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { displayWidth, render } from '../../../../src/text/line.ts'
import { PLAIN } from '../../../../src/io/palette.ts'
import { lostText, timeText, type Knowledge } from '../../../../src/answers/watch/live/knowledge.ts'
import type { Picture } from '../../../../src/answers/watch/live/live-state.ts'
import type { Row } from '../../../../src/answers/watch/live/rows.ts'
import {
  withValidSelection,
  startState,
  type ScreenState,
} from '../../../../src/answers/watch/screen/state.ts'
import { draw, type ScreenSetting } from '../../../../src/answers/watch/screen/view.ts'
import { picture, refused, row } from '../../../support/pictures.ts'

interface Looks {
  readonly columns?: number
  readonly rows?: number
  readonly state?: Partial<ScreenState>
  readonly namespaces?: ScreenSetting['namespaces']
}

const NOW = new Date('2026-11-27T05:00:00Z')

/** So many seconds before now. */
function ago(seconds: number): Date {
  return new Date(NOW.getTime() - seconds * 1000)
}

/** The lines of the screen, as they are read. */
function look(shown: Picture, { columns = 80, rows = 12, state, namespaces }: Looks = {}): readonly string[] {
  const setting: ScreenSetting = {
    cluster: 'kind',
    size: { columns, rows },
    namespaces: namespaces ?? { names: ['default', 'team-a'], note: undefined },
    now: NOW,
  }
  const asked = { ...startState(undefined), ...state }
  const { facts } = draw(shown, asked, setting)
  return render(draw(shown, withValidSelection(asked, facts), setting).lines, PLAIN)
    .split('\n')
    .slice(0, -1)
}

const ROWS = [
  row('team-a/chat'),
  refused('team-a/embed', 'TargetPoolNotFound', 'no InferencePool e5 in namespace team-a'),
  row('team-b/mistral', { pending: 'create' }),
]

describe('whole frames', () => {
  test('80 columns', () => {
    expect(look(picture(ROWS), { rows: 7 })).toEqual([
      'kleym  all namespaces  kind  3 bindings: 1 refused, 2 ready',
      '    BINDING         VERDICT               IDENTITY, OR WHY NOT',
      '> ✗ team-a/embed    TargetPoolNotFound    no InferencePool e5 in namespace team…',
      '  ! team-b/mistral  ready, to be created  …/ns/team-b/objective/mistral',
      '  ✓ team-a/chat     ready                 …/ns/team-a/objective/chat',
      '',
      'q quit   ? help   Enter open   j/k move   / filter   n namespace   s sort',
    ])
  })

  test('40 columns of one namespace: no identities', () => {
    const rows = ROWS.filter(({ namespace }) => namespace === 'team-a')
    expect(look(picture(rows), { columns: 40, rows: 7, state: { namespace: 'team-a' } })).toEqual([
      'kleym  namespace team-a  kind',
      '2 bindings: 1 refused, 1 ready',
      '    BINDING  VERDICT',
      '> ✗ embed    TargetPoolNotFound',
      '  ✓ chat     ready',
      '',
      'q quit   ? help   Enter open   j/k move',
    ])
  })

  test('200 columns: identities whole, and how many pods SCM selects', () => {
    const rows = [row('team-a/chat', { pods: 3 }), ...ROWS.slice(1)]
    expect(look(picture(rows), { columns: 200, rows: 6, state: { order: 'name' } }).slice(1, 4)).toEqual([
      '    BINDING         PODS  VERDICT               IDENTITY, OR WHY NOT',
      '> ✓ team-a/chat        3  ready                 spiffe://example.org/ns/team-a/objective/chat',
      '  ✗ team-a/embed          TargetPoolNotFound    no InferencePool e5 in namespace team-a',
    ])
  })

  test('since when each row is as it is; the one that has just changed is marked', () => {
    const rows = [
      row('team-a/chat', { since: ago(3) }),
      row('team-a/sql', { since: ago(59 * 60) }),
      row('team-b/old', { since: ago(86_400 * 400) }),
      row('team-b/untold'),
    ]
    const shown = look(picture(rows, { operator: 'operator 2/2' }), {
      columns: 100,
      rows: 7,
      state: { order: 'change' },
    })
    expect(shown.slice(0, 6)).toEqual([
      'kleym  all namespaces  kind  operator 2/2  4 bindings: 4 ready, by change',
      '    BINDING        SINCE  VERDICT  IDENTITY, OR WHY NOT',
      '>*✓ team-a/chat    3s     ready    spiffe://example.org/ns/team-a/objective/chat',
      '  ✓ team-a/sql     59m    ready    spiffe://example.org/ns/team-a/objective/sql',
      '  ✓ team-b/old     400d   ready    spiffe://example.org/ns/team-b/objective/old',
      '  ✓ team-b/untold         ready    spiffe://example.org/ns/team-b/objective/untold',
    ])
  })

  test('at 80 columns the longest reason is read whole', () => {
    const long = `team-${'a'.repeat(10)}/${'b'.repeat(20)}`
    const rows = [refused(long, 'InferenceObjectiveCRDMissing', 'the kind is not served'), row('team-a/chat')]
    const [, , first] = look(picture(rows))
    expect(first).toContain('InferenceObjectiveCRDMissing  the kind')
    expect(first?.length).toBeLessThanOrEqual(80)
  })

  test('what is typed to filter stands at the bottom, and what it keeps at the top', () => {
    const lines = look(picture(ROWS), { state: { mode: 'filter', filter: 'team-b' } })
    expect(lines[0]).toBe('kleym  all namespaces  kind  3 bindings: 1 refused, 2 ready, 1 with team-b')
    expect(lines.at(-1)).toBe('filter: team-b_')
  })

  test('the chooser lists namespaces, and says why it may not list all', () => {
    const namespaces = { names: ['team-a'], note: 'cannot list Namespace: forbidden; type the name of one' }
    const lines = look(picture(ROWS), { rows: 8, namespaces, state: { mode: 'namespace', choice: 1 } })
    expect(lines.slice(1)).toEqual([
      'namespace: _',
      '! cannot list Namespace: forbidden; type the name of one',
      '  all namespaces',
      '> team-a',
      '',
      '',
      'Enter choose   Esc cancel   type a name, or move',
    ])
  })

  test('help fits into 40 columns and 15 lines', () => {
    const lines = look(picture(ROWS), { columns: 40, rows: 15, state: { mode: 'help' } })
    expect(lines.join('\n')).toContain('q Ctrl-C     quit')
    expect(lines.join('\n')).toContain('✗ refused    · being deleted')
  })

  test('a derivation on a large screen leaves the table no more lines than it needs', () => {
    const reading = picture(ROWS, {}, { state: 'reading', key: 'team-a/chat' })
    const lines = look(reading, { rows: 30, state: { isOpen: true, selected: 'team-a/chat' } })
    expect(lines.slice(4, 7)).toEqual([
      '> ✓ team-a/chat     ready                 …/ns/team-a/objective/chat',
      'EXPLAIN team-a/chat',
      '· reading the pods of team-a…',
    ])
  })
})

describe('what is not known is never shown as something else', () => {
  const forbidden: Knowledge['missing'] = [
    {
      why: { verb: 'list', what: 'InferenceIdentityBinding.kleym.sonda.red', cause: 'forbidden' },
      since: undefined,
    },
  ]
  test.each<[string, Picture, readonly string[]]>([
    ['before anything is read', picture([], { settled: false, bindingsKnown: false }), ['reading…']],
    [
      'bindings that cannot be read',
      picture([], { bindingsKnown: false, missing: forbidden }),
      [
        'bindings are not known',
        '! cannot list InferenceIdentityBinding.kleym.sonda.red: forbidden',
        'nothing to show: bindings could not be read',
      ],
    ],
    ['no bindings', picture([]), ['0 bindings', 'no bindings']],
    [
      'many kinds that cannot be read',
      picture(ROWS, { missing: Array.from({ length: 5 }, () => forbidden).flat() }),
      ['! and 3 more'],
    ],
  ])('%s', (_, shown, said) => {
    const text = look(shown).join('\n')
    for (const one of said) expect(text).toContain(one)
  })

  test('what is old says so above the table and in its titles', () => {
    const since = new Date('2026-11-21T12:03:04Z')
    const lines = look(picture(ROWS, { lostSince: since }), { columns: 100 })
    expect(lines[1]).toBe(`! ${lostText(since)}`)
    expect(lines[2]).toContain(`as of ${timeText(since)}`)
  })
})

const hostile = fc.constantFrom('\u001b[2J', '\u202e', '\n', '界', '😀', 'a', '-', 'x'.repeat(90), '\u0000')
const text = fc.array(hostile, { maxLength: 6 }).map((parts) => parts.join(''))
const anyRow: fc.Arbitrary<Row> = fc
  .record({
    name: text,
    state: fc.constantFrom<Row['state']>('ready', 'refused', 'undetermined', 'waiting', 'deleting'),
    message: text,
    spiffeId: text,
    due: fc.constantFrom<Row['pending']>('none', 'create', 'withdraw'),
    pods: fc.option(fc.nat(), { nil: undefined }),
  })
  .map((parts) => row(`team-a/${parts.name}`, parts))

test('at every size, in every mode, whatever names hold: as many lines as there are, none too long, none that a terminal obeys', () => {
  fc.assert(
    fc.property(
      fc.array(anyRow, { maxLength: 12 }),
      fc.record({
        columns: fc.integer({ min: 20, max: 220 }),
        rows: fc.integer({ min: 6, max: 60 }),
        mode: fc.constantFrom<ScreenState['mode']>('table', 'filter', 'namespace', 'help'),
        isOpen: fc.boolean(),
        place: fc.nat(12),
        filter: text,
        lost: fc.boolean(),
      }),
      (rows, { columns, rows: height, mode, isOpen, place, filter, lost }) => {
        const shown = picture(rows, lost ? { lostSince: new Date(0) } : {}, {
          state: 'reading',
          key: 'team-a/x',
        })
        const lines = look(shown, {
          columns,
          rows: height,
          state: { mode, isOpen, place, filter, typed: filter },
        })
        expect(lines).toHaveLength(height)
        for (const one of lines) {
          expect(displayWidth(one)).toBeLessThanOrEqual(columns)
          expect(one).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        }
      },
    ),
    { numRuns: runs(100) },
  )
})
