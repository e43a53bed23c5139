// The API groups of the kinds that findings are about.
import {
  ACCESS_POLICY_KIND,
  FEDERATED_TRUST_DOMAIN,
  NAMING_KINDS,
  OBJECTIVE_GROUPS,
  OBJECTIVE_KIND,
  POOL_GROUPS,
  POOL_KIND,
} from './kinds.ts'
import {
  BINDING_GROUP,
  BINDING_KIND,
  CLUSTER_SPIFFE_ID_KIND,
  CLUSTER_STATIC_ENTRY_KIND,
  SPIRE_GROUP,
} from './names.ts'

/** The kind of SCM's configuration: findings are about it, though no API server serves it. */
export const SCM_CONFIG_KIND = 'ControllerManagerConfig'

/** The kind of an entry that a SPIRE server holds: findings are about it, and no API server serves it. */
export const REGISTRATION_ENTRY_KIND = 'RegistrationEntry'

/** The groups that a kind stands in where a finding names it without one, the preferred first; kinds of the core group are left out. */
export const SUBJECT_GROUPS: Readonly<Record<string, readonly string[]>> = {
  [BINDING_KIND]: [BINDING_GROUP],
  [POOL_KIND]: POOL_GROUPS,
  [OBJECTIVE_KIND]: OBJECTIVE_GROUPS,
  [ACCESS_POLICY_KIND.kind]: [ACCESS_POLICY_KIND.group],
  ...Object.fromEntries(NAMING_KINDS.map(({ kind, group }) => [kind, [group]])),
  [CLUSTER_SPIFFE_ID_KIND]: [SPIRE_GROUP],
  [CLUSTER_STATIC_ENTRY_KIND]: [SPIRE_GROUP],
  [FEDERATED_TRUST_DOMAIN.kind]: [SPIRE_GROUP],
  Deployment: ['apps'],
  [SCM_CONFIG_KIND]: [SPIRE_GROUP],
  [REGISTRATION_ENTRY_KIND]: [SPIRE_GROUP],
}

/** The group under which projects of kubebuilder have kept their own configuration, of a kind with the same name. */
const CONTROLLER_RUNTIME = 'controller-runtime.sigs.k8s.io'

/** Whether a text may hold SCM's configuration: it has its kind, and not only that of another controller. */
export function mayHoldScmConfig(text: string): boolean {
  return text.includes(SCM_CONFIG_KIND) && (text.includes(SPIRE_GROUP) || !text.includes(CONTROLLER_RUNTIME))
}
