// `--output-label KEY=VALUE`: labels for every output, for an SCM that sees only labelled ClusterSPIFFEIDs
// (`clusterSPIFFEIDLabelSelector`). The operator and the plugin read the flag by the same rules (docs/contract.md §3).
import { OWN_KEY_PREFIX, SCM_CLASS_LABEL } from '../../model/names.ts'
import { labelValueProblem, qualifiedNameProblem } from '../../base/text/kubernetes.ts'

export const OUTPUT_LABEL_FLAG = '--output-label'

/** The labels, or the first argument that is none: what is wrong with it, and what to write. */
export type OutputLabels =
  | { readonly kind: 'labels'; readonly labels: ReadonlyMap<string, string> }
  | { readonly kind: 'problem'; readonly argument: string; readonly why: string; readonly fix: string }

/** Reads the values of the flag, in the order in which they were given. */
export function readOutputLabels(values: readonly string[]): OutputLabels {
  const labels = new Map<string, string>()
  for (const argument of values) {
    const problem = (why: string, fix: string): OutputLabels => ({ kind: 'problem', argument, why, fix })
    const at = argument.indexOf('=')
    if (at < 0) return problem('has no equals sign', 'give KEY=VALUE')
    const [key, value] = [argument.slice(0, at), argument.slice(at + 1)]
    const keyProblem = qualifiedNameProblem(key)
    if (keyProblem !== undefined) return problem(`the key ${keyProblem}`, 'give a label key of Kubernetes')
    const valueProblem = labelValueProblem(value)
    if (valueProblem !== undefined)
      return problem(`the value ${valueProblem}`, 'give a label value of Kubernetes')
    if (key.startsWith(OWN_KEY_PREFIX))
      return problem(`the keys below ${OWN_KEY_PREFIX} are kleym's own`, 'give another key')
    if (key === SCM_CLASS_LABEL) return problem('kleym sets this label to its class', 'set the class instead')
    const before = labels.get(key)
    if (before !== undefined && before !== value)
      return problem(`${key} is given the value ${JSON.stringify(before)} too`, 'give each key one value')
    labels.set(key, value)
  }
  return { kind: 'labels', labels }
}
