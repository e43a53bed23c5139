// The values of the chart, once: values.yaml, values.schema.json and docs/reference/chart-values.md are made from this table.
import { VARIANT_LABEL_KEY_FLAG } from '../../shared/src/core/model/names.ts'
import { LOG_LEVELS } from '../../operator/src/telemetry/log.ts'
import { defaultOf } from '../../operator/src/settings/flags.ts'
import { ACCESS_VALUES } from './values-access.ts'
import { PLACEMENT_VALUES, POD_VALUES } from './values-pod.ts'
import {
  choice,
  labels,
  object,
  objects,
  off,
  on,
  section,
  stringMap,
  text,
  texts,
  whole,
  type Values,
} from './setting.ts'
import { TELEMETRY_VALUES } from './values-telemetry.ts'

/** The operator's own default of a flag: a default stands once. */
function flagDefault(...[name]: Parameters<typeof defaultOf>): string {
  return defaultOf(name) ?? ''
}

const IDENTITY_VALUES: Values = {
  trustDomain: text(
    '',
    'Required. The trust domain of your SPIRE server, e.g. `example.org`; every SPIFFE ID begins with it.',
  ),
  className: text(
    '',
    '`spec.className` of every ClusterSPIFFEID. It must be the class of your SPIRE controller manager; the SPIRE hardened ' +
      'chart makes that `<its namespace>-<its release>`, e.g. `spire-mgmt-spire`, and ignores objects without a class.',
  ),
  takeOver: texts(
    'Installs of kleym whose ClusterSPIFFEIDs this one adopts, as `namespace/name` of their Leases, e.g. `old/kleym-operator`. They must not run any more.',
  ),
  classlessIgnored: off(
    'States that no SPIRE controller manager of the cluster handles a ClusterSPIFFEID without a class (each has one, and none sets `watchClassless`). ' +
      'Then an output stays if the CRD of an older SPIRE controller manager drops its class; otherwise it is withdrawn.',
  ),
  outputLabels: stringMap(
    'Labels of every ClusterSPIFFEID beside those of kleym, for a SPIRE controller manager that sees only labelled ones ' +
      '(`clusterSPIFFEIDLabelSelector`). The label of its class (`filterByClassName`) is set by kleym itself.',
  ),
  variantLabelKey: text(
    flagDefault(VARIANT_LABEL_KEY_FLAG),
    'The pod label that tells the variants of a pool apart (mode `PerVariant`); the pods of llm-d and KServe carry ' +
      '`llm-d.ai/role`. A change rewrites the ClusterSPIFFEIDs of all such bindings: docs/variants.md.',
  ),
}

const OPERATOR_VALUES: Values = {
  replicas: whole(
    1,
    [0, 10],
    'How many operators run. One leads; the others keep their caches filled and wait for its Lease. Two are enough for a quick take-over.',
  ),
  workers: whole(
    Number(flagDefault('--workers')),
    [1, 64],
    'How many bindings are processed at the same time.',
  ),
  writesPerSecond: whole(
    Number(flagDefault('--writes-per-second')),
    [0, 100_000],
    'The most writes of ClusterSPIFFEIDs, statuses and finalizers in a second, shared fairly by namespace; 0 is no limit. Withdrawals, deletions and ' +
      'the Lease are exempt.',
  ),
  bindingsPerNamespace: whole(
    Number(flagDefault('--bindings-per-namespace')),
    [0, 100_000],
    'The most bindings of a namespace with a ClusterSPIFFEID; 0 is no limit. One more is `NamespaceFull` until there is room.',
  ),
  resyncPeriod: text(
    flagDefault('--resync-period'),
    'How often every binding is processed without a change, e.g. `30m`; `0` is never.',
  ),
  logLevel: choice(flagDefault('--log-level'), LOG_LEVELS, 'The lowest level that is logged.'),
  leaderElection: section('The Lease that says which of several operators works.', {
    enabled: on(
      'Write only while holding the Lease. Switch it off only for a single replica: an upgrade then stops the operator before it starts the new one. Scale the operator to 0 before you switch this on again.',
    ),
  }),
  flowSchema: section(
    'A FlowSchema that gives requests for the Lease the priority of leader elections, so that an overloaded API server costs no ' +
      'Lease.',
    {
      enabled: on('Install it. It is of the whole cluster, named after the namespace of the release.'),
      matchingPrecedence: whole(
        250,
        [2, 10_000],
        'Its precedence among all FlowSchemas; it must be lower than that of `service-accounts`, which is 9000.',
      ),
    },
  ),
  extraArgs: texts('More flags of the operator (`kleym-operator --help`), each as `--flag=value`.'),
  extraEnv: objects('More environment variables, as Kubernetes writes them.'),
}

const CRD_VALUES: Values = {
  crds: section('The CustomResourceDefinition of InferenceIdentityBinding.', {
    enabled: on('Install it, and upgrade it with the chart.'),
    keep: on(
      'Keep it, and with it every binding, when the release is uninstalled. Off: uninstalling deletes all bindings, ' +
        'after the operator that would finish their deletion; delete them first.',
    ),
  }),
}

const SHARED_VALUES: Values = {
  commonLabels: labels('Labels of every object of the chart.'),
  extraObjects: objects('More objects, installed with the chart; texts in them may be templates.'),
  tests: section('`helm test`.', {
    enabled: on('Whether there is a test pod: `kleym-operator --check`, as the operator runs.'),
  }),
  notes: section('What Helm prints at the end.', {
    findControllerManager: on(
      'Look for the SPIRE controller managers of the cluster, and name the one that acts on the class. Helm must be allowed to ' +
        'list StatefulSets, Deployments and the ConfigMaps beside them; only with `rbac.people`, which takes the same rights.',
    ),
  }),
  global: object('What a parent chart shares with all its parts. This chart reads nothing of it.'),
}

/** All values, in the order of values.yaml. */
export const VALUES: Values = {
  ...IDENTITY_VALUES,
  ...OPERATOR_VALUES,
  ...POD_VALUES,
  ...PLACEMENT_VALUES,
  ...CRD_VALUES,
  ...ACCESS_VALUES,
  ...TELEMETRY_VALUES,
  ...SHARED_VALUES,
}
