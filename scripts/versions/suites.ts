// Which suites of test/control-plane depend on the version of Kubernetes, by what they are about: `npm run test:versions`
// runs them on each minor, and docs/compatibility.md says what it found. And which suites would notice another release of what
// stands beside Kubernetes.
import type { Peer } from '../../test/control-plane/other-releases.ts'
import type { Maker } from '../../test/control-plane/tools.ts'

/** What a suite is about; a column of docs/compatibility.md. */
export const TOPICS = ['operator', 'plugin', 'chart', 'rights', 'policies', 'harness'] as const
export type Topic = (typeof TOPICS)[number]

/** The suites of each topic, without `.test.ts`. */
export const SUITES: Readonly<Record<Topic, readonly string[]>> = {
  operator: [
    'binding-crd',
    'image',
    'never-two',
    'operator-acceptance',
    'operator-collisions',
    'operator-combinations',
    'operator-deletion',
    'operator-faults',
    'operator-full-storage',
    'operator-in-force',
    'operator-kills',
    'operator-kinds',
    'operator-large-objects',
    'operator-names',
    'operator-ownership',
    'operator-pool-edits',
    'operator-pool-refs',
    'operator-reasons',
    'operator-right-outputs',
    'operator-repairs',
    'operator-replicas',
    'operator-restore',
    'operator-rollback',
    'operator-silence',
    'operator-upheaval',
    'operator-variants',
    'operator-webhook',
  ],
  plugin: [
    'kept-fields',
    'kept-labels',
    'plugin-install',
    'manifest-check',
    'plugin-agreement',
    'plugin-completion',
    'plugin-live',
    'plugin-policies',
    'plugin-settings',
    'plugin-suggest',
    'plugin-watch',
    'several-clusters',
  ],
  chart: ['chart-lifecycle', 'chart-move', 'chart-render', 'chart-scm'],
  rights: ['chart-rbac', 'chart-reader'],
  policies: ['chart-policies'],
  harness: ['harness'],
}

/** Suites that ask no API server, or ask it nothing that a version could answer otherwise. */
export const OF_NO_VERSION: readonly string[] = [
  'binaries',
  'chart-alerts',
  'chart-archive',
  'documented-commands',
  'door-oracle',
  'fault-proxy',
  'gitops-health',
  'install-plugin',
  'istio-identities',
  'krew',
  'kustomize',
  'kustomize-base',
  'open-reports',
  'other-implementation',
  'ports',
  'publish',
  'supervisor',
  'whole-tree',
  'workflows',
]

/**
 * What `--quick` runs on a minor, within four minutes: where an older API server would be missed first. The schema
 * and its CEL rules, admission policies, server-side apply, ownership, rights, the chart, and the plugin's reads.
 */
export const QUICK: readonly string[] = [
  'binding-crd',
  'chart-lifecycle',
  'chart-policies',
  'chart-rbac',
  'chart-render',
  'harness',
  'operator-acceptance',
  'operator-collisions',
  'operator-names',
  'operator-ownership',
  'operator-repairs',
  'operator-restore',
  'plugin-live',
]

/** The suites that run with another release of something, and the project of vitest.config.ts that they are in. */
interface PeerSuites {
  readonly project: 'control-plane' | 'svid' | 'makers'
  /** From the root of the project. */
  readonly files: readonly string[]
}

/** The predictions that SPIRE decides about, and what kleym writes for it. */
const PREDICTION = [
  'traps/traps',
  'generated',
  'history',
  'identity-tests',
  'in-force',
  'operator-output',
  'settings',
  'variants',
  'verify',
].map((suite) => `test/svid/${suite}.test.ts`)

/** What runs with other releases: of GAIE, what reads pools and objectives; of Helm, all that runs it. */
export const PEER_SUITES: Readonly<Record<Peer, PeerSuites>> = {
  spire: { project: 'svid', files: PREDICTION },
  scm: { project: 'svid', files: PREDICTION },
  gaie: {
    project: 'control-plane',
    files: [
      'manifest-check',
      'operator-acceptance',
      'operator-kinds',
      'operator-large-objects',
      'operator-pool-refs',
      'operator-reasons',
      'operator-variants',
      'plugin-agreement',
      'plugin-live',
    ].map(pathOf),
  },
  helm: {
    project: 'control-plane',
    files: [
      'chart-alerts',
      'chart-archive',
      'chart-lifecycle',
      'chart-policies',
      'chart-rbac',
      'chart-reader',
      'chart-render',
      'chart-scm',
      'whole-tree',
    ].map(pathOf),
  },
}

/** The controllers of serving stacks whose pods are compared with what kleym expands: as docs/compatibility.md calls them. */
export const MAKER_SUITES: Readonly<Record<Maker, { readonly title: string; readonly file: string }>> = {
  lws: { title: 'LeaderWorkerSet', file: 'test/control-plane/makers/lws.test.ts' },
  aibrix: { title: 'AIBrix', file: 'test/control-plane/makers/aibrix.test.ts' },
  kserve: { title: 'KServe', file: 'test/control-plane/makers/kserve.test.ts' },
}

/** The path of a suite from the root of the project. */
export function pathOf(suite: string): string {
  return `test/control-plane/${suite}.test.ts`
}
