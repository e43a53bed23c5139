// The executable as a Model Context Protocol server: asked by the official SDK's own client on the estate, and held against the official
// conformance suite (https://github.com/modelcontextprotocol/conformance), which speaks HTTP: a bridge hands each message on.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ended } from '@kleym/testing/child-process.ts'
import { dig, listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { commandsRunBy } from '../../scripts/docs/commands.ts'
import { built, ESTATE, kleym, PLUGIN, ROOT } from './plugin.ts'

beforeAll(built)

function stdio(): StdioClientTransport {
  return new StdioClientTransport({ command: PLUGIN, args: ['mcp', ...ESTATE], cwd: ROOT, stderr: 'pipe' })
}

test("the SDK's own client asks each tool about the estate", async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(stdio())
  onTestFinished(() => client.close())
  const answers: Record<string, unknown> = {}
  for (const [name, args] of [
    ['explain', { namespace: 'team-a' }],
    ['who_selects', { target: 'spiffe://example.org/ns/team-a/pool/llama' }],
    ['conflicts', { namespace: 'team-a' }],
    [
      'diff',
      { manifests: 'apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: a, namespace: team-a }\n' },
    ],
    ['policies', {}],
    ['why_no_svid', { target: 'deployment/llama', namespace: 'team-a' }],
    ['why', { target: 'UnsafeSelector' }],
  ] as const) {
    const result = await client.callTool({ name, arguments: args })
    expect({ name, isError: result.isError }).toEqual({ name, isError: false })
    const [report] = listAt(result, 'content')
    const text = stringAt(report, 'text') ?? ''
    if (text.startsWith('{')) requireValidReport(text)
    answers[name] = text.startsWith('{') ? dig(JSON.parse(text), 'kind') : text.slice(0, 10)
  }
  expect(answers).toEqual({
    explain: 'ExplainReport',
    who_selects: 'WhoSelectsReport',
    conflicts: 'ConflictsReport',
    diff: 'DiffReport',
    policies: 'PoliciesReport',
    why_no_svid: 'WhyReport',
    why: 'FindingPages',
  })
})

test.each(commandsRunBy(ROOT, 'mcp'))(
  '`$command` ($page) starts, and ends with stdin',
  async ({ command }) => {
    const [, , ...args] = command.split(' ')
    expect(await kleym(args, { stdin: '' })).toMatchObject({ code: 0, stdout: '', stderr: '' })
  },
)

/** The scenarios of the suite that are about what this server has: a handshake and tools. */
const SCENARIOS = ['server-initialize', 'ping', 'tools-list']
/** Those that are about something else, and why they cannot apply. */
const NOT_APPLYING: readonly (readonly [why: string, scenarios: RegExp])[] = [
  [
    "calls a tool of the suite's own example server by its name",
    /^(?:tools-call-.+|json-schema-2020-12|elicitation-.+)$/,
  ],
  ['tests a feature that this server does not declare', /^(?:logging|completion|resources|prompts)-/],
  ['is about HTTP, and this server is on stdio', /^(?:server-sse-.+|dns-rebinding-protection)$/],
]

let url = ''
const server = createServer((request, response) => void bridged(request, response))
const sessions = new Map<string, StreamableHTTPServerTransport>()
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  url = `http://127.0.0.1:${address === null || typeof address === 'string' ? '' : address.port}/mcp`
})
afterAll(async () => {
  for (const transport of sessions.values()) await transport.close()
  server.closeAllConnections()
  server.close()
})

/** Each session is a process of its own, and each message goes through unchanged. */
async function bridged(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = sessions.get(String(request.headers['mcp-session-id']))
  if (known !== undefined) return known.handleRequest(request, response)
  const http = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, http),
  })
  const process = stdio()
  Object.assign(http, {
    onmessage: (message: JSONRPCMessage) => void process.send(message),
    onclose: () => void process.close(),
  })
  Object.assign(process, { onmessage: (message: JSONRPCMessage) => void http.send(message) })
  await Promise.all([process.start(), http.start()])
  await http.handleRequest(request, response)
}

async function conformance(...args: readonly string[]): ReturnType<typeof ended> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
  const program = join(dirname(manifest), 'dist/index.js')
  return ended(spawn(process.execPath, [program, ...args], { stdio: 'pipe' }))
}

test('each scenario of the conformance suite is run, or is about something that this server does not have', async () => {
  const { stdout } = await conformance('list', '--server')
  const listed = [...stdout.matchAll(/^ +- (\S+)/gm)].map(([, name = '']) => name)
  const left = listed.filter((name) => !NOT_APPLYING.some(([, scenarios]) => scenarios.test(name)))
  expect(left.toSorted()).toEqual(SCENARIOS.toSorted())
  expect(listed.length).toBeGreaterThan(30)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(stdio())
  onTestFinished(() => client.close())
  expect(Object.keys(client.getServerCapabilities() ?? {})).toEqual(['tools'])
})

test.each(SCENARIOS)('passes %s of the conformance suite', async (scenario) => {
  const { status, stdout, stderr } = await conformance('server', '--url', url, '--scenario', scenario)
  expect(stdout + stderr).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/)
  expect(status).toBe(0)
})
