// Releases of what stands beside Kubernetes that the suites can run with in place of the usual ones: each is a module of
// `go/` that ends with the release, and a variable of the environment chooses it. `npm run test:versions` sets them.

/** Something whose release can be chosen. */
interface OtherReleases {
  /** As docs/compatibility.md calls it. */
  readonly title: string
  readonly variable: string
  /** The folder of `go/` of the usual release; another one's ends with `-` and the release. */
  readonly module: string
  /** The path of the Go module of which they are releases. */
  readonly path: string
  /** Oldest first, as they are asked for. */
  readonly releases: readonly string[]
}

export const OTHER_RELEASES = {
  spire: {
    title: 'SPIRE server',
    variable: 'KLEYM_SPIRE',
    module: 'spire-server',
    path: 'github.com/spiffe/spire',
    releases: ['1.12', '1.13', '1.14'],
  },
  scm: {
    title: 'SPIRE Controller Manager',
    variable: 'KLEYM_SCM',
    module: 'spire-controller-manager',
    path: 'github.com/spiffe/spire-controller-manager',
    releases: ['0.6.4'],
  },
  gaie: {
    title: 'GAIE',
    variable: 'KLEYM_GAIE',
    module: 'gaie',
    path: 'sigs.k8s.io/gateway-api-inference-extension',
    releases: ['1.0', '1.1', '1.2', '1.3', '1.5', '1.6'],
  },
  helm: {
    title: 'Helm',
    variable: 'KLEYM_HELM',
    module: 'helm',
    path: 'helm.sh/helm/v3',
    releases: ['3.17'],
  },
} as const satisfies Readonly<Record<string, OtherReleases>>

/** What can be had in another release. */
export type Peer = keyof typeof OTHER_RELEASES

export const PEERS: readonly Peer[] = ['spire', 'scm', 'gaie', 'helm']

type Environment = Readonly<Record<string, string | undefined>>

/** The release that the environment asks for, e.g. `1.12`; undefined for the usual one. Throws where no module has it. */
export function chosenRelease(peer: Peer, env: Environment): string | undefined {
  const { title, variable, releases } = OTHER_RELEASES[peer]
  const asked = env[variable] ?? ''
  if (asked === '') return undefined
  const found = releases.find((release) => release === asked)
  if (found === undefined)
    throw new Error(
      `${variable} asks for ${title} ${asked}, which no module has\n  fix:  set it to one of ${releases.join(', ')}, or not at all`,
    )
  return found
}

/** The folder of `go/` that holds what the environment asks for. Throws as `chosenRelease` does. */
export function chosenModule(peer: Peer, env: Environment): string {
  return moduleOfRelease(peer, chosenRelease(peer, env))
}

/** The folder of `go/` of a release; of the usual one where none is named. */
export function moduleOfRelease(peer: Peer, release: string | undefined): string {
  const { module } = OTHER_RELEASES[peer]
  return release === undefined ? module : `${module}-${release}`
}
