// `kubectl kleym watch` on a real API server, through the real kubectl, in a real terminal: it shows what is there and what
// changes, obeys its keys, fits every size, says what it does not know, and leaves the terminal as it was.
import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { built, PLUGIN } from '../e2e/plugin.ts'
import {
  BEFORE,
  hasTmux,
  startInPty,
  startInTmux,
  untilShown,
  type StartTerminal,
  type Terminal,
} from '../terminal/terminal.ts'
import { ensureBinaries } from './binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { bindingId, estate, member, namespace, pool } from './objects.ts'
import { until, within } from '@kleym/testing/wait.ts'

const VIEWER = 'viewer'
const NOBODY = 'nobody'
const ESC = '\u001b'
const DOWN = `${ESC}[B`
const END = `${ESC}[F`

let cp: ControlPlane
let kubectl: string
const terminals: Terminal[] = []

beforeAll(async () => {
  await built()
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  kubectl = binaries.programs.kubectl
  cp = await startControlPlane({ users: [{ name: VIEWER }, { name: NOBODY }] })
  await cp.apply([
    ...estate('team-a'),
    ...['chat', 'embed', 'rank'].flatMap((name) => member('team-a', name, { containerName: name })),
    ...estate('team-b'),
    ...member('team-b', 'mistral'),
    ...rights(),
  ])
})
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close()
})
afterAll(() => cp?.stop())

/** The viewer may read kleym's and GAIE's kinds in team-a, and nothing else. */
function rights(): Parameters<ControlPlane['apply']>[0] {
  const groups = [
    'kleym.sonda.red',
    'inference.networking.k8s.io',
    'inference.networking.x-k8s.io',
    'llm-d.ai',
  ]
  const api = 'rbac.authorization.k8s.io'
  const metadata = { name: VIEWER, namespace: 'team-a' }
  return [
    {
      apiVersion: `${api}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: groups, resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: `${api}/v1`,
      kind: 'RoleBinding',
      metadata,
      subjects: [{ kind: 'User', name: VIEWER, apiGroup: api }],
      roleRef: { kind: 'Role', name: VIEWER, apiGroup: api },
    },
  ]
}

interface WatchOptions {
  readonly user?: string
  readonly columns?: number
  readonly rows?: number
}

const environment = (user = 'admin'): Record<string, string> => ({
  PATH: `${dirname(PLUGIN)}${delimiter}${process.env['PATH'] ?? ''}`,
  KUBECONFIG: cp.kubeconfig(user),
  HOME: cp.folder,
})

/** Starts `kubectl kleym watch` in a terminal; it is closed after the test. */
function watch(
  start: StartTerminal,
  args: readonly string[],
  { user, columns = 80, rows = 24 }: WatchOptions = {},
): Terminal {
  const command = [kubectl, 'kleym', 'watch', '--trust-domain=example.org', ...args]
  const terminal = start(command, { columns, rows, env: environment(user) })
  terminals.push(terminal)
  return terminal
}

/** Waits until the program has ended; its screen must then be gone, and what was there before be there again. */
async function untilLeft(terminal: Terminal): Promise<number> {
  const ended = await until(() => {
    const code = terminal.ended()
    return code === undefined ? undefined : { code }
  }, 'the watch to end')
  const lines = await untilShown(terminal, BEFORE)
  expect(lines.join('\n')).not.toContain('BINDING')
  return ended.code
}

/** A test for each terminal; where there is no tmux, the lines of `beforeAll` say so. */
const TERMINALS: readonly (readonly [string, StartTerminal])[] = [
  ['a pseudo-terminal', startInPty],
  ...(hasTmux() ? [['tmux', startInTmux] as const] : []),
]

beforeAll(() => {
  if (hasTmux()) return
  process.stderr.write(
    'NOT RUN: the watch in tmux, which is not installed; the same tests ran in a pseudo-terminal\n  fix:  install tmux\n',
  )
})

describe.each(TERMINALS)('in %s', (_, start) => {
  test('it moves, filters, opens, resizes, follows the cluster, and quits', async () => {
    const terminal = watch(start, ['-A'])
    await untilShown(terminal, /> ! team-a\/chat +valid, not applied yet/)
    terminal.press(DOWN)
    await untilShown(terminal, /> ! team-a\/embed/)
    terminal.press('j')
    await untilShown(terminal, /> ! team-a\/rank/)
    terminal.press(END)
    await untilShown(terminal, /> ! team-b\/mistral/)

    terminal.press('/')
    await untilShown(terminal, 'filter: _')
    terminal.press('team-a chat')
    const filtered = await untilShown(terminal, /4 bindings: 4 ready, 1 with team-a chat/)
    expect(filtered.join('\n')).not.toContain('mistral')
    terminal.press('\r')
    await untilShown(terminal, 'Enter open')
    terminal.press('\r')
    await untilShown(terminal, /team-a\/chat is ready/)

    terminal.resize(160, 50)
    await untilShown(
      terminal,
      /k8s:container-name:chat +InferenceIdentityBinding\/chat \.spec\.containerName/,
    )
    terminal.resize(40, 15)
    const small = await untilShown(terminal, /EXPLAIN team-a\/chat, lines 1/)
    // A line that is longer than the screen would wrap, and move these.
    expect(small[0]).toMatch(/^kleym /)
    expect(small[14]).toMatch(/^q quit /)

    await cp.admin.delete(poolId('team-a'))
    await untilShown(terminal, /team-a\/chat is refused/)
    await cp.apply([pool('team-a', 'llama', { app: 'llama' })])
    await untilShown(terminal, /team-a\/chat is ready/)

    terminal.press(ESC)
    await untilShown(terminal, 'Enter open')
    terminal.press('q')
    expect(await untilLeft(terminal)).toBe(0)
  })

  test.each([
    ['Ctrl-C', (terminal: Terminal) => terminal.press('\u0003'), 130],
    ['SIGTERM', (terminal: Terminal) => terminal.signal('SIGTERM'), 143],
    ['SIGHUP', (terminal: Terminal) => terminal.signal('SIGHUP'), 129],
    ['SIGINT from elsewhere', (terminal: Terminal) => terminal.signal('SIGINT'), 130],
  ])('%s ends it, and the terminal is as it was', async (__, leave, how) => {
    const terminal = watch(start, ['-n', 'team-b'])
    await untilShown(terminal, /> ! mistral/)
    leave(terminal)
    expect(await untilLeft(terminal)).toBe(how)
  })
})

test('another namespace is chosen by its name, and a binding that comes there is shown', async () => {
  const terminal = watch(startInPty, ['-n', 'team-a'])
  await untilShown(terminal, /> ! chat/)
  terminal.press('n')
  await untilShown(terminal, 'kube-system')
  terminal.press('team-c\r')
  await untilShown(terminal, 'no bindings in namespace team-c')
  await cp.apply([namespace('team-c'), ...member('team-c', 'late')])
  await untilShown(terminal, /✗ late +\d+s +TargetPoolNotFound/)
  await cp.admin.delete(bindingId('team-c', 'late'))
  const empty = await untilShown(terminal, 'no bindings in namespace team-c')
  expect(empty.join('\n')).not.toContain('late')
})

test('a user who may read one namespace sees its bindings, and which reads are missing for the others', async () => {
  const terminal = watch(startInPty, ['-n', 'team-a'], { user: VIEWER })
  const lines = await untilShown(terminal, /! chat +Undetermined/)
  expect(lines.join('\n')).toContain('! cannot list ClusterSPIFFEID.spire.spiffe.io: forbidden')
})

test('a user who may read nothing is told so, and never that there is nothing', async () => {
  const terminal = watch(startInPty, ['-A'], { user: NOBODY, columns: 100 })
  const text = (await untilShown(terminal, 'bindings are not known')).join('\n')
  expect(text).toContain('! cannot list InferenceIdentityBinding.kleym.sonda.red: forbidden')
  expect(text).not.toContain('no bindings')
})

test('while the API server is silent, what is shown is said to be old', async () => {
  const terminal = watch(startInPty, ['-A'])
  await untilShown(terminal, /> ! team-a\/chat/)
  await cp.pauseApiServer()
  try {
    const lines = await untilShown(
      terminal,
      /! disconnected since \d\d:\d\d:\d\d; showing the last known state/,
    )
    expect(lines.join('\n')).toMatch(/BINDING .* as of \d\d:\d\d:\d\d/)
  } finally {
    await cp.resumeApiServer()
  }
  await until(
    () => !terminal.lines().join('\n').includes('not connected'),
    'the connection to be there again',
  )
  expect(terminal.lines().join('\n')).toMatch(/> ! team-a\/chat/)
})

describe('without a terminal', () => {
  test('it prints JSON, one object per line, and goes on with each change', async () => {
    const child = spawn(kubectl, ['kleym', 'watch', '-A', '-o', 'json', '--trust-domain=example.org'], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const events: { type?: string; binding?: string; reason?: string }[] = []
    createInterface({ input: child.stdout }).on('line', (text) => events.push(JSON.parse(text)))
    const said = (type: string, binding: string): Promise<unknown> =>
      until(
        () => events.some((event) => event.type === type && event.binding === binding),
        `${type} ${binding} among ${JSON.stringify(events)}`,
      )
    try {
      await said('ADDED', 'team-b/mistral')
      expect(events[0]).toMatchObject({ type: 'KNOWLEDGE', connected: true, missing: [] })
      await cp.apply(member('team-b', 'second', { containerName: 'second' }))
      await said('ADDED', 'team-b/second')
      await cp.admin.delete(bindingId('team-b', 'second'))
      await said('DELETED', 'team-b/second')
    } finally {
      child.kill('SIGINT')
    }
  })

  test('it ends when its reader has gone', async () => {
    const line = 'kubectl kleym watch -A --plain | head -n 1'
    const child = spawn('sh', ['-c', line.replace('kubectl', '"$0"'), kubectl], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
    let printed = ''
    child.stdout.on('data', (data: Buffer) => {
      printed += data.toString()
    })
    // It notices when it prints the next line.
    await until(async () => printed !== '', 'the first line')
    await cp.apply(member('team-b', 'third', { containerName: 'third' }))
    expect(await within(ended, 'the watch to end')).toBe(0)
    expect(printed).toMatch(/^ +NAMESPACE +NAME +VERDICT/)
  })
})

function poolId(space: string): Parameters<ControlPlane['admin']['delete']>[0] {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    name: 'llama',
    namespace: space,
  }
}
