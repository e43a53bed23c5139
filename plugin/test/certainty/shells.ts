// The shells through which objects arrive unread, and what each of them may hold: every completion of an estate is within that reach.
import { dig, isRecord, keysOf, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'

/** Files by their path below the folder of the estate. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** A way to hide objects. */
export interface Shell {
  /** Whether it can hide such an object. */
  readonly takes: (object: JsonRecord) => boolean
  /** The files that stand in place of the objects. */
  readonly wrap: (objects: readonly JsonRecord[]) => Files
  /** Whether an object may stand there in place of those that are hidden. */
  readonly allows: (candidate: JsonRecord, hidden: readonly JsonRecord[]) => boolean
  /** What is there if it is read: undefined: the object itself. */
  readonly reads?: (object: JsonRecord) => readonly JsonRecord[]
}

const json = (value: unknown): string => JSON.stringify(value)
/** The kind of an object, with its group. */
export function kindOf(object: JsonRecord): string {
  return `${stringAt(object, 'apiVersion')} ${stringAt(object, 'kind')}`
}
/** Where an object stands. */
export function namespaceOf(object: JsonRecord): string | undefined {
  return stringAt(own(object, 'metadata'), 'namespace')
}
function nameOf(object: JsonRecord): string {
  return stringAt(own(object, 'metadata'), 'name') ?? ''
}
/** The name that tells an object from all others. */
export function identityOf(object: JsonRecord): string {
  return [kindOf(object), namespaceOf(object), nameOf(object)].join(' ')
}

const anyObject = (): boolean => true
const sameKinds: Shell['allows'] = (candidate, hidden) =>
  hidden.some((one) => kindOf(one) === kindOf(candidate))
const sameObjects: Shell['allows'] = (candidate, hidden) =>
  hidden.some((one) => identityOf(one) === identityOf(candidate))
/** What is installed into one namespace: all that is in it, and all that is in none. */
const intoTeamA: Shell['allows'] = (candidate) => ['team-a', undefined].includes(namespaceOf(candidate))

const isDetail = (object: JsonRecord): boolean =>
  ['Namespace', 'Node'].includes(stringAt(object, 'kind') ?? '')
const isNoDetail = (object: JsonRecord): boolean => !isDetail(object)
const isPod = (object: JsonRecord): boolean => stringAt(object, 'kind') === 'Pod'
const hasPods = (object: JsonRecord): boolean => isPod(object) || own(object, 'kind') === 'Deployment'

/** The head of an object, plainly on lines of its own. */
function head(object: JsonRecord): string {
  const namespace = namespaceOf(object)
  return `apiVersion: ${stringAt(object, 'apiVersion')}
kind: ${stringAt(object, 'kind')}
metadata:
  name: ${nameOf(object)}
${namespace === undefined ? '' : `  namespace: ${namespace}\n`}`
}

function each(objects: readonly JsonRecord[], ending: string, text: (one: JsonRecord) => string): Files {
  return Object.fromEntries(objects.map((one, at) => [`hidden-${at}${ending}`, text(one)]))
}

/** What SOPS makes of a value: each text and number in it is encrypted. */
function encrypted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(encrypted)
  if (!isRecord(value)) return 'ENC[AES256_GCM,data:x,type:str]'
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, encrypted(one)]))
}

/** The labels and the spec of the pods of an object. */
function podParts(object: JsonRecord): { readonly metadata: unknown; readonly spec: unknown } {
  const template = isPod(object) ? object : dig(object, 'spec', 'template')
  const labels = dig(template, 'metadata', 'labels')
  return { metadata: { labels }, spec: isRecord(template) ? own(template, 'spec') : undefined }
}

const maker = (apiVersion: string, kind: string, specOf: (template: unknown) => unknown): Shell => ({
  takes: hasPods,
  wrap: (objects) =>
    each(objects, '.json', (one) =>
      json({
        apiVersion,
        kind,
        metadata: { name: nameOf(one), namespace: namespaceOf(one) },
        spec: specOf(podParts(one)),
      }),
    ),
  // It makes pods of its own namespace, with further labels; what they are beside that is in its template.
  allows: () => false,
  reads: (one) =>
    [{}, { role: 'prefill' }, { app: 'llama' }].map((more, at) => {
      const { metadata, spec } = podParts(one)
      const labels = dig(metadata, 'labels')
      return {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `${nameOf(one)}-made-${at}`,
          namespace: namespaceOf(one),
          labels: { ...more, ...(isRecord(labels) ? labels : {}) },
        },
        spec,
      }
    }),
})

const deployer = (file: string, content: unknown): Shell => ({
  takes: (one) => isNoDetail(one) && intoTeamA(one, []),
  wrap: () => ({ [file]: json(content) }),
  allows: intoTeamA,
})

const TEAM_A = { name: 'app', namespace: 'team-a' }

/** Each shell; a new one is one entry. */
export const SHELLS = {
  'left out': { takes: isDetail, wrap: () => ({}), allows: sameObjects },
  malformed: {
    takes: isNoDetail,
    wrap: (objects) =>
      each(objects, '.yaml', (one) => `${head(one)}data: ${json(own(one, 'data') ?? {})}\nspec: {a: [}\n`),
    allows: sameObjects,
  },
  SOPS: {
    takes: isNoDetail,
    wrap: (objects) =>
      each(
        objects,
        '.yaml',
        (one) => `${head(one)}spec: ${json(encrypted(own(one, 'spec')))}\nsops: {version: 3.9.0}\n`,
      ),
    allows: sameObjects,
  },
  'defined twice': {
    takes: hasPods,
    wrap: (objects) => ({
      'hidden-a.json': json({ apiVersion: 'v1', kind: 'List', items: objects }),
      'hidden-b.json': json({
        apiVersion: 'v1',
        kind: 'List',
        items: objects.map((one) => variationOf(one)),
      }),
    }),
    allows: (candidate, hidden) =>
      hidden.some((one) => [one, variationOf(one)].some((either) => json(either) === json(candidate))),
  },
  array: {
    takes: isNoDetail,
    wrap: (objects) => ({ 'hidden.json': json(objects) }),
    allows: sameObjects,
  },
  map: {
    takes: isNoDetail,
    wrap: (objects) => ({
      'hidden.json': json(Object.fromEntries(objects.map((one, at) => [`${nameOf(one)}-${at}`, one]))),
    }),
    allows: sameObjects,
  },
  'dump that was cut off': {
    takes: isPod,
    wrap: (objects) => ({
      'hidden.json': json({ apiVersion: 'v1', kind: 'PodList', metadata: {}, items: objects }).slice(0, -20),
    }),
    allows: sameKinds,
  },
  'page of a list': {
    takes: isPod,
    wrap: () => ({
      'hidden.json': json({ apiVersion: 'v1', kind: 'PodList', metadata: { continue: 'more' }, items: [] }),
    }),
    allows: sameKinds,
  },
  chart: {
    takes: isNoDetail,
    wrap: (objects) => ({
      'chart/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 0.1.0\n',
      'chart/templates/all.yaml': objects
        .map(
          (one) =>
            `apiVersion: ${stringAt(one, 'apiVersion')}
kind: ${stringAt(one, 'kind')}
metadata:
  name: {{ .Values.name }}
spec: {{ toYaml .Values.spec }}
`,
        )
        .join('---\n'),
    }),
    allows: sameKinds,
  },
  'chart with a dependency': {
    takes: isNoDetail,
    wrap: () => ({
      'chart/Chart.yaml':
        'apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies: [{name: llm, version: 1.0.0, repository: https://charts.example.org}]\n',
    }),
    allows: anyObject,
  },
  'kustomization of a chart': {
    takes: isNoDetail,
    wrap: () => ({
      'kustom/kustomization.yaml':
        'namespace: team-a\nhelmCharts: [{name: llm, repo: https://charts.example.org, namespace: team-a}]\n',
    }),
    allows: anyObject,
  },
  'remote resource': {
    takes: isNoDetail,
    wrap: () => ({ 'kustom/kustomization.yaml': 'resources: [https://example.org/all.yaml]\n' }),
    allows: anyObject,
  },
  'git-crypt': {
    takes: isNoDetail,
    wrap: () => ({ 'hidden.yaml': new TextEncoder().encode('\0GITCRYPT\0xyz') }),
    allows: anyObject,
  },
  'Ansible Vault': {
    takes: isNoDetail,
    wrap: () => ({ 'hidden.yaml': '$ANSIBLE_VAULT;1.1;AES256\n6162\n' }),
    allows: anyObject,
  },
  HelmRelease: deployer('hidden.json', {
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: TEAM_A,
    spec: { chart: { spec: { chart: 'app' } } },
  }),
  Application: deployer('hidden.json', {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'app', namespace: 'argocd' },
    spec: {
      destination: { namespace: 'team-a' },
      source: { repoURL: 'https://charts.example.org', chart: 'app' },
    },
  }),
  'package of a catalog': deployer('hidden.json', {
    apiVersion: 'packaging.carvel.dev/v1alpha1',
    kind: 'PackageInstall',
    metadata: TEAM_A,
    spec: { packageRef: { refName: 'app.example.org' } },
  }),
  helmfile: deployer('helmfile.yaml', {
    releases: [{ name: 'app', namespace: 'team-a', chart: 'repo/app' }],
  }),
  'kind with a pod template': maker('example.org/v1', 'Farm', (template) => ({ template })),
  RayCluster: maker('ray.io/v1', 'RayCluster', (template) => ({
    headGroupSpec: { template },
    workerGroupSpecs: [{ groupName: 'w', template }],
  })),
} satisfies Readonly<Record<string, Shell>>

/** The name of a shell. */
export type ShellName = keyof typeof SHELLS
/** Their names. */
export const SHELL_NAMES: readonly ShellName[] = keysOf(SHELLS)

/** The same object with something else in it. */
export function variationOf(object: JsonRecord): JsonRecord {
  const spec = own(object, 'spec')
  const metadata = own(object, 'metadata')
  const fields = isRecord(spec) ? spec : {}
  const meta = isRecord(metadata) ? metadata : {}
  switch (stringAt(object, 'kind') ?? '') {
    case 'Pod':
      return { ...object, metadata: { ...meta, labels: { app: 'llama', role: 'decode' } } }
    case 'Deployment': {
      const labels = { app: 'llama' }
      const { spec: podSpec } = podParts(object)
      return {
        ...object,
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
      }
    }
    case 'InferencePool':
      return { ...object, spec: { ...fields, selector: { matchLabels: { app: 'thief' } } } }
    case 'InferenceObjective':
      return { ...object, spec: { poolRef: { name: 'other' } } }
    case 'InferenceIdentityBinding':
      return { ...object, spec: { ...fields, serviceAccountName: 'other' } }
    case 'ClusterSPIFFEID':
      return {
        ...object,
        spec: { spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/ns/team-a/objective/chat', podSelector: {} },
      }
    case 'ClusterStaticEntry':
      return { ...object, spec: { ...fields, selectors: ['k8s:ns:kube-system'] } }
    case 'XAccessPolicy':
      return { ...object, spec: { ...fields, action: 'Deny' } }
    case 'Namespace':
      return { ...object, metadata: { ...meta, labels: { env: 'prod', 'istio-injection': 'enabled' } } }
    default:
      return object
  }
}
