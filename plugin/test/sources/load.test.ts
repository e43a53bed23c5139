import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { describe, expect, test } from 'vitest'
import { kustomize } from '../../src/sources/render.ts'
import { load, summary, type Loading } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const pod = (name: string, extra = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${extra}`
const policy = (driver: string, does = 'mutate'): string =>
  `apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata:\n  name: a\nspec: {${does}: {driver: ${driver}}, x: '{{ request }}'}\n`

describe('which files are read', () => {
  const files = {
    'b.yaml': pod('b'),
    'a.yml': pod('a'),
    'c.json': '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}}',
    'notes.txt': pod('note'),
    'sub/d.yaml': pod('d'),
    'sub/deep/e.yaml': pod('e'),
  }
  test.each<[string, Loading, readonly string[]]>([
    ['a folder gives its own manifests', {}, ['a', 'b', 'c']],
    ['-R gives those below too', { recursive: true }, ['a', 'b', 'c', 'd', 'e']],
    ['a file is read whatever its name', { files: ['notes.txt'] }, ['note']],
    ['the order of the arguments does not matter', { files: ['sub/d.yaml', 'a.yml'] }, ['a', 'd']],
    ['what is named twice is read once', { files: ['a.yml', './a.yml', '.'] }, ['a', 'b', 'c']],
    ['nothing named, nothing read', { files: [] }, []],
  ])('%s', async (_, loading, names) => {
    const loaded = await load(await workspace(files), loading)
    expect(loaded.objects.map(({ value }) => stringAt(value, 'metadata', 'name'))).toEqual(names)
    expect(loaded.problems).toEqual([])
  })

  test('stdin is read for -, beside files', async () => {
    const root = await workspace({ 'a.yaml': pod('a') })
    expect(summary(await load(root, { files: ['-', 'a.yaml'], stdin: pod('s') }))).toEqual([
      'Pod default/a a.yaml:1#1',
      'Pod default/s stdin:1#1',
    ])
  })

  test('of a policy that may mount the Workload API, that there is one: its templates are its own', async () => {
    const root = await workspace({
      'a.yaml': policy('csi.spiffe.io'),
      'b.yaml': policy('csi.example.com'),
      // One that refuses pods mounts nothing.
      'c.yaml': policy('csi.spiffe.io', 'validate'),
    })
    const { objects, problems } = await load(root, {})
    expect([objects.map((one) => one.podChange?.mountsWorkloadApi), problems]).toEqual([[true], []])
  })

  test('links to files are followed, once, as in a mounted ConfigMap', async () => {
    const root = await workspace({ '..2026/a.yaml': pod('a'), '..2026/b.yaml': pod('b') })
    await symlink('..2026', join(root, '..data'))
    await symlink('..data/a.yaml', join(root, 'a.yaml'))
    await symlink('..data/b.yaml', join(root, 'b.yaml'))
    for (const recursive of [false, true]) {
      const loaded = await load(root, { recursive })
      expect(loaded.objects).toHaveLength(2)
      expect(loaded.problems).toEqual([])
    }
  })

  test('links to folders are not followed, as kubectl follows none; one that is named is', async () => {
    const root = await workspace({ 'elsewhere/b.yaml': pod('b'), 'here/a.yaml': pod('a') })
    await symlink('/', join(root, 'here/root'))
    await symlink('..', join(root, 'here/up'))
    await symlink('../elsewhere', join(root, 'here/link.yaml'))
    const loaded = await load(join(root, 'here'), { recursive: true })
    expect(loaded.objects.map(({ value }) => stringAt(value, 'metadata', 'name'))).toEqual(['a'])
    expect(loaded.problems).toEqual([])
    const named = await load(join(root, 'here/link.yaml'), { recursive: true, files: ['.'] })
    expect(named.objects.map(({ value }) => stringAt(value, 'metadata', 'name'))).toEqual(['b'])
  })

  test('a dangling link is a problem, and a link to itself too', async () => {
    const root = await workspace({ 'a.yaml': pod('a') })
    await symlink(join(root, 'gone'), join(root, 'b.yaml'))
    await symlink(join(root, 'c.yaml'), join(root, 'c.yaml'))
    const loaded = await load(root)
    expect(loaded.objects).toHaveLength(1)
    expect(loaded.problems.map(({ where, why }) => [where, why])).toEqual([
      ['b.yaml', 'there is no such file or folder'],
      ['c.yaml', 'its symbolic links lead in a circle'],
    ])
  })

  test.each([
    ['a missing file', 'gone.yaml', 'there is no such file or folder', 'correct the path'],
    ['a path through a file', 'a.yaml/b', 'a part of the path is a file, not a folder', 'correct the path'],
    ['a URL', 'https://example.org/x.yaml', 'it is a URL, and kleym fetches nothing', 'fetch it first'],
  ])('%s is a wrong path, and the rest is read', async (_, path, why, fix) => {
    const loaded = await load(await workspace({ 'a.yaml': pod('a') }), { files: [path, 'a.yaml'] })
    expect(loaded.objects).toHaveLength(1)
    expect(loaded.problems).toMatchObject([
      { kind: 'path', where: `-f ${path}`, why, fix: expect.stringContaining(fix) },
    ])
  })

  test('a folder called like a manifest is no file', async () => {
    const root = await workspace({})
    await mkdir(join(root, 'dir.yaml'))
    expect(await load(root)).toMatchObject({ objects: [], problems: [{ kind: 'empty' }] })
  })

  test.each([
    [
      'a folder without a manifest says that -R reads further',
      {},
      'add -R to read the folders below it too, or name another folder',
    ],
    ['nothing below it either', { recursive: true }, 'name the folder that holds the manifests'],
  ])('%s', async (_, options, fix) => {
    const root = await workspace({})
    await mkdir(join(root, 'below'))
    expect(await load(root, options)).toMatchObject({ objects: [], problems: [{ kind: 'empty', fix }] })
  })
})

describe('what is an object', () => {
  test.each<[string, string, readonly string[], Record<string, number>]>([
    [
      'several documents',
      `${pod('a')}---\n${pod('b')}`,
      ['Pod default/a f.yaml:1#1', 'Pod default/b f.yaml:6#2'],
      {},
    ],
    [
      'helm output: comments and empty documents',
      `---\n# Source: x\n---\n\n---\n# Source: y\n${pod('a')}`,
      ['Pod default/a f.yaml:7#3'],
      {},
    ],
    [
      'a List, and a List in it',
      `apiVersion: v1
kind: List
items:
- ${pod('a').replaceAll('\n', '\n  ')}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: Pod, metadata: {name: b}}
`,
      ['Pod default/a f.yaml:4#1', 'Pod default/b f.yaml:12#1'],
      {},
    ],
    ['an empty List', 'apiVersion: v1\nkind: List\nitems: []\n', [], {}],
    [
      'a typed list, whose items do not repeat their kind',
      'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n',
      ['Pod default/a f.yaml:4#1'],
      {},
    ],
    [
      'kinds that no answer uses',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\n---\napiVersion: v1\nkind: Secret\n',
      [],
      { 'Deployment.apps': 1, Secret: 2 },
    ],
    ['a values file', 'image: x\nreplicas: 3\n', [], { 'not a Kubernetes object': 1 }],
    ['a list, a number', '- a\n---\n3\n', [], { 'not a Kubernetes object': 2 }],
    [
      'another group of the same kind',
      'apiVersion: cert-manager.io/v1\nkind: Pod\nmetadata: {name: a}\n',
      [],
      { 'Pod.cert-manager.io': 1 },
    ],
    [
      'any version of a kind',
      'apiVersion: inference.networking.k8s.io/v9\nkind: InferencePool\nmetadata: {name: a}\n',
      ['InferencePool default/a f.yaml:1#1'],
      {},
    ],
    [
      'the namespace of a cluster-scoped object does not count',
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: a, namespace: x}\n',
      ['ClusterSPIFFEID /a f.yaml:1#1'],
      {},
    ],
    ['a namespace that is named', pod('a', '  namespace: x\n'), ['Pod x/a f.yaml:1#1'], {}],
    ['an empty namespace', pod('a', '  namespace: ""\n'), ['Pod default/a f.yaml:1#1'], {}],
    [
      'generateName',
      'apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n',
      ['Pod default/ f.yaml:1#1'],
      {},
    ],
    ['flow style', '{apiVersion: v1, kind: Pod, metadata: {name: a}}\n', ['Pod default/a f.yaml:1#1'], {}],
    [
      'tags in a document that is no object',
      'Resources:\n  A: !Ref B\n---\n' + pod('a'),
      ['Pod default/a f.yaml:4#2'],
      {},
    ],
    [
      'a key twice in an object of another kind',
      'apiVersion: v1\nkind: Secret\ndata: {a: x, a: y}\n',
      [],
      { Secret: 1 },
    ],
  ])('%s', async (_, text, objects, skipped) => {
    const loaded = await load(await workspace({ 'f.yaml': text }))
    expect(loaded.problems).toEqual([])
    expect(summary(loaded)).toEqual(objects)
    const noObjects = loaded.noObjects.length
    expect({
      ...Object.fromEntries(loaded.skipped),
      ...(noObjects > 0 && { 'not a Kubernetes object': noObjects }),
    }).toEqual(skipped)
  })

  test.each([
    [
      'no apiVersion',
      'kind: Pod\nmetadata: {name: a}\n',
      'Pod without an apiVersion',
      'apiVersion is nothing',
    ],
    [
      'no kind',
      'apiVersion: spire.spiffe.io/v1alpha1\nmetadata: {name: a}\n',
      'an object of spire.spiffe.io without a kind',
      'kind is nothing',
    ],
    [
      'a kind that is no text',
      'apiVersion: spire.spiffe.io/v1\nkind: [Pod]\n',
      'an object of spire.spiffe.io without a kind',
      'kind is a list',
    ],
    [
      'no metadata',
      'apiVersion: v1\nkind: Pod\n',
      'Pod whose metadata cannot be read',
      'metadata is nothing',
    ],
    [
      'no name',
      'apiVersion: v1\nkind: Pod\nmetadata: {labels: {}}\n',
      'Pod whose metadata cannot be read',
      'metadata has neither name nor generateName',
    ],
    [
      'a number for a name',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: 7}\n',
      'Pod whose metadata cannot be read',
      'metadata.name is a number, not a string',
    ],
    [
      'a YAML 1.1 boolean for a name',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: on}\n',
      'Pod whose metadata cannot be read',
      'metadata.name is a boolean, not a string',
    ],
    [
      'a list for a namespace',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: []}\n',
      'Pod whose metadata cannot be read',
      'metadata.namespace is a list, not a string',
    ],
    [
      'a text for labels',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: app}\n',
      'Pod whose metadata cannot be read',
      'metadata.labels is a string, not a mapping',
    ],
    [
      'a text in a List',
      'apiVersion: v1\nkind: List\nitems: [x]\n',
      'an item of the list is no object',
      'it is a string',
    ],
  ])('%s is a problem', async (_, text, what, why) => {
    const loaded = await load(await workspace({ 'f.yaml': text }))
    expect(loaded.objects).toEqual([])
    expect(loaded.problems).toMatchObject([{ kind: 'incomplete', what, why }])
    expect(loaded.problems[0]?.where).toMatch(/^f\.yaml, document 1, line \d+$/)
  })
})

const LABEL = '  labels: {app: x}\n'

function configMap(value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a.yaml: '${value}'}\n`
}

describe('the same object twice', () => {
  test.each([
    ['in one file', { 'f.yaml': `${pod('a')}---\n${pod('a', LABEL)}` }, 'f.yaml:1 and f.yaml:6'],
    ['in two files', { 'a.yaml': pod('a'), 'b.yaml': pod('a', LABEL) }, 'a.yaml:1 and b.yaml:1'],
    [
      'once with the namespace in force and once named',
      { 'a.yaml': pod('a'), 'b.yaml': pod('a', `  namespace: default\n${LABEL}`) },
      'a.yaml:1 and b.yaml:1',
    ],
    [
      'three times, the last of them like the first',
      { 'a.yaml': pod('a'), 'b.yaml': pod('a', LABEL), 'c.yaml': pod('a') },
      'a.yaml:1 and b.yaml:1',
    ],
    [
      'in two versions',
      {
        'a.yaml': 'apiVersion: spire.spiffe.io/v1\nkind: ClusterSPIFFEID\nmetadata: {name: a}\n',
        'b.yaml': 'apiVersion: spire.spiffe.io/v2\nkind: ClusterSPIFFEID\nmetadata: {name: a}\n',
      },
      'a.yaml:1 and b.yaml:1',
    ],
  ])('%s, and different, is a problem that names both places', async (_, files, where) => {
    const loaded = await load(await workspace(files))
    expect(loaded.objects).toHaveLength(1)
    expect(loaded.problems).toMatchObject([{ kind: 'duplicate', where, reach: [{ name: 'a' }] }])
  })

  test('of very many five places are named, and the others are counted', async () => {
    const all = Array.from({ length: 3_000 }, (_, at) => pod('a', `  labels: {app: x${at}}\n`)).join('---\n')
    const { objects, problems } = await load(await workspace({ 'f.yaml': all }))
    expect(objects).toHaveLength(1)
    expect(problems).toMatchObject([
      {
        what: expect.stringContaining('is defined 3000 times'),
        where: expect.stringMatching(/ and 2995 other places$/),
      },
    ])
    expect(problems[0]?.where.match(/f\.yaml:/g)).toHaveLength(5)
  })

  test('a ConfigMap of which a later one alone holds the configuration of SCM is a problem', async () => {
    const others = Array.from({ length: 8 }, (_, at) => configMap(`note: ${at}`)).join('---\n')
    const holding = `${others}---\n${configMap('kind: ControllerManagerConfig')}`
    expect(await load(await workspace({ 'f.yaml': others }))).toMatchObject({ problems: [] })
    expect(await load(await workspace({ 'f.yaml': holding }))).toMatchObject({
      problems: [{ kind: 'duplicate' }],
    })
  })

  test('which one kubectl apply -R leaves goes by folders, name by name', async () => {
    const files = { 'a/x.yaml': pod('a'), 'a-b/x.yaml': pod('a', LABEL) }
    const { problems } = await load(await workspace(files), { recursive: true })
    expect(problems).toMatchObject([{ why: expect.stringMatching(/would leave that of a-b\/x\.yaml:1$/) }])
  })

  test.each([
    [
      'in another order of keys',
      pod('a', LABEL),
      `kind: Pod\nmetadata: {labels: {app: x}, name: a}\napiVersion: v1\n`,
    ],
    ['in another namespace that is the one in force', pod('a'), pod('a', '  namespace: default\n')],
    ['with a status, which a manifest does not bring', pod('a'), `${pod('a')}status: {phase: Running}\n`],
  ])('equal, %s, is one object', async (_, one, other) => {
    const loaded = await load(await workspace({ 'a.yaml': one, 'b.yaml': other }))
    expect(loaded.objects).toHaveLength(1)
    expect(loaded.problems).toEqual([])
  })

  test("ConfigMaps that differ, and hold no configuration of SCM, are nobody's doubt", async () => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: '
    const loaded = await load(await workspace({ 'a.yaml': `${map} {a: x}\n`, 'b.yaml': `${map} {a: y}\n` }))
    expect(loaded.problems).toEqual([])
  })

  test('another namespace, kind or generateName is another object', async () => {
    const generated = 'apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n'
    const text = [
      pod('a'),
      pod('a', '  namespace: x\n'),
      pod('a').replace('Pod', 'ConfigMap'),
      generated,
      generated,
    ].join('---\n')
    const loaded = await load(await workspace({ 'f.yaml': text }))
    expect(loaded.problems).toEqual([])
    expect(loaded.objects).toHaveLength(5)
  })
})

describe('what a manifest does not bring along', () => {
  const dump = pod(
    'a',
    `  uid: u-1
  creationTimestamp: "2026-01-01T00:00:00Z"
  deletionTimestamp: "2026-01-02T00:00:00Z"
  resourceVersion: "7"
  generation: 3
  managedFields: [{manager: x}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", keep: "yes"}
  labels: {app: x}
status: {phase: Running}
`,
  )
  const kept = { name: 'a', namespace: 'default', labels: { app: 'x' }, annotations: { keep: 'yes' } }

  test('the server’s fields and the status, where dumps are not expected', async () => {
    const [object] = (await load(await workspace({ 'f.yaml': dump }))).objects
    expect(object?.value).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: kept })
  })

  test('a dump keeps them, but for managedFields and the last applied configuration', async () => {
    const [object] = (await load(await workspace({ 'f.yaml': dump }), { rules: { dumps: true } })).objects
    expect(object?.value).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...kept,
        uid: 'u-1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        resourceVersion: '7',
        generation: 3,
      },
      status: { phase: 'Running' },
    })
  })

  test.each([
    ['no UID', dump.replace('  uid: u-1\n', '')],
    ['no creation time', dump.replace(/ {2}creationTimestamp.*\n/, '')],
    [
      'creationTimestamp: null, as kubectl prints it',
      dump.replace(/creationTimestamp: .*/, 'creationTimestamp: null'),
    ],
  ])('an object with %s is no dump', async (_, text) => {
    const [object] = (await load(await workspace({ 'f.yaml': text }), { rules: { dumps: true } })).objects
    expect(object?.value).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: kept })
  })
})

/** A kubectl that runs a script instead. */
async function fake(script: string): Promise<{ root: string; env: Record<string, string> }> {
  const root = await workspace({
    'bin/kubectl': `#!/bin/sh\n${script}`,
    'app/kustomization.yaml': '',
    'a b; $x/kustomization.yaml': '',
  })
  await chmod(join(root, 'bin/kubectl'), 0o755)
  return { root, env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin` } }
}

describe('-k', () => {
  test('reads what kubectl kustomize prints, and hands the folder over as one argument', async () => {
    const { root, env } = await fake(
      `printf 'apiVersion: v1\\nkind: Pod\\nmetadata:\\n  name: "%s-%s"\\n  annotations: {dir: "%s"}\\n' "$1" "$2" "$3"`,
    )
    const loaded = await load(root, { files: [], kustomize: ['a b; $x'], env })
    expect(loaded.problems).toEqual([])
    expect(loaded.objects).toMatchObject([
      {
        value: { metadata: { name: 'kustomize---', annotations: { dir: 'a b; $x' } } },
        origin: { file: 'a b; $x (kustomize)' },
      },
    ])
  })

  test('says what kubectl says when it fails, and reads the rest', async () => {
    const { root, env } = await fake('echo "warning" >&2; echo "Error: no kustomization in app" >&2; exit 1')
    const loaded = await load(root, { files: ['-'], stdin: pod('a'), kustomize: ['app'], env })
    expect(loaded.objects).toHaveLength(1)
    expect(loaded.problems).toMatchObject([
      {
        kind: 'failed',
        where: '-k app',
        why: 'kubectl kustomize says: warning; Error: no kustomization in app',
        fix: 'see what is wrong with: kubectl kustomize app',
      },
    ])
  })

  test('that does not end is ended, with what it has started', async () => {
    const { root, env } = await fake('sleep 600')
    const io = { cwd: root, env }
    expect(await kustomize('app', io, 300)).toMatchObject({
      kind: 'failed',
      why: 'kubectl kustomize took longer than 0.3 s',
    })
  })

  test('says so when there is no kubectl', async () => {
    const root = await workspace({ 'app/kustomization.yaml': '' })
    const loaded = await load(root, { files: [], kustomize: ['app'], env: { PATH: root } })
    expect(loaded.problems).toMatchObject([{ kind: 'failed', why: 'kubectl is not on the PATH' }])
  })
})

test('the same files in another folder order give the same answer', async () => {
  const files = { 'a.yaml': pod('a'), 'b/c.yaml': pod('c'), 'b.yaml': pod('b') }
  const root = await workspace(files)
  const one = await load(root, { files: ['a.yaml', 'b', 'b.yaml'] })
  const other = await load(root, { files: ['b.yaml', 'b', 'a.yaml'] })
  expect(other).toEqual(one)
})
