// What kleym itself is set to: from the operator's Deployment (its arguments, then its environment), from the status of
// bindings, and what to make of it when they disagree (contract §3; plugin.md, "Where the state comes from").
import { getOrCreate } from '../get-or-create.ts'
import { isRecord, listAt, stringAt, type JsonRecord } from '../json.ts'
import type { Config } from '../compile/config.ts'
import { finding, type Finding, type Subject } from '../findings/finding.ts'
import { bindingSubject } from '../findings/subjects.ts'
import type { Binding } from '../objects/binding.ts'
import { readMeta } from '../objects/meta.ts'
import type { RawObject } from '../objects/raw.ts'

/** The flags and variables that set the operator up, once. */
export const TRUST_DOMAIN_FLAG = '--trust-domain'
export const TRUST_DOMAIN_ENV = 'KLEYM_TRUST_DOMAIN'
export const CLASS_NAME_FLAG = '--clusterspiffeid-class-name'
export const CLASS_NAME_ENV = 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME'
export const LEASE_NAME_FLAG = '--leader-election-lease-name'
/** The name of the operator's Lease where the flag is not given. */
export const DEFAULT_LEASE_NAME = 'kleym-operator'

/** What one source says; undefined where it says nothing of that setting. */
export interface SettingsClaim {
  /** For a person: `Deployment kleym-system/kleym`. */
  readonly source: string
  readonly subject: Subject | undefined
  readonly trustDomain: string | undefined
  readonly className: string | undefined
}

/** The settings in force, and where sources disagree about them. */
export interface OperatorSettings {
  readonly config: Config
  /** Where the trust domain and the class come from; undefined: nobody says. */
  readonly trustDomainSource: string | undefined
  readonly classNameSource: string | undefined
  readonly disagreements: readonly Finding[]
}

/** The operator Deployments among some objects, and what they are set to. */
export function operatorClaims(objects: readonly RawObject[]): readonly SettingsClaim[] {
  return objects.flatMap(({ value }) => {
    if (value['kind'] !== 'Deployment') return []
    const { namespace, name } = readMeta(value)
    return listAt(value, 'spec', 'template', 'spec', 'containers').flatMap((container) => {
      const settings = containerSettings(container)
      if (settings === undefined) return []
      const subject = { kind: 'Deployment', namespace, name }
      return [{ source: `Deployment ${namespace}/${name}`, subject, ...settings }]
    })
  })
}

/** What the status of a binding says that the operator renders with. */
export function statusClaims(bindings: readonly Binding[]): readonly SettingsClaim[] {
  return bindings.flatMap((binding) => {
    const { status } = binding
    if (status?.trustDomain === undefined) return []
    return [
      {
        source: `the status of binding ${binding.key}`,
        subject: bindingSubject(binding),
        trustDomain: status.trustDomain,
        className: status.clusterSPIFFEIDClassName ?? '',
      },
    ]
  })
}

/** Takes each setting from the first claim that has it; every later one that differs is a finding. */
export function settleSettings(claims: readonly SettingsClaim[]): OperatorSettings {
  const trustDomain = claims.find((claim) => claim.trustDomain !== undefined)
  const className = claims.find((claim) => claim.className !== undefined)
  return {
    config: {
      trustDomain:
        trustDomain?.trustDomain === undefined
          ? { kind: 'not known' }
          : { kind: 'set', value: trustDomain.trustDomain },
      className: className?.className ?? '',
    },
    trustDomainSource: trustDomain?.source,
    classNameSource: className?.source,
    disagreements: disagreementsOf(claims, trustDomain, className),
  }
}

function disagreementsOf(
  claims: readonly SettingsClaim[],
  trustDomain: SettingsClaim | undefined,
  className: SettingsClaim | undefined,
): readonly Finding[] {
  const bySubject = new Map<string, { subject: Subject; evidence: string[] }>()
  const differ = (
    claim: SettingsClaim,
    what: string,
    theirs: string | undefined,
    first: SettingsClaim | undefined,
    ours: string | undefined,
  ): void => {
    if (claim.subject === undefined || first === undefined || theirs === undefined || theirs === ours) return
    const { subject } = claim
    getOrCreate(bySubject, claim.source, () => ({ subject, evidence: [] })).evidence.push(
      `${claim.source} has ${what} ${shown(theirs)}, ${first.source} has ${shown(ours ?? '')}`,
    )
  }
  for (const claim of claims) {
    differ(claim, 'the trust domain', claim.trustDomain, trustDomain, trustDomain?.trustDomain)
    differ(claim, 'the class', claim.className, className, className?.className)
  }
  return [...bySubject.values()].map(({ subject, evidence }) =>
    finding('KLM520', {
      subject,
      summary: 'the settings here are not those that this answer uses',
      evidence,
    }),
  )
}

function containerSettings(container: unknown): Pick<SettingsClaim, 'trustDomain' | 'className'> | undefined {
  const args = argumentsOf(container)
  const env = listAt(container, 'env')
  const flagged = args.some((arg) => arg.startsWith(CLASS_NAME_FLAG))
  const named = env.some((item) => [TRUST_DOMAIN_ENV, CLASS_NAME_ENV].includes(stringAt(item, 'name') ?? ''))
  const image = (stringAt(container, 'image') ?? '').split('/').at(-1) ?? ''
  const isOperator = flagged || named || (/^kleym(-operator)?([:@]|$)/.test(image) && args.length > 0)
  if (!isRecord(container) || !isOperator) return undefined
  const trustDomain = argument(args, TRUST_DOMAIN_FLAG) ?? variable(env, TRUST_DOMAIN_ENV)
  const className = argument(args, CLASS_NAME_FLAG) ?? variable(env, CLASS_NAME_ENV)
  return { trustDomain, className: className ?? (trustDomain === undefined ? undefined : '') }
}

/** What the containers of a Deployment are started with, one list for each. */
export function commandLines(deployment: JsonRecord): readonly (readonly string[])[] {
  return listAt(deployment, 'spec', 'template', 'spec', 'containers').map(argumentsOf)
}

function argumentsOf(container: unknown): readonly string[] {
  return [...listAt(container, 'command'), ...listAt(container, 'args')].filter(
    (arg) => typeof arg === 'string',
  )
}

/** `--flag=value` or `--flag value`; a value with `$(…)` is expanded by the kubelet, so nobody knows it here. */
export function argument(args: readonly string[], flag: string): string | undefined {
  for (const [at, arg] of args.entries()) {
    const value = arg.startsWith(`${flag}=`)
      ? arg.slice(flag.length + 1)
      : arg === flag
        ? args[at + 1]
        : undefined
    if (value !== undefined) return value.includes('$(') ? undefined : value
  }
  return undefined
}

function variable(env: readonly unknown[], name: string): string | undefined {
  return env
    .map((item) => (stringAt(item, 'name') === name ? stringAt(item, 'value') : undefined))
    .find((value) => value !== undefined)
}

function shown(value: string): string {
  return value === '' ? '(none)' : value
}
