// What a suppression does to an answer: it takes a finding out of the exit code, and never hides what is not known.
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'
import { agreedCounts } from '../support/formats-agree.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'

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
/** SCM's settings are not given: finding KLM410, and exit code 4 where nothing else decides. */
const SMALL = [
  '--offline',
  '-f',
  'all.yaml',
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name',
  '',
]

async function ask(args: readonly string[], text = `${POOL}---\n${BINDING}`): ReturnType<typeof inProcess> {
  return inProcess(args, await workspace({ 'all.yaml': text }))
}

describe('suppressions', () => {
  test('an annotation takes warnings and information out of the exit code, and they are listed', async () => {
    const args = ['explain', 'team-a/llama', ...SMALL, '--fail-on', 'info']
    const { code, stdout } = await ask(args)
    expect(stdout).toContain('2 findings suppressed\n')
    expect(stdout).toMatch(/KLM412\n {4}annotation: deployed next week\n/)
    expect(code).toBe(4)
    const without = await ask(args, `${POOL}---\n${BINDING.replace('kleym.sonda.red/suppress', 'other')}`)
    expect(without.code).toBe(1)
    expect(await agreedCounts(args, await workspace({ 'all.yaml': `${POOL}---\n${BINDING}` }))).toMatchObject(
      {
        suppressed: 2,
        error: 0,
        warning: 0,
        info: 0,
      },
    )
  })

  test('an annotation without a reason suppresses nothing, and is reported with its object', async () => {
    const args = ['explain', 'team-a/llama', ...SMALL]
    const { stdout } = await ask(args, `${POOL}---\n${BINDING.replace(': deployed next week', '')}`)
    expect(stdout).toContain('1 finding suppressed\n')
    expect(stdout).toMatch(
      /! InferenceIdentityBinding\/team-a\/llama: a suppression that does not count\s+KLM531/,
    )
    expect(stdout).toContain('  KLM412 has no reason\n')
  })

  test('an unused flag is reported, and counts from --fail-on warning', async () => {
    const given = ['--suppress', 'KLM301=iib/team-a/llama', '--fail-on', 'warning', '--allow-empty']
    const { code, stdout } = await ask(['conflicts', ...SMALL, ...given], POOL)
    expect(stdout).toMatch(/! --suppress KLM301=iib\/team-a\/llama: a suppression that suppresses/)
    expect(stdout).toContain('  no finding KLM301 is about iib/team-a/llama\n')
    expect(code).toBe(1)
  })

  test('a suppressed template that is not followed still makes the answer incomplete', async () => {
    const flags = ['--suppress', 'KLM413=*/*']
    const args = ['who-selects', 'pod/lab/owned-0', ...ESTATE_FLAGS]
    const [plain, suppressed] = [
      await inProcess(args, PROJECT_ROOT),
      await inProcess([...args, ...flags], PROJECT_ROOT),
    ]
    expect(plain.code).toBe(4)
    expect(suppressed.code).toBe(4)
    expect(suppressed.stdout).toContain('1 finding suppressed\n')
    expect(await agreedCounts([...args, ...flags], PROJECT_ROOT)).toMatchObject({
      incomplete: true,
      suppressed: 1,
      info: 0,
    })
  })

  test('what cannot be read still makes the answer incomplete, whatever is suppressed', async () => {
    const args = ['conflicts', ...SMALL, '--suppress', 'KLM301=*/*/*', '--suppress', 'KLM302=*/*/*']
    const { code, stdout } = await ask(args, `${POOL}---\nkind: [\n`)
    expect(code).toBe(4)
    expect(stdout).toMatch(/^! incomplete: not everything is known/m)
    // Whether the flags are used is then not known.
    expect(stdout).not.toContain('KLM530')
  })

  test('a refused binding stays refused: the verdict is the answer, and only the finding does not count', async () => {
    const args = ['explain', 'playground/phi', ...ESTATE_FLAGS, '--suppress', 'KLM301=iib/playground/phi']
    const { code, stdout } = await inProcess(args, PROJECT_ROOT)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^! playground\/phi is refused/)
    expect(stdout).toContain('1 finding suppressed\n')
  })

  test('-o name leaves out what is suppressed', async () => {
    const args = ['conflicts', '-n', 'lab', ...ESTATE_FLAGS, '-o', 'name']
    const [all, fewer] = [
      await inProcess(args, PROJECT_ROOT),
      await inProcess(
        [...args, '--suppress', 'KLM405=clusterspiffeid/doubled', '--suppress', 'KLM402=*/doubled'],
        PROJECT_ROOT,
      ),
    ]
    expect(all.stdout).toContain('clusterspiffeid.spire.spiffe.io/doubled\n')
    expect(fewer.stdout).toBe(all.stdout.replace('clusterspiffeid.spire.spiffe.io/doubled\n', ''))
  })
})

describe('an assertion of an identity test is suppressed', () => {
  const RUN = [
    'test',
    'examples/identity-tests/team-c.yaml',
    '--offline',
    '-R',
    '-f',
    'examples/pull-request/head',
  ]
  const suppressed = (...objects: readonly string[]): ReturnType<typeof inProcess> =>
    inProcess([...RUN, ...objects.flatMap((one) => ['--suppress', `KLM701=${one}`])], PROJECT_ROOT)

  test('by the names that -o name prints', async () => {
    const { stdout: names } = await inProcess([...RUN, '-o', 'name'], PROJECT_ROOT)
    const { code, stdout } = await suppressed(...names.trim().split('\n'))
    expect(stdout).toMatch(/^✓ 3 of 5 assertions passed\n {2}2 suppressed\n/)
    expect(code).toBe(0)
  })

  test('with all others of its test', async () => {
    const { code, stdout } = await suppressed('IdentityTest/team-c', 'identitytests/*')
    expect(stdout).toMatch(/^✓ 3 of 5 assertions passed\n {2}2 suppressed\n/)
    expect(code).toBe(0)
  })

  test('alone: the others fail as before', async () => {
    const { code, stdout } = await suppressed('identitytest/team-c/containers[0]')
    expect(stdout).toMatch(/^✗ 1 of 5 assertions failed\n {2}tenancy\/rules\[1\]\n {2}1 suppressed\n/)
    expect(code).toBe(1)
  })

  test('and one that holds is no finding: the flag is reported', async () => {
    const { stdout } = await suppressed(
      'identitytest/team-c/containers[0]',
      'identitytest/team-c/identities[0]',
    )
    expect(stdout).toContain('no finding KLM701 is about identitytest/team-c/identities[0]')
  })
})
