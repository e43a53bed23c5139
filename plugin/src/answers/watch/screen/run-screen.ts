// The screen on a real terminal, from its first frame until it is left: by a key, by a signal, or by a bug. The terminal is
// as it was afterwards, in every case.
import { render, type Instance } from 'ink'
import { createElement } from 'react'
import type { Interrupts, Signal, Terminal } from '../../../io/context.ts'
import { EXIT, type ExitCode } from '../../../io/errors.ts'
import type { Palette } from '../../../io/palette.ts'
import { startSession, type OnBug, type SessionSource } from '../live/session.ts'
import { App } from './app.ts'

/** Signals that end the screen: the terminal is put right before they do. */
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** What the screen needs of the process. */
export interface ScreenIo {
  readonly terminal: Terminal
  readonly interrupts: Interrupts
}

/** What the screen shows. */
export interface ScreenOptions {
  /** What it shows, and whom that tells of a bug. */
  readonly source: (onBug: OnBug) => SessionSource
  /** Undefined: all. */
  readonly namespace: string | undefined
  readonly palette: Palette
  /** What is shown as a person calls it: the cluster, or the files. */
  readonly cluster: string
}

/** Shows the screen until it is left; rejects with what only a bug can throw. */
export async function runScreen(
  { terminal, interrupts }: ScreenIo,
  options: ScreenOptions,
): Promise<ExitCode> {
  let how: 'quit' | 'interrupt' | Signal = 'quit'
  let bug: { readonly error: unknown } | undefined
  let app: Instance | undefined
  const leave = (): void => app?.unmount()
  const onBug = (error: unknown): void => {
    bug ??= { error }
    leave()
  }
  const session = startSession(options.source(onBug), options.namespace)
  app = render(
    createElement(App, {
      session,
      palette: options.palette,
      cluster: options.cluster,
      namespace: options.namespace,
      onCopy: (text) => terminal.stdout.write(clipboard(text)),
      onLeave: (by) => {
        how = by
      },
    }),
    {
      stdin: terminal.stdin,
      stdout: terminal.stdout,
      alternateScreen: true,
      // ink would draw nothing where CI is set, on a terminal too.
      interactive: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
    },
  )
  if (bug !== undefined) leave()
  const cancels = SIGNALS.map((signal) =>
    interrupts.on(signal, () => {
      how = signal
      leave()
    }),
  )
  cancels.push(interrupts.onCrash(onBug))
  // The terminal is closed: no key will ever come.
  terminal.stdin.on('end', leave)
  try {
    await app.waitUntilExit()
  } finally {
    terminal.stdin.off('end', leave)
    session.stop()
    for (const cancel of cancels) cancel()
  }
  if (bug !== undefined) throw bug.error
  return codeFor(how, interrupts)
}

/** Asks the terminal to put a text into the clipboard (OSC 52); one that cannot or may not shows nothing. */
function clipboard(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`
}

function codeFor(how: 'quit' | 'interrupt' | Signal, { raise }: Interrupts): ExitCode {
  if (how === 'quit') return EXIT.ok
  if (how !== 'interrupt') raise(how)
  return EXIT.interrupted
}
