// The built plugin on the estate of the examples: whole answers as goldens (`npm run golden` refreshes them), and what
// must hold of every answer in every format.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { displayWidth } from '../../plugin/src/view/width.ts'
import { FINDING_CODES } from '../../shared/src/core/registry/findings.ts'
import { REASONS, REASON_NAMES } from '../../shared/src/core/registry/reasons.ts'
import { built, ESTATE, kleym, type Run } from './plugin.ts'

const FORMATS = ['text', 'wide', 'json', 'yaml', 'name'] as const
const GOLDEN = join(import.meta.dirname, 'golden')
const CHANGES = [
  'add-collision',
  'bad-duration',
  'narrow-pool',
  'rename-objective',
  'switch-to-pool-only',
] as const

interface Question {
  /** Names the goldens. */
  readonly name: string
  readonly args: readonly string[]
  /** The columns for which a golden of the text is kept. */
  readonly columns: readonly number[]
  /** The other formats for which a golden is kept. */
  readonly kept?: readonly (typeof FORMATS)[number][]
}

const ALL = ['wide', 'json', 'yaml', 'name'] as const

const QUESTIONS: readonly Question[] = [
  { name: 'explain-ready', args: ['explain', 'team-a/chat', ...ESTATE], columns: [80, 160], kept: ALL },
  { name: 'explain-side-effect', args: ['explain', 'serving/edge', ...ESTATE], columns: [80] },
  { name: 'explain-refused', args: ['explain', 'playground/expressions', ...ESTATE], columns: [80, 160] },
  {
    name: 'explain-colliding',
    args: ['explain', 'playground/phi', ...ESTATE],
    columns: [80],
    kept: ['json'],
  },
  { name: 'explain-waiting', args: ['explain', 'playground/olmo', ...ESTATE], columns: [80], kept: ['json'] },
  {
    name: 'explain-namespace',
    args: ['explain', '-n', 'playground', ...ESTATE],
    columns: [80],
    kept: ['name'],
  },
  {
    name: 'who-selects-pod',
    args: ['who-selects', 'pod/lab/sim', ...ESTATE],
    columns: [80, 160],
    kept: ALL,
  },
  { name: 'who-selects-unknown', args: ['who-selects', 'pod/lab/owned-0', ...ESTATE], columns: [80] },
  {
    name: 'who-selects-deployment',
    args: ['who-selects', 'deployment/team-a/llama', ...ESTATE],
    columns: [80],
  },
  {
    name: 'who-selects-id',
    args: ['who-selects', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat', ...ESTATE],
    columns: [80],
  },
  {
    name: 'who-selects-entries',
    args: ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE],
    columns: [80],
    kept: ['json'],
  },
  { name: 'conflicts-lab', args: ['conflicts', '-n', 'lab', ...ESTATE], columns: [80, 160], kept: ALL },
  ...CHANGES.map((change): Question => ({
    name: `diff-${change}`,
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', `examples/changes/${change}`],
    columns: [80],
    kept: change === 'add-collision' ? ALL : [],
  })),
]

/** Every answer, by question, format and columns; made once. */
const answers = new Map<string, Run>()

function answer(name: string, format: (typeof FORMATS)[number], columns = 80): Run {
  const run = answers.get(`${name} ${format} ${columns}`)
  if (run === undefined) throw new Error(`${name} was not asked as ${format} at ${columns} columns`)
  return run
}

beforeAll(async () => {
  await built()
  for (const { name, args, columns } of QUESTIONS) {
    const widths = FORMATS.map((format) => [format, 80] as const)
    const wider = columns.filter((width) => width !== 80).map((width) => ['text', width] as const)
    for (const [format, width] of [...widths, ...wider]) {
      const env = { COLUMNS: String(width) }
      answers.set(`${name} ${format} ${width}`, await kleym([...args, '-o', format], { env }))
    }
  }
}, 60_000)

describe.each(QUESTIONS)('$name', ({ name, columns, kept = [] }) => {
  test('answers as the goldens say', async () => {
    for (const width of columns) {
      const suffix = width === 80 ? '' : `.${width}`
      await expect(shown(answer(name, 'text', width))).toMatchFileSnapshot(
        join(GOLDEN, `${name}${suffix}.txt`),
      )
    }
    for (const format of kept) {
      const run = answer(name, format)
      const file = format === 'json' || format === 'yaml' ? `${name}.${format}` : `${name}.${format}.txt`
      const golden = format === 'json' || format === 'yaml' ? run.stdout : shown(run)
      await expect(golden).toMatchFileSnapshot(join(GOLDEN, file))
    }
  })

  test('has the same exit code in every format, and JSON names it', () => {
    const codes = FORMATS.map((format) => answer(name, format).code)
    expect(new Set(codes).size).toBe(1)
    expect(reportOf(name)['exitCode']).toBe(codes[0])
  })

  test('says the same on stderr in every format', () => {
    const [first, ...others] = FORMATS.map((format) => answer(name, format).stderr)
    for (const other of others) expect(other).toBe(first)
  })

  test('is YAML that says the same as the JSON, and both say what they are', () => {
    const report = reportOf(name)
    expect(parse(answer(name, 'yaml').stdout)).toEqual(report)
    expect(report['apiVersion']).toBe('kleym.sonda.red/report/v1alpha1')
    expect(report['kind']).toMatch(/^[A-Z][A-Za-z]+Report$/)
  })

  test('shows every finding of the JSON in the text, and none besides', () => {
    const inJson = new Set(findingsIn(reportOf(name)).map(({ code }) => code))
    for (const format of ['text', 'wide'] as const) {
      const { stdout } = answer(name, format)
      const inText = FINDING_CODES.filter((code) => stdout.includes(code))
      if (name.startsWith('conflicts')) expect(inText).toEqual([...inJson].toSorted())
      // Elsewhere information that adds nothing is left out of the text, and diff names what is fixed.
      else if (!name.startsWith('diff')) for (const code of inText) expect(inJson).toContain(code)
    }
  })

  test('keeps each line within its columns, but for words that cannot be broken', () => {
    for (const width of columns) {
      for (const row of answer(name, 'text', width).stdout.split('\n')) {
        if (displayWidth(row) <= width || isQuoted(row)) continue
        expect(row.trim().split(/\s+/).length, row).toBe(1)
      }
    }
  })

  test('holds no control sequences', () => {
    for (const format of FORMATS) {
      const { stdout, stderr } = answer(name, format)
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    }
  })
})

/** Lines of a unified diff, and of an entry, are shown as they are: wrapped they could not be pasted or compared. */
function isQuoted(row: string): boolean {
  return /^(?:[-+@ ]|---|\+\+\+) ?/.test(row) && /^(?:[-+]|@@| {2}(?:parent|selectors|source) )/.test(row)
}

function shown({ stdout, stderr, code }: Run): string {
  return `${stdout}${stderr === '' ? '' : `\n--- stderr\n${stderr}`}\n--- exit code ${code}\n`
}

type Report = Readonly<Record<string, unknown>>

function reportOf(name: string): Report {
  const report: Report = JSON.parse(answer(name, 'json').stdout)
  return report
}

function findingsIn(report: Report): readonly { code: string }[] {
  const { findings } = report
  return Array.isArray(findings) ? findings : []
}

describe('the whole estate', () => {
  const whole: Report[] = []

  beforeAll(async () => {
    const { stdout } = await kleym(['explain', '-A', ...ESTATE, '-o', 'json'])
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

  test.each(REASON_NAMES.filter((name) => REASONS[name].fromFiles))(
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
    const all = await kleym(['explain', ...FINDING_CODES])
    expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' })
    for (const code of FINDING_CODES) expect(all.stdout).toMatch(new RegExp(`^${code}: `, 'm'))
    const one = await kleym(['explain', 'klm402'])
    expect(one.stdout).toMatch(/^KLM402: default identity displaced\nwarning\n\nWhat is the case\n/)
  })
})

describe('the same input gives the same bytes', () => {
  const folders = ['platform', 'refused', 'risky', 'serving', 'team-a', 'team-b']
  const files = folders.flatMap((folder) => ['-f', `examples/estate/${folder}`])
  const turned = folders.toReversed().flatMap((folder) => ['-f', `examples/estate/${folder}`])

  test.each([
    ['explain', ['explain', '-A']],
    ['conflicts', ['conflicts', '-A']],
    ['who-selects', ['who-selects', '-A']],
    ['who-selects --entries', ['who-selects', '-A', '--entries']],
    ['diff', ['diff']],
  ])('%s, twice and with the folders in another order', async (_, args) => {
    const [one, two, other] = await Promise.all(
      [files, files, turned].map(async (given) =>
        kleym([...args, '--offline', '-R', ...given, '-o', 'json']),
      ),
    )
    expect(one?.stdout).not.toBe('')
    expect(two).toEqual(one)
    expect(other).toEqual(one)
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
    const { stdout, code } = await kleym([...args, ...flags], { env })
    expect(code).toBe(1)
    expect(ANSI.test(stdout)).toBe(coloured)
    // Without its colours the text is the same: meaning never rests on them.
    expect(stdout.replaceAll(/\u001b\[[\d;]*m/g, '')).toBe(answer('explain-colliding', 'text').stdout)
  })

  test('is never in JSON, YAML or names', async () => {
    for (const format of ['json', 'yaml', 'name']) {
      const { stdout } = await kleym([...args, '--color', 'always', '-o', format])
      expect(stdout).not.toMatch(ANSI)
    }
  })
})
