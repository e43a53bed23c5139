// What an answer takes for granted without every setting, and what it never does (docs/assumptions.md, "Premises").
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { describe, expect, test } from 'vitest'
import { documents, NODE, POD, SMALL } from '../../../test/e2e/workspace.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const ASSUMING = "assuming SPIRE's chart defaults (kubectl kleym settings)"
const PREMISE = 'outputs are handled by an SCM'

function registration(name: string, spec: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: ${name}}\nspec: {${spec}}\n`
}

async function ask(objects: readonly string[], ...args: readonly string[]): Promise<Ran> {
  const root = await workspace({
    'all.yaml': documents(SMALL, ...objects),
    'scm.yaml': CHART_SCM,
    'empty.yaml': NODE,
  })
  return inProcess([...args, '--offline', '-f', 'all.yaml'], root)
}

/** SCM as the SPIRE charts configure it. */
const CHART_SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
className: spire
ignoreNamespaces: [kube-system]
`

function words({ stdout }: Ran): string {
  return stdout.replaceAll(/\s+/g, ' ')
}

function fallback(id: string): string {
  return registration('default', `fallback: true, spiffeIDTemplate: "${id}"`)
}

const DEFAULT = fallback(
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
)
const ALONE = ['--trust-domain', 'example.org']

describe('without a flag', () => {
  test.each([
    ['conflicts'],
    ['explain'],
    ['explain', 'team-a/chat'],
    ['who-selects', '-A'],
    ['suggest', '-A'],
    ['map', '-A'],
  ])(
    'an answer whose only doubt is whether outputs take effect takes that for granted: %s %s',
    async (...command) => {
      const ran = await ask([], ...command)
      expect(words(ran)).toContain(ASSUMING)
      expect(ran.stdout).toMatch(/^·/)
      expect(ran.stdout).not.toMatch(/^ *[✓!✗] |settings are unknown/m)
      expect(ran.code).toBe(0)
      const strict = await ask([], ...command, '--strict')
      expect(strict.stdout).toMatch(/^!/)
      expect(strict.stdout).toContain('some settings are unknown; parts of this answer are assumptions')
      expect(strict.code).toBe(4)
    },
  )

  test.each(['json', 'yaml'])('the report names the premise: %s', async (format) => {
    const { stdout } = await ask([], 'conflicts', '-o', format)
    expect(stdout).toContain(PREMISE)
    expect(stdout).toMatch(/assumptions"?: \[\]/)
  })

  test.each([
    ...['wide', 'sarif', 'junit', 'github', 'openreports', 'mermaid', 'dot', 'markdown'].map((format) => [
      'conflicts',
      format,
    ]),
    ...['mermaid', 'dot', 'html'].map((format) => ['map', format]),
  ])('every format carries it: %s -o %s', async (command, format) => {
    const { stdout } = await ask([], command, '-o', format)
    expect(stdout.replaceAll(/&apos;|&#39;|&#x27;|#39;/g, "'").replaceAll(/\s+/g, ' ')).toContain(
      "assuming SPIRE's chart defaults",
    )
  })

  test('where stdout holds objects alone, stderr carries it', async () => {
    expect((await ask([], 'conflicts', '-o', 'name')).stderr).toContain(ASSUMING)
  })

  test('a default identity that gives way on the pods of the binding alone is part of it', async () => {
    expect((await ask([DEFAULT], 'conflicts', ...ALONE)).code).toBe(0)
  })

  test('a finding of another kind counts as ever, and the answer still says what it takes for granted', async () => {
    const twice = SMALL.split('---\n').find((one) => one.includes('InferenceIdentityBinding')) ?? ''
    const ran = await ask([twice.replace('name: chat, n', 'name: again, n')], 'conflicts')
    expect(ran.stdout).toMatch(/^✗/)
    expect(ran.stdout).toContain('KLM301')
    expect(words(ran)).toContain(ASSUMING)
    expect(ran.code).toBe(1)
  })
})

describe('stays not known', () => {
  const other = POD.replace('llama-0', 'other').replace('{app: llama}', '{app: other}')
  const teamV = documents(
    ...SMALL.split('---\n')
      .filter((one) => !one.includes('kind: Node'))
      .map((one) => one.replaceAll('team-a', 'team-v').replace('3d0ff7fd', '4d0ff7fd')),
  )
  const cases: readonly (readonly [name: string, objects: readonly string[]])[] = [
    [
      "a fallback that carries team-v's ID",
      [teamV, fallback('spiffe://example.org/ns/team-v/objective/chat')],
    ],
    [
      'a fallback that carries the ID of the binding',
      [fallback('spiffe://example.org/ns/team-a/objective/chat')],
    ],
    ['a fallback on pods of no binding', [DEFAULT, other]],
    [
      'a fallback that another container of the pod would lose',
      [DEFAULT, POD.replace('llama-0', 'llama-1').replace('[{name: vllm}]', '[{name: vllm}, {name: log}]')],
    ],
    [
      'a registration of others on the same pods',
      [registration('beside', 'spiffeIDTemplate: "spiffe://example.org/x"')],
    ],
    [
      'a registration of others without class on other pods',
      [
        registration(
          'beside',
          'podSelector: {matchLabels: {app: other}}, spiffeIDTemplate: "spiffe://example.org/x"',
        ),
        other,
      ],
    ],
    [
      'a registration of others that no file shows a pod of the namespace for',
      [
        registration(
          'thief',
          'namespaceSelector: {matchLabels: {tier: x}}, spiffeIDTemplate: "spiffe://example.org/ns/team-a/objective/chat"',
        ),
      ],
    ],
  ]
  const commands = [
    ['conflicts', '-A'],
    ['explain', 'team-a/chat'],
    ['who-selects', '-A'],
    ['map', '-A'],
    ['suggest', '-A'],
  ]
  test.each(
    cases.flatMap(([name, objects]) =>
      commands.map((command) => [command.join(' '), name, objects, command] as const),
    ),
  )('%s with %s', async (_command, _name, objects, command) => {
    const ran = await ask(objects, ...command, ...ALONE)
    expect(words(ran)).not.toContain('assuming')
    expect(ran.stdout).not.toMatch(/^[✓·]/)
    expect(ran.code).toBe(4)
  })

  test("the fallback with team-v's ID is a theft under another class, which the premise would have hidden", async () => {
    const [, objects = []] = cases[0] ?? []
    const settings = ['--clusterspiffeid-class-name', 'other', '--scm-config', 'scm.yaml']
    const spire = objects.map((one) => one.replace('fallback: true', 'fallback: true, className: spire'))
    const ran = await ask(spire, 'conflicts', '-A', ...ALONE, ...settings)
    expect(ran.stdout).toContain('KLM308')
    expect(ran.code).toBe(1)
  })

  test.each([
    [
      'that no container holds an ID',
      ['who-selects', '-A', '--spiffe-id', 'spiffe://example.org/x', ...ALONE],
    ],
    ['which entries a server has', ['who-selects', '-A', '--entries', ...ALONE]],
    ['what is left out', ['conflicts', '--without', 'Pod/team-a/llama-0', ...ALONE]],
    ['whom policies name', ['policies', '-A', '--allow-empty']],
    ['what a change does', ['diff', '--base', 'empty.yaml', ...ALONE]],
    ['what can go', ['migrate', '-A', '--allow-empty']],
    ['a drawing of who holds one ID', ['map', '-A', '--spiffe-id', 'spiffe://example.org/x', ...ALONE]],
    ['a drawing of what a change does', ['map', '-A', '--compare', 'empty.yaml', ...ALONE]],
  ])('%s', async (_name, command) => {
    const ran = await ask([], ...command)
    expect(words(ran)).not.toContain('assuming')
    expect(ran.code).toBe(4)
  })
})

describe('a Namespace that was not given', () => {
  const { 0: pod = '' } = SMALL.split('---\n').filter((one) => one.includes('kind: Pod\n'))
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team-a}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: runner, containers: [{name: vllm}]}
`
  const settings = settingsFlags('spire')
  const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n'

  async function run(spec: string, more: readonly string[], ...flags: readonly string[]): Promise<Ran> {
    const root = await workspace({
      'all.yaml': documents(SMALL.replace(pod, deployment), ...more),
      'scm.yaml': CHART_SCM,
      'test.yaml': `apiVersion: test.kleym.sonda.red/v1alpha1\nkind: IdentityTest\nmetadata: {name: t}\nspec: ${spec}\n`,
    })
    const args = ['test', 'test.yaml', '--offline', '-f', 'all.yaml', ...settings, ...flags]
    return inProcess(args, root)
  }
  const AT_LEAST = '{rules: [{everyContainer: {namespace: team-a}, holds: {atLeast: 1}}]}'

  test('is taken to ask for no sidecar if an assertion asks that each container holds something', async () => {
    const ran = await run(AT_LEAST, [])
    expect(words(ran)).toContain('assuming no sidecar unless one is asked for')
    expect(ran.stdout).toMatch(/^·/)
    expect(ran.code).toBe(0)
    expect((await run(AT_LEAST, [], '--strict')).code).toBe(4)
    const known = await run(AT_LEAST, [namespace])
    expect(known.stdout).toMatch(/^✓/)
    expect(known.code).toBe(0)
  })
})
