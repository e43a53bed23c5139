// The flags that commands share, once each, with kubectl's names and meanings (docs/reference/commands.md). Defaults
// stand in constants, which help and code share.
import * as Flags from '@oclif/core/flags'
import { REPEATABLE } from './repeatable.ts'
import { SEVERITIES } from '@kleym/shared/core/findings/index.ts'
import { COLOUR_FLAGS, type ColourFlag } from '../io/palette.ts'

/** The formats of `-o`: docs/reference/output.md. */
export const OUTPUT_FORMATS = [
  'text',
  'wide',
  'json',
  'yaml',
  'name',
  'sarif',
  'junit',
  'github',
  'openreports',
  'mermaid',
  'markdown',
  'dot',
  'html',
  'spire',
] as const
/** One of them. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]
/** The format without `-o`. */
export const DEFAULT_OUTPUT: OutputFormat = 'text'

/** Thresholds for exit code 1, the strictest last; `never` is none. */
export const FAIL_ON = ['error', 'warning', 'info', 'never'] as const
/** One of them. */
export type FailOn = (typeof FAIL_ON)[number]
/** The threshold without `--fail-on`. */
export const DEFAULT_FAIL_ON: FailOn = 'error'

/** Where SCM usually is: the namespaces of the hardened charts, of SPIRE's own examples, and of OpenShift. */
export const SCM_NAMESPACES: readonly string[] = [
  'spire-server',
  'spire-system',
  'zero-trust-workload-identity-manager',
]

/** The current namespace offline, if no flag and no kubeconfig names another. */
export const DEFAULT_NAMESPACE = 'default'

const SOURCES = 'SOURCE'

/** The flags under one heading of the help. */
function ofGroup<Flags extends Readonly<Record<string, object>>>(helpGroup: string, flags: Flags): Flags {
  for (const flag of Object.values(flags)) Object.assign(flag, { helpGroup })
  return flags
}

/** Where the state comes from. */
export const sourceFlags = ofGroup(SOURCES, {
  filename: Flags.string({
    char: 'f',
    helpValue: 'FILE|DIR|-',
    description: 'Manifests to read: a file, a folder, or - for stdin. Repeatable.',
    ...REPEATABLE,
  }),
  recursive: Flags.boolean({
    char: 'R',
    description: 'Read the folders of -f with all folders below them.',
  }),
  kustomize: Flags.string({
    char: 'k',
    helpValue: 'DIR',
    description: 'Read the output of kubectl kustomize for a folder. Repeatable, also beside -f.',
    ...REPEATABLE,
  }),
  render: Flags.boolean({
    description: 'Render the charts and kustomizations that folders of -f hold, with your helm and kubectl.',
  }),
  exclude: Flags.string({
    helpValue: 'GLOB',
    description:
      'Files and folders not to read in folders of -f, such as docs/** or *.tmpl.yaml. Repeatable.',
    ...REPEATABLE,
  }),
  offline: Flags.boolean({
    description: 'Answer from the files alone; no cluster and no kubeconfig is touched.',
  }),
  live: Flags.string({
    helpValue: 'DIR',
    description: 'With --offline: a dump of the cluster. The files of -f are applied to it.',
  }),
  without: Flags.string({
    helpValue: 'KIND/NAME',
    description: 'Answer as if KIND[.GROUP]/[NAMESPACE/]NAME were deleted. Repeatable.',
    ...REPEATABLE,
  }),
  namespace: Flags.string({
    char: 'n',
    helpValue: 'NAME',
    description: `The namespace, instead of the one of the context. Offline, also that of objects without one (else ${DEFAULT_NAMESPACE}).`,
  }),
})

/** What the install and SPIRE decide. */
export const settingsFlags = ofGroup('SETTINGS', {
  'trust-domain': Flags.string({
    helpValue: 'NAME',
    description: 'The trust domain of the SPIFFE IDs, such as example.org.',
  }),
  'clusterspiffeid-class-name': Flags.string({
    helpValue: 'NAME',
    description: 'The class that the operator gives to its ClusterSPIFFEIDs.',
  }),
  'output-label': Flags.string({
    helpValue: 'KEY=VALUE',
    ...REPEATABLE,
    description: 'A label that the operator gives to its ClusterSPIFFEIDs (repeatable).',
  }),
  'variant-label-key': Flags.string({
    helpValue: 'KEY',
    description: 'The pod label by which the operator tells the variants of a pool apart.',
  }),
  'scm-config': Flags.string({
    helpValue: 'FILE',
    description: 'The configuration of the SPIRE Controller Manager, raw or in its ConfigMap.',
  }),
  config: Flags.string({
    helpValue: 'FILE',
    description: 'The settings file, instead of the .kleym.yaml of the repository.',
  }),
  'no-config': Flags.boolean({
    description: 'Read no settings file.',
  }),
  'scm-namespace': Flags.string({
    helpValue: 'NAME',
    description:
      'Look for the SPIRE Controller Manager in this namespace alone; without it, wherever it runs.',
  }),
})

/** What help says of `-o`, for a command that has an answer in these formats. */
export function formatsText(formats: readonly OutputFormat[]): string {
  return `The form of the answer: ${formats.join(', ')}.`
}

/** How the answer comes out. */
export const outputFlags = ofGroup('OUTPUT', {
  output: Flags.option({ options: OUTPUT_FORMATS, default: DEFAULT_OUTPUT })({
    char: 'o',
    helpValue: 'FORMAT',
    description: formatsText(OUTPUT_FORMATS),
  }),
  'fail-on': Flags.option({ options: FAIL_ON, default: DEFAULT_FAIL_ON })({
    helpValue: FAIL_ON.join('|'),
    description: 'Exit with 1 from this severity on.',
  }),
  suppress: Flags.string({
    helpValue: 'CODE=KIND/NAME',
    description: 'Findings not to count: CODE=KIND/[NAMESPACE/]NAME, with * in names. Repeatable.',
    ...REPEATABLE,
  }),
  code: Flags.string({
    helpValue: 'CODE',
    description:
      'Show only findings of this code (KLM301) or reason (UnsafeSelector). Repeatable. Filters the output only; the exit code counts everything.',
    ...REPEATABLE,
  }),
  severity: Flags.option({ options: SEVERITIES })({
    helpValue: SEVERITIES.join('|'),
    description:
      'Show only findings of this severity and worse. Filters the output only; the exit code counts everything.',
  }),
  summary: Flags.boolean({
    description: 'Only the first lines, which are the answer. With -o text, wide and markdown.',
  }),
  'allow-empty': Flags.boolean({
    description: 'Exit code 0, not 4, if there is nothing to check in the files.',
  }),
  strict: Flags.boolean({
    description: 'Assume nothing: an answer that depends on an assumption is not known (exit code 4).',
  }),
  color: Flags.option({ options: COLOUR_FLAGS, default: 'auto' as ColourFlag })({
    helpValue: COLOUR_FLAGS.join('|'),
    description: 'Colours; auto looks at the terminal, NO_COLOR and TERM.',
  }),
  v: Flags.integer({
    char: 'v',
    helpValue: 'LEVEL',
    description: 'At 6 or higher, an error comes with its stack.',
    min: 0,
    max: 10,
    default: 0,
  }),
})

/** `--names`, of the commands that say whom a name means. */
export const namesFlag = Flags.string({
  helpGroup: SOURCES,
  helpValue: 'FILE',
  description:
    'Names outside of the cluster: a role of Vault or a trust policy of a cloud as JSON or YAML, or a list of SPIFFE IDs. Repeatable.',
  ...REPEATABLE,
})

/** `--configmaps`, of the same commands. */
export const configMapsFlag = Flags.boolean({
  helpGroup: SOURCES,
  description: "Look for SPIFFE IDs in the cluster's ConfigMaps too.",
})

/** The entries of the SPIRE server, and when they were dumped. */
export const entriesFlags = {
  entries: Flags.string({
    helpValue: 'FILE|-',
    description: 'The entries of the server, as SPIRE prints them in JSON. Repeatable, for nested servers.',
    ...REPEATABLE,
  }),
  'as-of': Flags.string({
    helpValue: 'TIME',
    description:
      'When the entries were dumped (RFC 3339). Without it, entries from stdin beside a cluster count as current.',
  }),
}

/** `-A`; every source command has it. */
export const allNamespacesFlag = Flags.boolean({
  char: 'A',
  description: 'All namespaces.',
})

/** `-l`. */
export const selectorFlag = Flags.string({
  char: 'l',
  helpValue: 'SELECTOR',
  description: 'Only objects with these labels, such as app=llama,tier!=test.',
})
