// The screen as ink draws it: lines from `view.ts`, keys to `state.ts`. Nothing is decided here. (`createElement` in place
// of JSX, because Node runs these sources as they are.)
import { Box, Text, useApp, useInput, useWindowSize } from 'ink'
import { createElement, useEffect, useRef, useState, useSyncExternalStore, type ReactElement } from 'react'
import type { Palette } from '../../../io/palette.ts'
import { render } from '../../../text/line.ts'
import type { WatchSession } from '../live/session.ts'
import { actionsOf } from './keys.ts'
import { reduce, withValidSelection, startState, type ScreenState } from './state.ts'
import { draw } from './view.ts'

/** What the screen shows and whom it tells. */
export interface AppProps {
  readonly session: WatchSession
  readonly palette: Palette
  /** The cluster as a person calls it. */
  readonly cluster: string
  readonly namespace: string | undefined
  /** Called with how the person leaves. */
  readonly onLeave: (how: 'quit' | 'interrupt') => void
  /** Called with a text for the clipboard. */
  readonly onCopy: (text: string) => void
}

/** How often the times on the screen go on, in milliseconds. */
const TICK_MS = 1000

/** The whole screen. */
export function App({ session, palette, cluster, namespace, onLeave, onCopy }: AppProps): ReactElement {
  const picture = useSyncExternalStore(session.subscribe, session.picture)
  const namespaces = useSyncExternalStore(session.subscribe, session.namespaces)
  const size = useWindowSize()
  const { exit } = useApp()
  const [state, setState] = useState(() => startState(namespace))
  const setting = { cluster, size, namespaces, now: useNow() }
  // What is drawn first tells how much fits, and what fits tells which rows are in the window.
  const { facts } = draw(picture, state, setting)
  const shown = withValidSelection(state, facts)
  const { lines } = shown === state ? draw(picture, state, setting) : draw(picture, shown, setting)

  const now = useRef<ScreenState>(shown)
  now.current = shown
  useFollow(session, shown)
  useInput((input, key) => {
    let next = now.current
    for (const action of actionsOf(input, key, next.mode)) {
      next = reduce(next, action, facts)
      if (typeof next.copied === 'string') onCopy(next.copied)
    }
    now.current = next
    setState(next)
    if (next.leaving === undefined) return
    onLeave(next.leaving)
    exit()
  })
  const text = render(lines, palette).split('\n').slice(0, -1)
  return createElement(
    Box,
    { flexDirection: 'column' },
    // A line is what its number says: they have no identity of their own.
    text.map((one, at) => createElement(Text, { key: at, wrap: 'truncate-end' }, one === '' ? ' ' : one)),
  )
}

/** The time, as it goes on. */
function useNow(): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Tells the session what the choices ask of it. */
function useFollow(session: WatchSession, { namespace, selected, isOpen, mode }: ScreenState): void {
  const followed = useRef(namespace)
  useEffect(() => {
    if (followed.current === namespace) return
    followed.current = namespace
    session.watch(namespace)
  }, [session, namespace])
  const open = isOpen ? selected : undefined
  useEffect(() => session.choose(open), [session, open])
  const isChoosing = mode === 'namespace'
  useEffect(() => {
    if (isChoosing) session.readNamespaces()
  }, [session, isChoosing])
}
