// The placeholders for facts about a pod that may not be known yet. One placeholder stands for one fact, so two texts of one
// pod that hold the same placeholder hold the same value.

/** The UID of a pod that is not created yet. */
export const POD_UID = '<pod UID>'
/** The name of a pod that its controller will make up. */
export const POD_NAME = '<pod name>'
/** The node of a pod that is not scheduled yet. */
export const NODE_NAME = '<node name>'
/** The UID of a node that was not read. */
export const NODE_UID = '<node UID>'
/** SCM's trust domain. */
export const TRUST_DOMAIN = '<trust-domain>'
/** SCM's cluster name. */
export const CLUSTER_NAME = '<cluster-name>'
/** SCM's cluster domain, which may be empty. */
export const CLUSTER_DOMAIN = '<cluster-domain>'

/** The facts whose values are plain names, so that a text stays well formed whatever they turn out to be. */
export const PLAIN_FACTS: ReadonlySet<string> = new Set([
  POD_UID,
  POD_NAME,
  NODE_NAME,
  NODE_UID,
  TRUST_DOMAIN,
  CLUSTER_NAME,
])

/** The placeholder for the value of a label. */
export function labelFact(key: string): string {
  return `<label ${key}>`
}
