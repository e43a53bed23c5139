// Every string of a manifest may come from an attacker: whatever it holds, no format lets a terminal, a CI
// system or a reader take it for something else, and machine-readable formats give it back as it was.
import { dig, listAt } from '../../shared/src/core/base/json.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { parseXml } from '../../plugin/test/support/xml.ts'
import { inProcess, type Ran } from '../../plugin/test/support/in-process.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built, kleym } from './plugin.ts'

const HOSTILE = {
  'a terminal sequence': '\u001b[2J\u001b[31mred\u001b[0m',
  'a window title': '\u001b]0;owned\u0007',
  'an eight-bit sequence': '\u009b31mred',
  'a GitHub command': '::error::boo',
  'a GitHub command on a line of its own': 'a\n::error file=x,line=1::boo\n::set-output name=x::y',
  'an old GitHub command': '##[error]boo',
  'an Azure command': '##vso[task.complete result=Succeeded]',
  'a carriage return': 'refused\rready  ',
  'a forged verdict': 'x\n\n✓ team-a/chat is ready: 3 containers get',
  'a right-to-left override': 'a\u202eb\u2066c\u2069',
  'right-to-left marks': 'a\u200f\u200eb\u061c',
  'zero-width characters': 'v\u200bl\u200dl\ufeffm\u2060',
  'tags and variation selectors': 'a\u{e0041}\ufe0f',
  'line separators': 'a\u2028b\u2029c\u0085d',
  markup: '<script>alert("1")</script>&amp;\'<!--]]>',
  'a quote of YAML': '"\\": {a: [1, &x *x]} # - !!js/function',
  'a property of every object': '__proto__',
  backspaces: 'bad\b\b\bgood\u007f',
} as const
const STRINGS = Object.values(HOSTILE)
const MEGABYTE = 'm\u001b'.repeat(500_000)

/** What must never reach a terminal, but for the line feeds between lines. */
const RAW =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\p{Variation_Selector}]|[\u{e0000}-\u{e007f}]/u

/** Commands of CI systems, a verdict that kleym did not give, the stack of a crash. */
const OBEYED = [/^[^\S\n]*::.*/m, /##(?:\[|vso\[)/, /^✓ team-a\/chat.*/m, /^ +at .+:\d+/m]

/** An annotation as -o github writes it: known properties, nothing in them that would end them, and a message. */
const OWN_COMMAND = /^::(?:error|warning|notice) (?:file=[^,:\n]*,line=\d+,)?title=[^,:\n]*::(?=\S)/gm

type Manifest = Readonly<Record<string, unknown>>

/** One tenant whose every string is hostile, and whose names are valid or hostile. */
function tenant(text: string, at: number, name: string, namespace: string): readonly Manifest[] {
  const metadata = {
    name,
    namespace,
    labels: { app: `a${at}`, x: text, [text]: text },
    annotations: { [text]: text },
  }
  const live = { ...metadata, uid: `uid-${at}-${name}`, creationTimestamp: text }
  return [
    {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata: live,
      spec: {
        poolRef: { name: text },
        objectiveRef: { name: text },
        serviceAccountName: text,
        containerName: text,
      },
      status: { conditions: [{ type: 'Ready', status: 'False', reason: text, message: text }] },
    },
    {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata: { name: `${name}-pool`, namespace },
      spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
    },
    {
      apiVersion: 'inference.networking.k8s.io/v1',
      kind: 'InferencePool',
      metadata: { name: 'llama', namespace },
      spec: { selector: { matchLabels: at % 2 === 0 ? { app: `a${at}` } : { [text]: text } } },
    },
    {
      apiVersion:
        at % 4 === 3 ? `agentic.networking.x-k8s.io/${text}` : 'agentic.networking.x-k8s.io/v1alpha1',
      kind: 'XAccessPolicy',
      metadata: live,
      spec: {
        targetRefs: [{ group: text, kind: text, name: text, sectionName: text }],
        action: text,
        rules: [
          { name: text, source: { type: 'SPIFFE', spiffe: text }, authorization: { type: text } },
          { name: text, source: { type: 'ServiceAccount', serviceAccount: { name: text, namespace: text } } },
          { name: text, source: { type: text, spiffe: text } },
          { source: text },
          text,
        ],
      },
      status: {
        ancestors: [
          {
            ancestorRef: { name: text },
            controllerName: text,
            conditions: [{ type: 'Accepted', reason: text }],
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: live,
      spec: { nodeName: text, serviceAccountName: text, containers: [{ name: text, image: text }] },
    },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { ...live, namespace: undefined, name: `foreign-${at}-${name}` },
      spec: {
        spiffeIDTemplate: at % 3 === 0 ? text : 'spiffe://example.org/foreign',
        podSelector: { matchLabels: { app: `a${at}` } },
        workloadSelectorTemplates: [`k8s:sa:${text}`, `k8s:container-name:${text}`],
        dnsNameTemplates: at % 4 === 0 ? [text] : [],
        hint: text,
        ttl: at % 5 === 0 ? text : '1h',
        className: at % 7 === 6 ? text : '',
        federatesWith: at % 6 === 5 ? [text] : [],
      },
    },
    { apiVersion: text, kind: text, metadata },
  ]
}

const OPERATOR: Manifest = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kleym', namespace: 'kleym' },
  spec: {
    selector: { matchLabels: { app: 'kleym' } },
    template: {
      spec: {
        containers: [
          {
            name: HOSTILE['a window title'],
            image: 'kleym-operator',
            args: [
              '--trust-domain=example.com',
              `--clusterspiffeid-class-name=${HOSTILE['a GitHub command']}`,
            ],
          },
        ],
      },
    },
  },
}

const COMMANDS = [
  ['explain', '-A'],
  ['conflicts', '-A'],
  ['who-selects', '-A'],
  ['who-selects', '-A', '--entries'],
  ['policies', '-A'],
  ['map', '-A'],
  ['suggest', '-A'],
  ['migrate', '-A'],
  ['rename', 'pool/llama', 'renamed', '-n', 'ns-0'],
  ['diff'],
  ['why', 'pod/t0', '-n', 'ns-0'],
  ['verify', '--entries', join(import.meta.dirname, '../../examples/server/entries.json')],
] as const
const FORMATS = [
  'text',
  'wide',
  'json',
  'yaml',
  'name',
  'sarif',
  'junit',
  'github',
  'mermaid',
  'markdown',
  'dot',
  'html',
] as const

/** The formats of a command: only derivations, clashes and the map are drawn, and only the map is a page. */
function formatsOf([command = '']: readonly string[]): readonly (typeof FORMATS)[number][] {
  const isDrawn = command === 'explain' || command === 'conflicts' || command === 'map'
  return FORMATS.filter(
    (one) => (isDrawn || (one !== 'mermaid' && one !== 'dot')) && (command === 'map' || one !== 'html'),
  )
}

const answers = new Map<string, Ran>()

beforeAll(async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kleym-hostile-'))
  try {
    const valid = STRINGS.flatMap((text, at) => tenant(text, at, `t${at}`, `ns-${at}`))
    const named = STRINGS.flatMap((text, at) => tenant(text, at, text, text))
    const items = [...valid, ...named, OPERATOR]
    writeFileSync(
      join(cwd, `${HOSTILE['a right-to-left override']}\u001b[31m.json`),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    )
    writeFileSync(join(cwd, 'broken\u001b[2J.yaml'), 'a: "\\u001b[31m\n::error::x: [')
    for (const command of COMMANDS)
      for (const format of formatsOf(command)) {
        const args = [...command, '--offline', '-f', '.', '--trust-domain', 'example.org', '-o', format]
        const answer = await inProcess(args, cwd)
        requireValidReport(answer.stdout)
        answers.set(`${command.join(' ')} ${format}`, answer)
      }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
})

function run(command: readonly string[], format: (typeof FORMATS)[number]): Ran {
  const found = answers.get(`${command.join(' ')} ${format}`)
  if (found === undefined) throw new Error(`${command.join(' ')} was not run as ${format}`)
  return found
}

describe.each(COMMANDS.map((command) => ({ name: command.join(' '), command })))('$name', ({ command }) => {
  test.each(formatsOf(command))('-o %s holds nothing that a terminal or a CI system obeys', (format) => {
    const { stdout, stderr, code } = run(command, format)
    expect(code).toBe(4)
    // Its own commands are what -o github is for; none of a name is among them.
    const answer = format === 'github' ? stdout.replaceAll(OWN_COMMAND, '') : stdout
    for (const text of [answer, stderr]) {
      const found = RAW.exec(text)
      expect(found === null ? '' : text.slice(Math.max(0, found.index - 40), found.index + 40)).toBe('')
      for (const obeyed of OBEYED) expect(obeyed.exec(text)?.[0]).toBeUndefined()
    }
  })

  test('JUnit XML is well-formed, and SARIF is JSON', () => {
    expect(parseXml(run(command, 'junit').stdout).name).toBe('testsuites')
    expect(JSON.parse(run(command, 'sarif').stdout)).toMatchObject({ version: '2.1.0' })
  })

  test('YAML says the same as JSON, and is manifests alone where they are the answer', () => {
    const json: unknown = JSON.parse(run(command, 'json').stdout)
    const isGenerator = ['suggest', 'migrate', 'rename'].includes(command[0])
    const asked = [...listAt(json, 'pools'), ...listAt(json, 'registrations')].flatMap((one) => [
      ...listAt(one, 'suggested'),
      ...listAt(one, 'bindings'),
    ])
    const offered = [...asked, ...listAt(json, 'bindings')].map(
      (each) => dig(each, 'bridge', 'manifest') ?? dig(each, 'manifest'),
    )
    const manifests = offered.filter((one) => one !== undefined && one !== null)
    const wanted = isGenerator ? manifests : json
    const yaml = run(command, 'yaml').stdout
    const documents = isGenerator
      ? parseAllDocuments(yaml).flatMap((one): unknown[] => (one.contents === null ? [] : [one.toJS()]))
      : parse(yaml, { maxAliasCount: 0 })
    expect(documents).toEqual(wanted)
  })
})

interface PodReport {
  readonly serviceAccountName: string
  readonly containers: readonly {
    readonly name: string
    readonly registrations: readonly { readonly hint: string }[]
  }[]
}

function podsIn({ stdout }: Pick<Ran, 'stdout'>): readonly PodReport[] {
  const report: { readonly pods: readonly PodReport[] } = JSON.parse(stdout)
  return report.pods
}

describe('what is reported comes back as it was', () => {
  test.each(Object.entries(HOSTILE))('%s', (_, text) => {
    const all = podsIn(run(['who-selects', '-A'], 'json'))
    expect(all.some(({ serviceAccountName }) => serviceAccountName === text)).toBe(true)
    const containers = all.flatMap((one) => one.containers)
    expect(containers.some(({ name }) => name === text)).toBe(true)
    expect(containers.flatMap(({ registrations }) => registrations).some(({ hint }) => hint === text)).toBe(
      true,
    )
  })
})

test('strings of a megabyte are answered like any other, by the executable', async () => {
  await built()
  const metadata = {
    name: 'large',
    namespace: 'large',
    labels: { app: 'large' },
    uid: '1',
    creationTimestamp: 'x',
  }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { note: MEGABYTE } },
    spec: { nodeName: 'n', serviceAccountName: 'runner', containers: [{ name: MEGABYTE }] },
  }
  const foreign = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'large', uid: '2', creationTimestamp: 'x' },
    spec: { spiffeIDTemplate: 'spiffe://example.org/x', hint: MEGABYTE },
  }
  const stdin = [pod, foreign].map((one) => JSON.stringify(one)).join('\n---\n')
  const args = ['who-selects', '-A', '--offline', '-f', '-', '--trust-domain', 'example.org']
  const text = await kleym(args, { stdin })
  expect(RAW.test(text.stdout)).toBe(false)
  const [one] = podsIn(await kleym([...args, '-o', 'json'], { stdin }))
  const [container] = one?.containers ?? []
  expect(container?.name === MEGABYTE).toBe(true)
  expect(container?.registrations[0]?.hint === MEGABYTE).toBe(true)
})
