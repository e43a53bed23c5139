// A tree as people have them, with charts, kustomizations, templates, duplicates and files of tools: with `--render` its
// answers are those of the same tree rendered by hand, byte for byte; without, each verdict is the same or not known.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { own } from '../../shared/src/core/base/json.ts'
import { built, kleym, type Run } from '../e2e/plugin.ts'
import { ensureBinaries } from './binaries.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { HAND_RENDERED, LEFT_AS_IT_IS, POOL_OF_VALUES, RENDERED_TREE } from './whole-tree-files.ts'

let folder: string
/** A folder with nothing but helm and kubectl. */
let path: string
beforeAll(async () => {
  await built()
  folder = mkdtempSync(join(tmpdir(), 'kleym-tree-'))
  path = join(folder, 'bin')
  mkdirSync(path)
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(`${binaries.why}\n  fix:  ${binaries.fix}`)
  symlinkSync(binaries.programs.kubectl, join(path, 'kubectl'))
  symlinkSync(await ensureClient('helm'), join(path, 'helm'))
  write('raw', { ...RENDERED_TREE, ...LEFT_AS_IT_IS })
  write('of values', { ...RENDERED_TREE, ...LEFT_AS_IT_IS, ...POOL_OF_VALUES })
  const rendered = Object.fromEntries(
    HAND_RENDERED.map(({ file, program, args }) => [file, byHand(program, args)]),
  )
  write('rendered', { ...LEFT_AS_IT_IS, ...rendered })
}, FIRST_BUILD_MS)
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    const at = join(folder, name, file)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, text)
  }
}

/** What a person would get who renders a part of the tree. */
function byHand(program: string, args: readonly string[]): string {
  return printedBy(join(path, program), args, { cwd: join(folder, 'raw'), env: { HOME: folder } })
}

const SETTINGS = settingsFlags('', '../scm.yaml')

async function ask(tree: 'raw' | 'rendered' | 'of values', args: readonly string[]): Promise<Run> {
  writeFileSync(join(folder, 'scm.yaml'), SCM)
  return kleym([...args, '-A', '--offline', '-R', '-f', '.', '--fail-on', 'never', ...SETTINGS], {
    cwd: join(folder, tree),
    env: { PATH: path, HOME: folder, TMPDIR: process.env['TMPDIR'] ?? tmpdir() },
  })
}

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
clusterName: prod
trustDomain: example.org
ignoreNamespaces: []
watchClassless: true
`

describe('with --render', () => {
  test.each([
    ['explain', []],
    ['explain', ['-o', 'json']],
    ['explain', ['-o', 'wide']],
    ['who-selects', []],
    ['who-selects', ['-o', 'json']],
    ['who-selects', ['--entries']],
    ['conflicts', []],
    ['conflicts', ['-o', 'json']],
    ['policies', []],
    ['diff', []],
  ] as const)('%s %s: the answer of the rendered tree', async (command, options) => {
    // In the rendered tree there is nothing to render; answers echo the flags of their command line.
    const rendered = await ask('rendered', [command, '--render', ...options])
    const raw = await ask('raw', [command, '--render', ...options])
    expect({ code: raw.code, stdout: raw.stdout }).toEqual({ code: rendered.code, stdout: rendered.stdout })
    expect(raw.stdout).not.toBe('')
  })

  test('what values decide is not known, and each other container has the identities of the rendered tree', async () => {
    const question = ['who-selects', '--render', '-o', 'json']
    const rendered = identities(await ask('rendered', question))
    const ofValues = await ask('of values', question)
    expect(ofValues.stderr).toMatch(
      /^error: the chart in charts\/gate was rendered with its default values\n {2}why: {2}.* not known: InferencePool\S* \(in team-b\)/m,
    )
    const open = 'pod team-b/gate/server'
    // Other values may name another pool: then the binding has none.
    const expected = [...rendered].map(([container, held]) =>
      container === open ? [container, { ...held, isOpen: true }] : [container, held],
    )
    expect(rendered.get(open)?.isOpen).toBe(false)
    expect([...identities(ofValues)]).toEqual(expected)
  })

  test('what was rendered is reported, one line each', async () => {
    const { stderr } = await ask('raw', ['explain', '--render'])
    expect(stderr).toMatch(
      /^rendered the chart in charts\/gate with its default values, as release gate in namespace default$/m,
    )
    expect(stderr).toMatch(/^rendered the kustomization in deploy\/overlays\/prod$/m)
  })
})

describe('without --render', () => {
  test('each binding has the same verdict, or is undetermined', async () => {
    const rendered = verdicts(await ask('rendered', ['explain', '-o', 'json']))
    const raw = verdicts(await ask('raw', ['explain', '-o', 'json']))
    expect(raw.size).toBeGreaterThan(4)
    const same = [...raw].filter(([key, reason]) => rendered.get(key) === reason)
    const open = [...raw].filter(([, reason]) => reason === 'Undetermined')
    expect(new Set([...same, ...open].map(([key]) => key))).toEqual(new Set(raw.keys()))
    // Neither may be all there is: a tree of unknowns would pass too.
    expect(same.length).toBeGreaterThan(1)
    expect(open.length).toBeGreaterThan(1)
  })

  test.each([
    ['where a chart may hold registrations', [], []],
    [
      'where none may',
      ['--exclude', 'charts/spire', '--exclude', 'node_modules/'],
      ['--exclude', 'charts/spire.yaml', '--exclude', 'node_modules/'],
    ],
  ])(
    'each container has the same identities, or it is said that it is not known: %s',
    async (_, of, ofRendered) => {
      const rendered = identities(await ask('rendered', ['who-selects', '-o', 'json', ...ofRendered]))
      const raw = identities(await ask('raw', ['who-selects', '-o', 'json', ...of]))
      expect(raw.size).toBeGreaterThan(3)
      for (const [container, { ids, isOpen }] of raw) {
        const there = rendered.get(container)?.ids
        expect({ container, ids: isOpen ? there : ids }).toEqual({ container, ids: there })
      }
      // A tree of unknowns would pass too.
      const certain = [...raw].filter(([, { isOpen }]) => !isOpen).map(([container]) => container)
      expect(certain.some((container) => container.includes('team-a/idle'))).toBe(of.length > 0)
    },
  )

  test('what was left out is reported, one line for each sort, with how to have it in', async () => {
    const { stderr, code } = await ask('raw', ['explain'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^error: 3 charts are not rendered \(charts\/gate; charts\/spire; charts\/web\)$/m)
    expect(stderr).toMatch(/^error: left out what a kustomization changes \(deploy\/overlays\/prod\)$/m)
    expect(stderr).toMatch(/^error: did not read node_modules\/some\/pool\.yaml as objects/m)
    expect(stderr).toMatch(
      /^did not read \.vscode, which tools own: nothing in it is of a kind that is used$/m,
    )
    expect(stderr).not.toContain('it is no JSON')
  })
})

/** The condition reason of each binding. */
function verdicts({ stdout }: Run): ReadonlyMap<string, string> {
  return new Map(
    listOf(JSON.parse(stdout), 'bindings').map((one) => [textOf(one, 'binding'), textOf(one, 'reason')]),
  )
}

interface Held {
  readonly ids: readonly string[]
  readonly isOpen: boolean
}

function identities({ stdout }: Run): ReadonlyMap<string, Held> {
  const pods = listOf(JSON.parse(stdout), 'pods')
  return new Map(
    pods.flatMap((pod) =>
      listOf(pod, 'containers').map((one): [string, Held] => [
        `${textOf(pod, 'pod')}/${textOf(one, 'name')}`,
        {
          ids: listOf(one, 'identities').map(String),
          isOpen:
            own(one, 'notRead') !== null ||
            listOf(one, 'registrations').some((entry) =>
              ['depends', 'unknown'].includes(textOf(entry, 'verdict')),
            ),
        },
      ]),
    ),
  )
}

function listOf(value: unknown, field: string): readonly unknown[] {
  const found = own(value, field)
  return Array.isArray(found) ? found : []
}

function textOf(value: unknown, field: string): string {
  return String(own(value, field))
}
