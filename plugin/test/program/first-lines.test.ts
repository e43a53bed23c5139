// The questions that people bring: the answer stands within the first three lines.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const LIVE = ['--offline', '--live', 'examples/estate', '-f']

/** A question, the command for it, and what its first three lines say. */
const QUESTIONS: readonly (readonly [question: string, args: readonly string[], says: readonly RegExp[]])[] =
  [
    [
      'my pod has no SVID',
      ['who-selects', 'pod', 'lab/noname', ...ESTATE_FLAGS],
      [
        /^! pod lab\/noname, container vllm, undetermined: it may hold \S+builder, or none/,
        /lab\/noname does not reach it: k8s:sa:runner/,
      ],
    ],
    [
      'which identity does my Deployment get',
      ['who-selects', 'deployment/team-a/llama', ...ESTATE_FLAGS],
      [
        /^! Deployment team-a\/llama: 2 containers hold one identity each, and perhaps more$/m,
        /^ {2}\S+builder undetermined for all$/m,
      ],
    ],
    ['who is this ID', ['who-selects', CHAT, ...ESTATE_FLAGS], [/^✓ \S+\/chat: 3 containers hold it$/m]],
    [
      'nothing has this ID, has it',
      ['who-selects', `${CHAT}t`, ...ESTATE_FLAGS],
      [/^· \S+: no container holds it among/, /did you mean|nothing gives it/],
    ],
    [
      'what holds which identity here',
      ['who-selects', '-A', ...ESTATE_FLAGS],
      [/^✗ \d+ of \d+ containers \w+ /, /\d+ hold several identities; \d+ hold one identity each/],
    ],
    [
      'why is my binding refused',
      ['explain', 'iib', 'playground/expressions', ...ESTATE_FLAGS],
      [
        /^✗ playground\/expressions is refused: selector not provably safe \(UnsafeSelector\)/,
        /matchExpressions/,
        /fix: Select pods/,
      ],
    ],
    [
      'my binding is ready, and nothing has its identity',
      ['explain', 'lab/drift', ...ESTATE_FLAGS],
      [/^✗ lab\/drift is ready, but reaches no container/, /no container matches all selectors {3}KLM404/],
    ],
    [
      'which bindings are in trouble',
      ['explain', '-A', ...ESTATE_FLAGS],
      [/^✗ \d+ of \d+ bindings are refused$/m, /^ {2}\d+ waiting; \d+ ready/m],
    ],
    [
      'what is wrong in this cluster',
      ['conflicts', '-A', ...ESTATE_FLAGS],
      [
        /^✗ \d+ errors in \d+ bindings/,
        /identity collision \(KLM301, 2 times\)/,
        /^ {2}also \d+ warnings, \d+ info$/m,
      ],
    ],
    [
      'what does this pull request change',
      ['diff', ...LIVE, 'examples/changes/add-collision'],
      [
        /^✗ 3 containers of team-a lose \S+\/chat$/m,
        /^ {2}3 left without an identity$/m,
        /team-a\/chat: ready → refused \(IdentityCollision\)/,
      ],
    ],
    [
      'does this change give an identity away',
      ['diff', ...LIVE, 'examples/changes/steal-identity'],
      [
        /^✗ 2 containers of team-b lose \S+ and hold \S+team-a\/objective\/chat instead$/m,
        /mesh-llama gives the identity to 1 pod of namespace team-b \(KLM308\)$/m,
      ],
    ],
    [
      'what happens if I delete this binding',
      ['diff', 'team-a/chat', '--without', 'iib/team-a/chat', ...ESTATE_FLAGS],
      [/^! 3 containers of team-a lose \S+\/chat/, /team-a\/chat is deleted/],
    ],
    [
      'do the access policies name what they mean',
      ['policies', '-A', ...ESTATE_FLAGS],
      [/^! 18 policies: 3 of \d+ sources dangling/],
    ],
    [
      'do the identities that we rely on still hold',
      ['test', 'examples/identity-tests/team-c.yaml', '--offline', '-R', '-f', 'examples/pull-request/head'],
      [/^✗ 2 of 5 assertions failed$/m, /^ {2}team-c\/containers\[0\], tenancy\/rules\[1\]$/m],
    ],
    [
      'which entries does SPIRE have for this pod',
      ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE_FLAGS],
      [/^! SPIRE would hold 3 entries for 1 pod$/m],
    ],
    [
      'what does the whole estate look like',
      ['map', '-A', ...ESTATE_FLAGS],
      [/^✗ \d+ of \d+ containers \w+ /, /^ {2}.*\(KLM\d+/m],
    ],
    [
      'what does this reason mean',
      ['explain', 'UnsafeSelector'],
      [/^KLM201: selector not provably safe$/m, /^error, /m],
    ],
    [
      'what does a reason of InForce mean',
      ['explain', 'NotHandled'],
      [/^NotHandled$/m, /^condition InForce=Unknown$/m],
    ],
    [
      'what does a reason of Ready without a finding mean',
      ['explain', 'NamespaceFull'],
      [/^NamespaceFull$/m, /^condition Ready=Unknown$/m],
    ],
  ]

/** A terminal of this width, on which a sentence is one line. */
const ENV = { COLUMNS: '160' }

describe('the first three lines answer', () => {
  test.each(QUESTIONS)('%s', async (_, args, says) => {
    const { stdout, stderr } = await inProcess(args, PROJECT_ROOT, ENV)
    const first = stdout.split('\n').slice(0, 3).join('\n')
    for (const text of says) expect(`${first}${stdout === '' ? stderr : ''}`).toMatch(text)
  })
})

/** A command line of each view. */
const VIEWS: readonly (readonly [view: string, args: readonly string[]])[] = [
  ...QUESTIONS.flatMap(([question, args]): (readonly [string, readonly string[]])[] =>
    args[0] === 'explain' && args.length === 2 ? [] : [[question, args]],
  ),
  ['explain, several', ['explain', 'team-a/chat', 'playground/phi', ...ESTATE_FLAGS]],
  ['explain -o wide', ['explain', '-n', 'team-a', '-o', 'wide', ...ESTATE_FLAGS]],
]

describe('--summary', () => {
  test.each(VIEWS)('is the beginning of the answer: %s', async (_, args) => {
    const whole = await inProcess(args, PROJECT_ROOT, ENV)
    const first = await inProcess([...args, '--summary'], PROJECT_ROOT, ENV)
    expect(first.stdout).toMatch(/^[✓!✗·] \S/)
    expect(first.stdout.split('\n').length).toBeLessThanOrEqual(7)
    expect(whole.stdout.startsWith(`${first.stdout}\n`) || whole.stdout === first.stdout).toBe(true)
    expect(first.code).toBe(whole.code)
  })

  const TESTS = ['test', 'examples/identity-tests/estate.yaml', ...ESTATE_FLAGS]
  test.each<[string, readonly string[]]>([
    ['the page of a code', ['explain', 'KLM301']],
    ['tests that are written', ['test', '--generate', ...ESTATE_FLAGS]],
    ['a patch of tests', [...TESTS, '--update']],
    ...['json', 'yaml', 'name', 'sarif', 'junit', 'github', 'mermaid', 'dot'].map(
      (format): [string, readonly string[]] => [
        `-o ${format}`,
        ['explain', '-A', ...ESTATE_FLAGS, '-o', format],
      ],
    ),
    ['-o html', ['map', '-A', ...ESTATE_FLAGS, '-o', 'html']],
  ])('is refused where there are no first lines: %s', async (_, args) => {
    const { code, stdout, stderr } = await inProcess([...args, '--summary'], PROJECT_ROOT)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: --summary has no meaning here/)
  })
})

test('what test writes has one form: another is refused', async () => {
  const { code, stderr } = await inProcess(
    ['test', '--generate', '-o', 'json', ...ESTATE_FLAGS],
    PROJECT_ROOT,
  )
  expect(code).toBe(2)
  expect(stderr).toContain('--generate has no -o json')
})

test('what several bindings share is said once, at the end', async () => {
  const { stdout } = await inProcess(
    ['explain', 'team-a/chat', 'team-a/embed', 'playground/phi', ...ESTATE_FLAGS],
    PROJECT_ROOT,
  )
  expect(stdout.match(/any principal:/g)).toHaveLength(1)
  expect(stdout).toMatch(/\nThe same for all identities above\n {2}named by {2}any principal: .*\n/)
  expect(stdout.match(/agents\/tools rule chat/g)).toHaveLength(1)
})

describe('no first line is surer than its answer', () => {
  test.each(QUESTIONS.filter(([, args]) => args.includes('examples/estate')))('%s', async (_, args) => {
    const { stdout } = await inProcess(
      [...args, '-f', join(await workspace({ 'broken.yaml': 'kind: [\n' }), 'broken.yaml')],
      PROJECT_ROOT,
      ENV,
    )
    // A first line that does not fit goes on below itself.
    const [first = ''] = stdout.split(/\n(?! )/, 1)
    expect(first).toMatch(/^[!✗] /)
    expect(first).toContain('incomplete')
  })
})
