// The kinds that the analysis reads from files; everything else is skipped and counted.
import {
  ACCESS_POLICY_KIND,
  BINDING,
  CLUSTER_SPIFFE_ID,
  CLUSTER_STATIC_ENTRY,
  FEDERATED_TRUST_DOMAIN,
  type Kind,
  NAMING_KINDS,
  OBJECTIVE_KINDS,
  OLD_ACCESS_POLICIES,
  OPENSHIFT_AGENT,
  OPENSHIFT_SCM,
  POOL_IMPORT,
  POOL_KINDS,
} from '@kleym/shared/core/model/kinds.ts'
import { SPIRE_GROUP } from '@kleym/shared/core/model/names.ts'
import { SCM_CONFIG_KIND } from '@kleym/shared/core/model/subject-groups.ts'
import { CRD_KIND } from '@kleym/shared/core/answers/index.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import type { WantedKind } from '../sources/wanted-kind.ts'

const namespaced = ({ group, kind }: { readonly group: string; readonly kind: string }): WantedKind => ({
  group,
  kind,
  namespaced: true,
})

/** A kind of a CRD with one known version: the schema of another may differ. */
const versioned = ({ group, version, kind }: Kind, isNamespaced = true): WantedKind => ({
  group,
  kind,
  namespaced: isNamespaced,
  versions: [version],
})

/** Every kind that an answer may use. */
export const WANTED_KINDS: readonly WantedKind[] = [
  versioned(BINDING),
  ...POOL_KINDS.map((kind) => versioned(kind)),
  ...OBJECTIVE_KINDS.map((kind) => versioned(kind)),
  versioned(CLUSTER_SPIFFE_ID, false),
  versioned(CLUSTER_STATIC_ENTRY, false),
  // Not namespaced: the file that SCM reads, which no API server serves.
  { group: SPIRE_GROUP, kind: SCM_CONFIG_KIND, namespaced: false, isNameless: true },
  { group: OPENSHIFT_SCM.group, kind: OPENSHIFT_SCM.kind, namespaced: false },
  { group: OPENSHIFT_AGENT.group, kind: OPENSHIFT_AGENT.kind, namespaced: false },
  { group: '', kind: 'Namespace', namespaced: false },
  { group: '', kind: 'Node', namespaced: false },
  namespaced({ group: '', kind: 'Pod' }),
  namespaced({ group: '', kind: 'Endpoints' }),
  namespaced({ group: '', kind: 'ConfigMap' }),
  ...WORKLOAD_KINDS.map(namespaced),
  namespaced(ACCESS_POLICY_KIND),
  ...OLD_ACCESS_POLICIES.map(namespaced),
  ...NAMING_KINDS.map(namespaced),
]

/** The kinds that an answer uses which asks for federation, beside those. */
export const FEDERATION_KINDS: readonly WantedKind[] = [versioned(FEDERATED_TRUST_DOMAIN, false)]

/** The kinds that an answer uses which compares clusters, beside those. */
export const CLUSTER_KINDS: readonly WantedKind[] = [...FEDERATION_KINDS, versioned(POOL_IMPORT)]

/** The kinds that an answer uses which asks for SPIRE's own parts, beside those. */
export const SPIRE_KINDS: readonly WantedKind[] = [
  { group: 'apiextensions.k8s.io', kind: CRD_KIND, namespaced: false },
]
