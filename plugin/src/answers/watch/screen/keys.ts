// From what a terminal sends to what it means here.
import type { Key } from 'ink'
import type { ScreenAction, ScreenMode } from './state.ts'

/** The keys that are looked at, as ink names them. */
export type PressedKey = Pick<
  Key,
  | 'upArrow'
  | 'downArrow'
  | 'pageUp'
  | 'pageDown'
  | 'home'
  | 'end'
  | 'return'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'ctrl'
  | 'meta'
>

/** What a key press or a pasted text means; fast typing comes in one piece, so there may be several. */
export function actionsOf(input: string, key: PressedKey, mode: ScreenMode): readonly ScreenAction[] {
  const named = namedAction(key)
  if (named !== undefined) return [named]
  if (key.ctrl) return controlAction(input)
  if (key.meta) return []
  if (mode === 'filter' || mode === 'namespace') return typedActions(input)
  return Array.from(input).flatMap((character) => COMMANDS[character] ?? [])
}

function namedAction(key: PressedKey): ScreenAction | undefined {
  if (key.upArrow) return { kind: 'move', by: -1 }
  if (key.downArrow) return { kind: 'move', by: 1 }
  if (key.pageUp) return { kind: 'page', by: -1 }
  if (key.pageDown) return { kind: 'page', by: 1 }
  if (key.home) return { kind: 'first' }
  if (key.end) return { kind: 'last' }
  if (key.return) return { kind: 'accept' }
  if (key.escape) return { kind: 'cancel' }
  // Most terminals send DEL for the key above Enter, which ink calls delete.
  return key.backspace || key.delete ? { kind: 'erase' } : undefined
}

function controlAction(input: string): readonly ScreenAction[] {
  const action = CONTROLS[input]
  return action === undefined ? [] : [action]
}

/** A typed Enter may come with the text before it. */
function typedActions(input: string): readonly ScreenAction[] {
  return Array.from(input).map((character) =>
    character === '\r' || character === '\n' ? { kind: 'accept' } : { kind: 'type', text: character },
  )
}

const CONTROLS: Readonly<Record<string, ScreenAction>> = {
  c: { kind: 'interrupt' },
  u: { kind: 'erase all' },
  n: { kind: 'move', by: 1 },
  p: { kind: 'move', by: -1 },
  f: { kind: 'page', by: 1 },
  b: { kind: 'page', by: -1 },
}

const COMMANDS: Readonly<Record<string, ScreenAction>> = {
  j: { kind: 'move', by: 1 },
  k: { kind: 'move', by: -1 },
  g: { kind: 'first' },
  G: { kind: 'last' },
  ' ': { kind: 'page', by: 1 },
  '\r': { kind: 'accept' },
  '/': { kind: 'filter' },
  n: { kind: 'namespace' },
  s: { kind: 'order', by: 1 },
  S: { kind: 'order', by: -1 },
  c: { kind: 'copy' },
  '?': { kind: 'help' },
  q: { kind: 'quit' },
}
