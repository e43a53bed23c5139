// What `kubectl kleym mcp` answers, by the client of the official SDK, in this process.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dig, isRecord, listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { ANSWER_MAX, type ServerFlags } from '../../../src/answers/mcp/ask.ts'
import { kleymServer } from '../../../src/answers/mcp/server.ts'
import { run } from '../../../src/answers/mcp/run.ts'
import { MANIFESTS_MAX, TOOLS } from '../../../src/answers/mcp/tools.ts'
import type { OutputStream } from '../../../src/io/context.ts'
import { KleymError } from '../../../src/io/errors.ts'
import { inProcess } from '../../support/in-process.ts'
import { requireValidReport } from '../../support/report-check.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const ESTATE: ServerFlags = { offline: true, recursive: true, filename: ['examples/estate'] }

const BINDING = `
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: chat, namespace: team-a }
spec: { poolRef: { name: llama }, serviceAccountName: runner, mode: PoolOnly }
---
apiVersion: v1
kind: Secret
metadata: { name: token, namespace: team-a }
stringData: { token: not-to-be-seen }
`

/** A client of a server that was started with these flags. */
async function clientOf(flags: ServerFlags): Promise<Client> {
  const silent = { write: () => {}, isTerminal: false, columns: undefined }
  const { server } = kleymServer(flags, {
    cwd: ROOT,
    env: {},
    stdin: (async function* () {})(),
    stdout: silent,
    stderr: silent,
    clock: systemClock,
    version: '0.0.0',
  })
  const client = new Client({ name: 'test', version: '1' })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(there), client.connect(here)])
  onTestFinished(() => client.close())
  return client
}

/** The texts of an answer. */
async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<readonly string[]> {
  const result = await client.callTool({ name, arguments: args })
  return listAt(result, 'content').map((one) => stringAt(one, 'text') ?? '')
}

const ARGUMENTS = ['target', 'namespace', 'manifests', 'entries', 'container', 'spiffe_id', 'selectors']

test('each tool says that it only reads, and takes no argument beyond names and what is given to be read', async () => {
  const { tools } = await (await clientOf(ESTATE)).listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'explain',
    'who_selects',
    'conflicts',
    'diff',
    'policies',
    'why_no_svid',
    'why',
  ])
  for (const { annotations, inputSchema } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    const { properties = {} } = inputSchema
    expect(ARGUMENTS).toEqual(expect.arrayContaining(Object.keys(properties)))
  }
})

test('an answer is the report of the command', async () => {
  const client = await clientOf(ESTATE)
  const [report = ''] = await call(client, 'explain', { target: 'team-a/chat' })
  requireValidReport(report)
  const args = ['explain', 'team-a/chat', '-A', '--offline', '-R', '-f', 'examples/estate', '-o', 'json']
  expect(report).toBe((await inProcess(args, ROOT)).stdout)
})

test('why_no_svid follows a container, with what was given of the server', async () => {
  const client = await clientOf(ESTATE)
  const target = { target: 'deployment/llama', namespace: 'team-a', container: 'vllm' }
  const hopsOf = async (more: Record<string, string>): Promise<readonly (readonly unknown[])[]> => {
    const [report = ''] = await call(client, 'why_no_svid', { ...target, ...more })
    requireValidReport(report)
    const [chain] = listAt(JSON.parse(report), 'chains')
    return listAt(chain, 'hops').map((one) => [dig(one, 'hop'), dig(one, 'state'), dig(one, 'text')])
  }
  const without = await hopsOf({})
  expect(without).toHaveLength(8)
  expect(without[3]?.[2]).toBe('the entries of the server were not given')
  const given = await hopsOf({ entries: '{"entries": []}', selectors: 'k8s:ns:team-a,k8s:sa:runner' })
  expect(given[3]?.[2]).not.toBe('the entries of the server were not given')
})

test('a report that is too long is its first lines, and says how to ask for less', async () => {
  const [text = ''] = await call(await clientOf(ESTATE), 'explain')
  expect(text.length).toBeLessThan(ANSWER_MAX)
  expect(text).toMatch(/^The report has \d+ characters, and 100000 are answered\. Name a namespace/)
  expect(text).toContain('50 bindings')
})

test('diff compares the manifests of a call with what the server was started on, and repeats no Secret', async () => {
  const texts = await call(await clientOf(ESTATE), 'diff', { manifests: BINDING })
  const report: unknown = JSON.parse(texts[0] ?? '')
  expect(dig(report, 'kind')).toBe('DiffReport')
  expect(texts.join('')).toContain('team-a/chat')
  expect(texts.join('')).not.toContain('not-to-be-seen')
})

test.each([
  ['explain', { target: '--filename=/etc/passwd' }],
  ['explain', { target: 'chat --filename=/etc/passwd' }],
  ['explain', { namespace: '-n' }],
  ['explain', { target: `a${'b'.repeat(5_000)}` }],
  ['why_no_svid', { target: 'team-a/llama-0', container: '--watch' }],
  ['why_no_svid', { target: 'team-a/llama-0', selectors: 'k8s:ns:a --agent-log=/etc/passwd' }],
  ['why_no_svid', { target: 'team-a/llama-0', entries: '{"entries": [' }],
  ['why_no_svid', {}],
  ['why_no_svid', { target: 'team-a/llama-0', contaner: 'vllm' }],
  ['explain', { binding: 'team-a/chat' }],
  ['diff', { manifests: BINDING, namespace: 'team-a' }],
  ['why', { target: 'KLM301', namespace: 'team-a' }],
  ['diff', { manifests: '' }],
  ['diff', { manifests: 'a'.repeat(2 * 1024 * 1024) }],
  ['delete', {}],
])('%s refuses %j', async (name, args) => {
  const result = await (await clientOf(ESTATE)).callTool({ name, arguments: args })
  expect(result.isError).toBe(true)
})

test.each(['team-a/chat', 'chat', 'Nonsense'])(
  'why takes no binding, which it would look for in another cluster than that of the server: %s',
  async (target) => {
    const client = await clientOf(ESTATE)
    expect((await call(client, 'why', { target })).join('')).toContain('must be a code')
  },
)

test('what does not exist is an error of the call, with what to do', async () => {
  const result = await (
    await clientOf(ESTATE)
  ).callTool({
    name: 'explain',
    arguments: { target: 'team-a/chta' },
  })
  expect(result.isError).toBe(true)
  expect(JSON.stringify(result.content)).toContain('did you mean')
})

test('an answer that rests on what was not given says so', async () => {
  const client = await clientOf({ offline: true, filename: ['examples/estate/team-a'], recursive: true })
  const texts = await call(client, 'policies')
  expect(texts.at(-1)).toContain('This answer is not certain')
})

test('calls that come at once are answered one after another, and too many are refused', async () => {
  const client = await clientOf(ESTATE)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.callTool({ name: 'why', arguments: { target: 'KLM301' } })),
  )
  expect(answers.filter((one) => isRecord(one) && one['isError'] === true)).toHaveLength(4)
})

test('every tool is a command that changes nothing', () => {
  expect(TOOLS.map(({ command }) => command.name)).toEqual([
    'ExplainCommand',
    'WhoSelectsCommand',
    'ConflictsCommand',
    'DiffCommand',
    'PoliciesCommand',
    'WhyCommand',
    'ExplainCommand',
  ])
})

test('stdin and stdout belong to the protocol', async () => {
  expect((await inProcess(['mcp', '--offline', '-f', '-'], ROOT)).stderr).toContain('belong to the protocol')
  expect((await inProcess(['mcp', '--offline', '-f', 'examples', '-o', 'json'], ROOT)).code).toBe(2)
})

function streamTo(texts: string[]): OutputStream {
  return { write: (one) => void texts.push(one), isTerminal: false, columns: undefined }
}

/** What it writes to stdout for what comes on stdin; with the error that it ends with. */
async function served(...parts: readonly string[]): Promise<readonly string[]> {
  const written: string[] = []
  const bytes = parts.map((part) => Buffer.from(part))
  const ended = await run(ESTATE, {
    cwd: ROOT,
    env: {},
    stdin: (async function* () {
      yield* bytes
    })(),
    stdout: streamTo(written),
    stderr: streamTo([]),
    clock: systemClock,
    version: '0.0.0',
  }).catch((error: unknown) => error)
  return [...written.map((text) => text.trim()), ...(ended instanceof KleymError ? [ended.message] : [])]
}

const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
const refused = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })

test('a line that is no message is answered with an error, and the next one is served', async () => {
  const answers = await served('{"jsonrpc":\n', '[]\n', PING)
  expect(answers).toEqual([
    refused(-32_700, 'Parse error'),
    refused(-32_600, 'Invalid Request'),
    '{"result":{},"jsonrpc":"2.0","id":7}',
  ])
})

test('a line that is too long ends it with an error, and not as if all had been served', async () => {
  const [refusal, ended] = await served('x'.repeat(9 * MANIFESTS_MAX), PING)
  expect(refusal).toBe(refused(-32_600, 'Invalid Request'))
  expect(ended).toContain('stdin cannot be read any further')
})

test('it ends with stdin', async () => {
  expect(await inProcess(['mcp', '--offline', '-f', 'examples/estate'], ROOT)).toMatchObject({
    code: 0,
    stdout: '',
  })
})
