// All formats agree: the same findings by severity, the same suppressed ones, the same exit code, and none of them hides
// that something is not known. Over the whole estate, for every command.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'
import { COUNTED_FORMATS, countsIn, type CountedFormat } from '../support/format-counts.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ESTATE = ['--offline', '-R', '-f', 'examples/estate']
const OTHERS = ['text', 'wide', 'name'] as const

/** The formats that say how much there is and how it ends, for a command. */
function countedBy(command: string): readonly CountedFormat[] {
  const isDrawn = command === 'explain' || command === 'conflicts'
  return COUNTED_FORMATS.filter((one) => isDrawn || one !== 'mermaid')
}

/** Asks in every such format; returns the counts that all agree on, among them the exit code of the process. */
async function agreed(args: readonly string[], cwd: string): Promise<ReturnType<typeof countsIn>> {
  const counted = []
  for (const format of countedBy(args[0] ?? '')) {
    const { code, stdout } = await inProcess([...args, '-o', format], cwd)
    counted.push({ format, code, ...countsIn(format, stdout) })
  }
  const [first, ...others] = counted
  if (first === undefined) throw new Error('no format was asked for')
  expect(first.code).toBe(first.exitCode)
  for (const other of others) expect(other).toEqual({ ...first, format: other.format })
  return first
}

/** One test asks for the whole estate several times over. */
const MAX_MS = 60_000

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ['explain', ['explain', '-A']],
  ['conflicts', ['conflicts', '-A']],
  ['who-selects', ['who-selects', '-A']],
  ['who-selects --entries', ['who-selects', '-A', '--entries']],
  ['policies', ['policies', '-A']],
  ['diff', ['diff']],
]

describe.each(COMMANDS)('%s over the whole estate', (_, command) => {
  test(
    'as it is',
    async () => {
      const args = [...command, ...ESTATE]
      const { exitCode } = await agreed(args, ROOT)
      for (const format of OTHERS)
        expect((await inProcess([...args, '-o', format], ROOT)).code).toBe(exitCode)
    },
    MAX_MS,
  )

  test(
    'with suppressions and a stricter threshold',
    async () => {
      const codes = ['KLM402=iib/*/*', 'KLM601=xaccesspolicy/*/*', 'KLM412=iib/a/b']
      const flags = codes.flatMap((code) => ['--suppress', code])
      const args = [...command, ...ESTATE, ...flags, '--fail-on', 'warning']
      const { suppressed, warning } = await agreed(args, ROOT)
      expect(suppressed > 0).toBe(command[0] !== 'diff')
      // The flag that nothing answers to is one of them.
      expect(warning).toBeGreaterThan(0)
    },
    MAX_MS,
  )

  test(
    'with a document that cannot be read: every format says so, and the exit code is 4',
    async () => {
      const cwd = await workspace({ 'broken.yaml': 'kind: [\n' })
      const args = [...command, ...ESTATE, '-f', join(cwd, 'broken.yaml'), '--fail-on', 'never']
      expect(await agreed(args, ROOT)).toMatchObject({ incomplete: true, exitCode: 4 })
    },
    MAX_MS,
  )
})

const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}}
`
const BINDING = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata:
  name: llama
  namespace: team-a
  annotations:
    kleym.sonda.red/suppress: |
      KLM412: deployed next week
      KLM410: SCM is set up otherwise
spec:
  mode: PoolOnly
  poolRef: {name: llama, group: inference.networking.k8s.io}
  serviceAccountName: runner
`
const SMALL = ['--offline', '-f', 'all.yaml', '--trust-domain', 'example.org']

async function ask(args: readonly string[], text = `${POOL}---\n${BINDING}`): ReturnType<typeof inProcess> {
  return inProcess(args, await workspace({ 'all.yaml': text }))
}

describe('suppressions', () => {
  test('an annotation takes warnings and information out of the exit code, and they are listed', async () => {
    const args = ['explain', 'team-a/llama', ...SMALL, '--fail-on', 'info']
    const { code, stdout } = await ask(args)
    expect(stdout).toContain('2 findings suppressed\n')
    expect(stdout).toMatch(/KLM412\n {4}annotation: deployed next week\n/)
    expect(code).toBe(0)
    const without = await ask(args, `${POOL}---\n${BINDING.replace('kleym.sonda.red/suppress', 'other')}`)
    expect(without.code).toBe(1)
    expect(await agreed(args, await workspace({ 'all.yaml': `${POOL}---\n${BINDING}` }))).toMatchObject({
      suppressed: 2,
      error: 0,
      warning: 0,
      info: 0,
    })
  })

  test('an annotation without a reason suppresses nothing, and is reported with its object', async () => {
    const args = ['explain', 'team-a/llama', ...SMALL]
    const { stdout } = await ask(args, `${POOL}---\n${BINDING.replace(': deployed next week', '')}`)
    expect(stdout).toContain('1 finding suppressed\n')
    expect(stdout).toMatch(
      /‼ InferenceIdentityBinding\/team-a\/llama: a suppression that does not count\s+KLM531/,
    )
    expect(stdout).toContain('  KLM412 has no reason\n')
  })

  test('an unused flag is reported, and counts from --fail-on warning', async () => {
    const args = ['conflicts', ...SMALL, '--suppress', 'KLM301=iib/team-a/llama', '--fail-on', 'warning']
    const { code, stdout } = await ask(args, POOL)
    expect(stdout).toMatch(/‼ --suppress KLM301=iib\/team-a\/llama: a suppression that suppresses/)
    expect(stdout).toContain('  no finding KLM301 is about iib/team-a/llama\n')
    expect(code).toBe(1)
  })

  test('a suppressed template that is not followed still makes the answer incomplete', async () => {
    const flags = ['--suppress', 'KLM413=*/*']
    const args = ['who-selects', 'pod/lab/owned-0', ...ESTATE]
    const [plain, suppressed] = [await inProcess(args, ROOT), await inProcess([...args, ...flags], ROOT)]
    expect(plain.code).toBe(4)
    expect(suppressed.code).toBe(4)
    expect(suppressed.stdout).toContain('1 finding suppressed\n')
    expect(await agreed([...args, ...flags], ROOT)).toMatchObject({
      incomplete: true,
      suppressed: 1,
      info: 0,
    })
  })

  test('what cannot be read still makes the answer incomplete, whatever is suppressed', async () => {
    const args = ['conflicts', ...SMALL, '--suppress', 'KLM301=*/*/*', '--suppress', 'KLM302=*/*/*']
    const { code, stdout } = await ask(args, `${POOL}---\nkind: [\n`)
    expect(code).toBe(4)
    expect(stdout).toMatch(/^‼ not everything could be read/)
    // Whether the flags are used is then not known.
    expect(stdout).not.toContain('KLM530')
  })

  test('a refused binding stays refused: the verdict is the answer, and only the finding does not count', async () => {
    const args = ['explain', 'playground/phi', ...ESTATE, '--suppress', 'KLM301=iib/playground/phi']
    const { code, stdout } = await inProcess(args, ROOT)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^× playground\/phi is refused/)
    expect(stdout).toContain('1 finding suppressed\n')
  })

  test('-o name leaves out what is suppressed', async () => {
    const args = ['conflicts', '-n', 'lab', ...ESTATE, '-o', 'name']
    const [all, fewer] = [
      await inProcess(args, ROOT),
      await inProcess(
        [...args, '--suppress', 'KLM405=clusterspiffeid/doubled', '--suppress', 'KLM402=*/doubled'],
        ROOT,
      ),
    ]
    expect(all.stdout).toContain('clusterspiffeid.spire.spiffe.io/doubled\n')
    expect(fewer.stdout).toBe(all.stdout.replace('clusterspiffeid.spire.spiffe.io/doubled\n', ''))
  })
})

describe('wrong usage of --suppress, in four parts', () => {
  test.each<[string, string, string, string]>([
    ['no object', 'KLM301', 'it is not CODE=KIND/NAMESPACE/NAME', 'KLM402=iib/team-a/chat'],
    ['no code', '=iib/a/b', 'there is no finding code (empty)', 'docs/findings/README.md'],
    ['an unknown code', 'KLM31=iib/a/b', 'there is no finding code KLM31', 'did you mean KLM301'],
    ['a code about suppressions', 'KLM530=iib/a/b', 'nothing suppresses it', 'correct the suppression'],
    [
      'an unknown kind',
      'KLM301=inferencepol/a/b',
      'kleym reads no kind inferencepol',
      'did you mean inferencepool?',
    ],
    ['no kind', 'KLM301=/a/b', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['no name', 'KLM301=iib/a/', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['too many parts', 'KLM301=*/a/b/c', 'it is not CODE=KIND/NAMESPACE/NAME', 'write */NAMESPACE/NAME'],
    ['no namespace', 'KLM301=iib/chat', 'has a namespace', 'write iib/NAMESPACE/chat'],
    ['a namespace too many', 'KLM305=clusterspiffeid/a/b', 'has no namespace', 'write clusterspiffeid/b'],
    [
      'a wrong group',
      'KLM306=inferencepool.apps/a/b',
      'InferencePool is of no group apps',
      'write inferencepool',
    ],
  ])('%s', async (_, text, why, fix) => {
    const { code, stdout, stderr } = await inProcess(['conflicts', ...ESTATE, '--suppress', text], ROOT)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      /^error: cannot tell (?:what|which object) --suppress means.*\n {2}why: {2}.*\n {2}fix: {2}/,
    )
    expect(stderr).toContain(why)
    expect(stderr).toContain(fix)
  })

  test.each([
    'KLM402=iib/team-a/*',
    'klm402=InferenceIdentityBindings/*/chat',
    'KLM402=inferenceidentitybinding.kleym.sonda.red/team-a/chat',
    'KLM411=controllermanagerconfig/*',
    'KLM305=clusterspiffeid.spire.spiffe.io/mesh',
    'KLM601=xaccesspolicy/agents/*',
    'KLM601=xaccesspolicies.agentic.networking.x-k8s.io/agents/tools',
    'KLM306=*/*/*',
  ])('%s is right', async (text) => {
    const { code } = await inProcess(['conflicts', ...ESTATE, '--suppress', text, '--fail-on', 'never'], ROOT)
    expect(code).not.toBe(2)
  })
})

describe('-o mermaid is for graphs', () => {
  test.each([
    ['diff', ['diff', ...ESTATE]],
    ['who-selects', ['who-selects', '-A', ...ESTATE]],
    ['policies', ['policies', '-A', ...ESTATE]],
  ])('%s refuses it before anything is read', async (command, args) => {
    const { code, stdout, stderr } = await inProcess([...args, '-f', 'gone', '-o', 'mermaid'], ROOT)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: ${command} draws no diagram \\(-o mermaid\\)\\n`))
    expect(stderr).toContain('fix:  ask one of them: kubectl kleym explain -o mermaid')
  })

  test.each(['sarif', 'junit', 'github', 'mermaid'])('the page of a code is no -o %s', async (format) => {
    const { code, stdout, stderr } = await inProcess(['explain', 'KLM301', '-o', format], ROOT)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('use one of text, wide, json, yaml, name')
  })
})

test('places are those of the files: the line of a result holds the object it is about', async () => {
  const { stdout } = await inProcess(['conflicts', '-A', ...ESTATE, '-o', 'github'], ROOT)
  const places = [
    ...stdout.matchAll(/^::\w+ file=([^,]+),line=(\d+),title=KLM\d+[^:]*::(\w+)\/(?:[\w-]+\/)?([\w.-]+)/gm),
  ]
  expect(places.length).toBeGreaterThan(10)
  for (const [, file = '', line = '', kind = '', name = ''] of places) {
    const rows = (await readFile(join(ROOT, file), 'utf8')).split('\n').slice(Number(line) - 1)
    const end = rows.findIndex((row, at) => at > 0 && row.startsWith('---'))
    const object = rows.slice(0, end < 0 ? undefined : end).join('\n')
    expect(object).toContain(`kind: ${kind}`)
    expect(object).toContain(`name: ${name}`)
  }
})
