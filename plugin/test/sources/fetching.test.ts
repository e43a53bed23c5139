// Objects whose fields say that a controller fetches what they deploy, of whatever kind: what they make is not known.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { stringify } from 'yaml'
import { deploying } from '../../src/sources/deployers.ts'
import { mayDeploy, mayFetch } from '../../src/sources/fetching.ts'

const ORIGIN = { file: 'all.yaml', document: 1, line: 1 }
const CHARTS = 'https://charts.example.org'
const GIT = 'https://git.example.org/models'

const FETCHING: readonly (readonly [string, string, JsonRecord, string])[] = [
  ['an App of kapp', 'kappctrl.k14s.io', { fetch: [{ inline: {} }] }, ''],
  ['an App of kapp, of Git', 'kappctrl.k14s.io', { git: { url: GIT, subPath: 'deploy' } }, 'deploy'],
  ['a PackageInstall', 'packaging.carvel.dev', { packageRef: { refName: 'models' } }, 'models'],
  [
    'a Subscription of OLM',
    'operators.coreos.com',
    { channel: 'stable', name: 'spire', source: 'catalog', sourceNamespace: 'marketplace' },
    'spire',
  ],
  [
    'a ClusterExtension of OLM',
    'olm.operatorframework.io',
    { source: { catalog: { packageName: 'a' } } },
    'a',
  ],
  [
    'a Subscription of Open Cluster Management',
    'apps.open-cluster-management.io',
    { channel: 'channels/models' },
    'channels/models',
  ],
  [
    'a Release of Crossplane',
    'helm.crossplane.io',
    { forProvider: { chart: { name: 'a', repository: CHARTS } } },
    'a',
  ],
  [
    'a ClusterProfile of Sveltos',
    'config.projectsveltos.io',
    { helmCharts: [{ repositoryURL: CHARTS, chartName: 'x/a' }] },
    'x/a',
  ],
  [
    'an Application of KubeVela',
    'core.oam.dev',
    { components: [{ properties: { repoType: 'helm', url: CHARTS, chart: 'a' } }] },
    'a',
  ],
  ['a HelmChartProxy', 'addons.cluster.x-k8s.io', { repoURL: CHARTS, chartName: 'a' }, 'a'],
  [
    'a ClusterConfig of k0s',
    'k0s.k0sproject.io',
    { extensions: { helm: { charts: [{ name: 'a', chartname: 'x/a' }] } } },
    'x/a',
  ],
  ['a RootSync of Config Sync', 'configsync.gke.io', { git: { repo: GIT, dir: 'a' } }, 'a'],
  ['a KluctlDeployment', 'gitops.kluctl.io', { source: { git: { url: GIT, path: 'a' } } }, 'a'],
  [
    'a Terraform of a source of Flux',
    'infra.contrib.fluxcd.io',
    { sourceRef: { kind: 'GitRepository', name: 'x' }, path: './tf' },
    './tf',
  ],
]

const FETCHING_NOTHING: readonly (readonly [string, string, JsonRecord])[] = [
  ['a HelmRepository', 'source.toolkit.fluxcd.io', { url: CHARTS, interval: '5m' }],
  [
    'an ImageUpdateAutomation, which writes to Git',
    'image.toolkit.fluxcd.io',
    {
      sourceRef: { kind: 'GitRepository', name: 'x' },
      git: { checkout: { ref: { branch: 'main' } } },
      update: { path: './apps' },
    },
  ],
  ['a Provider of notifications', 'notification.toolkit.fluxcd.io', { type: 'slack', channel: 'general' }],
  ['a PackageRepository', 'packaging.carvel.dev', { fetch: { imgpkgBundle: { image: 'a' } } }],
  ['a Subscription of Knative', 'messaging.knative.dev', { channel: { kind: 'Channel', name: 'a' } }],
  ['a ServiceMonitor', 'monitoring.coreos.com', { endpoints: [{ path: '/metrics', port: 'http' }] }],
  ['a WasmPlugin of Istio', 'extensions.istio.io', { url: 'oci://a/b', phase: 'AUTHN' }],
]

const objectOf = (group: string, kind: string, spec: JsonRecord): JsonRecord => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: 'x', namespace: 'team-a' },
  spec,
})

describe('what is fetched', () => {
  test.each(FETCHING)('by %s is not known', (_, group, spec, name) => {
    const value = objectOf(group, 'Thing', spec)
    const [one] = deploying(value, ORIGIN)?.deployed ?? []
    // The object's own name, or that of the release that it lists.
    expect(one).toMatchObject({ release: spec['extensions'] === undefined ? 'x' : 'a' })
    expect(one?.chart ?? one?.path ?? '').toBe(name)
    // Its text must not keep it from being read.
    for (const text of [
      JSON.stringify(value),
      stringify(value),
      stringify(value, { collectionStyle: 'flow' }),
    ])
      expect(mayDeploy({ group, kind: 'Thing' }, () => text)).toBe(true)
  })

  test.each(FETCHING_NOTHING)('by %s is nothing', (_, group, spec) => {
    expect(deploying(objectOf(group, 'Thing', spec), ORIGIN)).toBeUndefined()
  })

  test('by kinds of the API server, and by what makes pods of its own, is nothing that is deployed', () => {
    const spec = { git: { url: GIT, ref: 'main' } }
    expect(deploying(objectOf('x.example.org', 'Thing', spec), ORIGIN)).toBeDefined()
    for (const [group, kind] of [
      ['apps', 'Deployment'],
      ['storage.k8s.io', 'Thing'],
      ['argoproj.io', 'Workflow'],
    ] as const)
      expect(deploying(objectOf(group, kind, spec), ORIGIN)).toBeUndefined()
  })

  test('a text without any of the fields fetches nothing, and one that hides its keys may', () => {
    expect(mayFetch('kind: Thing\nspec: {replicas: 1}\n')).toBe(false)
    expect(mayFetch('spec: {"ch\\x61rt": "a"}\n')).toBe(true)
    expect(mayFetch('spec:\n  ? chart\n  : a\n')).toBe(true)
  })

  test('a template of a chart that has a path and names a chart in its text fetches nothing', () => {
    const text = `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  labels: {{ include "chart.labels" . }}
spec:
  endpoints:
    - path: {{ .Values.path }}
`
    expect(mayFetch(text)).toBe(false)
  })
})
