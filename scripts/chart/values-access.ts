// The values of the chart about who may do what: the operator's own rights, roles for people, and admission policies.
import {
  choice,
  name,
  NAMESPACE,
  object,
  objects,
  off,
  on,
  records,
  section,
  stringMap,
  texts,
  type Values,
} from './setting.ts'

/** Rights, policies and limits. */
export const ACCESS_VALUES: Values = {
  serviceAccount: section('Who the operator is.', {
    create: on('Make it. Off: `name` exists already.'),
    name: name('Its name; `kleym-operator` when empty.'),
    annotations: stringMap('Its annotations; their values may be templates.'),
    automount: on(
      "Mount its token into the operator's pods. Off: bring a kubeconfig with `extraVolumes` and `extraArgs`.",
    ),
  }),
  rbac: section('Roles. The names are fixed: docs/install.md says what each is for.', {
    create: on('Make the roles of the operator and bind them.'),
    people: on(
      'Make the roles `kleym-viewer` and `kleym-editor` for bindings, and `kleym-reader` and `kleym-scm-config-reader` ' +
        'for `kubectl kleym`, without bindings.',
    ),
    aggregateToView: off('Let users who have `view`, `edit` or `admin` read bindings.'),
    aggregateToEdit: off(
      'Let users who have `edit` or `admin` write bindings, and so register identities for every service account of the namespace.',
    ),
  }),
  policies: section(
    'Admission policies, all optional: who may register identities, and who may run pods that get them.',
    {
      serviceAccounts: section(
        'A user who creates or changes a binding must be allowed a verb on the service account that it names.',
        {
          enabled: off('Whether the policy is installed.'),
          verb: choice(
            'use',
            ['use', 'impersonate'],
            'Of the roles of Kubernetes only `cluster-admin` has `use`; the role `edit` has `impersonate`.',
          ),
          namespaceSelector: object('The namespaces that it is about; all when empty.'),
        },
      ),
      bindingStatus: section(
        'Only the operator of this release may write the status of bindings; users and another implementation of the same ' +
          'API group (docs/upstream.md) may not.',
        { enabled: off('Whether the policy is installed.') },
      ),
      poolPods: section(
        'A user who creates or changes pods, or workloads with a template of pods, that a pool selects must be allowed the verb ' +
          '`serve` on that pool, or on `inferencepools/<variant>` if the pods carry that variant. No user may change the variant ' +
          'of a running pod.',
        {
          enabled: off('Whether the policy is installed.'),
          kinds: {
            about:
              'The groups of the pools that count; when empty, those that the cluster serves at the install or upgrade. ' +
              'Their CRDs must be there, or every such write is refused.',
            default: [],
            schema: {
              type: 'array',
              uniqueItems: true,
              items: { enum: ['inference.networking.k8s.io', 'inference.networking.x-k8s.io'] },
            },
          },
          exemptGroups: texts(
            'Groups that need no verb: those that make the pods of workloads, because the workload was checked already.',
            ['system:nodes', 'system:serviceaccounts:kube-system'],
          ),
          exemptUsers: texts('Users that need no verb.', ['system:kube-controller-manager']),
          namespaceSelector: object('The namespaces that it is about.', {
            matchExpressions: [
              { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] },
            ],
          }),
        },
      ),
    },
  ),
  uninstallGuard: section(
    'Refuses `helm uninstall`, and the deletion of the CRD of bindings, while identities are in force: docs/uninstall.md.',
    { enabled: on('Whether it does.') },
  ),
  resourceQuotas: records(
    'A ResourceQuota on the number of bindings in each of these namespaces, which must exist.',
    {
      namespace: NAMESPACE,
      bindings: { type: 'integer', minimum: 0 },
    },
  ),
  networkPolicy: section('Who may connect to the operator.', {
    enabled: off('Whether there is one. Probes stay open.'),
    metricsFrom: objects('Who may connect to the metrics, as NetworkPolicyPeers; no client when empty.'),
    egress: objects(
      'What the operator may connect to, as NetworkPolicyEgressRules; everything when empty. It needs the API server.',
    ),
  }),
}
