// How many answers each unreadable document changes: those that it can really touch, and no more.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { own } from '@kleym/shared/core/base/json.ts'
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const NAMESPACES = ['team-a', 'team-b', 'team-c']
const APPS = ['one', 'two', 'three']

/** Three namespaces with three bindings each, all of them ready, and a pod of each; a default identity for everybody. */
function estate(): Record<string, string> {
  const files: Record<string, string> = { 'default.yaml': registration('default', 'fallback: true') }
  for (const namespace of NAMESPACES)
    for (const app of APPS)
      files[`${namespace}/${app}.yaml`] = [
        pool(namespace, app),
        objective(namespace, app),
        binding(namespace, app),
        pod(namespace, app),
        pod(namespace, `plain-${app}`),
      ].join('---\n')
  return files
}

const meta = (namespace: string, name: string, more = ''): string =>
  `metadata:\n  name: ${name}\n  namespace: ${namespace}\n${more}`
const pool = (namespace: string, name: string): string =>
  `apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\n${meta(namespace, name)}spec:\n  selector: {matchLabels: {app: ${name}}}\n`
const objective = (namespace: string, name: string): string =>
  `apiVersion: llm-d.ai/v1alpha2\nkind: InferenceObjective\n${meta(namespace, name)}spec: {poolRef: {name: ${name}}}\n`
const binding = (namespace: string, name: string): string =>
  `apiVersion: kleym.sonda.red/v1alpha1\nkind: InferenceIdentityBinding\n${meta(namespace, name)}spec:
  poolRef: {name: ${name}, group: inference.networking.k8s.io}
  objectiveRef: {name: ${name}}
  serviceAccountName: default
  containerName: c
`
const pod = (namespace: string, name: string): string =>
  `apiVersion: v1\nkind: Pod\n${meta(namespace, name, `  labels: {app: ${name}}\n`)}spec: {containers: [{name: c}]}\n`
const registration = (name: string, more: string): string =>
  `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata:\n  name: ${name}\nspec:
  spiffeIDTemplate: spiffe://example.org/sa/{{ .PodSpec.ServiceAccountName }}
  ${more}
`

const deployment = (replicas: number): string =>
  `apiVersion: apps/v1
kind: Deployment
${meta('team-a', 'web')}spec: {replicas: ${replicas}, selector: {matchLabels: {app: web}}, template: {spec: {containers: [{name: web}]}}}
`

/** The answers that a document changes. */
interface Changed {
  readonly code: number
  /** Bindings that are not ready any more: all of them must be undetermined. */
  readonly bindings: readonly string[]
  /** Pods without a certain identity, of those that have one otherwise. */
  readonly pods: readonly string[]
}

const SETTINGS = settingsFlags('', 'scm.conf')
const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
clusterName: prod
trustDomain: example.org
ignoreNamespaces: []
watchClassless: true
`

async function reportOf(cwd: string, args: readonly string[]): Promise<{ code: number; report: unknown }> {
  const { code, stdout } = await inProcess(
    [...args, '--offline', '-R', '-f', '.', '-o', 'json', '--fail-on', 'never', ...SETTINGS],
    cwd,
  )
  const report: unknown = JSON.parse(stdout)
  return { code, report }
}

function list(value: unknown, field: string): readonly unknown[] {
  const found = own(value, field)
  return Array.isArray(found) ? found : []
}

async function changedBy(files: Readonly<Record<string, string>>): Promise<Changed> {
  const cwd = await workspace({ ...estate(), ...files, 'scm.conf': SCM })
  const explained = await reportOf(cwd, ['explain', '-A'])
  const selected = await reportOf(cwd, ['who-selects', '-A'])
  const bindings = list(explained.report, 'bindings').filter((one) => own(one, 'ready') !== 'True')
  expect(bindings.map((one) => own(one, 'reason'))).toEqual(bindings.map(() => 'Undetermined'))
  const pods = list(selected.report, 'pods').filter((one) =>
    list(one, 'containers').some((container) => list(container, 'identities').length === 0),
  )
  for (const one of pods)
    for (const container of list(one, 'containers')) {
      const open = list(container, 'registrations').some((entry) => own(entry, 'verdict') === 'depends')
      expect(open || own(container, 'notRead') !== null).toBe(true)
    }
  return {
    code: explained.code,
    bindings: bindings.map((one) => String(own(one, 'binding'))),
    pods: pods.map((one) => String(own(one, 'pod')).replace(/^pod /, '')),
  }
}

const inA = APPS.map((app) => `team-a/${app}`).toSorted()
const plainIn = (namespaces: readonly string[]): readonly string[] =>
  namespaces.flatMap((namespace) => APPS.map((app) => `${namespace}/plain-${app}`)).toSorted()

async function about(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<number> {
  return (await reportOf(await workspace({ ...estate(), ...files, 'scm.conf': SCM }), args)).code
}

describe('an answer about one namespace does not depend on', () => {
  test.each<[string, string, number]>([
    ['a pool of another one', pool('team-a', '${POOL}'), 0],
    ['a binding of another one that does not parse', `${binding('team-a', 'x')}  more: [\n`, 0],
    ['a Deployment of another one that stands twice', `${deployment(1)}---\n${deployment(2)}`, 0],
  ])('%s', async (_, text, code) => {
    expect(await about({ 'x.yaml': text }, ['explain', 'team-b/one'])).toBe(code)
    expect(await about({ 'x.yaml': text }, ['who-selects', 'pod/team-b/one'])).toBe(code)
  })

  test.each<[string, string]>([
    ['a pool of its own', pool('team-b', '${POOL}')],
    ['a pool of a namespace that it does not show', pool('${NS}', 'x')],
    ['a ClusterSPIFFEID', registration('<name>', 'fallback: false')],
    ['a document that may be anything', 'kind: [\n'],
  ])('but on %s', async (_, text) => {
    expect(await about({ 'x.yaml': text }, ['explain', 'team-b/one'])).toBe(4)
    expect(await about({ 'x.yaml': text }, ['who-selects', 'pod/team-b/one'])).toBe(4)
  })
})

const giving = (id: string, more = ''): string =>
  registration('giving', more).replace(/spiffe:.*/, `spiffe://example.org/ns/${id}`)
const unread = (text: string): string => `${text}  more: [\n`

describe('an answer about one namespace depends on another one where a registration gives IDs from one to the other', () => {
  test.each<[string, Record<string, string>]>([
    [
      'a pod elsewhere may hold an ID from here',
      { 'g.yaml': giving('team-b/objective/one'), 'x.yaml': unread(pod('team-a', 'x')) },
    ],
    [
      'a binding elsewhere may have an ID that pods here hold',
      {
        'g.yaml': giving('team-a/objective/x', 'podSelector: {matchLabels: {app: one}}'),
        'x.yaml': unread(binding('team-a', 'x')),
      },
    ],
  ])('%s', async (_, files) => {
    const codes = ['who-selects', 'explain'].map(async (one) => about(files, [one, '-n', 'team-b']))
    expect(await Promise.all(codes)).toEqual([4, 4])
  })

  test('a policy of any namespace may name an identity', async () => {
    const text = `apiVersion: agentic.networking.x-k8s.io/v1alpha1\nkind: XAccessPolicy\n${meta('team-a', 'x')}spec: [\n`
    expect(await about({ 'x.yaml': text }, ['explain', 'team-b/one'])).toBe(4)
  })

  test('the holders of an ID may be in any namespace', async () => {
    const args = ['who-selects', '-n', 'team-b', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/x']
    expect(await about({ 'x.yaml': unread(binding('team-a', 'x')) }, args)).toBe(4)
  })
})

describe('an unreadable document leaves open what it can hold', () => {
  test('nothing is unreadable: everything is certain', async () => {
    expect(await changedBy({})).toEqual({ code: 0, bindings: [], pods: [] })
  })

  test.each<[string, string, Changed]>([
    [
      'a pool that is a template, in one namespace: bindings there have their pools; defaults there may be displaced',
      pool('team-a', '${POOL}'),
      { code: 4, bindings: [], pods: plainIn(['team-a']) },
    ],
    [
      'a binding that does not parse, in one namespace: it may collide with those there',
      `${binding('team-a', 'x')}  more: [\n`,
      { code: 4, bindings: inA, pods: [...inA, ...plainIn(['team-a'])].toSorted() },
    ],
    [
      'another pool of a name that is there: the binding that names it',
      pool('team-a', 'one').replace('app: one', 'app: other'),
      { code: 4, bindings: ['team-a/one'], pods: ['team-a/one', ...plainIn(['team-a'])] },
    ],
    [
      'another binding of a name that is there: that one, and whom it may collide with',
      binding('team-a', 'one').replace('containerName: c', 'containerName: d'),
      {
        code: 4,
        bindings: ['team-a/one'],
        pods: ['team-a/one', ...plainIn(['team-a']), 'team-a/three', 'team-a/two'],
      },
    ],
    [
      'a ClusterSPIFFEID that is a template: defaults everywhere, and no binding',
      registration('<name>', 'fallback: false'),
      { code: 4, bindings: [], pods: plainIn(NAMESPACES) },
    ],
    [
      'a pod that does not parse: no other pod',
      `${pod('team-a', 'x')}  more: [\n`,
      { code: 4, bindings: [], pods: [] },
    ],
    [
      'values of a chart that do not parse: nothing',
      'image: {{ .x }}\n  more: [\n',
      { code: 0, bindings: [], pods: [] },
    ],
    [
      'a Secret that is a template: nothing',
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .name }}\n',
      { code: 0, bindings: [], pods: [] },
    ],
    ['the same pool again: nothing', pool('team-a', 'one'), { code: 0, bindings: [], pods: [] }],
  ])('%s', async (_, text, changed) => {
    expect(await changedBy({ 'other.yaml': text })).toEqual(changed)
  })
})
