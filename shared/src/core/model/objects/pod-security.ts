// Which pods the API server takes in a namespace. Whether a pod is one of them is not looked at: volumes, security contexts and the labels of
// a CSI driver decide. https://kubernetes.io/docs/concepts/security/pod-security-admission/
import type { Namespace } from './pod.ts'

const ENFORCE = 'pod-security.kubernetes.io/enforce'
/** Which release's definition of the level counts: without it the newest that the API server knows. */
const ENFORCE_VERSION = `${ENFORCE}-version`
const NEWEST = 'latest'
/** From the one that takes any pod to the one that takes the fewest. */
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']
const [ANY_POD = ''] = LEVELS
/** What the API server takes a level for that it does not know (k8s.io/pod-security-admission, api/helpers.go, ParseLevel). */
const FEWEST_PODS = 'restricted'

/** What a namespace enforces, as the API server names it when it refuses a pod: `baseline:v1.23`. */
export function enforcedLevel({ labels }: Pick<Namespace, 'labels'>): string {
  const said = labels.get(ENFORCE) ?? ANY_POD
  const level = LEVELS.includes(said) ? said : FEWEST_PODS
  return level === ANY_POD ? level : `${level}:${labels.get(ENFORCE_VERSION) ?? NEWEST}`
}

/** Whether an enforced level takes fewer pods than another. Of two versions of a level none does: some checks came, others went. */
export function isStricter(enforced: string, than: string): boolean {
  return strictness(enforced) > strictness(than)
}

function strictness(enforced: string): number {
  return LEVELS.findIndex((level) => enforced.startsWith(level))
}
