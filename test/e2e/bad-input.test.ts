// Bad input, as a person would give it: each says what, where, why and how to fix it on stderr, has its exit code, shows
// no stack, and answers the rest where it can.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended } from '@kleym/testing/child-process.ts'
import { within } from '@kleym/testing/wait.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { built, ESTATE, kleym, PLUGIN, ROOT, start, type Run, type RunOptions } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SCM_CONFIG, SMALL, workspace } from './workspace.ts'

beforeAll(built)

const TRUST = ['--trust-domain', 'example.org'] as const
const CLASS = ['--clusterspiffeid-class-name', ''] as const
const SETTINGS = [...TRUST, ...CLASS, '--scm-config', 'scm.yaml'] as const
const ALL = ['--offline', '-f', 'all.yaml'] as const

/** Runs in a folder with these files, and with SCM's settings beside them. */
async function inFolder(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Run> {
  return kleym(args, { ...options, cwd: workspace({ 'scm.yaml': SCM_CONFIG, ...files }) })
}

/** What every error has. */
function expectError(run: Run, code: number, ...parts: readonly (string | RegExp)[]): void {
  expect(run.stderr).toMatch(/^error: .+\n {2}why: {2}.+\n {2}fix: {2}.+\n/m)
  expect(run.stderr).not.toMatch(/^ +at .+:\d+/m)
  for (const part of parts) expect(run.stderr).toMatch(part)
  expect({ code: run.code, signal: run.signal }).toEqual({ code, signal: null })
}

describe('files that cannot be understood', () => {
  test('a malformed document in the middle: it is placed, the rest is answered, and the exit code is 4', async () => {
    const run = await inFolder({ 'all.yaml': documents(POOL, OBJECTIVE, 'kind: [\n', BINDING, POD, NODE) }, [
      'explain',
      'team-a/chat',
      ...ALL,
      ...SETTINGS,
    ])
    expectError(run, 4, 'cannot read document 3 of all.yaml', /\(line \d+, column \d+\)/)
    expect(run.stdout).toMatch(/^! incomplete: not everything is known/m)
    expect(run.stdout).toMatch(
      /^! team-a\/chat is ready, but which containers it reaches is unknown:\n.*\(incomplete\)$/m,
    )
  })

  test('malformed JSON is placed where it is malformed, not where the file ends', async () => {
    const pods = '{"apiVersion": "v1",\n"kind": "Pod"\n"metadata": {"name": "x"},\n"spec": {}}'
    const run = await inFolder({ 'all.yaml': SMALL, 'pods.json': pods }, [
      'explain',
      'team-a/chat',
      ...ALL,
      '-f',
      'pods.json',
      ...SETTINGS,
    ])
    expectError(run, 4, 'cannot read document 1 of pods.json', /\(line 3, column 1\)/)
    expect(run.stderr).toContain('it is no JSON: a "," is missing between two values')
  })

  test('what the malformed document may hold is unknown, not missing', async () => {
    const run = await inFolder({ 'all.yaml': documents('kind: [\n', OBJECTIVE, BINDING) }, [
      'explain',
      'team-a/chat',
      ...ALL,
      ...SETTINGS,
    ])
    expectError(run, 4, 'cannot read document 1 of all.yaml')
    expect(run.stdout).toMatch(/^! team-a\/chat is undetermined \(Undetermined\)/m)
    expect(run.stdout).not.toContain('TargetPoolNotFound')
  })

  test('a kind that makes no pods is skipped and counted, and is no error', async () => {
    const unknown = 'apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: x}\n'
    const run = await inFolder({ 'all.yaml': documents(SMALL, unknown, unknown) }, [
      'conflicts',
      ...ALL,
      ...SETTINGS,
    ])
    expect(run.stderr).toContain('ignored, as no answer needs it: 2 Issuer.cert-manager.io')
    expect(run.code).toBe(0)
  })

  test('the same object twice, and different: both places are named, and it alone is in doubt', async () => {
    const run = await inFolder({ 'a.yaml': SMALL, 'b.yaml': POOL.replace('app: llama', 'app: other') }, [
      'explain',
      'team-a/chat',
      '--offline',
      '-f',
      'b.yaml',
      '-f',
      'a.yaml',
      ...SETTINGS,
    ])
    expectError(run, 4, 'InferencePool team-a/llama is defined twice', 'a.yaml:1 and b.yaml:1')
    expect(run.stderr).toContain('kubectl apply -R would leave that of b.yaml:1')
    expect(run.stdout).toMatch(/^! team-a\/chat is undetermined/m)
  })

  test('the same object twice, and equal: one object', async () => {
    const files = { 'a.yaml': SMALL, 'b.yaml': POOL }
    const run = await inFolder(files, [
      'explain',
      'team-a/chat',
      '--offline',
      '-f',
      'b.yaml',
      '-f',
      'a.yaml',
      ...SETTINGS,
    ])
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('team-a/chat is ready') })
  })

  test('links that lead nowhere: the rest is answered', async () => {
    const cwd = workspace({ 'scm.yaml': SCM_CONFIG, 'in/all.yaml': SMALL })
    symlinkSync('gone.yaml', join(cwd, 'in/link.yaml'))
    symlinkSync('itself.yaml', join(cwd, 'in/itself.yaml'))
    const run = await kleym(['explain', 'team-a/chat', '--offline', '-f', 'in', ...SETTINGS], { cwd })
    expectError(run, 4, 'in/link.yaml', 'in/itself.yaml')
    expect(run.stdout).toContain('is ready')
  })

  test('a loop of links ends, and each file is read once', async () => {
    const cwd = workspace({ 'scm.yaml': SCM_CONFIG, 'in/all.yaml': SMALL })
    mkdirSync(join(cwd, 'in/deep'))
    symlinkSync('..', join(cwd, 'in/deep/up'))
    const run = await kleym(['explain', 'team-a/chat', '--offline', '-R', '-f', 'in', ...SETTINGS], { cwd })
    expect(run.stdout).toContain('is ready')
    expect({ code: run.code, stderr: run.stderr }).toEqual({
      code: 0,
      stderr: expect.not.stringContaining('error'),
    })
  })

  test('stdin is read, and a malformed document in it is placed', async () => {
    const run = await inFolder({}, ['explain', '--offline', '-f', '-', ...SETTINGS], {
      stdin: documents(SMALL, 'kind: [\n'),
    })
    expectError(run, 4, /document 6 of stdin \(line \d+/)
    expect(run.stdout).toContain('team-a/chat is ready')
  })
})

describe('objects that lack what they need', () => {
  test.each<[string, string, string]>([
    [
      'a pool without spec',
      documents(POOL.replace(/spec:.*\n/, ''), OBJECTIVE, BINDING),
      'InvalidPoolSelector',
    ],
    [
      'a pool whose spec is a number',
      documents(POOL.replace(/spec:.*\n/, 'spec: 7\n'), OBJECTIVE, BINDING),
      'InvalidPoolSelector',
    ],
    [
      'a binding that names no pool',
      documents(POOL, OBJECTIVE, BINDING.replace(/ {2}poolRef:.*\n/, '')),
      'InvalidPoolRef',
    ],
    [
      'a binding without spec',
      documents(POOL, OBJECTIVE, BINDING.replace(/spec:\n(?: .*\n)+/, '')),
      'InvalidPoolRef',
    ],
    ['a binding whose pool is not there', documents(OBJECTIVE, BINDING), 'TargetPoolNotFound'],
  ])('%s', async (_, manifests, reason) => {
    const run = await inFolder({ 'all.yaml': manifests }, ['explain', 'team-a/chat', ...ALL, ...SETTINGS])
    expect(run.stdout).toContain(`✗ team-a/chat is refused:`)
    expect(run.stdout).toContain(`(${reason})`)
    expect(run.stdout).toMatch(/^ {2}fix: \S/m)
    expect({ code: run.code, stderr: run.stderr }).toEqual({
      code: 1,
      stderr: expect.not.stringContaining('error'),
    })
  })
})

describe('no trust domain', () => {
  test('explain answers with a placeholder, and says what to pass', async () => {
    const run = await inFolder({ 'all.yaml': SMALL }, ['explain', 'team-a/chat', '--strict', ...ALL])
    expect(run.stdout).toContain('spiffe://<trust-domain>/ns/team-a/objective/chat')
    expect(run.stdout).toMatch(/^ {2}kleym's trust domain: [^(]*\(pass\s+--trust-domain\)$/m)
    expect(run.code).toBe(4)
  })

  test('diff spells it as every command does', async () => {
    const run = await inFolder({ 'all.yaml': SMALL }, ['diff', ...ALL])
    expect(run.stdout).toContain('spiffe://<trust-domain>/ns/team-a/objective/chat')
    expect(run.code).toBe(4)
  })
})

describe('a scope in which nothing is', () => {
  test.each(['explain', 'conflicts', 'who-selects', 'policies'])(
    'is not shown by %s as if all were well',
    async (command) => {
      const run = await inFolder({ 'all.yaml': SMALL }, [command, '-n', 'team-aa', ...ALL, ...SETTINGS])
      const head = '! nothing was checked: nothing in the files is of this namespace; there are\n    team-a\n'
      const fix = '  fix: did you mean team-a?; pass --allow-empty if there may be none\n'
      expect(run).toMatchObject({ code: 4, stdout: `${head}${fix}`, stderr: '' })
    },
  )
})

describe('a name that is not found while something could not be read', () => {
  test.each([
    ['a binding', ['explain', 'team-a/gone'], 'there is no such binding, as far as the files could be read'],
    ['a pod', ['who-selects', 'pod/team-a/gone'], 'there is no such Pod, as far as the files could be read'],
    [
      'the pod of an SVID',
      ['verify', '--entries', 'e.json', '--svids', 's.pem', '--pod', 'team-a/gone', '-c', 'main'],
      'there is no such pod, as far as the files could be read',
    ],
  ])('%s may stand there', async (_, args, what) => {
    const run = await inFolder({ 'all.yaml': documents(SMALL, 'kind: [\n') }, [...args, ...ALL, ...SETTINGS])
    expectError(run, 4, what, 'cannot read document 6 of all.yaml')
    expect(run.stdout).toBe('')
  })

  test.each([
    ['who-selects', 'InferencePool', 'inference.networking.k8s.io/v1'],
    ['who-selects', 'InferenceIdentityBinding', 'kleym.sonda.red/v1alpha1'],
    ['suggest', 'InferencePool', 'inference.networking.k8s.io/v1'],
    ['suggest', 'Pod', 'v1'],
    ['rename', 'InferencePool', 'inference.networking.x-k8s.io/v1alpha2'],
  ])(
    '%s does not say that a %s is not there which stands in a document that is cut off',
    async (command, kind, apiVersion) => {
      const cut = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: gone, namespace: team-a`
      const args = [command, `${kind}/team-a/gone`, ...(command === 'rename' ? ['other'] : [])]
      const run = await inFolder({ 'all.yaml': documents(SMALL, cut) }, [...args, ...ALL, ...SETTINGS])
      expectError(
        run,
        4,
        `there is no such ${kind}, as far as the files could be read`,
        'cannot read document 6',
      )
      // Where all was read, there is none.
      const whole = await inFolder({ 'all.yaml': documents(SMALL) }, [...args, ...ALL, ...SETTINGS])
      expectError(whole, 3, `there is no such ${kind}`, 'none of that name')
      expect([run.stdout, whole.stdout]).toEqual(['', ''])
    },
  )
})

describe('a wrong command line: exit code 2 (3 for a name that is not there), and nothing on stdout', () => {
  test.each<[string, readonly string[], number, string, string]>([
    ['a bad flag', ['explain', '--offlin'], 2, 'unknown flag --offlin', 'did you mean --offline?'],
    [
      'a bad threshold',
      ['explain', ...ALL, '--fail-on', 'errors'],
      2,
      '--fail-on does not take errors',
      'did you mean error?',
    ],
    [
      'a bad selector',
      ['explain', ...ALL, '-l', 'app in llama'],
      2,
      'the label selector is not valid',
      '-l app=llama',
    ],
    [
      'a bad trust domain',
      ['explain', ...ALL, '--trust-domain', 'spiffe://Example'],
      2,
      'the trust domain is not valid',
      'example.org',
    ],
    [
      '--without of nothing',
      ['explain', ...ALL, '--without', 'pod/team-a/gone'],
      3,
      'the object to leave out is not there',
      '--without Pod/team-a/gone',
    ],
    [
      'an unknown binding',
      ['explain', 'team-a/chatt', ...ALL],
      3,
      'there is no such binding',
      'did you mean team-a/chat?',
    ],
    [
      'a pod where a binding belongs',
      ['explain', 'pod/team-a/chat', ...ALL],
      2,
      'cannot tell which binding is meant',
      'kubectl kleym who-selects pod/team-a/chat',
    ],
    ['an unknown code', ['explain', 'KLM999'], 3, 'there is no such finding code', 'KLM999'],
    ['an unknown pod', ['who-selects', 'pod/team-a/gone', ...ALL], 3, 'there is no such Pod', 'team-a/gone'],
    [
      'a missing file',
      ['explain', '--offline', '-f', 'gone.yaml'],
      2,
      'cannot read gone.yaml',
      'there is no such file or folder',
    ],
    [
      'a missing --live',
      ['diff', ...ALL, ...TRUST, '--live', 'gone'],
      2,
      'cannot read gone',
      'there is no such file or folder',
    ],
    ['an empty folder', ['explain', '--offline', '-f', 'empty'], 2, 'nothing to read in empty', 'add -R'],
    [
      'a folder whose files are deeper, without -R',
      ['explain', '--offline', '-f', 'deep'],
      2,
      'nothing to read in deep',
      'add -R',
    ],
    [
      'an SCM configuration that is none',
      ['explain', ...ALL, '--scm-config', 'all.yaml'],
      2,
      'cannot read the SCM configuration',
      'ControllerManagerConfig',
    ],
    [
      'an SCM configuration that is not there',
      ['explain', ...ALL, '--scm-config', 'gone.yaml'],
      2,
      'cannot read the SCM configuration',
      'gone.yaml',
    ],
    [
      'a broken SCM configuration',
      ['explain', ...ALL, '--scm-config', 'broken.yaml'],
      2,
      'cannot read the SCM configuration',
      'broken.yaml',
    ],
  ])('%s', async (_, args, code, what, part) => {
    const cwd = workspace({ 'all.yaml': SMALL, 'deep/er/all.yaml': SMALL, 'broken.yaml': 'kind: [\n' })
    mkdirSync(join(cwd, 'empty'))
    const run = await kleym(args, { cwd })
    expectError(run, code, what)
    expect(run.stderr).toContain(part)
    expect(run.stdout).toBe('')
  })
})

function configMap(text: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: scm, namespace: spire}
data:
  config.yaml: ${JSON.stringify(text)}
`
}

describe('a ConfigMap with a broken SCM configuration', () => {
  test('that does not parse is not taken for SCM without settings', async () => {
    const broken = SCM_CONFIG.replace('ignoreNamespaces: []', 'ignoreNamespaces: [')
    const run = await inFolder({ 'all.yaml': documents(SMALL, configMap(broken)) }, [
      'explain',
      'team-a/chat',
      ...ALL,
      ...TRUST,
    ])
    expectError(run, 4, "cannot read SCM's configuration in ConfigMap spire/scm", /all\.yaml, document 6/)
    expect(run.stdout).toMatch(/^! incomplete: not everything is known/m)
  })

  test('beside one that can be read may be that of another SCM: the answer is not complete', async () => {
    const other = configMap(SCM_CONFIG.replace('ignoreNamespaces: []', 'ignoreNamespaces: ['))
    const files = {
      'all.yaml': documents(SMALL, configMap(SCM_CONFIG), other.replace('name: scm,', 'name: other,')),
    }
    const run = await inFolder(files, ['conflicts', ...ALL, ...TRUST, '--clusterspiffeid-class-name', ''])
    expectError(run, 4, "cannot read SCM's configuration in ConfigMap spire/other", /all\.yaml, document 7/)
    expect(run.stdout).not.toContain('✓')
  })

  test('that has a field of a wrong type keeps SCM from starting', async () => {
    const odd = SCM_CONFIG.replace('watchClassless: true', 'watchClassless: "yes"')
    const run = await inFolder({ 'all.yaml': documents(SMALL, configMap(odd)) }, [
      'explain',
      'team-a/chat',
      ...ALL,
      ...TRUST,
    ])
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(/^✗ ControllerManagerConfig\/[^✗✓]* KLM414$/m)
    expect(run.stdout).toContain('watchClassless')
  })
})

async function diffWith(program: string): Promise<Run> {
  const env = { KUBECTL_EXTERNAL_DIFF: program }
  return inFolder({ 'all.yaml': SMALL }, ['diff', ...ALL, ...SETTINGS], { env })
}

describe('KUBECTL_EXTERNAL_DIFF', () => {
  test('prints the diff where it works', async () => {
    const run = await diffWith('diff -N -u')
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(
      /^\+ {2}spiffeIDTemplate: spiffe:\/\/example\.org\/ns\/team-a\/objective\/chat$/m,
    )
    expect(run.stdout).toContain('After this change')
  })

  test.each([
    ['fails', 'false -x', 'the external differ failed'],
    ['does not exist', 'no-such-differ', 'the external differ failed'],
  ])('that %s is an error of its own', async (name, program, what) => {
    const folder = workspace({ 'false-differ': '#!/bin/sh\necho "it broke" >&2\nexit 2\n' })
    chmodSync(join(folder, 'false-differ'), 0o755)
    const run = await diffWith(name === 'fails' ? join(folder, 'false-differ') : program)
    expectError(run, 4, what, /KUBECTL_EXTERNAL_DIFF/)
    expect(run.stdout).toBe('')
  })
})

describe('the process', () => {
  test('an interrupt ends it as a shell expects', async () => {
    const child = start(['explain', '--offline', '-f', '-'])
    const end = new Promise((settle) => {
      child.once('exit', (code, signal) => settle({ code, signal }))
    })
    // It reads stdin until it ends, which it does not; once it takes what is written, it is running.
    await new Promise((settle) => child.stdin.write(SMALL, settle))
    child.kill('SIGINT')
    expect(await within(end, 'the end of an interrupted plugin')).toEqual({ code: null, signal: 'SIGINT' })
  })

  test('a reader that leaves early is no error', async () => {
    const script = '"$0" "$@" | head -1; exit "${PIPESTATUS[0]}"'
    const shell = await ended(
      spawn('bash', ['-c', script, PLUGIN, 'who-selects', '-A', ...ESTATE], { cwd: ROOT }),
    )
    expect(shell.stdout.split('\n')).toHaveLength(2)
    expect(shell.stderr).not.toMatch(/error|EPIPE/)
    expect(shell.status).not.toBe(5)
  })

  test('a file that grows under another name does not change the answer', async () => {
    const cwd = workspace({ 'all.yaml': SMALL, 'scm.yaml': SCM_CONFIG })
    const before = await kleym(['explain', '-A', ...ALL, ...SETTINGS], { cwd })
    writeFileSync(join(cwd, 'other.yaml'), POOL)
    expect(await kleym(['explain', '-A', ...ALL, ...SETTINGS], { cwd })).toEqual(before)
  })
})
