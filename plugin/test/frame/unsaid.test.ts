// stderr says of what is not known what the answer does not say, and nothing else. `-o name` says nothing of it, so its stderr has all.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { workspace } from '../support/workspace.ts'

const FILES = ['-f', 'examples/quick-start', '-f', 'examples/estate/risky/unknown-template.yaml']
const WITHOUT_CLASS = ['--offline', '--no-config', '--trust-domain', 'example.org', ...FILES]

const COMMANDS: readonly (readonly string[])[] = [
  ['explain', '-A'],
  ['conflicts', '-A'],
  ['who-selects', '-A'],
  ['policies', '-A', '--allow-empty'],
  ['map', '-A'],
  ['migrate', '-A'],
  ['diff'],
  ['verify', '--entries', 'examples/server/entries.json'],
  ['test', 'examples/identity-tests/team-c.yaml'],
]

/** They print every cause, in whatever words the format has for it. */
const WHOLE = ['sarif', 'junit', 'github', 'markdown'] as const

describe.each(COMMANDS.map((command) => ({ command, line: command.join(' ') })))(
  '$line without all settings',
  ({ command }) => {
    const ask = (...flags: readonly string[]): ReturnType<typeof inProcess> =>
      inProcess([...command, ...WITHOUT_CLASS, '--strict', ...flags], PROJECT_ROOT)

    test.each(['text', 'wide', 'json', 'yaml', ...WHOLE])(
      'each cause is on stderr or in the answer, never in neither: %s',
      async (format) => {
        const isGenerator = command[0] === 'migrate' && format === 'yaml'
        const all = causesIn((await ask('-o', 'name')).stderr)
        const { stdout, stderr } = await ask('-o', format)
        const told = causesIn(stderr)
        expect(all).toContainEqual(expect.stringContaining("kleym's class (not given)"))
        expect(all).toEqual(expect.arrayContaining([...told]))
        for (const cause of all.filter((one) => !told.includes(one)))
          for (const part of partsOf(cause)) expect(lettersOf(stdout)).toContain(lettersOf(part))
        const isWhole = WHOLE.some((one) => one === format)
        const repeated = told.filter((one) => isWhole || one.includes(' (not given): '))
        expect(isGenerator ? told : repeated).toEqual(isGenerator ? all : [])
      },
    )

    test('--summary says what was not given once', async () => {
      const cause = causesIn((await ask('-o', 'name')).stderr).find((one) =>
        one.includes('class (not given)'),
      )
      const { stdout, stderr } = await ask('--summary')
      const [, why = ''] = partsOf(cause ?? '')
      expect(lettersOf(stdout + stderr).split(lettersOf(why))).toHaveLength(2)
    })
  },
)

test('text that quotes no cause leaves it to stderr: a registration that is not followed', async () => {
  const args = ['conflicts', '-A', ...WITHOUT_CLASS, '--code', 'KLM301']
  const all = causesIn((await inProcess([...args, '-o', 'name'], PROJECT_ROOT)).stderr)
  const unfollowed = all.filter((one) => one.includes('template not supported'))
  expect(unfollowed).toHaveLength(1)
  for (const format of ['text', 'json'])
    expect(causesIn((await inProcess([...args, '-o', format], PROJECT_ROOT)).stderr)).toEqual(
      expect.arrayContaining([...unfollowed]),
    )
})

test('many causes that a text does not say are some lines and their number, and a report tells each', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 25 }, (_, at) => [
      `${at}.yaml`,
      `${[
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `team-${at}` } },
        {
          apiVersion: 'inference.networking.k8s.io/v1',
          kind: 'InferencePool',
          metadata: { name: 'llama', namespace: `team-${at}` },
          spec: { selector: { matchLabels: { app: 'llama' } } },
        },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'llama-0', namespace: `team-${at}`, labels: { app: 'llama' } },
          spec: { containers: [{ name: 'vllm', image: 'vllm' }] },
        },
        {
          apiVersion: 'spire.spiffe.io/v1alpha1',
          kind: 'ClusterSPIFFEID',
          metadata: { name: `old-${at}` },
          spec: { className: 'of-team', spiffeIDTemplate: `spiffe://example.org/old/${at}` },
        },
      ]
        .map((object) => JSON.stringify(object))
        .join('\n---\n')}\n`,
    ]),
  )
  const cwd = await workspace(files)
  const ask = async (
    format: string,
  ): Promise<{ readonly stdout: string; readonly told: readonly string[] }> => {
    const { stdout, stderr } = await inProcess(
      ['suggest', '-A', '--offline', '--no-config', '-f', '.', '-o', format],
      cwd,
    )
    return { stdout, told: causesIn(stderr) }
  }
  const { told: whole } = await ask('name')
  const all = whole.filter((one) => !one.includes(' (not given): '))
  const { told } = await ask('text')
  expect(told).toEqual([...all.slice(0, 20), `${all.length - 20} more things; -o json tells each`])
  const report = await ask('json')
  for (const cause of all) expect([report.stdout, ...report.told].join('\n')).toContain(cause)
})

function causesIn(stderr: string): readonly string[] {
  return [...stderr.matchAll(/^not known: (.*)$/gm)].map(([, cause = '']) => cause)
}

/** What was not given, and why that matters, which text and JSON print apart; any other cause is one part. */
function partsOf(cause: string): readonly string[] {
  const [what = '', why] = cause.split(' (not given): ')
  return why === undefined ? [withoutCode(what)] : [what, why.slice(0, why.lastIndexOf(';'))]
}

/** JSON says in a finding of that code that a template is not followed. */
function withoutCode(cause: string): string {
  return cause.endsWith(' (KLM413)') ? 'KLM413' : cause
}

function lettersOf(text: string): string {
  return text.replaceAll(/&#?\w+;|<!-- -->/g, '').replaceAll(/\W+/g, '')
}

test('why says where the way ends once, also if the fix stands apart from it', async () => {
  const half = '{apiVersion: v1, kind: Pod, metadata: {name: "{{ .Values.name }}", namespace: team-a}}\n'
  const cwd = await workspace({ 'half.yaml': half })
  const estate = join(PROJECT_ROOT, 'examples/estate/team-a')
  const files = ['--offline', '--no-config', '-R', '-f', estate, '-f', 'half.yaml']
  const { stdout, stderr } = await inProcess(['why', 'deployment/llama', '-n', 'team-a', ...files], cwd)
  expect(stdout).toContain('(incomplete)\n  fix: ')
  expect(stderr).not.toContain('not known: container vllm')
})
