// Which pods the API server takes in a namespace. Whether a pod is one of them is not looked at: volumes, security contexts and the labels of
// a CSI driver decide. https://kubernetes.io/docs/concepts/security/pod-security-admission/
import type { Namespace } from './pod.ts'

const ENFORCE = 'pod-security.kubernetes.io/enforce'
/** From the one that takes any pod to the one that takes the fewest. */
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']

/** The level that a namespace enforces. */
export function enforcedLevel({ labels }: Pick<Namespace, 'labels'>): string {
  return labels.get(ENFORCE) ?? 'privileged'
}

/** Whether a level may refuse pods that another one takes. */
export function isStricter(level: string, than: string): boolean {
  return LEVELS.indexOf(level) > LEVELS.indexOf(than)
}
