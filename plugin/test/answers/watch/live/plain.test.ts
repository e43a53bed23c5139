// The watch as a stream: what is printed for a series of pictures, and nothing twice.
import { describe, expect, test } from 'vitest'
import { PLAIN } from '../../../../src/io/palette.ts'
import { lostText } from '../../../../src/answers/watch/live/knowledge.ts'
import type { Picture } from '../../../../src/answers/watch/live/live-state.ts'
import { PlainStream, type StreamOptions } from '../../../../src/answers/watch/live/plain.ts'
import { picture, refused, row } from '../../../support/pictures.ts'

function streamed(
  pictures: readonly Picture[],
  options: Partial<StreamOptions> = {},
): { out: string; notes: readonly string[] } {
  let out = ''
  const notes: string[] = []
  const stream = new PlainStream({
    format: 'text',
    allNamespaces: true,
    palette: PLAIN,
    print: (text) => {
      out += text
    },
    note: (text) => notes.push(text),
    ...options,
  })
  for (const one of pictures) stream.show(one)
  return { out, notes }
}

describe('lines', () => {
  test('a line for each binding, then one for each change, in the same columns', () => {
    const first = [row('team-a/chat', { pending: 'create' }), refused('team-b/embed')]
    const second = [row('team-a/chat'), refused('team-b/embed'), row('team-c/new')]
    const third = second.slice(1)
    expect(streamed([picture(first), picture(second), picture(second), picture(third)]).out).toBe(
      [
        '  NAMESPACE  NAME   VERDICT               IDENTITY OR REASON',
        '✗ team-b     embed  UnsafeSelector        it is not safe',
        '! team-a     chat   ready, to be created  spiffe://example.org/ns/team-a/objective/chat',
        '✓ team-a     chat   ready                 spiffe://example.org/ns/team-a/objective/chat',
        '✓ team-c     new    ready                 spiffe://example.org/ns/team-c/objective/new',
        '· team-a     chat   deleted',
        '',
      ].join('\n'),
    )
  })

  test('one namespace needs no column for it', () => {
    expect(streamed([picture([row('team-a/chat')])], { allNamespaces: false }).out).toBe(
      [
        '  NAME  VERDICT  IDENTITY OR REASON',
        '✓ chat  ready    spiffe://example.org/ns/team-a/objective/chat',
        '',
      ].join('\n'),
    )
  })

  test('nothing is printed before the first whole picture', () => {
    expect(streamed([picture([], { settled: false })])).toEqual({ out: '', notes: [] })
  })

  test('no bindings are worth a note, bindings that could not be read another', () => {
    const missing = [
      { why: { verb: 'list', what: 'Binding', cause: 'forbidden' }, since: undefined },
    ] as const
    expect(streamed([picture([])]).notes).toEqual(['no bindings yet'])
    expect(streamed([picture([], { bindingsKnown: false, missing })]).notes).toEqual([
      '! cannot list Binding: forbidden',
    ])
  })

  test('a lost connection is said once, and its end', () => {
    const since = new Date(0)
    const lost = picture([row('a/b')], { lostSince: since })
    const { notes, out } = streamed([picture([row('a/b')]), lost, lost, picture([row('a/b')])])
    expect(notes).toEqual([`! ${lostText(since)}`, `✓ no longer so: ${lostText(since)}`])
    expect(out.split('\n')).toHaveLength(3)
  })

  test('a name that a terminal would obey is written out', () => {
    expect(streamed([picture([row('a/\u001b[2J')])]).out).toContain(String.raw`\x1b[2J`)
  })
})

function jsonLines(pictures: readonly Picture[]): readonly unknown[] {
  const { out } = streamed(pictures, { format: 'json' })
  return out
    .split('\n')
    .slice(0, -1)
    .map((text): unknown => JSON.parse(text))
}

describe('JSON', () => {
  test('one object per line: what is known, then each binding and each change', () => {
    const events = jsonLines([
      picture([row('a/b', { pods: 2 })]),
      picture([refused('a/b')], { lostSince: new Date(0) }),
      picture([], { lostSince: new Date(9) }),
    ])
    const common = { apiVersion: 'kleym.sonda.red/report/v1alpha1', kind: 'WatchEvent' }
    const known = {
      ...common,
      type: 'KNOWLEDGE',
      bindingsKnown: true,
      operatorDown: null,
      disagreements: [],
      problems: [],
      missing: [],
    }
    expect(events).toEqual([
      { ...known, connected: true },
      {
        ...common,
        type: 'ADDED',
        binding: 'a/b',
        ready: 'True',
        reason: 'Reconciled',
        message: '',
        spiffeID: 'spiffe://example.org/ns/a/objective/b',
        due: 'none',
        podsSelected: 2,
      },
      { ...known, connected: false },
      {
        ...common,
        type: 'MODIFIED',
        binding: 'a/b',
        ready: 'False',
        reason: 'UnsafeSelector',
        message: 'it is not safe',
        spiffeID: null,
        due: 'none',
        podsSelected: null,
      },
      expect.objectContaining({ type: 'DELETED', binding: 'a/b' }),
    ])
  })

  test('what is not known says whether it is old, and never since when', () => {
    const why = { verb: 'list', what: 'Pod', cause: 'forbidden' } as const
    const [event] = jsonLines([picture([], { missing: [{ why, since: new Date(0) }] })])
    expect(event).toMatchObject({ missing: [{ ...why, old: true, text: 'cannot list Pod: forbidden' }] })
  })
})
