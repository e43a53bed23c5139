// The flags of the operator, once: the parser, the help and the defaults read this table.
import { parseArgs } from 'node:util'
import {
  CLASS_NAME_ENV,
  CLASS_NAME_FLAG,
  DEFAULT_BINDINGS_PER_NAMESPACE,
  DEFAULT_LEASE_NAME,
  LEASE_NAME_FLAG,
  TRUST_DOMAIN_ENV,
  TRUST_DOMAIN_FLAG,
  VARIANT_LABEL_KEY_ENV,
  OUTPUT_LABEL_FLAG,
} from '@kleym/shared/core/decide/index.ts'
import { keysOf } from '@kleym/shared/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY, VARIANT_LABEL_KEY_FLAG } from '@kleym/shared/core/model/names.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { LOG_LEVELS } from '../telemetry/log.ts'

interface Flag {
  /** What stands for the value in the help; absent for a switch. */
  readonly value?: string
  /** The variable that is read where the flag is not given. */
  readonly env?: string
  /** The value where neither is given, as it would be written. */
  readonly default?: string
  /** It may be given several times, and each time counts. */
  readonly repeatable?: true
  readonly about: string
}

/** Also in the chart's test pod. */
export const CHECK_FLAG = '--check'

/** Whose outputs an operator adopts. */
export const TAKE_OVER_FLAG = '--take-over'

/** All flags with a value or a default, by their names with dashes. */
export const FLAGS = {
  [TRUST_DOMAIN_FLAG]: {
    value: 'DOMAIN',
    env: TRUST_DOMAIN_ENV,
    about: 'The trust domain of all SPIFFE IDs, e.g. example.org. Required.',
  },
  [CLASS_NAME_FLAG]: {
    value: 'CLASS',
    env: CLASS_NAME_ENV,
    default: '',
    about:
      'spec.className of every ClusterSPIFFEID. Empty: none, for a SPIRE controller manager without a class.',
  },
  [TAKE_OVER_FLAG]: {
    value: 'NAMESPACE/NAME',
    repeatable: true,
    about:
      'Adopt the outputs of another install, which must not run any more; named by its Lease. Repeatable.',
  },
  '--classless-ignored': {
    default: 'false',
    about:
      'States that no SPIRE controller manager here handles a ClusterSPIFFEID without a class. Then an output stays if an older CRD drops its class.',
  },
  [OUTPUT_LABEL_FLAG]: {
    value: 'KEY=VALUE',
    repeatable: true,
    about:
      'A label of every ClusterSPIFFEID, for a SPIRE controller manager with a clusterSPIFFEIDLabelSelector. Repeatable.',
  },
  [VARIANT_LABEL_KEY_FLAG]: {
    value: 'KEY',
    env: VARIANT_LABEL_KEY_ENV,
    default: DEFAULT_VARIANT_LABEL_KEY,
    about:
      'The pod label that tells the variants of a pool apart (mode PerVariant), e.g. llm-d.ai/role for the pods of llm-d.',
  },
  '--kubeconfig': {
    value: 'FILE',
    about: 'The kubeconfig to use; without it $KUBECONFIG, then the service account of the pod.',
  },
  '--context': { value: 'NAME', about: 'The context of the kubeconfig; its current context when absent.' },
  '--workers': { value: 'N', default: '8', about: 'How many bindings are processed at the same time.' },
  '--writes-per-second': {
    value: 'N',
    default: '500',
    about:
      'The most writes of outputs, statuses and finalizers in a second, shared by namespace. Withdrawals, deletions and the Lease are exempt. 0: no limit.',
  },
  '--bindings-per-namespace': {
    value: 'N',
    default: String(DEFAULT_BINDINGS_PER_NAMESPACE),
    about: 'The most bindings of a namespace with an output. Those that have one keep it. 0: no limit.',
  },
  '--resync-period': {
    value: 'DURATION',
    default: '10h',
    about: 'How often every binding is processed without a change, e.g. 30m. 0: never.',
  },
  '--leader-elect': {
    default: 'true',
    about: 'Write only while holding the Lease. Switch it off only where one process runs.',
  },
  '--leader-election-namespace': {
    value: 'NAMESPACE',
    env: 'POD_NAMESPACE',
    about: 'The namespace of the Lease; that of the pod when absent.',
  },
  [LEASE_NAME_FLAG]: {
    value: 'NAME',
    default: DEFAULT_LEASE_NAME,
    about: 'The name of the Lease.',
  },
  '--health-probe-bind-address': {
    value: 'HOST:PORT',
    default: ':8081',
    about: 'Where /healthz and /readyz are served. 0: nowhere.',
  },
  '--metrics-bind-address': {
    value: 'HOST:PORT',
    default: ':8080',
    about: 'Where /metrics is served. 0: nowhere.',
  },
  '--metrics-secure': {
    default: 'false',
    about: 'Serve /metrics over HTTPS, to those who may get it by RBAC. Needs the two files.',
  },
  '--metrics-tls-cert-file': {
    value: 'FILE',
    about: 'The certificate of /metrics, PEM; read again when it changes.',
  },
  '--metrics-tls-key-file': { value: 'FILE', about: 'The key of that certificate, PEM.' },
  [CHECK_FLAG]: {
    default: 'false',
    about:
      'Check that everything an operator with these flags needs is there, and that one leads; then exit.',
  },
  '--log-level': { value: LOG_LEVELS.join('|'), default: 'info', about: 'The lowest level that is logged.' },
} as const satisfies Record<string, Flag>

export type FlagName = keyof typeof FLAGS

const NAMES = keysOf(FLAGS)
/** All of the table, each as it is seen where its parts do not matter. */
const TABLE: Readonly<Record<FlagName, Flag>> = FLAGS
const HELP: ReadonlySet<string> = new Set(['--help', '-h'])
const VERSION = '--version'

/** A value and where it comes from, for messages. */
export interface GivenValue {
  /** `--workers`, or the variable. */
  readonly source: string
  readonly value: string
}

export type OperatorFlags =
  | {
      readonly kind: 'given'
      readonly flags: ReadonlyMap<FlagName, GivenValue>
      /** All values of the flags that may be given several times, in their order. */
      readonly repeated: ReadonlyMap<FlagName, readonly string[]>
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'error'; readonly message: string }

/** The default of a flag, as it would be written; undefined where it has none. */
export function defaultOf(name: FlagName): string | undefined {
  return TABLE[name].default
}

/**
 * Reads arguments and, for the flags that are not among them, the environment. Of a flag given twice the last counts,
 * but for the repeatable ones.
 */
export function readFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): OperatorFlags {
  if (argv.some((arg) => HELP.has(arg))) return { kind: 'help' }
  if (argv.includes(VERSION)) return { kind: 'version' }
  const flags = new Map<FlagName, GivenValue>()
  const repeated = new Map<FlagName, string[]>()
  for (const name of NAMES) {
    const variable = TABLE[name].env
    const value = variable === undefined ? undefined : env[variable]
    if (variable !== undefined && value !== undefined) flags.set(name, { source: variable, value })
  }
  for (const token of tokensOf(argv)) {
    if (token.kind !== 'option') {
      const what = token.kind === 'positional' ? JSON.stringify(token.value) : '"--"'
      return {
        kind: 'error',
        message: `${what}: the operator takes flags only; remove it, or write --flag=value`,
      }
    }
    const found = readOption(token, argv)
    if ('message' in found) return { kind: 'error', message: found.message }
    flags.set(found.name, { source: found.name, value: found.value })
    if (TABLE[found.name].repeatable === true) getOrCreate(repeated, found.name, () => []).push(found.value)
  }
  return { kind: 'given', flags, repeated }
}

interface Option {
  readonly rawName: string
  /** Its place among the arguments. */
  readonly index: number
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function readOption(
  option: Option,
  argv: readonly string[],
): { readonly name: FlagName; readonly value: string } | { readonly message: string } {
  const name = NAMES.find((known) => known === option.rawName)
  if (name === undefined) return { message: unknownFlag(argv[option.index] ?? option.rawName) }
  if (TABLE[name].value === undefined) return { name, value: option.value ?? 'true' }
  // Without an equals sign the next argument is the value: rather none at all than the next flag.
  const swallowed = option.inlineValue !== true && option.value?.startsWith('--') === true
  if (option.value === undefined || swallowed)
    return { message: `${name}: has no value; write ${name}=${TABLE[name].value}` }
  return { name, value: option.value }
}

function unknownFlag(argument: string): string {
  const written = argument.split('=', 1)[0] ?? ''
  const near = didYouMean(written.replace(/^-?(?=-[^-])/, '-'), NAMES) ?? 'see --help'
  return `${JSON.stringify(written)}: there is no such flag; ${near}`
}

function tokensOf(argv: readonly string[]) {
  const options = Object.fromEntries(
    NAMES.map((name) => [
      name.slice(2),
      { type: TABLE[name].value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  return parseArgs({ args: [...argv], options, strict: false, tokens: true }).tokens
}

/** The help, 80 to 110 characters wide. */
export function helpText(): string {
  const lines = NAMES.flatMap((name) => {
    const { value, env, default: fallback, about } = TABLE[name]
    const notes = [
      env === undefined ? [] : `Falls back to $${env}.`,
      fallback === undefined || fallback === '' ? [] : `Default: ${fallback}.`,
    ].flat()
    return [
      `  ${name}${value === undefined ? '[=true|false]' : `=${value}`}`,
      `      ${[about, ...notes].join(' ')}`,
    ]
  })
  return [
    'kleym-operator: compiles InferenceIdentityBindings into ClusterSPIFFEIDs.',
    '',
    'Usage: kleym-operator --trust-domain=DOMAIN [flags]',
    '',
    'A flag that is given, even as an empty string, beats the environment.',
    '',
    'Flags:',
    ...lines,
    '  -h, --help',
    '      Print this help.',
    `  ${VERSION}`,
    '      Print the version.',
    '',
  ].join('\n')
}
