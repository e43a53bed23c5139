// The operator's settings: what the values of its flags must be (docs/contract.md §3). A bad one is a line that says what, where,
// why and how to fix it.
import {
  CLASS_NAME_FLAG,
  DEFAULT_LEASE_NAME,
  TRUST_DOMAIN_ENV,
  TRUST_DOMAIN_FLAG,
  VARIANT_LABEL_KEY_ENV,
  OUTPUT_LABEL_FLAG,
  readOutputLabels,
  VARIANT_LABEL_KEY_FIX,
  variantLabelKeyProblem,
} from '@kleym/shared/core/decide/index.ts'
import { DEFAULT_VARIANT_LABEL_KEY, VARIANT_LABEL_KEY_FLAG } from '@kleym/shared/core/model/names.ts'
import { trustDomainProblem } from '@kleym/shared/core/model/spiffe-id.ts'
import { isDns1123Label, isDns1123Subdomain } from '@kleym/shared/core/base/text/kubernetes.ts'
import {
  CHECK_FLAG,
  defaultOf,
  helpText,
  readFlags,
  TAKE_OVER_FLAG,
  type FlagName,
  type OperatorFlags,
  type GivenValue,
} from './flags.ts'
import type { LeaseName } from '../election/lease.ts'
import { LOG_LEVELS, type LogLevel } from '../telemetry/log.ts'

/** Where a server listens. */
export interface BindAddress {
  /** Undefined: on all addresses. */
  readonly host: string | undefined
  /** 0: any free one. */
  readonly port: number
}

export interface Settings {
  readonly trustDomain: string
  /** Empty: none. */
  readonly className: string
  /** The installs whose outputs count as ours: namespace and name of their Leases. */
  readonly takeOver: ReadonlySet<string>
  /** Whether no SCM takes an output without a class. */
  readonly classlessIgnored: boolean
  /** The labels that every output carries beside kleym's own. */
  readonly outputLabels: ReadonlyMap<string, string>
  /** The pod label that tells the variants of a pool apart. */
  readonly variantLabelKey: string
  /** Undefined: `$KUBECONFIG`, then the pod's service account. */
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly workers: number
  /** Undefined: no limit; `bindingsPerNamespace` likewise. */
  readonly writesPerSecond: number | undefined
  readonly bindingsPerNamespace: number | undefined
  /** In milliseconds; undefined: never. */
  readonly resyncMs: number | undefined
  /** The Lease, which also names the install, and whether it is used. */
  readonly lease: LeaseSettings
  readonly leaderElection: boolean
  /** Undefined: switched off; `metrics` likewise. */
  readonly probes: BindAddress | undefined
  readonly metrics: { readonly address: BindAddress; readonly tls: TlsFiles | undefined } | undefined
  readonly logLevel: LogLevel
}

export interface LeaseSettings {
  /** Undefined: that of the cluster's context, or of the pod. */
  readonly namespace: string | undefined
  readonly leaseName: string
}

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export type ParsedSettings =
  | { readonly kind: 'run'; readonly settings: Settings }
  /** To look at what such an operator would need, and not to be one. */
  | { readonly kind: 'check'; readonly settings: Settings }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** One line, without a line feed. */
  | { readonly kind: 'error'; readonly message: string }

/** The most workers: more of them than connections only wait for each other. */
const WORKERS_MAX = 64
/** The shortest and the longest resync, in milliseconds: the latter is what a timer can hold, in whole days. */
const RESYNC_MIN_MS = 100
const RESYNC_MAX_MS = 24 * 24 * 3_600_000

/** Reads the arguments (without the program) and the environment. */
export function parseSettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedSettings {
  const read = readFlags(argv, env)
  if (read.kind === 'help') return { kind: 'help', text: helpText() }
  if (read.kind !== 'given') return read
  try {
    const values = new Values(read)
    const settings = settingsOf(values)
    return { kind: values.required(CHECK_FLAG, switchValue) ? 'check' : 'run', settings }
  } catch (error) {
    if (error instanceof BadSetting) return { kind: 'error', message: error.message }
    throw error
  }
}

/** The Lease that operators with these settings share. */
export function leaseOf({ namespace, leaseName }: LeaseSettings, clusterNamespace: string): LeaseName {
  return { namespace: namespace ?? clusterNamespace, name: leaseName }
}

function settingsOf(values: Values): Settings {
  return {
    trustDomain: trustDomainOf(values),
    className: values.required(CLASS_NAME_FLAG, plainText),
    takeOver: new Set(values.all(TAKE_OVER_FLAG).map(installOf)),
    classlessIgnored: values.required('--classless-ignored', switchValue),
    outputLabels: outputLabelsOf(values.all(OUTPUT_LABEL_FLAG)),
    variantLabelKey: variantLabelKeyOf(values),
    kubeconfig: values.optional('--kubeconfig', plainText),
    context: values.optional('--context', plainText),
    workers: values.required('--workers', wholeNumber),
    writesPerSecond: values.required('--writes-per-second', limit),
    bindingsPerNamespace: values.required('--bindings-per-namespace', limit),
    resyncMs: values.required('--resync-period', resync),
    lease: {
      namespace: values.optional('--leader-election-namespace', namespaceName),
      leaseName: values.required('--leader-election-lease-name', objectName),
    },
    leaderElection: values.required('--leader-elect', switchValue),
    probes: values.required('--health-probe-bind-address', bindAddress),
    metrics: metricsOf(values),
    logLevel: values.required('--log-level', logLevel),
  }
}

class BadSetting extends Error {
  override readonly name = 'BadSetting'
}

/** Why a value is not good, and what to do. */
interface Problem {
  readonly why: string
  readonly fix: string
}
type Reading<T> = { readonly value: T } | Problem

class Values {
  readonly #flags: ReadonlyMap<FlagName, GivenValue>
  readonly #repeated: ReadonlyMap<FlagName, readonly string[]>

  constructor({ flags, repeated }: Extract<OperatorFlags, { kind: 'given' }>) {
    this.#flags = flags
    this.#repeated = repeated
  }

  /** Every value of a flag that may be given several times. */
  all(name: FlagName): readonly string[] {
    return this.#repeated.get(name) ?? []
  }

  source(name: FlagName): string {
    return this.#flags.get(name)?.source ?? name
  }

  /** The value that is given; undefined where there is none, or an empty one. */
  optional<T>(name: FlagName, read: (text: string) => Reading<T>): T | undefined {
    const given = this.#flags.get(name)
    return given === undefined || given.value === '' ? undefined : this.#read(given, read)
  }

  /** The value that is given, else the default, else an empty text. */
  required<T>(name: FlagName, read: (text: string) => Reading<T>): T {
    return this.#read(this.#flags.get(name) ?? { source: name, value: defaultOf(name) ?? '' }, read)
  }

  #read<T>(given: GivenValue, read: (text: string) => Reading<T>): T {
    const result = read(given.value)
    if ('value' in result) return result.value
    throw new BadSetting(`${given.source}=${quotedIfOdd(given.value)}: ${result.why}; ${result.fix}`)
  }
}

/**
 * A value in a message: unchanged if it has plain characters only, else in quotes with escapes, so that a message is one line.
 */
function quotedIfOdd(value: string): string {
  return /^[\w.:/@,[\]-]+$/.test(value) ? value : JSON.stringify(value)
}

function trustDomainOf(values: Values): string {
  const value = values.required(TRUST_DOMAIN_FLAG, (text) => ({ value: text }))
  const problem = trustDomainProblem(value)
  if (problem === undefined) return value
  const fix = 'a name such as example.org: no scheme, no slash, no blanks, lower case'
  if (value !== '')
    throw new BadSetting(`${values.source(TRUST_DOMAIN_FLAG)}=${quotedIfOdd(value)}: ${problem}; give ${fix}`)
  throw new BadSetting(
    `${values.source(TRUST_DOMAIN_FLAG)}: the trust domain is not set, and there is no identity without one; ` +
      `set ${TRUST_DOMAIN_FLAG} or ${TRUST_DOMAIN_ENV} to ${fix}`,
  )
}

function outputLabelsOf(given: readonly string[]): Settings['outputLabels'] {
  const read = readOutputLabels(given)
  if (read.kind === 'labels') return read.labels
  throw new BadSetting(`${OUTPUT_LABEL_FLAG}=${quotedIfOdd(read.argument)}: ${read.why}; ${read.fix}`)
}

/** An empty variable counts as none, as where a chart passes on what was not set; an empty flag is a mistake. */
function variantLabelKeyOf(values: Values): string {
  const isUnset = values.source(VARIANT_LABEL_KEY_FLAG) === VARIANT_LABEL_KEY_ENV
  return values.required(VARIANT_LABEL_KEY_FLAG, (text) => {
    if (isUnset && text === '') return { value: DEFAULT_VARIANT_LABEL_KEY }
    const why = text === '' ? 'is empty' : variantLabelKeyProblem(text)
    return why === undefined ? { value: text } : { why, fix: VARIANT_LABEL_KEY_FIX }
  })
}

function installOf(text: string): string {
  const [namespace = '', name = '', ...more] = text.split('/')
  if (more.length === 0 && isDns1123Label(namespace) && isDns1123Subdomain(name)) return text
  throw new BadSetting(
    `${TAKE_OVER_FLAG}=${quotedIfOdd(text)}: is no install; give namespace and name of its Lease, such as kleym-system/${DEFAULT_LEASE_NAME}`,
  )
}

function metricsOf(values: Values): Settings['metrics'] {
  const address = values.required('--metrics-bind-address', bindAddress)
  const secure = values.required('--metrics-secure', switchValue)
  const certFile = values.optional('--metrics-tls-cert-file', plainText)
  const keyFile = values.optional('--metrics-tls-key-file', plainText)
  if (!secure && (certFile !== undefined || keyFile !== undefined))
    throw new BadSetting(
      '--metrics-tls-cert-file, --metrics-tls-key-file: used only with --metrics-secure; add it',
    )
  if (address === undefined) return undefined
  if (!secure) return { address, tls: undefined }
  if (certFile === undefined || keyFile === undefined)
    throw new BadSetting(
      '--metrics-secure: needs a certificate and its key; set --metrics-tls-cert-file and --metrics-tls-key-file',
    )
  return { address, tls: { certFile, keyFile } }
}

function plainText(text: string): Reading<string> {
  if (text.trim() !== text) return { why: 'begins or ends with a blank', fix: 'remove it' }
  if (/\p{Cc}/u.test(text)) return { why: 'holds a control character', fix: 'remove it' }
  return { value: text }
}

function wholeNumber(text: string): Reading<number> {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= WORKERS_MAX) return { value }
  return { why: 'is no number of workers', fix: `give a whole number from 1 to ${WORKERS_MAX}` }
}

/** 0 is none. */
function limit(text: string): Reading<number | undefined> {
  if (!/^\d{1,6}$/.test(text)) return { why: 'is no limit', fix: 'give a whole number, or 0 for none' }
  return { value: Number(text) === 0 ? undefined : Number(text) }
}

function switchValue(text: string): Reading<boolean> {
  if (text === 'true' || text === 'false') return { value: text === 'true' }
  return { why: 'is neither true nor false', fix: 'give one of them' }
}

function logLevel(text: string): Reading<LogLevel> {
  const value = LOG_LEVELS.find((level) => level === text)
  return value === undefined
    ? { why: 'is no log level', fix: `give one of ${LOG_LEVELS.join(', ')}` }
    : { value }
}

function namespaceName(text: string): Reading<string> {
  if (isDns1123Label(text)) return { value: text }
  return { why: 'is no name of a namespace', fix: 'give a DNS label of at most 63 characters' }
}

function objectName(text: string): Reading<string> {
  if (isDns1123Subdomain(text)) return { value: text }
  return { why: 'is no name of an object', fix: 'give lower-case letters, digits, dashes and dots' }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A duration as Go writes it. */
function resync(text: string): Reading<number | undefined> {
  if (text === '0') return { value: undefined }
  const parts = /^(\d{1,9}(\.\d{1,9})?(ms|s|m|h))+$/.test(text) ? text.match(/[\d.]+|[a-z]+/g) : null
  let ms = 0
  for (let at = 0; at < (parts?.length ?? 0); at += 2)
    ms += Number(parts?.[at]) * (UNIT_MS[parts?.[at + 1] ?? ''] ?? Number.NaN)
  if (ms === 0 && parts !== null) return { value: undefined }
  if (ms >= RESYNC_MIN_MS && ms <= RESYNC_MAX_MS) return { value: ms }
  return { why: 'is no period from 100ms to 576h', fix: 'give one such as 10h, 30m or 1h30m, or 0 for never' }
}

/** `:8081`, `127.0.0.1:8081`, `[::1]:8081`; `0` is nowhere. */
function bindAddress(text: string): Reading<BindAddress | undefined> {
  if (text === '0') return { value: undefined }
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:.%\w]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    return { why: 'is no address to listen on', fix: 'give HOST:PORT, :PORT, [IPv6]:PORT, or 0 for nowhere' }
  const host = bracketed ?? plain
  return { value: { host: host === '' ? undefined : host, port: Number(port) } }
}
