// What a control plane is made of, pinned: which program comes from which package of which Go module. The modules are
// the folders of `go/`: a go.mod, mostly with `tool` directives and no Go code, and the go.sum that proves what is
// downloaded.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import type { GoModuleBuild, GoProgram } from './go-build.ts'
import { chosenModule, chosenRelease, OTHER_RELEASES } from './other-releases.ts'

const GO = join(import.meta.dirname, 'go')

type Environment = Readonly<Record<string, string | undefined>>

/** The programs of one control plane. */
export const PROGRAMS = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager'] as const
export type ControlPlaneProgram = (typeof PROGRAMS)[number]

interface Source {
  readonly package: string
  /** Minutes on two cores with an empty Go build cache, in the order of `PROGRAMS` (later ones share packages). */
  readonly minutes: number
}

export const SOURCES: Readonly<Record<ControlPlaneProgram, Source>> = {
  etcd: { package: 'go.etcd.io/etcd/server/v3', minutes: 0.5 },
  'kube-apiserver': { package: 'k8s.io/kubernetes/cmd/kube-apiserver', minutes: 3 },
  kubectl: { package: 'k8s.io/kubernetes/cmd/kubectl', minutes: 0.5 },
  'kube-controller-manager': { package: 'k8s.io/kubernetes/cmd/kube-controller-manager', minutes: 1 },
}

const PLAIN_BUILD_ARGS = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w']

const KUBERNETES = goModule('kubernetes')
const STAMP = 'k8s.io/component-base/version'

/** The folder in which the programs are built, and the arguments of `go` that build one. */
export const BUILD = kubernetesBuild(KUBERNETES)

/** What suites about SPIRE need beside a control plane; other suites do not wait for it. */
export const SPIRE_PROGRAMS = [
  'spire-server',
  'spire-controller-manager',
  'spire-controller-manager-0.6.4',
] as const
export type SpireProgram = (typeof SPIRE_PROGRAMS)[number]

const SCM_PACKAGE = 'github.com/spiffe/spire-controller-manager/cmd'
const SPIRE_MODULES = {
  'spire-server': goModule('spire-server'),
  'spire-controller-manager': goModule('spire-controller-manager'),
  'spire-controller-manager-0.6.4': goModule('spire-controller-manager-0.6.4'),
} as const

export const SPIRE_SOURCES: Readonly<Record<SpireProgram, GoProgram>> = {
  // SQLite is a C library.
  'spire-server': spireProgram('spire-server', 'github.com/spiffe/spire/cmd/spire-server', 4, true),
  'spire-controller-manager': spireProgram('spire-controller-manager', SCM_PACKAGE, 1, false),
  'spire-controller-manager-0.6.4': spireProgram('spire-controller-manager-0.6.4', SCM_PACKAGE, 1, false),
}

/** A program of a release that is not the usual one, and the folder of the cache that holds it. */
export interface ChosenProgram {
  readonly program: GoProgram
  readonly cacheKey: string
}

/** The spire-server that the environment asks for; undefined for the usual one. */
export function chosenServer(env: Environment): ChosenProgram | undefined {
  if (chosenRelease('spire', env) === undefined) return undefined
  const module = goModule(chosenModule('spire', env))
  const program = { ...SPIRE_SOURCES['spire-server'], ...builtIn(module) }
  return { program, cacheKey: keyOf('spire-server', program, module) }
}

/** The Helm that the environment asks for; undefined for the usual one. */
export function chosenHelm(env: Environment): ChosenProgram | undefined {
  if (chosenRelease('helm', env) === undefined) return undefined
  const module = goModule(chosenModule('helm', env))
  const program: GoProgram = {
    name: 'helm',
    package: `${OTHER_RELEASES.helm.path}/cmd/helm`,
    minutes: 2,
    args: [...PLAIN_BUILD_ARGS.slice(0, -1), ['-s -w', ...helm3Stamps(module)].join(' ')],
    ...builtIn(module),
  }
  return { program, cacheKey: keyOf('helm', program, module) }
}

/**
 * What a release of Helm 3 is linked with: without it, `helm template` takes the cluster for Kubernetes 1.20. The same
 * variables as in https://github.com/helm/helm/blob/v3.17.4/Makefile.
 */
function helm3Stamps(module: GoModule): readonly string[] {
  const minor = /^v0\.(\d+)\./.exec(requirement(module, 'k8s.io/client-go'))?.[1] ?? ''
  return ['pkg/lint/rules', 'pkg/chartutil'].flatMap((folder) => {
    const variable = `-X ${OTHER_RELEASES.helm.path}/${folder}.k8sVersion`
    return [`${variable}Major=1`, `${variable}Minor=${minor}`]
  })
}

/** The package of a module that has Go code of its own: its `main.go`. */
const OWN_PACKAGE = '.'

/** The tools of people whose cluster it is, and SPIRE's agent; each is built when a suite first asks for it. One row per tool. */
export const CLIENT_SOURCES = {
  // In a module of its own: a change of it does not have spire-server built again.
  'spire-agent': clientProgram('spire-agent', 'github.com/spiffe/spire/cmd/spire-agent', 4),
  helm: clientProgram('helm', 'helm.sh/helm/v4/cmd/helm', 4),
  krew: clientProgram('krew', 'sigs.k8s.io/krew/cmd/krew', 0.3),
  'validate-krew-manifest': clientProgram('krew', 'sigs.k8s.io/krew/cmd/validate-krew-manifest', 0.1),
  // Without the clients of clouds, which discover what to scrape.
  promtool: withTags(
    clientProgram('prometheus', 'github.com/prometheus/prometheus/cmd/promtool', 2),
    'remove_all_sd',
  ),
  // What checks the workflows, and a registry on this machine to which the scripts of a release push.
  actionlint: clientProgram('actionlint', 'github.com/rhysd/actionlint/cmd/actionlint', 0.5),
  crane: clientProgram('crane', 'github.com/google/go-containerregistry/cmd/crane', 0.7),
  // Small programs of ours around what others use themselves.
  grafana: ownProgram('grafana', 0.5),
  health: ownProgram('health', 1.5),
  istio: ownProgram('istio', 0.5),
} as const

/** Controllers of serving stacks. `npm run test:versions` alone runs them, so the gate does not build them. */
export const MAKER_SOURCES = {
  lws: { ...clientProgram('lws', 'sigs.k8s.io/lws/cmd', 2), name: 'lws' },
  aibrix: { ...clientProgram('aibrix', 'github.com/vllm-project/aibrix/cmd/controllers', 4), name: 'aibrix' },
  kserve: { ...clientProgram('kserve', 'github.com/kserve/kserve/cmd/llmisvc', 6), name: 'kserve' },
} as const
export type Maker = keyof typeof MAKER_SOURCES

export type ClientProgram = keyof typeof CLIENT_SOURCES | Maker

/** What a tool or a controller is built from. */
export function clientSource(name: ClientProgram): GoProgram {
  return { ...CLIENT_SOURCES, ...MAKER_SOURCES }[name]
}

/** CRD files that come as files of Go modules: the same versions that the binaries and the contract speak of. */
export interface CrdSource {
  readonly path: string
  readonly version: string
  /** `go.sum`'s hash of the module's files. */
  readonly sum: string
  /** The folder of its go.mod here. */
  readonly folder: string
  readonly files: readonly string[]
}

const POOLS = 'config/crd/bases/inference.networking.k8s.io_inferencepools.yaml'
const OLDER_POOLS = 'config/crd/bases/inference.networking.x-k8s.io_inferencepools.yaml'
const OBJECTIVES = 'config/crd/bases/inference.networking.x-k8s.io_inferenceobjectives.yaml'

/** What releases of GAIE ship no more. Applying their CRDs to a cluster leaves it as the release before has made it. */
const NO_MORE_SHIPPED: Readonly<Record<string, readonly string[]>> = {
  '1.5': [OLDER_POOLS],
  '1.6': [OLDER_POOLS, OBJECTIVES],
}

export const CRD_SOURCES = crdSources({})

/** Those of the releases that the environment asks for. */
export function crdSources(env: Environment): readonly CrdSource[] {
  return [
    ...gaieSources(env),
    crdSource(chosenModule('scm', env), OTHER_RELEASES.scm.path, [
      'config/crd/bases/spire.spiffe.io_clusterspiffeids.yaml',
      'config/crd/bases/spire.spiffe.io_clusterstaticentries.yaml',
      'config/crd/bases/spire.spiffe.io_clusterfederatedtrustdomains.yaml',
    ]),
  ]
}

/** Those of the release that is asked for, and of the usual one what it ships no more. */
function gaieSources(env: Environment): readonly CrdSource[] {
  const { path } = OTHER_RELEASES.gaie
  const kept = NO_MORE_SHIPPED[chosenRelease('gaie', env) ?? ''] ?? []
  const shipped = [POOLS, OLDER_POOLS, OBJECTIVES].filter((file) => !kept.includes(file))
  return [
    crdSource(chosenModule('gaie', env), path, shipped),
    ...(kept.length === 0 ? [] : [crdSource(chosenModule('gaie', {}), path, kept)]),
  ]
}

/** The folder of the cache, within that of the control plane, that holds their files. */
export function crdFolder(env: Environment): string {
  const releases = (['gaie', 'scm'] as const).flatMap((peer) => {
    const release = chosenRelease(peer, env)
    return release === undefined ? [] : [`-${peer}-${release}`]
  })
  if (releases.length === 0) return 'crds'
  const sums = crdSources(env).map(({ sum, files }) => [sum, files])
  return `crds${releases.join('')}-${createHash('sha256').update(JSON.stringify(sums)).digest('hex').slice(0, 20)}`
}

/** What the chart may install for the Prometheus operator; only its suites wait for them. */
export const MONITORING_CRD_SOURCES: readonly CrdSource[] = [
  crdSource('prometheus-operator', 'github.com/prometheus-operator/prometheus-operator', [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  ]),
]

/** The access policies that name identities: kleym only reads them, and only its suites about them wait for them. */
export const POLICY_CRD_SOURCES: readonly CrdSource[] = [
  crdSource('kube-agentic-networking', 'sigs.k8s.io/kube-agentic-networking', [
    'k8s/crds/agentic.networking.x-k8s.io_xaccesspolicies.yaml',
  ]),
]

/** What `-o openreports` writes. */
export const REPORT_CRD_SOURCES: readonly CrdSource[] = [
  crdSource('openreports', 'github.com/openreports/reports-api', [
    'config/crd/openreports.io_clusterreports.yaml',
    'config/crd/openreports.io_reports.yaml',
  ]),
]

/** The CRDs of each controller of a serving stack, and how the API server is to call its webhooks. */
export const MAKER_MANIFESTS: Readonly<Record<Maker, CrdSource>> = {
  lws: crdSource('lws', 'sigs.k8s.io/lws', [
    'config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml',
    'config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml',
    'config/webhook/manifests.yaml',
  ]),
  aibrix: crdSource(
    'aibrix',
    'github.com/vllm-project/aibrix',
    ['podsets', 'rolesets', 'stormservices'].map(
      (kind) => `config/crd/orchestration/orchestration.aibrix.ai_${kind}.yaml`,
    ),
  ),
  kserve: crdSource('kserve', 'github.com/kserve/kserve', [
    'config/crd/full/llmisvc/serving.kserve.io_llminferenceservices.yaml',
    'config/crd/full/llmisvc/serving.kserve.io_llminferenceserviceconfigs.yaml',
  ]),
}

/** The CRDs of others whose objects KServe's controller makes. */
export const KSERVE_NEEDS: readonly CrdSource[] = [
  crdSource('kserve', 'sigs.k8s.io/lws', ['config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml']),
  crdSource(
    'kserve',
    'sigs.k8s.io/gateway-api',
    ['gateways', 'httproutes'].map((kind) => `config/crd/standard/gateway.networking.k8s.io_${kind}.yaml`),
  ),
]

/** The objects that KServe ships for its services to take fields from, and the settings of its controller. */
export const KSERVE_OBJECTS = crdSource('kserve', 'github.com/kserve/kserve', [
  'config/configmap/inferenceservice.yaml',
  ...[
    'decode-template',
    'decode-worker-data-parallel',
    'prefill-template',
    'prefill-worker-data-parallel',
    'router-route',
    'scheduler',
    'template',
    'tracing',
    'worker-data-parallel',
  ].map((name) => `config/llmisvcconfig/config-llm-${name}.yaml`),
])

/** Names the folder of the cache that holds what these inputs lead to on this platform. */
export function cacheKey(): string {
  const hash = createHash('sha256')
  hash.update(
    JSON.stringify([process.platform, process.arch, BUILD.args, SOURCES, KUBERNETES.mod, KUBERNETES.sum]),
  )
  hash.update(JSON.stringify(CRD_SOURCES.map(({ path, version, sum, files }) => [path, version, sum, files])))
  return hash.digest('hex').slice(0, 20)
}

/** The same for the programs of SPIRE. */
export function spireCacheKey(): string {
  const modules = Object.values(SPIRE_MODULES).map(({ mod, sum }) => [mod, sum])
  const hash = createHash('sha256')
  hash.update(
    JSON.stringify([process.platform, process.arch, SPIRE_PROGRAMS, PLAIN_BUILD_ARGS, SCM_PACKAGE, modules]),
  )
  return `spire-${hash.digest('hex').slice(0, 20)}`
}

/** The same for one tool. */
export function clientCacheKey(name: ClientProgram): string {
  const source = clientSource(name)
  return keyOf(name, source, goModule(basename(source.folder)))
}

/** Names the folder of one program by all that it is built from. */
function keyOf(
  name: string,
  { args, folder, package: path }: GoProgram,
  { mod, sum }: Pick<GoModule, 'mod' | 'sum'>,
): string {
  const code = path === OWN_PACKAGE ? [readFileSync(join(folder, 'main.go'), 'utf8')] : []
  const hash = createHash('sha256').update(
    JSON.stringify([process.platform, process.arch, args, path, mod, sum, ...code]),
  )
  return `${name}-${hash.digest('hex').slice(0, 20)}`
}

function clientProgram(module: string, path: string, minutes: number): GoProgram {
  return {
    name: basename(path),
    package: path,
    minutes,
    args: PLAIN_BUILD_ARGS,
    ...builtIn(goModule(module)),
  }
}

/** Where the programs of a module are built, and with which Go. */
function builtIn({ folder, mod }: GoModule): Pick<GoProgram, 'folder' | 'goVersion'> {
  return { folder, goVersion: /^go (\S+)$/m.exec(mod)?.[1] ?? '' }
}

function ownProgram(module: string, minutes: number): GoProgram {
  return { ...clientProgram(module, OWN_PACKAGE, minutes), name: module }
}

function withTags(program: GoProgram, tags: string): GoProgram {
  return { ...program, args: [...program.args, '-tags', tags] }
}

function spireProgram(name: SpireProgram, path: string, minutes: number, cgo: boolean): GoProgram {
  return { name, package: path, minutes, cgo, args: PLAIN_BUILD_ARGS, ...builtIn(SPIRE_MODULES[name]) }
}

/** How programs of Kubernetes are built. */
export interface KubernetesBuild extends GoModuleBuild {
  /** e.g. `v1.36.3`. */
  readonly version: string
}

/** How the programs of a module that requires Kubernetes are built: they report that version, as a release's do. */
export function kubernetesBuild(module: GoModule): KubernetesBuild {
  const version = requirement(module, 'k8s.io/kubernetes')
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? []
  return {
    version,
    folder: module.folder,
    args: [
      'build',
      '-mod=readonly',
      '-trimpath',
      '-buildvcs=false',
      '-ldflags',
      `-s -w -X ${STAMP}.gitVersion=${version} -X ${STAMP}.gitMajor=${major} -X ${STAMP}.gitMinor=${minor}`,
    ],
    goVersion: /^go (\S+)$/m.exec(module.mod)?.[1] ?? '',
  }
}

/** A folder of `go/`. */
export interface GoModule {
  readonly folder: string
  /** What its go.mod and its go.sum say. */
  readonly mod: string
  readonly sum: string
}

/** Reads a folder of `go/`; throws where it is not there. */
export function goModule(name: string): GoModule {
  const folder = join(GO, name)
  return {
    folder,
    mod: readFileSync(join(folder, 'go.mod'), 'utf8'),
    sum: readFileSync(join(folder, 'go.sum'), 'utf8'),
  }
}

/** The version of a module that a folder of `go/` requires, e.g. `v1.36.3`; throws where it requires none. */
export function requirement({ folder, mod }: GoModule, path: string): string {
  for (const line of mod.split('\n')) {
    const [name, version] = line
      .replace(/^require /, '')
      .trim()
      .split(' ')
    if (name === path && version !== undefined) return version
  }
  throw new Error(`${folder}/go.mod requires no ${path}`)
}

function crdSource(name: string, path: string, files: readonly string[]): CrdSource {
  const module = goModule(name)
  const version = requirement(module, path)
  const sum = module.sum
    .split('\n')
    .find((line) => line.startsWith(`${path} ${version} `))
    ?.split(' ')[2]
  if (sum === undefined) throw new Error(`${module.folder}/go.sum has no hash of ${path} ${version}`)
  return { path, version, sum, folder: module.folder, files }
}
