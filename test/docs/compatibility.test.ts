// docs/compatibility.md: what it says was run is what the suites are built from.
import { describe, expect, test } from 'vitest'
import { MAKER_SUITES } from '../../scripts/versions/suites.ts'
import { keysOf } from '../../shared/src/core/base/json.ts'
import { OLDER_MINORS } from '../control-plane/older-kubernetes.ts'
import { moduleOfRelease, OTHER_RELEASES, PEERS } from '../control-plane/other-releases.ts'
import { MAKER_MANIFESTS } from '../control-plane/tools.ts'
import { textOf, TRACKED } from '../house/files.ts'

/** The folders of the older minors. */
const OLDER = OLDER_MINORS.map((minor) => `kubernetes-${minor}`)

const GO = 'test/control-plane/go'
const PAGE = textOf('docs/compatibility.md')

/** The rows of the table: the first cell, and what was run. */
const ROWS = new Map(
  PAGE.split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split(' | '))
    .map(([name = '', run = '']) => [name.replace(/^\| /, ''), run]),
)

/** Each row that a Go module decides: the module, and the folder whose go.mod pins it. */
const PINNED: readonly (readonly [row: string, module: string, folder: string])[] = [
  ['Kubernetes API server', 'k8s.io/kubernetes', 'kubernetes'],
  ['kubectl', 'k8s.io/kubernetes', 'kubernetes'],
  ['etcd', 'go.etcd.io/etcd/server/v3', 'kubernetes'],
  ['Helm', 'helm.sh/helm/v4', 'helm'],
  ['krew', 'sigs.k8s.io/krew', 'krew'],
  [
    'GAIE: `InferencePool` of both groups, `InferenceObjective`',
    'sigs.k8s.io/gateway-api-inference-extension',
    'gaie',
  ],
  ['SPIRE Controller Manager', 'github.com/spiffe/spire-controller-manager', 'spire-controller-manager'],
  [
    'SPIRE Controller Manager',
    'github.com/spiffe/spire-controller-manager',
    'spire-controller-manager-0.6.4',
  ],
  ['SPIRE server', 'github.com/spiffe/spire', 'spire-server'],
  [
    'Kube Agentic Networking: `XAccessPolicy`',
    'sigs.k8s.io/kube-agentic-networking',
    'kube-agentic-networking',
  ],
  ['OpenReports: `Report`, `ClusterReport`', 'github.com/openreports/reports-api', 'openreports'],
  ['Prometheus rules, monitors', 'github.com/prometheus/prometheus', 'prometheus'],
  ['Prometheus rules, monitors', 'github.com/prometheus-operator/prometheus-operator', 'prometheus-operator'],
]

/** Releases beside the usual ones, which `npm run test:versions` runs: a row of a table of their own each. */
const OTHERS = PEERS.flatMap((peer) =>
  OTHER_RELEASES[peer].releases.map((release) => {
    const { title, path } = OTHER_RELEASES[peer]
    return [title, path, moduleOfRelease(peer, release)] as const
  }),
)

/** Controllers of serving stacks, which the same command runs. */
const MAKERS = keysOf(MAKER_SUITES).map(
  (maker) => [MAKER_SUITES[maker].title, MAKER_MANIFESTS[maker].path, maker] as const,
)

describe('what was run', () => {
  test.each([...OTHERS, ...MAKERS])('%s: a row for the release of %s in %s', (title, path, folder) => {
    const [, version = ''] =
      new RegExp(`^(?:require |\\t)${path} (v\\S+)`, 'm').exec(textOf(`${GO}/${folder}/go.mod`)) ?? []
    expect(version).toMatch(/^v\d/)
    // A row may go on to say what else was there.
    expect([...ROWS.keys()].map((row) => row.split(',')[0])).toContain(`${title} ${version}`)
  })

  test.each(PINNED)('%s: the version of %s in %s', (row, module, folder) => {
    const [, version = ''] =
      new RegExp(`^(?:require |\\t)${module} (v\\S+)`, 'm').exec(textOf(`${GO}/${folder}/go.mod`)) ?? []
    expect(version).toMatch(/^v\d/)
    expect(ROWS.get(row)).toContain(version)
  })

  test('no module of the suites is left out', () => {
    const folders = TRACKED.flatMap((path) => new RegExp(`^${GO}/([^/]+)/go\\.mod$`).exec(path)?.[1] ?? [])
    const told = new Set([...PINNED, ...OTHERS, ...MAKERS].map(([, , folder]) => folder))
    // Programs of ours around what others run themselves; what only draws the dashboard; an agent that no suite starts yet; and
    // what checks and publishes a release. The older minors of Kubernetes have a table of their own (test/house/versions.test.ts).
    const own = new Set(['health', 'istio', 'grafana', 'spire-agent', 'actionlint', 'crane', ...OLDER])
    expect(folders.filter((folder) => !told.has(folder) && !own.has(folder))).toEqual([])
  })
})
