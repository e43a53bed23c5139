// Whether a pod is there that a controller of a kind which is not read makes in its own way.
import { podText } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { open, YES, type Truth } from '../../model/truth/truth.ts'

/** Yes for every other pod. */
export function isMade(pod: Pod): Truth {
  const { namespace, perhaps } = pod
  return perhaps === undefined
    ? YES
    : open({ kind: 'made by', of: { kind: 'Pod', namespace }, maker: podText(pod), why: perhaps.why })
}
