// Ten repositories as people lay them out, asked as they lie there: which end in 0, 1 and 4, and for each 4 the sentence that says why
// (docs/reading-files.md, "Layouts"). At most one in three may end in 4, and none without need.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

type Files = Readonly<Record<string, string>>

const POOL = (namespace: string): string =>
  `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: ${namespace}}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: ${namespace}}
spec: {poolRef: {name: llama}}
`
const BINDING = (namespace: string, container = 'vllm'): string =>
  `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: ${namespace}}
spec: {poolRef: {name: llama}, objectiveRef: {name: chat}, serviceAccountName: runner, containerName: ${container}}
`
const SERVING = (namespace: string, image = 'vllm:1'): string =>
  `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec:
      serviceAccountName: runner
      volumes: [{name: w, csi: {driver: csi.spiffe.io, readOnly: true}}]
      containers: [{name: vllm, image: "${image}", args: ["--host=$(POD_IP)"], volumeMounts: [{name: w, mountPath: /run/spire}]}]
`
const NAMESPACE = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`
const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata: {name: llama, namespace: team}\nspec: {ports: [{port: 80}]}\n'
const TEAM: Files = {
  'ns.yaml': NAMESPACE('team'),
  'pool.yaml': POOL('team'),
  'binding.yaml': BINDING('team'),
  'serving.yaml': SERVING('team'),
}
const at = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))
const FALLBACK = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: spire-default}
spec:
  fallback: true
  spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}"
`
const PIPELINE_RUN =
  'apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: run}\nspec: {pipelineRef: {name: build}}\n'
const CHART = 'apiVersion: v2\nname: web\nversion: 0.1.0\n'
const WORKLOAD_TEMPLATE = `apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "{{ .Values.image }}"}]}
`
const FLUX = (path: string): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, path: ${path}, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`
const ARGO = (path: string): string =>
  `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: team, namespace: argocd}
spec:
  destination: {namespace: team, server: https://kubernetes.default.svc}
  source: {repoURL: 'https://example.org/me/apps.git', path: ${path}}
`
const SCM =
  'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\nclusterName: prod\nwatchClassless: true\n'

const LAYOUTS: readonly (readonly [layout: string, files: Files, code: number, sentence: string])[] = [
  [
    'plain manifests in one folder',
    { ...TEAM, 'README.md': '# team\n', 'service.yaml': SERVICE },
    0,
    '✓ nothing clashes',
  ],
  [
    'a folder for each team, beside CI and editors',
    {
      ...at('teams/a', TEAM),
      'teams/b/all.yaml': [NAMESPACE('b'), POOL('b'), BINDING('b'), SERVING('b')].join('---\n'),
      '.github/workflows/ci.yaml': 'on: push\njobs: {}\n',
      '.tekton/run.yaml': PIPELINE_RUN,
      '.github/workflows/try.yaml': `on: push\njobs:\n  try:\n    run: |\n      ${FALLBACK.replaceAll('\n', '\n      ')}`,
      '.vscode/settings.json': '{ // c\n}',
    },
    0,
    '✓ nothing clashes',
  ],
  [
    'a base and overlays that change images and replicas',
    {
      ...at('base', {
        ...TEAM,
        'kustomization.yaml': 'resources: [ns.yaml, pool.yaml, binding.yaml, serving.yaml]\n',
      }),
      'prod/kustomization.yaml':
        'resources: [../base]\nimages: [{name: vllm, newTag: "2"}]\nreplicas: [{name: llama, count: 3}]\n',
      'dev/kustomization.yaml': 'resources: [../base]\nimages: [{name: vllm, newTag: dev}]\n',
    },
    0,
    '✓ nothing clashes',
  ],
  [
    'overlays that move a base into namespaces of their own',
    {
      ...at('base', {
        'all.yaml': [POOL('x'), BINDING('x'), SERVING('x')].join('---\n'),
        'kustomization.yaml': 'resources: [all.yaml]\n',
      }),
      'prod/kustomization.yaml': 'namespace: prod\nresources: [../base]\n',
      'dev/kustomization.yaml': 'namespace: dev\nresources: [../base]\n',
    },
    4,
    'error: 2 kustomizations change what they take in, and are not built (dev; prod)',
  ],
  [
    'a repository of Flux that deploys folders of its own',
    {
      'clusters/prod/flux-system/gotk-sync.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "ssh://git@example.org/me/fleet"}
`,
      'clusters/prod/apps.yaml': FLUX('./apps/prod'),
      ...at('apps/prod', TEAM),
    },
    0,
    '✓ nothing clashes',
  ],
  [
    'an app of apps of Argo CD, in a clone',
    {
      '.git/config': '[remote "origin"]\n\turl = git@example.org:me/apps.git\n',
      'argocd/team.yaml': ARGO('apps/team'),
      ...at('apps/team', TEAM),
    },
    0,
    '✓ nothing clashes',
  ],
  [
    'a chart of workloads beside manifests',
    {
      ...at('deploy', TEAM),
      'chart/Chart.yaml': CHART,
      'chart/values.yaml': 'image: x\n',
      'chart/templates/web.yaml': WORKLOAD_TEMPLATE,
    },
    4,
    'error: left out a chart (chart)',
  ],
  [
    "SPIRE by a HelmRelease, and a team's manifests",
    {
      ...at('team', TEAM),
      'spire/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: spire, namespace: spire}
spec: {chart: {spec: {chart: spire, sourceRef: {kind: HelmRepository, name: spiffe}}}}
`,
    },
    4,
    'error: HelmRelease spire deploys what is not among the files: spire',
  ],
  [
    'the same, with what the chart renders checked in',
    {
      ...at('team', TEAM),
      'spire/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: spire, namespace: spire}
spec: {chart: {spec: {chart: spire, sourceRef: {kind: HelmRepository, name: spiffe}}}}
`,
      'spire/rendered.yaml': FALLBACK,
    },
    0,
    '· 1 info',
  ],
  [
    'a binding whose container has another name than the one that serves',
    { ...TEAM, 'binding.yaml': BINDING('team', 'server') },
    1,
    '✗ 1 error',
  ],
]

test.each(LAYOUTS)('%s', async (_, files, code, sentence) => {
  const given = Object.fromEntries(Object.entries(files).map(([name, text]) => [`tree/${name}`, text]))
  const cwd = await workspace({ 'scm.conf': SCM, ...given })
  const settings = settingsFlags('', 'scm.conf')
  const ran = await inProcess(['conflicts', '--offline', '-R', '-f', 'tree', ...settings], cwd)
  const told = code === 4 ? ran.stderr.replaceAll('tree/', '') : ran.stdout
  expect({
    code: ran.code,
    told: told
      .split('\n')
      .find((line) => line.startsWith(sentence))
      ?.slice(0, sentence.length),
  }).toEqual({
    code,
    told: sentence,
  })
})

test('at most one layout in three ends in 4', () => {
  expect(LAYOUTS.filter(([, , code]) => code === 4).length).toBeLessThanOrEqual(LAYOUTS.length / 3)
})
