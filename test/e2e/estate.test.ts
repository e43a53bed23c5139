// The plugin on the estate of the examples: whole answers as goldens (`npm run golden` refreshes them), as text at 80 columns,
// as JSON and as a drawing, and what must hold of every answer in every format. They are asked in this process; the executable
// is held to say the same. The other formats are held whole in plugin/test/output.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { displayWidth } from '../../plugin/src/text/width.ts'
import { inProcess, type Ran } from '../../plugin/test/support/in-process.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { FINDING_CODES } from '../../shared/src/core/findings/registry/findings.ts'
import { REASON_NAMES, type Reason } from '../../shared/src/core/decide/reasons/reasons.ts'
import { built, ESTATE, kleym, ROOT } from './plugin.ts'

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
] as const
const GOLDEN = join(import.meta.dirname, 'golden')
const CHANGES = [
  'add-collision',
  'bad-duration',
  'steal-identity',
  'narrow-pool',
  'rename-objective',
  'switch-to-pool-only',
] as const

type Format = (typeof FORMATS)[number]

interface Question {
  /** Names the goldens. */
  readonly name: string
  readonly args: readonly string[]
  /** Whether it is asked at 160 columns too. */
  readonly broad?: true
  /** Whether it is asked in every format for people and programs; else as text and JSON. */
  readonly all?: true
  /** Whether it is asked in the formats for CI systems and pages too. */
  readonly ci?: true
}

const QUESTIONS: readonly Question[] = [
  { name: 'explain-ready', args: ['explain', 'team-a/chat', ...ESTATE], broad: true, all: true, ci: true },
  { name: 'explain-side-effect', args: ['explain', 'serving/edge', ...ESTATE] },
  { name: 'explain-variant', args: ['explain', 'roles/decode', ...ESTATE], broad: true, all: true },
  { name: 'explain-refused', args: ['explain', 'playground/expressions', ...ESTATE], broad: true },
  { name: 'explain-colliding', args: ['explain', 'playground/phi', ...ESTATE], ci: true },
  { name: 'explain-waiting', args: ['explain', 'playground/olmo', ...ESTATE] },
  { name: 'explain-namespace', args: ['explain', '-n', 'playground', ...ESTATE], all: true },
  { name: 'why-workload', args: ['why', 'deployment/team-a/llama', ...ESTATE], broad: true, all: true },
  { name: 'who-selects-pod', args: ['who-selects', 'pod/lab/sim', ...ESTATE], broad: true, all: true },
  { name: 'who-selects-unknown', args: ['who-selects', 'pod/lab/owned-0', ...ESTATE] },
  { name: 'who-selects-deployment', args: ['who-selects', 'deployment/team-a/llama', ...ESTATE] },
  {
    name: 'who-selects-id',
    args: ['who-selects', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat', ...ESTATE],
  },
  { name: 'who-selects-entries', args: ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE], all: true },
  { name: 'conflicts-lab', args: ['conflicts', '-n', 'lab', ...ESTATE], broad: true, all: true },
  {
    name: 'conflicts-suppressed',
    args: [
      'conflicts',
      '-n',
      'playground',
      ...ESTATE,
      '--suppress',
      'KLM301=iib/*/phi*',
      '--suppress',
      'KLM301=iib/a/b',
    ],
    ci: true,
  },
  {
    name: 'policies-agents',
    args: ['policies', '-n', 'agents', ...ESTATE],
    broad: true,
    all: true,
    ci: true,
  },
  { name: 'policies-one', args: ['policies', 'agents/dangling', ...ESTATE] },
  { name: 'suggest-lab', args: ['suggest', '-n', 'lab', ...ESTATE], broad: true, ci: true },
  { name: 'suggest-pool', args: ['suggest', 'pool/team-b/llama', ...ESTATE] },
  {
    name: 'migrate-fallback',
    args: ['migrate', 'clusterspiffeid/default', ...ESTATE],
    broad: true,
    ci: true,
  },
  {
    name: 'rename-objective',
    args: ['rename', 'objective/team-a/chat', 'assistant', ...ESTATE],
    broad: true,
    ci: true,
  },
  { name: 'rename-pool', args: ['rename', 'pool/team-a/llama', 'llama-70b', ...ESTATE] },
  { name: 'map-team-a', args: ['map', '-n', 'team-a', ...ESTATE], broad: true, all: true, ci: true },
  {
    name: 'map-compared',
    args: 'map --offline --compare examples/pull-request/base -R -f examples/pull-request/head'.split(' '),
    ci: true,
  },
  { name: 'conflicts-agents', args: ['conflicts', '-n', 'agents', ...ESTATE], ci: true },
  {
    name: 'test-estate',
    args: ['test', 'examples/identity-tests/estate.yaml', ...ESTATE],
    all: true,
    ci: true,
  },
  {
    name: 'test-broken',
    args: [
      'test',
      'examples/identity-tests/team-c.yaml',
      '--offline',
      '-R',
      '-f',
      'examples/pull-request/head',
    ],
    broad: true,
    all: true,
    ci: true,
  },
  {
    name: 'verify-estate',
    args: ['verify', '--entries', 'examples/server/entries.json', ...ESTATE],
    broad: true,
    all: true,
    ci: true,
  },
  ...CHANGES.map((change): Question => ({
    name: `diff-${change}`,
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', `examples/changes/${change}`],
    ...(change === 'add-collision' ? { all: true, ci: true } : {}),
  })),
]

/** Whether a command draws its answer. */
function isDrawn([command = '']: readonly string[]): boolean {
  return ['explain', 'conflicts', 'map'].includes(command)
}

function formatsOf({ args, all, ci }: Question): readonly Format[] {
  const drawn: readonly Format[] = isDrawn(args) ? ['mermaid', 'dot'] : []
  return [
    'text',
    ...(all === true ? (['wide', 'json', 'yaml', 'name'] as const) : (['json'] as const)),
    ...(ci === true ? (['sarif', 'junit', 'github', 'markdown', ...drawn] as const) : []),
  ]
}

/** Every answer, by question, format and columns; made once. */
const answers = new Map<string, Ran>()

function answer(name: string, format: Format, columns = 80): Ran {
  const run = answers.get(`${name} ${format} ${columns}`)
  if (run === undefined) throw new Error(`${name} was not asked as ${format} at ${columns} columns`)
  return run
}

async function ask({ name, args }: Question, format: Format, columns: number): Promise<void> {
  answers.set(
    `${name} ${format} ${columns}`,
    await here([...args, '-o', format], { COLUMNS: String(columns) }),
  )
}

/** What the plugin answers in this process; a report must be as its schema says. */
async function here(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const answered = await inProcess(args, ROOT, env)
  requireValidReport(answered.stdout)
  return answered
}

beforeAll(async () => {
  for (const question of QUESTIONS) {
    for (const format of formatsOf(question)) await ask(question, format, 80)
    if (question.broad === true) await ask(question, 'text', 160)
  }
})

describe.each(QUESTIONS)('$name', (question) => {
  const { name } = question
  const formats = formatsOf(question)
  const widths = question.broad === true ? [80, 160] : [80]

  test('answers as the goldens say', async () => {
    await expect(shown(answer(name, 'text'))).toMatchFileSnapshot(join(GOLDEN, `${name}.txt`))
    await expect(answer(name, 'json').stdout).toMatchFileSnapshot(join(GOLDEN, `${name}.json`))
    // A drawing says what it draws itself: no other format holds it.
    for (const format of formats.filter((one) => one === 'mermaid'))
      await expect(answer(name, format).stdout).toMatchFileSnapshot(join(GOLDEN, `${name}.${format}`))
  })

  test('has the same exit code in every format, and JSON names it', () => {
    const codes = formats.map((format) => answer(name, format).code)
    expect(new Set(codes).size).toBe(1)
    expect(reportOf(name)['exitCode']).toBe(codes[0])
  })

  test('says the same on stderr in every format, but for causes that the answer says', () => {
    const [first, ...others] = formats.map((format) => answer(name, format).stderr.split('\n'))
    for (const other of others)
      expect(other.filter((row) => !isCause(row))).toEqual(first?.filter((row) => !isCause(row)))
    const all = formats.includes('name') ? answer(name, 'name').stderr : undefined
    for (const row of [first, ...others].flat()) expect(all ?? row).toContain(row)
  })

  test('is YAML that says the same as the JSON, and both say what they are', () => {
    const report = reportOf(name)
    const asYaml: unknown = question.all === true ? parse(answer(name, 'yaml').stdout) : report
    expect(asYaml).toEqual(report)
    expect(report['apiVersion']).toBe('kleym.sonda.red/report/v1alpha1')
    expect(report['kind']).toMatch(/^[A-Z][A-Za-z]+Report$/)
  })

  test('shows every finding of the JSON in the text, and none besides', () => {
    const findings = findingsIn(reportOf(name))
    const inJson = findings.map(({ code }) => code)
    // Outside of conflicts the text may leave out what adds nothing, but no error; and diff names what is fixed.
    const isWhole = name.startsWith('conflicts')
    const required = isWhole ? inJson : findings.filter(isError).map(({ code }) => code)
    for (const format of formats.filter((one) => one === 'text' || one === 'wide')) {
      const { stdout } = answer(name, format)
      const inText = FINDING_CODES.filter((code) => stdout.includes(code))
      expect(inText).toEqual(expect.arrayContaining(required))
      expect(name.startsWith('diff') ? [] : inText.filter((code) => !inJson.includes(code))).toEqual([])
    }
  })

  test('keeps each line within its columns, but for words that cannot be broken', () => {
    for (const width of widths) {
      for (const row of answer(name, 'text', width).stdout.split('\n')) {
        const fits = displayWidth(row) <= width || isQuoted(row) || !/\S\s+\S/.test(row)
        expect({ row, fits }).toEqual({ row, fits: true })
      }
    }
  })

  test('holds no control sequences', () => {
    for (const format of formats) {
      const { stdout, stderr } = answer(name, format)
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    }
  })
})

function isCause(row: string): boolean {
  return row.startsWith('not known: ')
}

/** Lines of a unified diff, and of an entry, are shown as they are: wrapped they could not be pasted or compared. */
function isQuoted(row: string): boolean {
  return /^(?:[-+@ ]|---|\+\+\+) ?/.test(row) && /^(?:[-+]|@@| {2}(?:parent|selectors|source) )/.test(row)
}

function shown({ stdout, stderr, code }: Ran): string {
  return `${stdout}${stderr === '' ? '' : `\n--- stderr\n${stderr}`}\n--- exit code ${code}\n`
}

/** SARIF and JUnit name the version of kleym, which no golden should hang on. */
function withoutVersion(text: string): string {
  return text
    .replace(/"semanticVersion": "[^"]*"/, '"semanticVersion": "x"')
    .replace(/name="version" value="[^"]*"/, 'name="version" value="x"')
}

function isError({ severity }: { readonly severity: string }): boolean {
  return severity === 'error'
}

type Report = Readonly<Record<string, unknown>>

function reportOf(name: string): Report {
  const report: Report = JSON.parse(answer(name, 'json').stdout)
  return report
}

function findingsIn(report: Report): readonly { code: string; severity: string }[] {
  const { findings } = report
  return Array.isArray(findings) ? findings : []
}

describe('the whole estate', () => {
  const whole: Report[] = []

  beforeAll(async () => {
    const { stdout } = await here(['explain', '-A', ...ESTATE, '-o', 'json'])
    whole.push(JSON.parse(stdout))
  })

  interface Bound {
    readonly reason: string
    readonly peers: readonly { readonly relation: string }[]
  }

  function bindings(): readonly Bound[] {
    const found = whole[0]?.['bindings']
    return Array.isArray(found) ? found : []
  }

  /** What an API server or the settings of an operator alone can show. */
  const NOT_IN_FILES: ReadonlySet<Reason> = new Set([
    'Undetermined',
    'NamespaceFull',
    'Deleting',
    'InferencePoolCRDMissing',
    'InferenceObjectiveCRDMissing',
    'MissingTrustDomain',
    'ClusterSPIFFEIDCRDMissing',
    'ManagedOutputApplyFailed',
  ])

  test.each(REASON_NAMES.filter((name) => !NOT_IN_FILES.has(name)))(
    'has a binding with reason %s',
    (reason) => {
      expect(bindings().map((one) => one.reason)).toContain(reason)
    },
  )

  test.each(['SamePods', 'Contains', 'ContainedBy'])('has two bindings in the relation %s', (relation) => {
    expect(bindings().flatMap(({ peers }) => peers.map((peer) => peer.relation))).toContain(relation)
  })
})

describe('the page of a finding code', () => {
  test('is printed from memory, for all codes at once and one by one', async () => {
    const all = await here(['explain', ...FINDING_CODES])
    expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' })
    for (const code of FINDING_CODES) expect(all.stdout).toMatch(new RegExp(`^${code}: `, 'm'))
    const one = await here(['explain', 'klm402'])
    expect(one.stdout).toMatch(/^KLM402: default identity displaced\nwarning\n\nMeaning\n/)
  })
})

describe('the same input gives the same bytes', () => {
  const folders = ['agents', 'platform', 'refused', 'risky', 'serving', 'team-a', 'team-b']
  const files = folders.flatMap((folder) => ['-f', `examples/estate/${folder}`])
  const turned = folders.toReversed().flatMap((folder) => ['-f', `examples/estate/${folder}`])

  test.each([
    ['explain', ['explain', '-A']],
    ['conflicts', ['conflicts', '-A']],
    ['who-selects', ['who-selects', '-A']],
    ['who-selects --entries', ['who-selects', '-A', '--entries']],
    ['policies', ['policies', '-A']],
    ['diff', ['diff']],
    ['verify', ['verify', '--entries', 'examples/server/entries.json']],
  ])('%s, with the folders in another order', async (_, args) => {
    const [one, two, other] = await Promise.all(
      [files, files, turned].map(async (given) => here([...args, '--offline', '-R', ...given, '-o', 'json'])),
    )
    expect(one?.stdout).not.toBe('')
    expect(two).toEqual(one)
    expect(other).toEqual(one)
  })

  // The executable runs on Bun, the tests of the parts on Node: what holds there must hold here.
  test.each([
    ['explain', ['explain', '-A', ...ESTATE]],
    ['conflicts', ['conflicts', '-A', ...ESTATE]],
    ['who-selects', ['who-selects', '-A', ...ESTATE]],
    ['who-selects --entries', ['who-selects', '-A', '--entries', ...ESTATE]],
    ['policies', ['policies', '-A', ...ESTATE]],
    ['diff', ['diff', ...ESTATE]],
    ['why', ['why', 'deployment/llama', '-A', ...ESTATE]],
    ['map', ['map', '-A', ...ESTATE]],
    ['suggest', ['suggest', '-A', ...ESTATE]],
    ['migrate', ['migrate', '-A', ...ESTATE]],
    ['rename', ['rename', 'objective/team-a/chat', 'assistant', ...ESTATE]],
    ['verify', ['verify', '--entries', 'examples/server/entries.json', ...ESTATE]],
  ])('%s, by the executable', async (name, args) => {
    await built()
    const env = { COLUMNS: '100' }
    for (const format of FORMATS) {
      const line = [...args, '-o', format]
      const byNode = await here(line, env)
      const isDrawing = format === 'mermaid' || format === 'dot'
      expect(byNode.stdout === '').toBe(isDrawing && !isDrawn(args))
      // All commands share what writes the other formats: one of them shows those.
      if (name !== 'explain' && format !== 'text' && format !== 'json') continue
      const { code, stdout, stderr } = await kleym(line, { env })
      expect({ code, stdout: withoutVersion(stdout), stderr }).toEqual({
        ...byNode,
        stdout: withoutVersion(byNode.stdout),
      })
    }
  })
})

describe('colour', () => {
  const args = ['explain', 'playground/phi', ...ESTATE]
  const ANSI = /\u001b\[/

  test.each<[string, readonly string[], Readonly<Record<string, string>>, boolean]>([
    ['is off in a pipe', [], {}, false],
    ['is off with --color never', ['--color', 'never'], { FORCE_COLOR: '1' }, false],
    ['is off with NO_COLOR', [], { NO_COLOR: '1' }, false],
    ['is off with TERM=dumb', [], { TERM: 'dumb' }, false],
    ['is on with --color always', ['--color', 'always'], {}, true],
    ['is on with --color always, whatever NO_COLOR says', ['--color', 'always'], { NO_COLOR: '1' }, true],
  ])('%s', async (_, flags, env, coloured) => {
    const { stdout, code } = await here([...args, ...flags], env)
    expect(code).toBe(1)
    expect(ANSI.test(stdout)).toBe(coloured)
    // Without its colours the text is the same: meaning never rests on them.
    expect(stdout.replaceAll(/\u001b\[[\d;]*m/g, '')).toBe(answer('explain-colliding', 'text').stdout)
  })

  test('is never in JSON, names and what CI systems read', async () => {
    for (const format of FORMATS.filter((one) => one !== 'text' && one !== 'wide')) {
      const { stdout } = await here([...args, '--color', 'always', '-o', format])
      expect(stdout).not.toMatch(ANSI)
    }
  })
})
