// The SPIRE Controller Manager as OpenShift's Zero Trust Workload Identity Manager installs it. Its operator writes SCM's
// ConfigMap itself, the same in every cluster but for what one object says: so that object stands for the ConfigMap. Source:
// https://github.com/openshift/zero-trust-workload-identity-manager, pkg/controller/spire-server/configmap.go.
import { own, stringAt, type JsonRecord } from '../../base/json.ts'
import { CLUSTER_SPIFFE_ID } from '../../model/kinds.ts'
import { NAMESPACE_NAME_LABEL } from '../../model/names.ts'

/** The class that its SCM always has. */
export const OPENSHIFT_CLASS = 'zero-trust-workload-identity-manager-spire'

/** The configuration of SCM that the operator makes of the object. A field of the wrong type is left to SCM's reader. */
export function openshiftScmConfig(object: JsonRecord): JsonRecord {
  const spec = own(object, 'spec')
  return {
    trustDomain: own(spec, 'trustDomain'),
    clusterName: own(spec, 'clusterName'),
    entryIDPrefix: stringAt(spec, 'clusterName') ?? '',
    className: OPENSHIFT_CLASS,
    watchClassless: false,
    // The last one is a regular expression as it stands in the operator: `openshift`, then any number of dashes.
    ignoreNamespaces: ['kube-system', 'kube-public', 'local-path-storage', 'openshift-*'],
    reconcile: { clusterSPIFFEIDs: true, clusterStaticEntries: true, clusterFederatedTrustDomains: true },
  }
}

/** The kind of the object for which its operator makes two registrations, the same in every cluster. */
export const OPENSHIFT_PROVIDER = 'SpireOIDCDiscoveryProvider.operator.openshift.io'

/** The namespace of the operator. */
const OPENSHIFT_NAMESPACE = 'zero-trust-workload-identity-manager'

/**
 * Those registrations: that of the provider itself, and a fallback for every other namespace. Source: the same repository,
 * pkg/controller/spire-oidc-discovery-provider/clusterspiffeid.go.
 */
export function openshiftRegistrations(): readonly JsonRecord[] {
  return [
    registration('oidc-discovery-provider', 'In', {
      dnsNameTemplates: ['oidc-discovery.{{ .TrustDomain }}'],
      autoPopulateDNSNames: true,
      podSelector: {
        matchLabels: {
          'app.kubernetes.io/name': 'spiffe-oidc-discovery-provider',
          'app.kubernetes.io/instance': 'cluster-zero-trust-workload-identity-manager',
          'app.kubernetes.io/component': 'discovery',
        },
      },
    }),
    registration('default', 'NotIn', { fallback: true }),
  ]
}

function registration(name: string, operator: 'In' | 'NotIn', spec: JsonRecord): JsonRecord {
  return {
    apiVersion: `${CLUSTER_SPIFFE_ID.group}/${CLUSTER_SPIFFE_ID.version}`,
    kind: CLUSTER_SPIFFE_ID.kind,
    metadata: { name: `${OPENSHIFT_NAMESPACE}-spire-${name}` },
    spec: {
      className: OPENSHIFT_CLASS,
      hint: name,
      spiffeIDTemplate:
        'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
      namespaceSelector: {
        matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator, values: [OPENSHIFT_NAMESPACE] }],
      },
      ...spec,
    },
  }
}
