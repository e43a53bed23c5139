// The options of `status` where no flag is given.
import type { CommonOptions } from '../../src/flags/options.ts'

export const OPTIONS: CommonOptions = {
  allNamespaces: true,
  sources: {
    files: { files: [], recursive: false, kustomize: [] },
    offline: false,
    live: undefined,
    without: [],
    namespace: undefined,
    cluster: { kubeconfigPath: undefined, context: undefined, overrides: {}, timeoutMs: undefined },
    scmNamespaces: ['spire'],
  },
  settings: { trustDomain: undefined, className: undefined, outputLabels: undefined, scmConfig: undefined },
  output: { format: 'text', failOn: 'error', colour: 'never', suppress: [] },
}
