// The SPIRE Controller Manager as OpenShift's Zero Trust Workload Identity Manager installs it. Its operator writes SCM's
// ConfigMap itself, the same in every cluster but for what one object says: so that object stands for the ConfigMap. Source:
// https://github.com/openshift/zero-trust-workload-identity-manager, pkg/controller/spire-server/configmap.go.
import { own, stringAt, type JsonRecord } from '../json.ts'

/** The kind of that object; there is one, which is called `cluster`. */
export const OPENSHIFT_SCM = {
  group: 'operator.openshift.io',
  kind: 'ZeroTrustWorkloadIdentityManager',
} as const

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
