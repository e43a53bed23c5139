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
        /^‼ pod lab\/noname, container vllm, undetermined: it may hold \S+builder, or none/,
        /lab\/noname does not reach it: k8s:sa:runner/,
      ],
    ],
    [
      'which identity does my Deployment get',
      ['who-selects', 'deployment/team-a/llama', ...ESTATE_FLAGS],
      [/^‼ Deployment team-a\/llama: 2 containers: 2 with one identity; \S+builder undetermined for all/],
    ],
    ['who is this ID', ['who-selects', CHAT, ...ESTATE_FLAGS], [/^√ \S+\/chat: 3 containers hold it$/m]],
    [
      'nothing has this ID, has it',
      ['who-selects', `${CHAT}t`, ...ESTATE_FLAGS],
      [/^× \S+: no container holds it among/, /did you mean|nothing gives it/],
    ],
    [
      'what holds which identity here',
      ['who-selects', '-A', ...ESTATE_FLAGS],
      [/^‼ \d+ containers: \d+ with one identity, \d+ with several, \d+ undetermined/],
    ],
    [
      'why is my binding refused',
      ['explain', 'iib', 'playground/expressions', ...ESTATE_FLAGS],
      [
        /^× playground\/expressions is refused: selector not provably safe \(UnsafeSelector\)/,
        /matchExpressions/,
        /fix: Select pods/,
      ],
    ],
    [
      'my binding is ready, and nothing has its identity',
      ['explain', 'lab/drift', ...ESTATE_FLAGS],
      [/^× lab\/drift is ready, but reaches no container/, /no container matches all selectors {3}KLM404/],
    ],
    [
      'which bindings are in trouble',
      ['explain', '-A', ...ESTATE_FLAGS],
      [/^× \d+ bindings: \d+ refused, \d+ waiting, \d+ ready/],
    ],
    [
      'what is wrong in this cluster',
      ['conflicts', '-A', ...ESTATE_FLAGS],
      [/^× \d+ errors, \d+ warnings, \d+ info in/, /identity collision \(KLM301, 2 times\)/],
    ],
    [
      'what does this pull request change',
      ['diff', ...LIVE, 'examples/changes/add-collision'],
      [
        /^× 3 containers of team-a lose \S+\/chat; 3 left without an identity \(KLM301\)/,
        /team-a\/chat: ready → refused \(IdentityCollision\)/,
      ],
    ],
    [
      'does this change give an identity away',
      ['diff', ...LIVE, 'examples/changes/steal-identity'],
      [/^× 2 containers of team-b gain \S+team-a\/objective\/chat instead of \S+ \(KLM308\)/],
    ],
    [
      'what happens if I delete this binding',
      ['diff', 'team-a/chat', '--without', 'iib/team-a/chat', ...ESTATE_FLAGS],
      [/^‼ 3 containers of team-a lose \S+\/chat/, /team-a\/chat is deleted/],
    ],
    [
      'do the access policies name what they mean',
      ['policies', '-A', ...ESTATE_FLAGS],
      [/^‼ 18 policies, 23 rules: 3 dangling/],
    ],
    [
      'what does this reason mean',
      ['explain', 'UnsafeSelector'],
      [/^KLM201: selector not provably safe$/m, /^error, /m],
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

describe('no first line is surer than its answer', () => {
  test.each(QUESTIONS.filter(([, args]) => args.includes('examples/estate')))('%s', async (_, args) => {
    const { stdout } = await inProcess(
      [...args, '-f', join(await workspace({ 'broken.yaml': 'kind: [\n' }), 'broken.yaml')],
      PROJECT_ROOT,
      ENV,
    )
    // A first line that does not fit goes on below itself.
    const [first = ''] = stdout.split(/\n(?! )/, 1)
    expect(first).toMatch(/^[‼×] /)
    expect(first).toContain('incomplete')
  })
})
