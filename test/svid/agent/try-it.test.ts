// `npm run control-plane -- --spire` as people use it: the command is started, what it prints is typed, and Ctrl-C leaves nothing. On it run
// the walk of docs/try-it.md, whose outputs must be those of the page (`KLEYM_WALK=write` puts those of this run there), the end of
// the quick start, where a container shows its first identity, and `verify` with the shipped plugin. It is one file because it is one cluster.
import { spawn, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { commandsRunBy, documentedCommands } from '../../../scripts/docs/commands.ts'
import { listAt, stringAt } from '../../../shared/src/core/base/json.ts'
import { FIRST_BUILD_MS } from '../../control-plane/client-binaries.ts'
import { DIST } from '../../control-plane/kubectl-kleym.ts'
import { built } from '../../e2e/plugin.ts'
import { ROOT } from '../../house/files.ts'
import { startCommand, type StartedCommand } from '../started-command.ts'
import { cgroupPlaces } from './cgroup.ts'

const PAGE = join(ROOT, 'docs', 'try-it.md')
const WRITE = process.env['KLEYM_WALK'] === 'write'
/** Longer than a race may be, after which `verify` calls a difference one (30 s), and than an agent and SCM take to act. */
const ACT_MS = 75_000
/** A run that writes the page looks once more after so long. */
const LOOK_AGAIN_MS = 12_000
/** How long a command may take. */
const COMMAND_MS = 120_000

let child: ChildProcess | undefined
let command: StartedCommand
let folder = ''
/** The lines that set variables, so far. */
let exported: string[] = []

beforeAll(async () => {
  await built()
  folder = mkdtempSync(join(tmpdir(), 'kleym-try-it-'))
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'))
  command = await startCommand({}, (started) => {
    child = started
  })
  exported = [...command.exported]
}, FIRST_BUILD_MS)
afterAll(() => {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Types a command where the variables are set. */
function type(typed: string): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder }
  return ended(
    spawn('sh', ['-c', [...exported, typed].join('\n')], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
    '',
    COMMAND_MS,
  )
}

const VARIABLE = /^([A-Z]+)=/
/** What may be typed again until it shows what it is to show. */
const ASKS = /kubectl kleym |kubectl wait |fetch x509(?!.*>)/

/** What differs from run to run, and what the nth different one of a text becomes. */
const DIFFERING: readonly (readonly [RegExp, (at: number) => string])[] = [
  [/(?<=\bafter )[\d.]+[mµ]?s\b/g, () => '11ms'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, () => '2026-11-23 02:00:00 +0000 UTC'],
  [/(?<=\bllama-[0-9a-f]{8,10}-)[a-z0-9]{5}\b/g, (at) => `pod0${at}`],
  [
    /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
    (at) => `${String(at + 1).padStart(8, '0')}-0000-4000-8000-000000000000`,
  ],
]

/**
 * A text without what differs from run to run, at the same width, so that lines break at the same place.
 */
function stable(text: string): string {
  let result = text
  for (const [pattern, name] of DIFFERING) result = renamed(result, pattern, name)
  return result
}

function renamed(text: string, pattern: RegExp, name: (at: number) => string): string {
  const found = new Map<string, string>()
  return text.replace(pattern, (one) => {
    const known = found.get(one) ?? name(found.size)
    found.set(one, known)
    return known
  })
}

/** Types a command of the page until it shows what the page shows; the last output otherwise. */
async function shown(typed: string, wanted: string): Promise<string> {
  const variable = VARIABLE.exec(typed)?.[1]
  if (variable !== undefined) {
    const { stdout } = await type(`${typed}\nprintf %s "$${variable}"`)
    exported.push(`${variable}='${stdout}'`)
    return ''
  }
  const once = async (): Promise<string> =>
    stable((await type(`{ ${typed}\n} 2>&1`)).stdout.replace(/\n*$/, '\n').replace(/^\n$/, ''))
  let output = await once()
  if (!ASKS.test(typed) || output === wanted) return output
  if (WRITE) {
    // Not a wait for a condition: such a run finds out what there is to wait for.
    await pauseFor(LOOK_AGAIN_MS)
    return once()
  }
  await until(
    async () => {
      output = await once()
      return output === wanted
    },
    `${typed} to show what the page shows`,
    ACT_MS,
  ).catch(() => undefined)
  return output
}

/** What a command must say, and how it must end. */
interface Expected {
  readonly says?: readonly string[]
  readonly status?: number
}

/** Types a command until it says what it must: an agent and SCM take some seconds to act. */
async function says(typed: string, { says: texts = [], status = 0 }: Expected): Promise<string> {
  const isMet = (ran: Ended): boolean =>
    ran.status === status && texts.every((text) => ran.stdout.includes(text))
  let ran = await type(typed)
  if (!isMet(ran) && ASKS.test(typed))
    await until(
      async () => {
        ran = await type(typed)
        return isMet(ran)
      },
      `${typed} to say ${texts.join(', ')}`,
      ACT_MS,
    ).catch(() => undefined)
  expect({ typed, ...ran, met: isMet(ran) }).toMatchObject({ typed, status, met: true })
  return ran.stdout
}

const AGREES = 'the SPIRE server agrees'
const CHAT = 'spiffe://example.org/ns/demo/objective/chat'
/** The same in the estate. */
const CHAT_OF_TEAM_A = 'spiffe://example.org/ns/team-a/objective/chat'
const SERVER = 'kubectl exec -n spire-server spire-server-0 -c spire-server -- spire-server'

async function cleanDemo(): Promise<void> {
  await says('kubectl delete iib --all -n demo', {})
  await says('kubectl delete -f examples/quick-start/model-server.yaml', {})
}

test('what the command prints works as it stands', async () => {
  const typed = command.toType
  expect(typed.length).toBeGreaterThan(8)
  let isStopped = false
  for (const one of typed) {
    if (one.startsWith('kill')) isStopped = one.includes('STOP')
    const verify: Expected = isStopped ? { says: ['KLM802'], status: 1 } : { says: [AGREES] }
    const expected: readonly (readonly [RegExp, Expected])[] = [
      [/ explain /, { says: [CHAT] }],
      [/ who-selects /, { says: [CHAT] }],
      [/ fetch x509$/, { says: [`SPIFFE ID:\t\t${CHAT}`] }],
      [/ verify /, verify],
      // The estate has what it tells of.
      [/ status$/, { status: 1 }],
    ]
    await says(one, expected.find(([pattern]) => pattern.test(one))?.[1] ?? {})
  }
  expect(typed.filter((one) => one.startsWith('kill'))).toHaveLength(2)
  await cleanDemo()
})

test('the walk of docs/try-it.md shows what the page says', async () => {
  const page = readFileSync(PAGE, 'utf8')
  let played = ''
  let count = 0
  for (const part of page.split(/^(```console\n[\s\S]*?^```\n)/m)) {
    if (!part.startsWith('```console')) {
      played += part
      continue
    }
    played += '```console\n'
    for (const [, typed = '', wanted = ''] of part.matchAll(/^\$ (.*)\n((?:(?!\$ |```).*\n)*)/gm)) {
      played += `$ ${typed}\n${await shown(typed, wanted)}`
      count++
    }
    played += '```\n'
  }
  if (WRITE) writeFileSync(PAGE, played)
  // The first command of the page has started it all.
  expect(count).toBe(commandsRunBy(ROOT, 'tryIt').filter((one) => one.page === 'docs/try-it.md').length - 1)
  expect(played).toBe(page)
})

test('the quick start ends with the identity that it promises, shown by a process in the container', async () => {
  await cleanDemo()
  const page = documentedCommands(ROOT).filter((one) => one.page === 'docs/quick-start.md')
  const from = page.findIndex(({ command: one }) => one.includes('model-server.yaml'))
  const steps = page.slice(from)
  expect(steps.map(({ command: one }) => one.split(' ').slice(0, 2).join(' '))).toContain('kubectl exec')
  const [, promised = ''] =
    /^SPIFFE ID:\s+(spiffe:\S+)$/m.exec(readFileSync(join(ROOT, 'docs/quick-start.md'), 'utf8')) ?? []
  for (const { command: one } of steps)
    await says(one, {
      status: / diff /.test(one) ? 1 : 0,
      ...(/ exec | explain /.test(one) && { says: [promised] }),
    })
})

const INFERENCE = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: inference }
spec:
  className: spire-mgmt-spire
  spiffeIDTemplate: spiffe://example.org/llama
  namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: demo } }
  podSelector: { matchLabels: { app: llama } }
`

test('the order of docs/migrate.md: the process holds the old identity, both, and the new one, and never none', async () => {
  await cleanDemo()
  writeFileSync(join(folder, 'inference.yaml'), INFERENCE)
  await says('kubectl apply -f examples/quick-start/model-server.yaml -f inference.yaml', {})
  await says('kubectl wait deployment llama -n demo --for=condition=Available', {})
  const held: string[] = []
  const holds = async (...ids: readonly string[]): Promise<void> =>
    until(
      async () => {
        const { stdout, stderr } = await type(
          'kubectl exec -n demo deployment/llama -- spire-agent api fetch x509',
        )
        const now = [...stdout.matchAll(/SPIFFE ID:\t\t(\S+)/g)].map(([, id = '']) => id).toSorted()
        held.push(now.join(' and ') || stderr)
        return now.join() === ids.toSorted().join()
      },
      `the process to hold ${ids.join(' and ')}`,
    ).then(() => undefined)
  const [old, next] = ['spiffe://example.org/llama', 'spiffe://example.org/ns/demo/pool/llama']
  await holds(old)
  // The next answer may show both already.
  held.splice(0, held.length - 1)
  const migrate = 'kubectl kleym migrate clusterspiffeid/inference'
  await says(migrate, { says: ['2. Apply the bindings', '3. Delete the old registration', next] })
  await says(`${migrate} -o yaml | kubectl apply -f -`, { says: ['/llama created'] })
  await holds(old, next)
  await says('kubectl kleym diff --without clusterspiffeid/inference', { says: [old], status: 1 })
  await says('kubectl delete clusterspiffeid inference', {})
  await holds(next)
  expect([...new Set(held)]).toEqual([old, `${old} and ${next}`, next])
})

/** What stands for the reader's own names. */
function filledIn(text: string): string {
  const node = "$(kubectl get pod llama-pqjm8lw-knkfm -n team-a -o jsonpath='{.spec.nodeName}')"
  return text
    .replace('-n SPIRE AGENT', `-n spire-system spire-agent-${node}`)
    .replace('-n SPIRE spire-server-0', '-n spire-server spire-server-0')
    .replace('-n SPIRE', '-n spire-system')
    .replace('why llama-0', 'why llama-pqjm8lw-knkfm')
    .replace('-n team-a llama-0', '-n team-a llama-pqjm8lw-knkfm')
    .replace('kubectl exec NAME -n TEAM', 'kubectl exec llama-pqjm8lw-knkfm -n team-a -c vllm')
    .replace(/-spiffeID ID$/, `-spiffeID ${CHAT}`)
}

test('other pages that ask the pods of SPIRE, or a process in a pod, can be followed', async () => {
  const others = commandsRunBy(ROOT, 'tryIt').filter(
    ({ page, command: one }) =>
      !['docs/try-it.md', 'docs/quick-start.md'].includes(page) && one.startsWith('kubectl '),
  )
  expect(others.length).toBeGreaterThan(4)
  for (const { command: one } of others)
    // Either the entries or the log are given, and not both.
    await says(
      filledIn(one),
      one.includes('verify')
        ? { says: [AGREES] }
        : one.includes('kleym why')
          ? // The processes of this cluster see the socket of the machine; by their manifests the pods mount none.
            { status: 1, says: ['broken at hop 7, reachable'] }
          : {},
    )
  expect(await says('cat svids.txt', {})).toContain(CHAT_OF_TEAM_A)
})

describe('verify, live, with the shipped plugin', () => {
  const VERIFY = `${SERVER} entry show -output json | kubectl kleym verify --entries -`

  /** The differences, as `kind cause SPIFFE ID`, once they are these. */
  async function differences(wanted: readonly string[]): Promise<readonly string[]> {
    let told: readonly string[] = []
    await until(
      async () => {
        const { stdout } = await type(`PATH=${DIST}:$PATH\n${VERIFY} -o json`)
        told = listAt(JSON.parse(stdout), 'differences').map((one) =>
          ['kind', 'cause', 'spiffe_id'].map((field) => stringAt(one, field) ?? '').join(' '),
        )
        return JSON.stringify(told) === JSON.stringify(wanted)
      },
      'verify to tell the change',
      ACT_MS,
    ).catch(() => undefined)
    return told
  }

  test('nothing, and then each change while SCM stands still, and nothing once it goes on', async () => {
    expect(await differences([])).toEqual([])
    await says('kill -STOP $SCM_PID', {})
    const show = `${SERVER} entry show -spiffeID ${CHAT_OF_TEAM_A}`
    const id = `${show} | sed -n 's/^Entry ID *: //p' | head -1`
    await says(`${SERVER} entry delete -entryID $(${id})`, {})
    await says(
      'kubectl patch clusterspiffeid oidc-discovery-provider --type merge -p \'{"spec":{"ttl":"9m"}}\'',
      {},
    )
    const changed = [
      `missing deleted ${CHAT_OF_TEAM_A}`,
      'different scm behind spiffe://example.org/ns/spire-server/sa/spire-oidc',
    ]
    expect(await differences(changed)).toEqual(changed)
    await says('kill -CONT $SCM_PID', {})
    expect(await differences([])).toEqual([])
  })

  test('what a process of the estate got is what it should have', async () => {
    const pod = 'llama-pqjm8lw-knkfm'
    const fetch = `kubectl exec -n team-a ${pod} -c vllm -- spire-agent api fetch x509 > svids.txt`
    // The agent has yet to hear of the entry that SCM has made anew.
    await until(
      async () => (await type(`${fetch} && cat svids.txt`)).stdout.includes(CHAT_OF_TEAM_A),
      'the agent to give the identity again',
    )
    const verify = `PATH=${DIST}:$PATH\n${VERIFY} --svids svids.txt --pod team-a/${pod} -c`
    expect(await says(`${verify} vllm`, { says: [AGREES] })).not.toContain('KLM82')
    // The same SVIDs are not those of the container beside it.
    expect(await says(`${verify} lora-adapter-syncer`, { says: ['KLM821'], status: 1 })).toContain('KLM822')
  })
})

test('Ctrl-C ends it, and leaves no process, file or cgroup', async () => {
  const uids = (await says('kubectl get pods -A -o jsonpath={.items[*].metadata.uid}', {})).split(' ')
  const { files } = command
  expect(processesWith(files).length).toBeGreaterThan(6)
  expect(await command.end('SIGINT')).toBe(0)
  expect(existsSync(files)).toBe(false)
  expect(processesWith(files)).toEqual([])
  const left = cgroupPlaces().flatMap(({ root }) =>
    uids.filter((uid) => existsSync(join(root, 'kubepods', `pod${uid}`))),
  )
  expect(left).toEqual([])
})

/** The command lines of processes that name a folder. */
function processesWith(path: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        // It has ended in the meantime.
        return ''
      }
    })
    .filter((line) => line.includes(path))
}
