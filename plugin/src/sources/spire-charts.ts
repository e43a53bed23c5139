// A chart of SPIRE that is named among the files and is not rendered: it installs ClusterSPIFFEIDs, a fallback for every pod
// among them, which then are in none of the files (docs/assumptions.md, "Objects").
import { dig, listAt, own, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { CLUSTER_SPIFFE_ID, groupOfApiVersion, qualifiedKind } from '@kleym/shared/core/kinds.ts'
import { ANNOTATION_BINDING, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/names.ts'
import type { Origin, RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import { kindKey } from '@kleym/shared/core/snapshot/snapshot.ts'
import { placeText, type InputProblem } from './problem.ts'

/** The charts that install ClusterSPIFFEIDs, from whatever repository. */
const CHARTS: ReadonlySet<string> = new Set(['spire', 'spire-nested'])
/** Helm's own label: https://helm.sh/docs/chart_best_practices/labels/ */
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const CLUSTER_SPIFFE_IDS = qualifiedKind(CLUSTER_SPIFFE_ID)

/** That a document installs a chart of SPIRE; undefined for any other, a chart of another name among them. */
export function spireChartProblem(value: JsonRecord, origin: Origin): InputProblem | undefined {
  const chart = chartsOf(value).find((name) => CHARTS.has(name.split('/').at(-1) ?? ''))
  if (chart === undefined) return undefined
  return {
    kind: 'not rendered',
    what: `the chart ${chart} is not rendered`,
    where: placeText(origin),
    why: 'it installs ClusterSPIFFEIDs, and none of those is among the files: what they give is not known',
    fix: 'add what it renders: helm template, with the values that are in use',
    reach: [{ kind: CLUSTER_SPIFFE_IDS, namespace: undefined, name: undefined, mayBeOutput: false }],
  }
}

/**
 * Whether a ClusterSPIFFEID is among the objects that a chart of SPIRE may have made: one that Helm installs, or a fallback, of
 * which an installation has one. Any other says nothing about the charts.
 */
export function hasChartRegistration(objects: readonly RawObject[]): boolean {
  return objects.some(({ value }) => {
    if (own(value, 'kind') !== CLUSTER_SPIFFE_ID_KIND || kindKey(value) !== CLUSTER_SPIFFE_IDS) return false
    const { annotations, labels } = readMeta(value)
    if (annotations.has(ANNOTATION_BINDING)) return false
    return labels.get(MANAGED_BY) === 'Helm' || dig(value, 'spec', 'fallback') === true
  })
}

/** The charts that an object installs, by its qualified kind: of Flux, Argo CD, k3s, kustomize. */
const INSTALLED: ReadonlyMap<string, (value: JsonRecord, spec: unknown) => readonly string[]> = new Map([
  [
    'HelmRelease.helm.toolkit.fluxcd.io',
    (_, spec) => texts(dig(spec, 'chart', 'spec', 'chart'), dig(spec, 'chartRef', 'name')),
  ],
  // What a HelmRelease refers to by any name: `oci://ghcr.io/spiffe/helm-charts/spire`.
  ['OCIRepository.source.toolkit.fluxcd.io', (_, spec) => texts(dig(spec, 'url'))],
  ['HelmChart.helm.cattle.io', (_, spec) => texts(dig(spec, 'chart'))],
  ['Application.argoproj.io', (_, spec) => argoCharts(spec)],
  ['ApplicationSet.argoproj.io', (_, spec) => argoCharts(dig(spec, 'template', 'spec'))],
  [
    'Kustomization.kustomize.config.k8s.io',
    (value) => texts(...listAt(value, 'helmCharts').map((one) => own(one, 'name'))),
  ],
])

/** Whether an object of a kind, by its qualified name, may install a chart. */
export function mayInstallCharts(kind: string): boolean {
  return INSTALLED.has(kind)
}

/** The charts that a document installs, and those that a chart depends on. */
function chartsOf(value: JsonRecord): readonly string[] {
  const kind = stringAt(value, 'kind')
  if (kind === undefined)
    return own(value, 'version') === undefined
      ? []
      : texts(own(value, 'name'), ...listAt(value, 'dependencies').map((one) => own(one, 'name')))
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  return INSTALLED.get(qualifiedKind({ group, kind }))?.(value, own(value, 'spec')) ?? []
}

function argoCharts(spec: unknown): readonly string[] {
  return texts(dig(spec, 'source', 'chart'), ...listAt(spec, 'sources').map((source) => own(source, 'chart')))
}

function texts(...values: readonly unknown[]): readonly string[] {
  return values.filter((one) => typeof one === 'string')
}
