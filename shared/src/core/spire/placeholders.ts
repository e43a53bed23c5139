// The facts about a pod that may not be known yet, by the names under which they are shown. One name stands for one
// fact, so two texts of one pod that hold the same name hold the same value.
export const POD_UID = '<pod UID>'
export const POD_NAME = '<pod name>'
export const NODE_NAME = '<node name>'
export const NODE_UID = '<node UID>'
export const TRUST_DOMAIN = '<trust-domain>'
export const CLUSTER_NAME = '<cluster-name>'
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

/** How the value of a label that nobody knows yet is shown. */
export function labelFact(key: string): string {
  return `<label ${key}>`
}
