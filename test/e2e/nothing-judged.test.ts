// Gates that would pass on nothing: files without a document, a namespace in which nothing is, objects whose type is nearly
// one that kleym reads. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { built, kleym, type Run } from './plugin.ts'
import {
  BINDING,
  documents,
  NODE,
  OBJECTIVE,
  POD,
  POOL,
  SCM_CONFIG,
  SETTINGS,
  SMALL,
  workspace,
} from './workspace.ts'

beforeAll(built)

const COMMANDS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['explain', ['explain', '-A']],
  ['conflicts', ['conflicts']],
  ['who-selects', ['who-selects', '-A']],
  ['who-selects --entries', ['who-selects', '-A', '--entries']],
  ['policies', ['policies', '-A']],
  ['diff', ['diff']],
]

/** Asks about one file of manifests. */
function ask(args: readonly string[], manifests: string, ...flags: readonly string[]): Promise<Run> {
  const cwd = workspace({ 'all.yaml': manifests, 'scm.yaml': SCM_CONFIG })
  return kleym([...args, '--offline', '-f', 'all.yaml', ...SETTINGS, ...flags], { cwd })
}

describe('an empty pipe', () => {
  test.each(COMMANDS)(
    '%s ends with 4, and with 0 where --allow-empty says that this is fine',
    async (_, args) => {
      const cwd = workspace({ 'scm.yaml': SCM_CONFIG })
      const given = [...args, '--offline', '-f', '-', ...SETTINGS]
      const { code, stdout, stderr } = await kleym(given, { cwd, stdin: '' })
      expect(stdout).toMatch(/^! nothing was checked: the files hold no document/)
      expect(stdout).not.toContain('✓')
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('the command before a pipe; pass --allow-empty')
      // Said once: stderr does not repeat it.
      expect(stderr).not.toContain('nothing was checked')
      expect(code).toBe(4)
      const allowed = await kleym([...given, '--allow-empty'], { cwd, stdin: '' })
      expect(allowed.stdout + allowed.stderr).not.toContain('nothing was checked')
      expect(allowed.code).toBe(0)
    },
  )

  test('a pipe with comments alone is as empty', async () => {
    const cwd = workspace({})
    const run = await kleym(['explain', '--offline', '-f', '-', '-A'], {
      cwd,
      stdin: '---\n# Source: a.yaml\n',
    })
    expect(run.code).toBe(4)
  })

  test.each([
    ['', 4],
    ['# Source: a.yaml\n', 4],
    ['{apiVersion: v1, kind: Secret, metadata: {name: a}}', 0],
  ])('a pipe beside other files that holds %j: %i', async (stdin, code) => {
    const cwd = workspace({ 'all.yaml': POD, 'scm.yaml': SCM_CONFIG })
    const given = ['conflicts', '--offline', '-f', 'all.yaml', '-f', '-', ...SETTINGS]
    const run = await kleym(given, { cwd, stdin })
    const isTold = run.stderr.includes('stdin holds no document')
    expect({ code: run.code, isTold, isOpen: run.stdout.startsWith('!') }).toEqual({
      code,
      isTold: code === 4,
      isOpen: code === 4,
    })
    const allowed = await kleym([...given, '--allow-empty'], { cwd, stdin })
    expect(allowed.code).toBe(0)
  })

  test('every format says it, with the same exit code', async () => {
    for (const format of ['json', 'yaml', 'name', 'sarif', 'junit', 'github', 'mermaid', 'markdown']) {
      const cwd = workspace({})
      const args = ['conflicts', '--offline', '-f', '-', '-o', format]
      const { code, stdout, stderr } = await kleym(args, { cwd, stdin: '' })
      expect({ format, code }).toEqual({ format, code: 4 })
      expect(`${stdout}${stderr}`).toContain('nothing was checked')
      // `-o name` has names and nothing else.
      const isBare = format === 'name' || format === 'mermaid'
      expect(isBare || stdout.includes('nothing was checked')).toBe(true)
    }
  })

  test('--fail-on never does not make an answer of it', async () => {
    const args = ['conflicts', '--offline', '-f', '-', '--fail-on', 'never']
    expect((await kleym(args, { cwd: workspace({}), stdin: '' })).code).toBe(4)
  })
})

describe('-n with a namespace in which nothing is', () => {
  test.each(COMMANDS.filter(([name]) => name !== 'diff'))(
    '%s ends with 4 and has a suggestion',
    async (_, args) => {
      const line = args.filter((word) => word !== '-A')
      const { code, stdout } = await ask(line, SMALL, '-n', 'team-aa')
      expect(stdout).toContain('nothing in the files is of this namespace')
      expect(stdout).toContain('did you mean team-a?')
      expect(code).toBe(4)
    },
  )

  test('a namespace with pods and without bindings is judged by conflicts, and not by explain', async () => {
    const manifests = documents(SMALL, POD.replace('team-a', 'team-b').replace('3d0f', '4d0f'))
    expect((await ask(['conflicts'], manifests, '-n', 'team-b')).code).toBe(0)
    const explained = await ask(['explain'], manifests, '-n', 'team-b')
    expect(explained.stdout.replaceAll(/\s+/g, ' ')).toContain('no binding of namespace team-b in')
    expect(explained.code).toBe(4)
  })

  test('a selector that no binding meets judges nothing', async () => {
    expect((await ask(['explain', '-A', '-l', 'app=nope'], SMALL)).code).toBe(4)
  })
})

describe('an object whose type is nearly one that is read', () => {
  test.each<[what: string, from: string, to: string, says: string]>([
    [
      'a kind of our group that there is not',
      'kind: InferenceIdentityBinding',
      'kind: InferenceIdentityBindings',
      'did you mean kind InferenceIdentityBinding of kleym.sonda.red/v1alpha1?',
    ],
    [
      'any other kind of our group',
      'kind: InferenceIdentityBinding',
      'kind: Binding',
      'did you mean kind InferenceIdentityBinding of kleym.sonda.red/v1alpha1?',
    ],
    [
      'our group with one letter wrong',
      'kleym.sonda.red/',
      'kleym.sonda.rd/',
      'did you mean kind InferenceIdentityBinding of kleym.sonda.red/v1alpha1?',
    ],
    [
      'a version that our CRD does not serve',
      'kleym.sonda.red/v1alpha1',
      'kleym.sonda.red/v1beta1',
      'did you mean kleym.sonda.red/v1alpha1?',
    ],
    [
      'a pool kind in the plural',
      'kind: InferencePool',
      'kind: InferencePools',
      'did you mean kind InferencePool of inference.networking.k8s.io/v1?',
    ],
    [
      'a pool kind in lower case',
      'kind: InferencePool',
      'kind: inferencepool',
      'did you mean kind InferencePool of inference.networking.k8s.io/v1?',
    ],
    [
      'a group of pools with a letter too many',
      'inference.networking.k8s.io/',
      'inference.networkings.k8s.io/',
      'did you mean kind InferencePool of inference.networking.k8s.io/v1?',
    ],
    [
      'a kind and a group that are both nearly right',
      'llm-d.ai/v1alpha2\nkind: InferenceObjective',
      'llmd.ai/v1alpha2\nkind: InferenceObjectives',
      'did you mean kind InferenceObjective of llm-d.ai/v1alpha2?',
    ],
    ['a kind of the core group', 'kind: Pod\n', 'kind: Pods\n', 'did you mean kind Pod of group (core)?'],
  ])('%s is an error, with a suggestion: exit code 1', async (_, from, to, says) => {
    expect(SMALL).toContain(from)
    for (const command of ['explain', 'conflicts', 'who-selects', 'diff']) {
      const { code, stdout } = await ask(
        [command, ...(command === 'diff' ? [] : ['-A'])],
        SMALL.replace(from, to),
        '-o',
        'json',
      )
      const report: { findings: readonly Record<string, unknown>[] } = JSON.parse(stdout)
      const miss = report.findings.filter((one) => one['code'] === 'KLM551')
      expect({ command, misses: miss.length, code }).toEqual({ command, misses: 1, code: 1 })
      expect(miss[0]?.['fix']).toContain(says)
    }
    const text = await ask(['explain', '-A'], SMALL.replace(from, to))
    expect(text.stdout).toContain('KLM551')
    const marked = await ask(['conflicts'], SMALL.replace(from, to), '-o', 'github')
    expect(marked.stdout).toMatch(/^::error file=all\.yaml,line=\d+,title=KLM551/m)
  })

  test('a ClusterSPIFFEID in another spelling is not skipped in silence', async () => {
    const other =
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSpiffeID\nmetadata: {name: mesh}\nspec: {spiffeIDTemplate: x}\n'
    const { code, stdout } = await ask(['conflicts'], documents(SMALL, other))
    expect(stdout).toContain('did you mean kind ClusterSPIFFEID of')
    expect(code).toBe(1)
  })

  test.each<[what: string, manifest: string]>([
    [
      'another kind of a group with pools',
      'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePoolImport\nmetadata: {name: x}\n',
    ],
    [
      'an older kind of GAIE',
      'apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: InferenceModel\nmetadata: {name: x}\n',
    ],
    [
      'another kind of SPIRE',
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterFederatedTrustDomain\nmetadata: {name: x}\n',
    ],
    [
      'a kind of that name in a group whose kinds make no pods',
      'apiVersion: cert-manager.io/v1\nkind: InferencePool\nmetadata: {name: x}\n',
    ],
    ['the core group', 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n'],
    [
      'access policies in a group that has graduated',
      'apiVersion: agentic.networking.k8s.io/v1\nkind: XAccessPolicy\nmetadata: {name: x}\n',
    ],
  ])('%s is skipped as before', async (_, manifest) => {
    const { code, stdout } = await ask(['explain', '-A'], documents(SMALL, manifest))
    expect(stdout).not.toContain('KLM551')
    expect(code).toBe(0)
  })
})

describe('a version of somebody else’s kind that no CRD is known to serve', () => {
  test.each<[kind: string, from: string, to: string]>([
    ['pool', 'inference.networking.k8s.io/v1', 'inference.networking.k8s.io/v2'],
    ['objective', 'llm-d.ai/v1alpha2', 'llm-d.ai/v1'],
  ])('leaves the binding that names such a %s undetermined: exit code 4', async (_, from, to) => {
    const manifests = documents(POOL, OBJECTIVE, BINDING, POD, NODE).replace(from, to)
    const { code, stdout, stderr } = await ask(['explain', '-A'], manifests)
    expect(stdout).toContain('is undetermined')
    expect(stdout).not.toContain('is ready')
    expect(stderr).toContain(`cannot read Inference${_ === 'pool' ? 'Pool' : 'Objective'} of ${to}`)
    expect(stderr).toContain(`did you mean ${from}?`)
    expect(code).toBe(4)
  })

  test('a ClusterSPIFFEID of another version leaves open what pods hold', async () => {
    const other =
      'apiVersion: spire.spiffe.io/v1\nkind: ClusterSPIFFEID\nmetadata: {name: mesh}\nspec: {spiffeIDTemplate: x}\n'
    const { code, stdout } = await ask(['conflicts'], documents(SMALL, other))
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
  })
})
