// `watch --offline` on real files of this system: it answers again when one changes, however it was changed.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@kleym/testing/wait.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { expect, test } from 'vitest'
import { runProgram } from '../../../../src/program/program.ts'
import { FileFollower } from '../../../../src/sources/follow-files.ts'
import { fileSource, type Files } from '../../../../src/answers/watch/files/file-state.ts'
import type { Picture } from '../../../../src/answers/watch/live/live-state.ts'
import { render } from '../../../../src/text/line.ts'
import { PLAIN } from '../../../../src/io/palette.ts'
import { gather } from '../../../../src/gather/gather.ts'
import { CHAT_BINDING, CHAT_OBJECTS } from '../../../support/chat-world.ts'
import { inProcess } from '../../../support/in-process.ts'
import { workspace } from '../../../support/workspace.ts'

const SECOND = CHAT_BINDING.replaceAll('name: chat, namespace', 'name: two, namespace')
  .replace('name: chat}, service', 'name: two}, service')
  .replace('uid: u1', 'uid: u2')

interface Watching {
  readonly root: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Ends the watch, as `| head` does, and gives its exit code. */
  readonly leave: () => Promise<number>
}

/** Watches a folder `app` that has a world with one binding. */
async function watching(...args: readonly string[]): Promise<Watching> {
  const root = await workspace({ 'app/world.yaml': CHAT_OBJECTS, 'app/chat.yaml': CHAT_BINDING })
  const [out, err]: readonly [string[], string[]] = [[], []]
  const readers: (() => void)[] = []
  const code = runProgram(
    ['watch', '--offline', '-R', '-f', 'app', '--trust-domain', 'example.org', ...args],
    {
      cwd: root,
      env: {},
      stdin: nothing(),
      stdout: {
        write: (text) => void out.push(text),
        isTerminal: false,
        columns: undefined,
        onReaderLeft: (left) => void readers.push(left),
      },
      stderr: { write: (text) => void err.push(text), isTerminal: false, columns: undefined },
      clock: systemClock,
      version: '0.0.0',
    },
  )
  const leave = (): Promise<number> => {
    for (const left of readers) left()
    return code
  }
  const started = { root, stdout: () => out.join(''), stderr: () => err.join(''), leave }
  await until(() => started.stdout().includes('chat'), 'the first rows')
  return started
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

test('a line for each binding that changes with a file: written, replaced, removed, in a folder that is new', async () => {
  const { root, stdout, leave } = await watching()
  expect(stdout()).toMatch(/^✓ demo {7}chat {2}ready {4}spiffe:\/\/example.org\/ns\/demo\/objective\/chat$/m)
  await writeFile(join(root, 'app/chat.yaml'), CHAT_BINDING.replace('name: llama}, obj', 'name: lama}, obj'))
  await until(() => /✗ demo +chat +TargetPoolNotFound/.test(stdout()), 'a refusal')
  // As editors save.
  await writeFile(join(root, 'app/.chat.swp'), CHAT_BINDING)
  await rename(join(root, 'app/.chat.swp'), join(root, 'app/chat.yaml'))
  await until(() => /TargetPoolNotFound[^]*✓ demo +chat +ready/.test(stdout()), 'it is ready again')
  await mkdir(join(root, 'app/more/deep'), { recursive: true })
  await writeFile(join(root, 'app/more/deep/two.yaml'), SECOND)
  await until(() => /✗ demo +two +IdentityCollision/.test(stdout()), 'a collision')
  await writeFile(
    join(root, 'app/more/deep/two.yaml'),
    SECOND.replace('containerName: vllm', 'containerName: x'),
  )
  await until(() => /✓ demo +two +ready/.test(stdout()), 'none')
  await rm(join(root, 'app/more'), { recursive: true })
  await until(() => /· demo +two +deleted/.test(stdout()), 'it is gone')
  expect(await leave()).toBe(0)
})

test('what cannot be read is reported once, and again when it can be read; what is shown stays', async () => {
  const { root, stdout, stderr, leave } = await watching()
  await writeFile(join(root, 'app/x.yaml'), 'kind: [\n')
  await until(() => stderr().includes('! cannot read document 1 of app/x.yaml'), 'it is reported')
  await until(() => /! demo +chat +Undetermined/.test(stdout()), 'the row says so')
  await rm(join(root, 'app/x.yaml'))
  await until(() => stderr().includes('✓ no longer so: cannot read document 1'), 'it is told that it is over')
  await rename(join(root, 'app'), join(root, 'away'))
  await until(
    () => stderr().includes('! cannot read app (-f app): there is no such file'),
    'the folder is missed',
  )
  expect(stdout()).not.toContain('deleted')
  await rename(join(root, 'away'), join(root, 'app'))
  await until(() => stderr().includes('✓ no longer so: cannot read app'), 'it is back')
  expect(await leave()).toBe(0)
})

test('-o json has an event for each', async () => {
  const { root, stdout, leave } = await watching('-o', 'json')
  await rm(join(root, 'app/chat.yaml'))
  await until(() => stdout().includes('"DELETED"'), 'it is gone')
  await leave()
  const events = stdout()
    .trim()
    .split('\n')
    .map((one): { type: string; binding?: string } => JSON.parse(one))
  expect(events.map(({ type, binding }) => [type, binding])).toEqual([
    ['KNOWLEDGE', undefined],
    ['ADDED', 'demo/chat'],
    ['DELETED', 'demo/chat'],
  ])
})

test('the derivation of a binding is what explain says of it, and follows the files', async () => {
  const root = await workspace({ 'world.yaml': CHAT_OBJECTS, 'chat.yaml': CHAT_BINDING })
  const given = ['--offline', '-f', '.', '--trust-domain', 'example.org']
  const options = {
    allNamespaces: true,
    sources: {
      files: { files: ['.'], recursive: false, kustomize: [] },
      offline: true,
      live: undefined,
      without: [],
      namespace: undefined,
      cluster: { kubeconfigPath: undefined, context: undefined, overrides: {}, timeoutMs: undefined },
      scmNamespaces: [],
    },
    settings: {
      trustDomain: 'example.org',
      className: undefined,
      outputLabels: undefined,
      scmConfig: undefined,
    },
    output: { format: 'text', failOn: 'never', colour: 'never', suppress: [] },
  } as const
  const context = {
    cwd: root,
    env: {},
    stdin: nothing(),
    stdout: QUIET,
    stderr: QUIET,
    clock: systemClock,
    version: '0',
  }
  const follower = new FileFollower(options.sources.files, { cwd: root, clock: systemClock })
  const files: Files = {
    clock: systemClock,
    output: options.output,
    version: () => follower.version,
    onChange: (listener) => follower.onChange(listener),
    gather: () => gather(options, { allNamespaces: true, named: [undefined], policies: true }, context),
  }
  const first = { input: await files.gather(), version: follower.version }
  const source = fileSource(files, first, (error) => {
    throw error
  })
  let picture: Picture | undefined
  const live = source.begin('demo', (next) => {
    picture = next
  })
  live.start()
  live.choose('demo/chat')
  const shown = (): string =>
    picture?.detail.state === 'whole' ? render(picture.detail.view(80), PLAIN) : (picture?.detail.state ?? '')
  expect(shown()).toBe((await inProcess(['explain', 'demo/chat', ...given], root)).stdout)
  await writeFile(join(root, 'chat.yaml'), CHAT_BINDING.replace('vllm', 'vlm'))
  await until(() => shown().includes('reaches no container'), 'it follows')
  expect(shown()).toBe((await inProcess(['explain', 'demo/chat', ...given], root)).stdout)
  // Not `deleted`: what is written may be the binding.
  await writeFile(join(root, 'chat.yaml'), 'kind: InferenceIdentityBinding\nmetadata: {name: chat, na')
  await until(() => shown() === 'unread', 'it may be there')
  await rm(join(root, 'chat.yaml'))
  await until(() => shown() === 'deleted', 'the binding is gone')
  expect((await source.namespaces(picture?.rows ?? [])).names).toEqual(['demo'])
  live.stop()
  follower.stop()
})

const QUIET = { write: () => {}, isTerminal: false, columns: undefined }

test.each([
  [['-f', 'app'], 'files are given beside a cluster'],
  [['--offline', '-f', '-'], 'stdin cannot be watched'],
  [['--offline'], 'nothing to read'],
  [['--offline', '-f', 'nope'], 'cannot read nope'],
])('watch %j is wrong usage', async (args, text) => {
  const ran = await inProcess(['watch', ...args], await workspace({ 'app/a.yaml': CHAT_OBJECTS }))
  expect(ran.stderr).toContain(text)
  expect(ran.code).toBe(2)
})
