// The screen as ink draws it: keys go in, frames come out, sizes change.
import { cleanup, render } from 'ink-testing-library'
import { createElement } from 'react'
import { afterEach, expect, test } from 'vitest'
import { COLOURED, PLAIN, type Palette } from '../../../../src/io/palette.ts'
import type { Picture } from '../../../../src/answers/watch/live/live-state.ts'
import { App } from '../../../../src/answers/watch/screen/app.ts'
import type { KnownNamespaces, WatchSession } from '../../../../src/answers/watch/live/session.ts'
import { picture, refused, row } from '../../../support/pictures.ts'

afterEach(() => cleanup())

const ROWS = [row('team-a/chat'), refused('team-a/embed'), row('team-b/mistral')]

interface Sitting {
  /** Sends what a terminal would, and waits until it is drawn. */
  readonly press: (...keys: readonly string[]) => Promise<void>
  /** Shows another picture. */
  readonly show: (next: Picture) => Promise<void>
  readonly resize: (columns: number, rows: number) => Promise<void>
  readonly lines: () => readonly string[]
  /** What was asked of the session, in order. */
  readonly asked: string[]
}

async function sit(first: Picture, palette: Palette = PLAIN): Promise<Sitting> {
  let shown = first
  let namespaces: KnownNamespaces = { names: [], note: undefined }
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const hear of listeners) hear()
  }
  const asked: string[] = []
  const session: WatchSession = {
    picture: () => shown,
    namespaces: () => namespaces,
    subscribe: (hear) => {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    watch: (namespace) => void asked.push(`watch ${namespace ?? 'all'}`),
    choose: (key) => void asked.push(`choose ${key ?? 'none'}`),
    readNamespaces: () => {
      namespaces = { names: ['default', 'team-a', 'team-b'], note: undefined }
      tell()
    },
    stop: () => {},
  }
  const { stdin, stdout, lastFrame } = render(
    createElement(App, {
      session,
      palette,
      cluster: 'kind',
      namespace: undefined,
      onLeave: (how) => asked.push(`leave by ${how}`),
      onCopy: (text) => asked.push(`copy ${text}`),
    }),
  )
  const resize = async (columns: number, rows: number): Promise<void> => {
    Object.defineProperty(stdout, 'columns', { value: columns, configurable: true })
    Object.defineProperty(stdout, 'rows', { value: rows, configurable: true })
    stdout.emit('resize')
    await drawn()
  }
  await resize(80, 10)
  return {
    press: async (...keys) => {
      for (const key of keys) {
        stdin.write(key)
        await drawn()
      }
    },
    show: async (next) => {
      shown = next
      tell()
      await drawn()
    },
    resize,
    lines: () => (lastFrame() ?? '').split('\n').map((one) => one.trimEnd()),
    asked,
  }
}

/** What follows from a key is done in the turns after it. */
async function drawn(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

const ESC = '\u001b'
const DOWN = `${ESC}[B`
const selectedIn = (lines: readonly string[]): string | undefined => lines.find((one) => one.startsWith('> '))

test('the arrows and letters move the selection', async () => {
  const { press, lines } = await sit(picture(ROWS))
  expect(selectedIn(lines())).toContain('team-a/embed')
  await press(DOWN)
  expect(selectedIn(lines())).toContain('team-a/chat')
  await press('j')
  expect(selectedIn(lines())).toContain('team-b/mistral')
  await press(`${ESC}[H`)
  expect(selectedIn(lines())).toContain('team-a/embed')
})

test('the selection stays with its binding when rows come', async () => {
  const { press, show, lines } = await sit(picture(ROWS))
  await press('j')
  await show(picture([row('aaa/first'), ...ROWS]))
  expect(selectedIn(lines())).toContain('team-a/chat')
})

test('a filter is typed, kept, and cleared', async () => {
  const { press, lines } = await sit(picture(ROWS))
  await press('/', 'mist', '\r')
  expect(lines().filter((one) => one.includes('team-'))).toHaveLength(1)
  await press(ESC)
  // ink waits a moment after Esc: it may be the beginning of another key.
  await expect.poll(() => lines().filter((one) => one.includes('team-'))).toHaveLength(3)
})

test('Enter asks for the derivation, which follows the selection until it is closed', async () => {
  const { press, asked, lines } = await sit(picture(ROWS, {}, { state: 'deleted', key: 'team-a/embed' }))
  await press('\r')
  expect(lines()).toContain('· team-a/embed is not there any more')
  await press('j', '\r')
  expect(asked).toEqual(['choose none', 'choose team-a/embed', 'choose team-a/chat', 'choose none'])
})

test('a namespace is chosen from those that there are', async () => {
  const { press, asked, lines } = await sit(picture(ROWS))
  await press('n')
  expect(lines()).toContain('  team-b')
  await press('team-b', '\r')
  expect(asked).toContain('watch team-b')
})

test('keys that come faster than frames all count', async () => {
  const { press, asked } = await sit(picture(ROWS))
  await press('n', 'team-a\r')
  expect(asked).toContain('watch team-a')
})

test('the frame is as large as the terminal, from 40 to 200 columns', async () => {
  const { resize, lines } = await sit(picture(ROWS))
  for (const [columns, rows] of [
    [40, 15],
    [200, 50],
    [80, 24],
  ] as const) {
    await resize(columns, rows)
    expect(lines()).toHaveLength(rows)
    expect(Math.max(...lines().map((one) => one.length))).toBeLessThanOrEqual(columns)
  }
})

test('c copies the identity of the chosen binding, and says so until the next key', async () => {
  const { press, asked, lines } = await sit(picture([row('a/chat')]))
  await press('c')
  expect(asked).toContain('copy spiffe://example.org/ns/a/objective/chat')
  expect(lines().at(-1)).toContain('copied spiffe://example.org/ns/a/objective/chat')
  await press('j')
  expect(lines().at(-1)).toContain('q quit')
})

test.each([
  ['q', 'q', 'quit'],
  ['Ctrl-C', '\u0003', 'interrupt'],
])('%s leaves', async (_, key, how) => {
  const { press, asked } = await sit(picture(ROWS))
  await press(key)
  expect(asked).toContain(`leave by ${how}`)
})

test('without its colours a frame says the same', async () => {
  const coloured = await sit(picture(ROWS), COLOURED)
  const plain = await sit(picture(ROWS))
  expect(coloured.lines().join('\n')).toMatch(/\u001b\[3[123]m/)
  expect(coloured.lines().map((one) => one.replaceAll(/\u001b\[\d+m/g, '').trimEnd())).toEqual(plain.lines())
})
