import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { INPUT_LIMITS } from '../../src/sources/budget.ts'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { printedBy } from '@kleym/testing/child-process.ts'
import type { Opaque } from '../../src/sources/door.ts'
import type { ProblemReach } from '../../src/sources/problem.ts'
import { helmTemplate } from '../../src/sources/render.ts'
import { load, RULES, type Loading } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const typed = (apiVersion: string, kind: string, name: string, more = ''): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`
const pod = (name: string, more = ''): string => typed('v1', 'Pod', name, more)
const pool = (name: string, more = ''): string =>
  typed('inference.networking.k8s.io/v1', 'InferencePool', name, more)
const registration = (name: string): string => typed('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID', name)
/** A manifest as JSON. */
const json = (manifest: string): string => JSON.stringify(parseYaml(manifest))
const SERVING =
  'spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n'
const CHART = 'apiVersion: v2\nname: app\nversion: 0.1.0\n'

interface Read {
  readonly names: readonly string[]
  readonly notes: readonly string[]
  readonly problems: readonly { readonly where: string; readonly reach: readonly string[] | 'anything' }[]
  readonly deploys: readonly string[]
}

/** `Kind namespace/name`, with stars for what is not known. */
function text({ kind, namespace, name }: ProblemReach): string {
  return `${kind} ${namespace ?? '*'}/${name ?? '*'}`
}

/** What no object shows, whatever there is. */
function unshown(all: readonly Opaque[]): readonly Opaque[] {
  return all.filter(({ isShownBy }) => isShownBy === undefined)
}

async function read(files: Readonly<Record<string, string>>, loading: Loading = {}): Promise<Read> {
  const loaded = await load(await workspace(files), { recursive: true, ...loading })
  return {
    names: loaded.objects.map(({ value }) => stringAt(value, 'metadata', 'name') ?? ''),
    notes: loaded.notes.filter((note) => !note.includes('no namespace')),
    problems: unshown(loaded.problems)
      .filter(({ isNoted }) => isNoted !== true)
      .map(({ where, reach }) => ({ where, reach: reach?.map(text) ?? 'anything' })),
    deploys: loaded.problems.filter(({ isShownBy }) => isShownBy !== undefined).map(({ what }) => what),
  }
}

/** All that a source may hold whose objects go to the namespace default. */
const WHATEVER_FITS = [
  'Pod default/*',
  'ConfigMap default/*',
  'InferencePool.inference.networking.k8s.io default/*',
  'ClusterSPIFFEID.spire.spiffe.io */*',
]

describe('a chart', () => {
  test.each<[string, Record<string, string>, Partial<Read>]>([
    [
      'has no objects but its CRDs, what its values may hold, and folders that are none of its own',
      {
        'Chart.yaml': CHART,
        'values.yaml': 'kind: Pod\n',
        'values-prod.yaml': pod('values'),
        'ci/x-values.yaml': pod('ci'),
        'templates/x.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: {{ .x }}}\n',
        'crds/x.yaml': pod('crd'),
        'examples/x.yaml': pod('example'),
      },
      {
        names: ['crd', 'example'],
        problems: [
          { where: '.', reach: ['Pod */*'] },
          { where: 'ci/x-values.yaml', reach: ['Pod default/ci'] },
        ],
      },
    ],
    [
      'with workloads alone leaves open which pods there are',
      { 'Chart.yaml': CHART, 'templates/x.yaml': pod('{{ .x }}') },
      { names: [], problems: [{ where: '.', reach: ['Pod */*'] }] },
    ],
    [
      'with a kind that decides leaves that open, in the namespace that it names',
      {
        'Chart.yaml': CHART,
        'templates/x.yaml': `${pool('{{ .x }}', '  namespace: team-a\n')}---\n${registration('{{ .y }}')}`,
      },
      {
        problems: [
          {
            where: '.',
            reach: [
              'InferencePool.inference.networking.k8s.io team-a/*',
              'ClusterSPIFFEID.spire.spiffe.io */*',
            ],
          },
        ],
      },
    ],
    [
      'whose namespace hangs on a condition: any',
      {
        'Chart.yaml': CHART,
        'templates/x.yaml': pool('x', '  {{- if .a }}\n  namespace: team-a\n  {{- end }}\n'),
      },
      { problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io */*'] }] },
    ],
    [
      'whose kind comes from its values',
      {
        'Chart.yaml': CHART,
        'values.yaml': 'what: InferencePool # or none\n',
        'templates/x.yaml': typed('{{ .v }}', '{{ .Values.what }}', 'x'),
      },
      { problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io */*'] }] },
    ],
    [
      'whose kind is put together may hold anything',
      { 'Chart.yaml': CHART, 'templates/x.yaml': typed('v1', '{{ printf "%sPool" .x }}', 'x') },
      { problems: [{ where: '.', reach: 'anything' }] },
    ],
    [
      'a helper of which holds a whole object',
      {
        'Chart.yaml': CHART,
        'templates/_x.tpl': `{{ define "x" }}\n  kind: InferencePool\n{{ end }}`,
        'templates/x.yaml': '{{ include "x" . }}\n',
      },
      { problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io */*'] }] },
    ],
    [
      'that only names a kind, in a reference, a comment or its notes, holds none',
      {
        'Chart.yaml': CHART,
        'values.yaml': '# for a ClusterSPIFFEID\nx: 1\n',
        'templates/NOTES.txt': 'kind: InferencePool\n',
        'templates/x.yaml': typed(
          'gateway.networking.k8s.io/v1',
          'HTTPRoute',
          '{{ .x }}',
          'spec:\n  - kind: InferencePool\n',
        ),
        'templates/crd.yaml': typed(
          'apiextensions.k8s.io/v1',
          'CustomResourceDefinition',
          'x',
          'spec:\n  names:\n    kind: InferencePool\n{{ x }}\n',
        ),
      },
      { problems: [], notes: ['left out a chart in .: nothing in it is of a kind that is used'] },
    ],
    [
      'with a subchart: that too',
      {
        'Chart.yaml': CHART,
        'charts/sub/Chart.yaml': CHART,
        'charts/sub/templates/x.yaml': registration('{{ .x }}'),
      },
      { problems: [{ where: '.', reach: ['ClusterSPIFFEID.spire.spiffe.io */*'] }] },
    ],
    [
      'with an archive in it that cannot be read may hold anything',
      { 'Chart.yaml': CHART, 'charts/sub-1.0.0.tgz': 'x' },
      { problems: [{ where: '.', reach: 'anything' }] },
    ],
    [
      'that needs another one which is not there may make anything',
      {
        'Chart.yaml': `${CHART}dependencies: [{name: redis, repository: "https://example.org"}]\n`,
        'templates/x.yaml': pod('{{ .x }}'),
      },
      {
        problems: [{ where: '.', reach: ['Pod */*'] }],
        deploys: ['Chart.yaml deploys what is not among the files: redis'],
      },
    ],
    [
      'of the library type makes nothing',
      {
        'Chart.yaml': `${CHART}type: library\n`,
        'templates/_x.tpl': 'kind: InferencePool\n',
        'x/pod.yaml': pod('a'),
      },
      { names: ['a'], problems: [], notes: [] },
    ],
  ])('%s', async (_, files, expected) => {
    expect(await read(files)).toMatchObject(expected)
  })
})

/** Packs the folder `sub` of a workspace into a chart's folder, as `helm package` does. */
async function pack(files: Readonly<Record<string, string | Uint8Array>>, chart: string): Promise<string> {
  const root = await workspace(files)
  mkdirSync(join(chart, 'charts'), { recursive: true })
  const archive = join(chart, 'charts/sub-1.tgz')
  printedBy('tar', ['-C', root, '--format=ustar', '-czf', archive, 'sub'])
  return archive
}

describe('a packed subchart', () => {
  test('is looked through, with what is packed into it', async () => {
    const inner = await pack({ 'sub/templates/x.yaml': pool('{{ .x }}') }, await workspace({}))
    const root = await workspace({ 'Chart.yaml': CHART })
    const files = {
      'sub/Chart.yaml': CHART,
      'sub/templates/x.yaml': pod('{{ .x }}'),
      'sub/charts/deep/templates/y.yaml': registration('{{ .y }}'),
      'sub/charts/packed-1.tgz': readFileSync(inner),
      'sub/README.md': 'kind: Deployment\n',
    }
    await pack(files, root)
    const { problems } = await load(root, { recursive: true })
    expect(problems[0]?.reach?.map(text).toSorted()).toEqual([
      'ClusterSPIFFEID.spire.spiffe.io */*',
      'InferencePool.inference.networking.k8s.io */*',
      'Pod */*',
    ])
  })

  test('may hold an object in the folder from which helm installs first', async () => {
    const root = await workspace({ 'Chart.yaml': CHART })
    await pack({ 'sub/Chart.yaml': CHART, 'sub/crds/x.yaml': registration('x') }, root)
    const { problems } = await load(root, { recursive: true })
    expect(problems[0]?.reach?.map(text)).toEqual(['ClusterSPIFFEID.spire.spiffe.io */x'])
  })

  test('that unpacks to more than is looked through may hold anything', async () => {
    const root = await workspace({ 'Chart.yaml': CHART })
    await pack({ 'sub/templates/x.yaml': ' '.repeat(40 * 1024 * 1024) }, root)
    expect(await read({}, { files: [root] })).toMatchObject({ problems: [{ reach: 'anything' }] })
  })
})

describe('a kustomization', () => {
  const resources = 'resources: [a.yaml]\n'
  test.each<[string, Record<string, string>, Partial<Read>, Loading?]>([
    [
      'that changes nothing leaves its resources as they stand',
      { 'kustomization.yaml': resources, 'a.yaml': pool('a') },
      { names: ['a'], problems: [], notes: [] },
    ],
    [
      'that sets images and replicas leaves its resources as they stand: neither decides about an identity',
      {
        'kustomization.yaml': `${resources}images: [{name: x, newTag: "2"}]\nreplicas: [{name: a, count: 3}]\n`,
        'a.yaml': pod('a'),
      },
      { names: ['a'], problems: [], notes: [] },
    ],
    [
      'that gives annotations changes its pods, which registrations and webhooks tell by them',
      { 'kustomization.yaml': `${resources}commonAnnotations: {a: b}\n`, 'a.yaml': pod('a') },
      { names: [], problems: [{ where: '.', reach: ['Pod default/*'] }] },
    ],
    [
      'leaves out what is only for its own build, and what it does not take in is read',
      {
        'kustomization.yaml': resources,
        'a.yaml': ['true', '', 'false']
          .map((local) =>
            pod(`p${local}`, `  annotations: {config.kubernetes.io/local-config: '${local}'}\n`),
          )
          .join('---\n'),
        'b.yaml': pod('b', "  annotations: {config.kubernetes.io/local-config: 'true'}\n"),
      },
      { names: ['pfalse', 'b'], problems: [] },
    ],
    [
      'keeps its patches from being objects, and what they change from being certain',
      {
        'kustomization.yaml': `${resources}patches: [{path: patch.yaml}]\n`,
        'a.yaml': `${pool('a')}---\n${registration('id')}`,
        'patch.yaml': pool('a', 'spec: {selector: {matchLabels: {app: b}}}\n'),
      },
      {
        names: ['id'],
        problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io default/a'] }],
      },
    ],
    [
      'that moves its objects leaves them open where they go',
      {
        Kustomization: `${resources}namespace: team-b\n`,
        'a.yaml': `${pool('a')}---\n${registration('id')}`,
      },
      {
        names: ['id'],
        problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io team-b/a'] }],
      },
    ],
    [
      'that moves them where they are changes nothing',
      {
        'kustomization.yml': `${resources}namespace: team-b\n`,
        'a.yaml': pool('a', '  namespace: team-b\n'),
      },
      { names: ['a'], problems: [] },
    ],
    [
      'that renames leaves the names open',
      { 'kustomization.yaml': `${resources}namePrefix: x-\n`, 'a.yaml': registration('id') },
      { names: [], problems: [{ where: '.', reach: ['ClusterSPIFFEID.spire.spiffe.io */*'] }] },
    ],
    [
      'over another one changes what that takes in',
      {
        'base/kustomization.yaml': resources,
        'base/a.yaml': pool('a'),
        'prod/kustomization.yaml': 'resources: [../base]\nlabels: [{pairs: {a: b}}]\n',
      },
      {
        names: [],
        problems: [{ where: 'prod', reach: ['InferencePool.inference.networking.k8s.io default/*'] }],
      },
    ],
    [
      'that changes workloads alone leaves open which pods there are',
      {
        'kustomization.yaml': `${resources}patches: [{target: {kind: Pod}, patch: "[]"}]\n`,
        'a.yaml': `${pod('a')}---\n${pool('b')}`,
      },
      { names: ['b'], problems: [{ where: '.', reach: ['Pod default/a'] }] },
    ],
    [
      'with a URL may hold anything that has no namespace, or is in the one that it names',
      {
        'kustomization.yaml': 'namespace: default\nresources: [a.yaml, "https://example.org/x.yaml"]\n',
        'a.yaml': pool('a'),
      },
      {
        names: ['a'],
        problems: [
          {
            where: '.',
            reach: WHATEVER_FITS,
          },
        ],
      },
    ],
    [
      'with a component, which may move its objects, leaves their namespace open',
      {
        'kustomization.yaml': `${resources}components: [c]\n`,
        'a.yaml': pool('a'),
        'c/kustomization.yaml': 'kind: Component\n',
      },
      { names: [], problems: [{ where: '.', reach: ['InferencePool.inference.networking.k8s.io */*'] }] },
    ],
    [
      'that cannot be read may hold anything',
      { 'kustomization.yaml': 'resources: [\n', 'a.yaml': pool('a') },
      {
        names: [],
        problems: [{ where: '.', reach: 'anything' }],
      },
    ],
    [
      'that takes in what was not given may hold anything',
      {
        'base/kustomization.yaml': resources,
        'base/a.yaml': pool('a'),
        'prod/kustomization.yaml': 'namespace: default\nresources: [../base]\n',
      },
      { names: [], problems: [{ where: 'prod', reach: WHATEVER_FITS }] },
      { files: ['prod'] },
    ],
    [
      'of somebody else is a file like any other',
      {
        'kustomization.yaml': typed('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'x'),
        'a.yaml': pool('a'),
      },
      { names: ['a'], problems: [], notes: [] },
    ],
    [
      "that makes SCM's configuration leaves it open",
      {
        'kustomization.yaml': 'configMapGenerator: [{name: x, files: [scm.yaml]}]\n',
        'scm.yaml': typed('spire.spiffe.io/v1alpha1', 'ControllerManagerConfig', 'x'),
      },
      { names: [], problems: [{ where: '.', reach: ['ConfigMap */*'] }] },
    ],
    [
      'in a circle with another one ends',
      {
        'a/kustomization.yaml': 'resources: [../b]\n',
        'b/kustomization.yaml': 'resources: [../a, x.yaml]\nnamePrefix: y\n',
        'b/x.yaml': pool('a'),
      },
      {
        names: [],
        problems: [{ where: 'b', reach: ['InferencePool.inference.networking.k8s.io default/*'] }],
      },
    ],
  ])('%s', async (_, files, expected, loading) => {
    expect(await read(files, loading)).toMatchObject(expected)
  })
})

test('a kustomization that sets replicas leaves open which pods a StatefulSet has, and no others', async () => {
  const wanted = ['Deployment', 'StatefulSet'].map((kind) => ({ group: 'apps', kind, namespaced: true }))
  const files = {
    'kustomization.yaml': 'resources: [a.yaml]\nreplicas: [{name: a, count: 3}]\n',
    'a.yaml': wanted.map(({ kind }) => typed('apps/v1', kind, 'a', SERVING)).join('---\n'),
  }
  const { names, problems } = await read(files, { rules: { wanted } })
  expect([names, problems]).toEqual([['a'], [{ where: '.', reach: ['StatefulSet.apps default/a'] }]])
})

test('a kustomization that leaves workloads without pods leaves them open', async () => {
  const wanted = ['Deployment', 'StatefulSet', 'Job'].map((kind) => ({
    group: 'apps',
    kind,
    namespaced: true,
  }))
  const files = {
    'kustomization.yaml': 'resources: [a.yaml]\nreplicas: [{name: b, count: 3}, {name: a, count: 0}]\n',
    'a.yaml': wanted.map(({ kind }) => typed('apps/v1', kind, 'a', SERVING)).join('---\n'),
  }
  const { names, problems } = await read(files, { rules: { wanted } })
  const reach = ['Deployment.apps default/a', 'StatefulSet.apps default/a']
  expect([names, problems]).toEqual([['a'], [{ where: '.', reach }]])
})

const over = (more: string): string => `resources: [../r.yaml]\n${more}`
describe('a HelmRelease in a kustomization', () => {
  const release = typed(
    'helm.toolkit.fluxcd.io/v2',
    'HelmRelease',
    'r',
    '  namespace: flux\nspec: {chart: {spec: {chart: x}}}\n',
  )
  test.each([
    ['that changes nothing', { 'a/kustomization.yaml': over('') }, ['flux']],
    ['that moves it', { 'a/kustomization.yaml': over('namespace: team\n') }, ['team']],
    [
      'that is moved by two',
      {
        'a/kustomization.yaml': over('namespace: team\n'),
        'b/kustomization.yaml': over('namespace: other\n'),
      },
      ['team', 'other'],
    ],
    [
      'that changes it',
      { 'a/kustomization.yaml': over('patches: [{target: {kind: HelmRelease}, patch: "[]"}]\n') },
      [undefined],
    ],
  ])('%s is for the namespaces that this gives', async (_, files, namespaces) => {
    const { problems } = await load(await workspace({ 'r.yaml': release, ...files }), { recursive: true })
    const reached = problems.flatMap(({ reach = [] }) => reach.filter(({ kind }) => kind === 'Pod'))
    expect(reached.map(({ namespace }) => namespace)).toEqual(namespaces)
  })
})

describe('what is never read', () => {
  const files = {
    'a.yaml': pod('a'),
    'docs/b.yaml': pod('b'),
    'docs/deep/c.yaml': pod('c'),
    'x/docs/d.yaml': pod('d'),
    'e.tmpl.yaml': pod('e'),
    '.git/f.yaml': pod('f'),
    'x/node_modules/g.yaml': 'a: 1',
    '.vscode/h.json': '{ // \n',
  }
  test.each<[readonly string[], readonly string[]]>([
    [[], ['a', 'b', 'c', 'e', 'd']],
    [['docs'], ['a', 'e']],
    [['/docs'.slice(1) + '/**'], ['a', 'e', 'd']],
    [['*.tmpl.yaml'], ['a', 'b', 'c', 'd']],
    [
      ['**/c.yaml', '[ab].yaml'],
      ['e', 'd'],
    ],
    [
      ['docs/*.yaml', '?.tmpl.yaml'],
      ['a', 'c', 'd'],
    ],
    [['x/'], ['a', 'b', 'c', 'e']],
    [['/docs'], ['a', 'e', 'd']],
    [['[z-a].yaml'], ['a', 'b', 'c', 'e', 'd']],
    [
      ['*.yaml', '!a.yaml', '!/x/docs/*.yaml'],
      ['a', 'd'],
    ],
    [['[[:alpha:]].yaml', '# comment'], ['e']],
    [
      [String.raw`\a.yaml`, 'docs/**/c.yaml'],
      ['b', 'e', 'd'],
    ],
  ])('--exclude %j', async (exclude, names) => {
    expect(await read(files, { exclude })).toMatchObject({ names, problems: [] })
  })
})

describe('a folder of tools is not read', () => {
  const quoted = `jobs: |\n  ${pod('q').replaceAll('\n', '\n  ')}`
  const broken = typed('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'r', 'spec: {')
  test.each<[name: string, files: Readonly<Record<string, string>>, expected: Partial<Read>, how?: Loading]>([
    [
      'and one line says so',
      {
        '.github/workflows/ci.yaml': 'on: push\n',
        '.github/quotes.yml': quoted,
        'x/node_modules/y/package.json': '{"name": "y", "kind": "Pod"}',
      },
      {
        notes: [
          'did not read .github; x/node_modules, which tools own: nothing in them is of a kind that is used',
        ],
      },
    ],
    ['and nothing is said if it has no manifests', { '.venv/a.py': '' }, { notes: [] }],
    ['nor if it is left out', { '.github/a.yaml': pod('a') }, { notes: [] }, { exclude: ['.github/'] }],
    ['nor if a part is', { '.github/a.yaml': pod('a') }, { notes: [] }, { exclude: ['a.yaml'] }],
    ['unless it is named', { '.github/a.yaml': pod('a') }, { names: ['a'] }, { files: ['.', '.github'] }],
    ["nor is Git's own, into which no commit brings a file", { '.git/a.yaml': pod('a') }, { notes: [] }],
    [
      'and an object in it is not known',
      { '.github/deep/a.yaml': pod('a'), '.github/b.yml': 'on: push' },
      { notes: [], problems: [{ where: '.github/deep/a.yaml', reach: ['Pod default/a'] }] },
    ],
    [
      'nor is a list of them',
      {
        '.vs/a.json': `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}]}`,
      },
      { problems: [{ where: '.vs/a.json', reach: ['Pod */*'] }] },
    ],
    [
      'nor one in other bytes',
      { '.vs/a.yaml': pod('a').replaceAll(/^|(?=.)/gs, '\u0000') },
      { problems: [{ where: '.vs/a.yaml', reach: 'anything' }] },
    ],
    [
      'nor what deploys others, if it cannot be read',
      { '.vs/a.yaml': broken },
      {
        problems: [
          { where: '.vs/a.yaml', reach: RULES.wanted.map(({ kind }) => expect.stringContaining(kind)) },
        ],
      },
    ],
  ])('%s', async (_, files, expected, how) => {
    const clean = { names: [], problems: [] }
    expect(await read({ 'x.yaml': 'a: 1', ...files }, how)).toMatchObject({ ...clean, ...expected })
  })

  test.each<[name: string, files: Readonly<Record<string, string>>, where: readonly string[]]>([
    ['a kustomization', { 'kustomization.yaml': `resources: []\n---\n${pod('a')}` }, ['kustomization.yaml']],
    ['the description of a chart', { 'Chart.yaml': `${CHART}---\n${pod('a')}` }, ['Chart.yaml']],
    ['values in JSON', { 'Chart.yaml': CHART, 'values-x.json': json(pod('a')) }, ['values-x.json']],
    ['the folder ci of a chart', { 'Chart.yaml': CHART, 'ci/x.yaml': pod('a') }, ['ci/x.yaml']],
    ...[
      'patches: [{path: a.yaml}]',
      'configMapGenerator: [{name: c, files: [a.yaml]}]',
      'crds: [a.yaml]',
    ].map((line): [string, Readonly<Record<string, string>>, readonly string[]] => [
      `a file of ${line}, which is a part of the kustomization`,
      { 'kustomization.yaml': `${line}\n`, 'a.yaml': registration('a') },
      ['.'],
    ]),
    [
      'a patch of a workload',
      {
        'kustomization.yaml': 'patches: [{path: a.yaml}]\n',
        'a.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n',
      },
      [],
    ],
    [
      'a library chart',
      {
        'Chart.yaml': `${CHART}type: library\n`,
        'templates/a.yaml': pod('a'),
        'templates/b.yaml': `{{- define "b" }}\n${pod('b')}{{- end }}\n`,
      },
      ['templates/a.yaml'],
    ],
    [
      'the folder of the charts of a chart',
      {
        'Chart.yaml': CHART,
        'charts/a.yaml': pod('a'),
        'charts/templates/a.yaml': pod('b'),
        'charts/x/crds/a.yaml': pod('c'),
      },
      ['charts/a.yaml', 'charts/templates/a.yaml', 'charts/x/crds/a.yaml'],
    ],
    [
      'none of these, if they hold what they are for',
      {
        'kustomization.yaml': `kind: Kustomization\nresources: []\npatches:\n- patch: |-\n    ${pod('a').replaceAll('\n', '\n    ')}\n`,
        'c/Chart.yaml': CHART,
        'c/charts/x/Chart.yaml': CHART,
        'c/charts/x/values.yaml': 'a: b\n',
        'c/charts/x/charts/y/templates/a.yaml': 'apiVersion: v1\nkind: Service\n',
        'c/ci/x-values.yaml': 'pods:\n- kind: Pod\n  apiVersion: v1\n',
      },
      [],
    ],
  ])('nor is a manifest in %s', async (_, files, where) => {
    const wanted = [...RULES.wanted, { group: 'apps', kind: 'Deployment', namespaced: true }]
    const { names, problems } = await read({ 'x.yaml': 'a: 1', ...files }, { rules: { wanted } })
    expect(names).toEqual([])
    expect(problems.map((one) => one.where)).toEqual(where)
  })

  test('and one that cannot be gone through may hold anything', async () => {
    const root = await workspace({ 'x.yaml': 'a: 1', '.idea/a.yaml': 'a: 1' })
    symlinkSync('there', join(root, '.idea/there.yaml'))
    symlinkSync('.', join(root, '.idea/self'))
    const { problems } = await load(root, { recursive: true })
    expect(problems).toMatchObject([{ where: '.idea/there.yaml', why: 'it may hold anything' }])
  })
})

test('pipes are reported and not opened, and links in circles end', async () => {
  const root = await workspace({ 'a.yaml': pod('a') })
  printedBy('mkfifo', [join(root, 'pipe.yaml')])
  symlinkSync('.', join(root, 'self'))
  symlinkSync('there', join(root, 'here'))
  symlinkSync('here', join(root, 'there'))
  const loaded = await load(root, { recursive: true })
  expect(loaded.objects).toHaveLength(1)
  expect(loaded.problems).toEqual([])
  expect(loaded.notes).toContain('left out pipe.yaml: it is neither a file nor a folder')
})

/** A folder with a program of this name, which is a shell script. */
async function withProgram(
  program: string,
  script: string,
  files: Readonly<Record<string, string>>,
): Promise<{ root: string; env: Record<string, string> }> {
  const root = await workspace(files)
  const bin = join(await workspace({ 'empty.txt': '' }), 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, program), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, program), 0o755)
  return {
    root,
    env: { PATH: `${bin}:/usr/bin:/bin`, HELM_PLUGINS: '/somewhere', https_proxy: 'http://proxy' },
  }
}

function scmFile(apiVersion: string): string {
  return `apiVersion: ${apiVersion}\nkind: ControllerManagerConfig\n`
}

const helmRelease = (spec: string): string =>
  `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: team}
spec:
  chart: {spec: {chart: ./charts/app, sourceRef: {kind: GitRepository, name: flux-system}, valuesFiles: [./charts/app/values-x.yaml]}}
${spec}`
const application = (repository: string, helm = ''): string =>
  `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec:
  destination: {namespace: team}
  source: {repoURL: '${repository}', path: charts/app${helm}}
`

describe('--render', () => {
  const POD_OF = `printf 'apiVersion: v1\\nkind: Pod\\nmetadata:\\n  name: "%s"\\n  annotations: {ns: "%s", p: "%s"}\\n' "$2" "$5" "$HELM_NO_PLUGINS$https_proxy"`

  test('reads what helm makes, without plugins and without the network', async () => {
    const { root, env } = await withProgram('helm', POD_OF, {
      'c/Chart.yaml': CHART,
      'c/templates/x.yaml': registration('{{ .x }}'),
    })
    const loaded = await load(root, { recursive: true, render: true, env })
    expect(loaded.problems).toEqual([])
    expect(loaded.objects).toMatchObject([
      {
        value: { metadata: { name: 'app', annotations: { ns: 'default', p: '1http://127.0.0.1:9' } } },
        origin: { file: 'c (helm)' },
      },
    ])
  })

  test('a name that would be a flag of helm is not used', async () => {
    const { root, env } = await withProgram('helm', POD_OF, { 'Chart.yaml': 'name: --post-renderer=x\n' })
    const loaded = await load(root, { recursive: true, render: true, env })
    expect(loaded.objects).toMatchObject([{ value: { metadata: { name: 'release' } } }])
  })

  test.each<[string, Record<string, string>, string]>([
    [
      'a dependency that is not there',
      { 'Chart.yaml': `${CHART}dependencies: [{name: redis}]\n`, 'templates/x.yaml': pool('{{ .x }}') },
      'its dependency redis is not in its charts folder',
    ],
    [
      'a schema that names a URL',
      {
        'Chart.yaml': CHART,
        'values.schema.json': '{"$ref": "https://example.org/x"}',
        'templates/x.yaml': pool('{{ .x }}'),
      },
      'the schema of its values names another one by URL',
    ],
    [
      'a URL',
      { 'kustomization.yaml': 'resources: ["https://example.org/x"]\n' },
      'it names https://example.org/x, which is not on this disk',
    ],
    [
      'a URL below',
      {
        'prod/kustomization.yaml': 'resources: [../base]\n',
        'base/kustomization.yaml': 'resources: ["github.com/x/y?ref=z"]\n',
      },
      'base: it names github.com/x/y?ref=z, which is not on this disk',
    ],
    [
      'a chart in a kustomization',
      { 'kustomization.yaml': 'helmCharts: [{name: x}]\n' },
      'its helmCharts needs helm as a plugin of kustomize',
    ],
    [
      'a generator',
      { 'kustomization.yaml': 'generators: [x.yaml]\n', 'x.yaml': 'kind: Exec\n' },
      'its generators may be plugins',
    ],
  ])('%s is refused before anything runs', async (_, files, why) => {
    const { root, env } = await withProgram('helm', 'touch "$HOME/ran"', files)
    const loaded = await load(root, { recursive: true, render: true, env })
    expect(unshown(loaded.problems)).toMatchObject([
      { kind: 'not rendered', why: expect.stringContaining(why) },
    ])
  })

  /** A pod that says what helm was given. */
  const POD_OF_VALUES = `out="metadata: {name: $2, namespace: $5, annotations: {values: '"
    while [ $# -gt 0 ]; do
      if [ "$1" = --values ]; then out="$out[$(tr -d '\\n' < "$2")]"; fi
      if [ "$1" = --set ]; then out="$out<$2>"; fi
      shift
    done
    printf "apiVersion: v1\\nkind: Pod\\n%s'}}\\n" "$out"`
  const OF_VALUES = {
    'charts/app/Chart.yaml': CHART,
    'charts/app/values-x.yaml': 'a: 1',
    'charts/app/templates/x.yaml': pool('{{ .Values.x }}'),
    '.git/config': '[remote "origin"]\n  url = git@example.org:me/x.git\n',
  }
  const DEFAULTS = 'the chart in charts/app was rendered with its default values'
  test.each<[string, Record<string, string>, readonly string[], readonly string[]]>([
    ['a HelmRelease', { 'r.yaml': helmRelease('  values: {b: 2}\n') }, ['team/web [a: 1][{.b.:2}]'], []],
    [
      'a HelmRelease for another namespace, which its release is called by',
      { 'r.yaml': helmRelease('  targetNamespace: prod\n') },
      ['prod/prod-web [a: 1]'],
      [],
    ],
    [
      'a HelmRelease for another namespace that names its release',
      { 'r.yaml': helmRelease('  targetNamespace: prod\n  releaseName: x\n') },
      ['prod/x [a: 1]'],
      [],
    ],
    [
      'a HelmRelease with values from elsewhere',
      { 'r.yaml': helmRelease('  valuesFrom: [{kind: Secret, name: x}]\n') },
      ['team/web '],
      [DEFAULTS],
    ],
    [
      'an Application',
      {
        'a.yaml': application(
          'https://example.org/me/x',
          ', helm: {releaseName: r, valueFiles: [values-x.yaml], values: "b: 2", parameters: [{name: c, value: "3,4"}]}',
        ),
      },
      [String.raw`team/r [a: 1][b: 2]<c=3\,4>`],
      [],
    ],
    [
      'an Application of another repository',
      { 'a.yaml': application('https://example.org/you/x') },
      ['default/app '],
      [DEFAULTS],
    ],
    [
      'a helmfile, once for each release',
      {
        'helmfile.yaml':
          'releases: [{name: a, namespace: x, chart: ./charts/app, values: [charts/app/values-x.yaml]}, {name: b, namespace: z, chart: ./charts/app, values: [{c: 3}]}, {name: c, chart: ./charts/app, installed: false}]\n',
      },
      ['x/a [a: 1]', 'z/b [{.c.:3}]'],
      [],
    ],
    ...[
      'hooks: [{events: [prepare], command: x}]\n',
      'helmDefaults: {postRenderer: x}\n',
      'values: [{b: 2}]\n',
    ].map((top): [string, Record<string, string>, readonly string[], readonly string[]] => [
      `a helmfile with ${top.slice(0, -1)}`,
      { 'helmfile.yaml': `${top}releases: [{name: a, chart: ./charts/app}]\n` },
      ['default/a '],
      top.startsWith('values') ? [] : [DEFAULTS],
    ]),
    [
      'a release with a post-renderer',
      { 'helmfile.yaml': 'releases: [{name: a, chart: ./charts/app, postRenderer: x}]\n' },
      ['default/a '],
      [DEFAULTS],
    ],
    [
      'a file of values outside the tree',
      { 'helmfile.yaml': 'releases: [{name: a, chart: ./charts/app, values: [/etc/hostname]}]\n' },
      ['default/a '],
      [DEFAULTS],
    ],
  ])('takes the values of %s', async (_, files, pods, doubts) => {
    const { root, env } = await withProgram('helm', POD_OF_VALUES, { ...OF_VALUES, ...files })
    const loaded = await load(root, { recursive: true, render: true, env })
    const given = loaded.objects.map(({ value }) => {
      const [namespace, name] = ['namespace', 'name'].map((field) => stringAt(value, 'metadata', field))
      return `${namespace}/${name} ${stringAt(value, 'metadata', 'annotations', 'values')?.replaceAll('"', '.')}`
    })
    expect(given).toEqual(pods)
    expect(unshown(loaded.problems).map(({ what }) => what)).toEqual(doubts)
  })

  test('what a chart deploys of a folder leaves open where that is', async () => {
    const files = {
      ...OF_VALUES,
      'web/p.yaml': pod('p'),
      'a.yaml': application('https://example.org/me/x').replace('namespace: team', 'namespace: argocd'),
    }
    const made = JSON.stringify(parseYaml(deploys('web', 'team')))
    const { root, env } = await withProgram('helm', `printf '%s' '${made}'`, files)
    const { problems } = await load(root, { recursive: true, render: true, env })
    expect(problems.map(({ what }) => what)).toEqual([
      'Application web deploys what is not among the files: web as a chart makes it that was rendered',
    ])
  })

  test('what an ApplicationSet deploys of each folder is in a namespace of its own', async () => {
    const files = { ...OF_VALUES, 'a.yaml': deploysEach('charts/*', '{{path.basename}}') }
    const { root, env } = await withProgram('helm', POD_OF, files)
    const { objects } = await load(root, { recursive: true, render: true, env })
    expect(objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(['app'])
  })

  test.each([
    ['is in that of its release', 'team', ['team'], []],
    ['is nowhere if its release fills that in', "'{{x}}'", [], ['cannot tell the namespace of Pod web']],
  ])('what a chart makes without a namespace %s', async (_, namespace, namespaces, doubts) => {
    const files = {
      ...OF_VALUES,
      'a.yaml': application('https://example.org/me/x').replace('namespace: team', `namespace: ${namespace}`),
    }
    const { root, env } = await withProgram('helm', POD_OF, files)
    const loaded = await load(root, { recursive: true, render: true, env })
    expect(loaded.objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(namespaces)
    expect(unshown(loaded.problems).map(({ what }) => what)).toEqual(doubts)
  })

  const GENERATED = {
    'prod/kustomization.yaml': 'resources: [../base]\nnamePrefix: p-\n',
    'base/kustomization.yaml':
      'resources: [x.yaml]\nnamePrefix: b-\nconfigMapGenerator: [{name: scm, files: [scm.yaml]}]\n',
    'base/x.yaml': pool('x'),
    'base/scm.yaml': scmFile('spire.spiffe.io/v1alpha1'),
  }

  test('what a kustomization below makes and changes stands in what is over it', async () => {
    const { root, env } = await withProgram('kubectl', `printf '%s' '${pool('made')}'`, GENERATED)
    const { problems, notes } = await load(root, { recursive: true, render: true, env })
    expect(problems).toEqual([])
    expect(notes.join()).not.toContain('left out')
  })

  test('what one overlay makes is known, though another one of the same base cannot be built', async () => {
    const { root, env } = await withProgram('kubectl', `printf '%s' '${pool('made')}'`, {
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': pool('a'),
      'there/kustomization.yaml': 'resources: [../base]\nnamePrefix: x-\n',
      'gone/kustomization.yaml': 'resources: [../base, gone.yaml]\nnamePrefix: y-\n',
    })
    const { problems } = await load(root, { recursive: true, render: true, env })
    expect(problems.map(({ where }) => where)).toEqual(['gone'])
  })

  test('unless that could not be rendered, which then tells of it', async () => {
    const { root, env } = await withProgram('kubectl', 'exit 1', GENERATED)
    const { problems } = await load(root, { recursive: true, render: true, env })
    expect(problems.map(({ where }) => where)).toEqual(['base', 'prod'])
    expect(problems.map(({ reach }) => reach?.map(({ kind }) => kind))).toEqual([
      ['ConfigMap'],
      ['InferencePool.inference.networking.k8s.io'],
    ])
  })

  test('the configuration of another controller, of a kind with the same name, is none of SCM', async () => {
    const other = { ...GENERATED, 'base/scm.yaml': scmFile('controller-runtime.sigs.k8s.io/v1alpha1') }
    const { problems } = await load(await workspace(other), { recursive: true })
    expect(problems.flatMap(({ reach }) => reach?.map(({ kind }) => kind))).not.toContain('ConfigMap')
    const { problems: ours } = await load(await workspace(GENERATED), { recursive: true })
    expect(ours.flatMap(({ reach }) => reach?.map(({ kind }) => kind))).toContain('ConfigMap')
  })

  test('a chart that cannot be rendered and holds nothing that is used is a note', async () => {
    const files = {
      'Chart.yaml': `${CHART}dependencies: [{name: common}]\n`,
      'templates/x.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: x}\n',
    }
    const { problems, notes } = await load(await workspace(files), { recursive: true, render: true })
    expect(unshown(problems)).toEqual([])
    expect(notes).toContain(
      'left out a chart in .: nothing in it is of a kind that is used; its dependency common is not in its charts folder',
    )
  })

  test('without helm it says so', async () => {
    const root = await workspace({ 'Chart.yaml': CHART, 'templates/x.yaml': pool('{{ .x }}') })
    const { problems } = await load(root, { recursive: true, render: true })
    expect(problems).toMatchObject([
      { kind: 'not rendered', why: expect.stringContaining('helm is not on the PATH') },
    ])
  })

  test('a chart of workloads alone that cannot be rendered leaves open which pods there are', async () => {
    const root = await workspace({ 'Chart.yaml': CHART, 'templates/x.yaml': pod('{{ .x }}') })
    const { problems } = await load(root, { recursive: true, render: true })
    expect(problems).toMatchObject([{ reach: [{ kind: 'Pod' }] }])
    expect(problems[0]?.why).toContain('helm is not on the PATH')
  })

  test('what a chart makes of default values leaves open what it makes of others', async () => {
    const { root, env } = await withProgram('helm', POD_OF, {
      'Chart.yaml': CHART,
      'templates/x.yaml': `{{ if .Values.x }}\n${registration('x')}{{ end }}\n`,
      'templates/y.yaml': pool('y'),
    })
    const { problems } = await load(root, { recursive: true, render: true, env })
    expect(problems).toMatchObject([
      { kind: 'not rendered', reach: [{ kind: 'ClusterSPIFFEID.spire.spiffe.io' }] },
    ])
  })

  /** What is not known of a chart that a HelmRelease deploys here. */
  const problemsWith = async (spec: string): Promise<readonly unknown[]> => {
    const { root, env } = await withProgram('helm', POD_OF, {
      'web/Chart.yaml': CHART,
      'web/templates/x.yaml': pod('{{ .Values.x }}'),
      'release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: web}
spec:
  chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
${spec}`,
    })
    return (await load(root, { recursive: true, render: true, env })).problems
  }

  test('what deploys a chart here with values that stand elsewhere leaves open what it makes of its workloads', async () => {
    expect(await problemsWith('')).toEqual([])
    expect(await problemsWith('  valuesFrom: [{kind: Secret, name: x}]\n')).toMatchObject([
      { kind: 'not rendered', reach: [{ kind: 'Pod' }] },
    ])
  })

  test('a chart whose template does not end is ended', async () => {
    const { root, env } = await withProgram('helm', 'while :; do :; done', { 'Chart.yaml': CHART })
    const values = { files: [], inline: [], set: [] }
    const chart = { name: 'app', path: root, namespace: 'default', values }
    expect(await helmTemplate(chart, { cwd: root, env }, 300)).toEqual({
      state: 'failed',
      why: 'helm template took longer than 0.3 s',
    })
  })
})

const deploys = (path: string, namespace: string): string =>
  `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web}
spec: {destination: {namespace: ${namespace}}, source: {repoURL: 'https://example.org/me/x', path: ${path}}}
`

const OVERLAY = 'resources: [../../apps/x/p.yaml]\n'

const deploysEach = (folders: string, namespace: string, path = '{{path}}'): string =>
  `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: web}
spec:
  generators: [{git: {repoURL: 'https://example.org/me/x', directories: [{path: '${folders}'}]}}]
  template:
    metadata: {name: '{{path.basename}}'}
    spec: {destination: {namespace: '${namespace}'}, source: {repoURL: 'https://example.org/me/x', path: '${path}'}}
`

describe('objects that name no namespace', () => {
  const CLONE = { '.git/config': '[remote "origin"]\n  url = git@example.org:me/x.git\n' }
  /** Where the objects are, and what is not known. */
  const placed = async (files: Record<string, string>): Promise<readonly unknown[]> => {
    const root = await workspace({ ...CLONE, ...files })
    const { objects, problems } = await load(root, { recursive: true })
    const at = objects.map(({ value }) =>
      ['namespace', 'name'].map((field) => stringAt(value, 'metadata', field)).join('/'),
    )
    return [...at, ...unshown(problems).map(({ what }) => what)]
  }

  test.each<[string, Record<string, string>, readonly string[]]>([
    ['are in that of the Application of their folder', { 'a.yaml': deploys('apps/x', 'team') }, ['team/p']],
    [
      'are not in that of a folder with the same end',
      { 'a.yaml': deploys('apps/x', 'team'), 'a/apps/x/q.yaml': pod('q') },
      ['default/q', 'team/p'],
    ],
    [
      'are in that of an Application of a folder at the top',
      { 'a.yaml': deploys('web', 'team'), 'web/q.yaml': pod('q') },
      ['default/p', 'team/q'],
    ],
    [
      'are in that which an ApplicationSet gives to the folders of its own path',
      {
        'a.yaml': deploysEach('envs/*', '{{path.basename}}', 'apps/{{path.basename}}'),
        'envs/x/q.yaml': pod('q'),
      },
      ['x/p', 'default/q'],
    ],
    [
      'are in that which an ApplicationSet gives to each folder in each cluster',
      {
        'a.yaml': deploysEach('apps/*', '{{path.basename}}').replace(
          /generators: \[(.*)\]$/m,
          'generators: [{matrix: {generators: [{clusters: {}}, $1]}}]',
        ),
      },
      ['x/p'],
    ],
    [
      'stay where they are in a folder that an ApplicationSet excludes',
      {
        'a.yaml': deploysEach('apps/*', '{{path.basename}}').replace(
          ']}',
          ', {path: apps/z, exclude: true}]}',
        ),
        'apps/z/q.yaml': pod('q'),
      },
      ['x/p', 'default/q'],
    ],
    [
      'are in that which an ApplicationSet gives to a folder in each',
      {
        'a.yaml': `${deploysEach('apps/*', 'prod', '{{path}}/prod')}---\n${deploysEach('apps/*', 'dev', '{{path}}/dev')}`,
        'apps/x/prod/q.yaml': pod('q'),
        'apps/x/dev/q.yaml': pod('q'),
      },
      ['dev/q', 'default/p', 'prod/q'],
    ],
    [
      'are in that of the fleet.yaml beside them',
      { 'apps/x/fleet.yaml': 'defaultNamespace: team\n' },
      ['team/p'],
    ],
    [
      'are in that of the nearest folder',
      { 'a.yaml': `${deploys('apps', 'argocd')}---\n${deploys('apps/x', 'team')}` },
      ['team/p'],
    ],
    [
      'are in each, if there are several',
      { 'a.yaml': `${deploys('apps/x', 'team')}---\n${deploys('apps/x', 'other')}` },
      ['other/p', 'team/p'],
    ],
    [
      'are in one that is not known, if it is filled in later',
      { 'a.yaml': deploys('apps/x', "'{{team}}'") },
      ['cannot tell the namespace of Pod p'],
    ],
    [
      'are in that which an ApplicationSet gives to each folder',
      { 'a.yaml': deploysEach('apps/*', '{{.path.basename}}'), 'apps/z/q.yaml': pod('q') },
      ['x/p', 'z/q'],
    ],
    [
      'are in that of a kustomization that an ApplicationSet deploys',
      {
        'a.yaml': deploysEach('prod/*', '{{path.basename}}'),
        'prod/z/kustomization.yaml': 'resources: [../../apps/x/p.yaml]\n',
      },
      ['z/p'],
    ],
    [
      'are in one that is not known, if an ApplicationSet fills in more',
      { 'a.yaml': deploysEach('apps/*', 'a-{{path.basename}}') },
      ['cannot tell the namespace of Pod p'],
    ],
    [
      'are in one that is not known, if the folders are deeper',
      { 'a.yaml': deploysEach('apps/*/*', '{{path.basename}}') },
      ['cannot tell the namespace of Pod p'],
    ],
    [
      'are in one that is not known, if a variable gives it',
      { 'a.yaml': deploys('apps/x', "'${TEAM}'") },
      ['cannot tell the namespace of Pod p'],
    ],
    [
      'are in one that is not known, if a kustomization changes the Application',
      {
        'argo/a.yaml': deploys('apps/x', 'team'),
        'argo/kustomization.yaml':
          'resources: [a.yaml]\npatches: [{target: {kind: Application}, patch: "[]"}]\n',
      },
      ['cannot tell the namespace of Pod p'],
    ],
    [
      'are in that of the Application, if a kustomization moves it, or gives it labels',
      {
        'argo/a.yaml': deploys('apps/x', 'team'),
        'argo/kustomization.yaml':
          'resources: [a.yaml]\nnamespace: argocd\nlabels: [{pairs: {a: b}}]\ncommonAnnotations: {a: b}\n',
      },
      ['team/p'],
    ],
    [
      'stay where they are, if the Application names none',
      { 'a.yaml': deploys('apps/x', "''") },
      ['default/p'],
    ],
    [
      'stay where they are beside it',
      { 'a.yaml': deploys('apps/y', 'team'), 'apps/y/q.yaml': pod('q') },
      ['default/p', 'team/q'],
    ],
    [
      'are in that of the Application of a kustomization that takes them in',
      {
        'a.yaml': deploys('prod/x', 'team'),
        'prod/x/kustomization.yaml': 'resources: [../../apps/x/p.yaml]\n',
      },
      ['team/p'],
    ],
    [
      'are in that of a kustomization that sets one',
      {
        'a.yaml': deploys('prod/x', 'team'),
        'prod/x/kustomization.yaml': 'namespace: team\nresources: [../../apps/x/p.yaml]\n',
      },
      ['team/p'],
    ],
    [
      'are in that of each overlay, if one is deployed by its own path and one with a folder above it',
      {
        'a.yaml': `${deploys('overlays/a', 'team')}---\n${deploys('overlays/all', 'other')}`,
        'overlays/a/kustomization.yaml': OVERLAY,
        'overlays/all/b/kustomization.yaml': OVERLAY.replace('..', '../..'),
      },
      ['other/p', 'team/p'],
    ],
    [
      'are not in that of a folder above an overlay that has a kustomization without it',
      {
        'a.yaml': `${deploys('overlays/a', 'team')}---\n${deploys('overlays/all', 'other')}`,
        'overlays/a/kustomization.yaml': OVERLAY,
        'overlays/all/b/kustomization.yaml': OVERLAY.replace('..', '../..'),
        'overlays/all/kustomization.yaml': 'resources: []\n',
      },
      ['team/p'],
    ],
    [
      'are in that of an Application of a folder above as well, if that goes through all folders',
      {
        'a.yaml': `${deploys('apps/x', 'team')}---\n${deploys('apps', 'other').replace('path: apps', 'path: apps, directory: {recurse: true}')}`,
      },
      ['other/p', 'team/p'],
    ],
  ])('%s', async (_, files, expected) => {
    expect(await placed({ 'apps/x/p.yaml': pod('p'), ...files })).toEqual(expected)
  })

  test('are told in one line', async () => {
    const app = `${deploys('apps/x', 'team')}---\n${deploys('apps/x', 'other')}`
    const root = await workspace({ ...CLONE, 'a.yaml': app, 'apps/x/p.yaml': pod('p') })
    const { notes } = await load(root, { recursive: true })
    expect(notes.filter((note) => note.includes('no namespace'))).toEqual([
      '2 objects that name no namespace: in other; team (from their deployers)',
    ])
  })

  test('are in that of each folder with a link to their file', async () => {
    const apps = `${deploys('apps/x', 'team')}---\n${deploys('apps/y/z', 'other')}`
    const root = await workspace({
      ...CLONE,
      'a.yaml': apps,
      'shared/p.yaml': pod('p'),
      'apps/y/z/q.yaml': '',
    })
    mkdirSync(join(root, 'apps/x'))
    symlinkSync('../../shared/p.yaml', join(root, 'apps/x/p.yaml'))
    symlinkSync('../../shared/p.yaml', join(root, 'apps/y/p.yaml'))
    symlinkSync('../../../shared/p.yaml', join(root, 'apps/y/z/p.yaml'))
    const { objects } = await load(root, { recursive: true })
    expect(objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(['other', 'team'])
  })

  test('are not in that of a folder with the same end, if the Application means one that was not given', async () => {
    const root = await workspace({
      ...CLONE,
      'given/a.yaml': deploys('web', 'team'),
      'given/web/p.yaml': pod('p'),
      'web/q.yaml': pod('q'),
    })
    const { objects, problems } = await load(join(root, 'given'), { recursive: true })
    expect(objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(['default'])
    expect(problems.map(({ what }) => what)).toEqual([
      'Application web deploys what is not among the files: web',
    ])
  })

  test('a worktree is of the repository that its .git names', async () => {
    const root = await workspace({
      'wt/.git': 'gitdir: ../main/.git/worktrees/wt\n',
      'main/.git/config': CLONE['.git/config'],
      'main/.git/worktrees/wt/commondir': '../..\n',
      'wt/a.yaml': deploys('apps/x', 'team'),
      'wt/apps/x/p.yaml': pod('p'),
    })
    const { objects, problems } = await load(join(root, 'wt'), { recursive: true })
    expect(objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(['team'])
    expect(problems).toEqual([])
  })

  test('where nothing names the repository, it may be the one of the Application', async () => {
    const withPassword = deploys('apps/x', 'team').replace('https://', 'https://robot:secret@')
    const root = await workspace({ 'a.yaml': withPassword, 'apps/x/p.yaml': pod('p') })
    const { objects, problems } = await load(root, { recursive: true })
    expect(objects.map(({ value }) => stringAt(value, 'metadata', 'namespace'))).toEqual(['team'])
    expect(JSON.stringify(problems)).not.toContain('secret')
    expect(problems.map(({ what }) => what)).toEqual([
      'Application web deploys folders of another repository: apps/x',
    ])
    expect(problems[0]?.why).toMatch(/^these files are not known to be those of https:/)
  })

  test('a document that cannot be read is where its objects would be', async () => {
    const root = await workspace({
      ...CLONE,
      'a.yaml': deploys('apps/x', 'team'),
      'apps/x/p.yaml': pod('{{ .x }}'),
    })
    const { problems } = await load(root, { recursive: true })
    expect(problems).toMatchObject([{ reach: [{ kind: 'Pod', namespace: 'team' }] }])
  })

  test('are open, if the text of what deploys them hides the namespace', async () => {
    const hidden = deploys('apps/x', 'team').replace('destination:', String.raw`"destin\x61tion":`)
    const root = await workspace({ ...CLONE, 'apps/x/p.yaml': pod('p'), 'a.yaml': hidden })
    const { problems } = await load(root, { recursive: true })
    expect(problems.map(({ what }) => what)).toEqual([
      'Application web deploys what is not among the files: apps/x in a namespace that is written in an unusual way',
    ])
  })

  test('count once for each namespace in which they are', async () => {
    const apps = Array.from({ length: 1_000 }, (_, at) => deploys('apps/x', `n${at}`))
    const pods = Array.from({ length: INPUT_LIMITS.objects / 1_000 + 1 }, (_, at) => pod(`p${at}`))
    const root = await workspace({
      ...CLONE,
      'apps/x/p.yaml': pods.join('---\n'),
      'a.yaml': apps.join('---\n'),
    })
    const { problems } = await load(root, { recursive: true })
    expect(problems.map(({ why }) => why)).toContain(
      'up to there it is more than 300,000 objects, more than kleym takes in',
    )
  })
})
