// What the environment and the settings file say, which counts if neither the command line nor an object says otherwise
// (docs/settings.md).
import { resolve } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { canonicalText } from '@kleym/shared/core/base/json.ts'
import { sha256Hex } from '@kleym/shared/core/base/text/sha256.ts'
import { finding, type Finding } from '@kleym/shared/core/findings/index.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import {
  CLASS_NAME_ENV,
  TRUST_DOMAIN_ENV,
  VARIANT_LABEL_KEY_ENV,
  readOutputLabels,
  variantLabelKeyProblem,
} from '@kleym/shared/core/decide/index.ts'
import { trustDomainProblem } from '@kleym/shared/core/model/spiffe-id.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import type { SettingsFallback, SettingsOptions } from '../flags/options.ts'
import type { SourceIo } from '../io/context.ts'
import { KleymError } from '../io/errors.ts'
import { listed } from '../sources/problem.ts'
import { readScmConfigFile } from '../sources/scm-config.ts'
import { findSettingsFile, SETTINGS_FILE } from './find.ts'
import { readSettingsFile, shownPath, type SettingsFile } from './read-file.ts'
import type { SettingsWritten } from './file-format.ts'

/** The environment variable for `--output-label`: `KEY=VALUE`, with commas between several. */
export const OUTPUT_LABELS_ENV = 'KLEYM_OUTPUT_LABELS'
/** The environment variable for `--scm-config`. */
export const SCM_CONFIG_ENV = 'KLEYM_SCM_CONFIG'

/** What is asked of the environment and the settings file. */
interface SettingsQuestion {
  readonly options: SettingsOptions
  /** The current kube context; undefined: the answer is about files, and none was named. */
  readonly context: string | undefined
  /** Whether the context must be one of the file, if that has any: offline nothing else gives the name a meaning. */
  readonly isContextGiven: boolean
  /** The folder or file from which the settings file is looked for. */
  readonly from: string
}

/** The settings file that counts; undefined: there is none. Throws a usage error for one that is wrong. */
export async function settingsFile(
  { file }: Pick<SettingsOptions, 'file'>,
  from: string,
  cwd: string,
): Promise<SettingsFile | undefined> {
  if (file?.isNone === true) return undefined
  const path = file?.path === undefined ? findSettingsFile(from) : resolve(cwd, file.path)
  return path === undefined ? undefined : readSettingsFile(path, shownPath(path, cwd))
}

/** What counts after the command line and the objects, the environment first. Throws a usage error for a wrong value. */
export async function settingsFallbacks(
  question: SettingsQuestion,
  io: Pick<SourceIo, 'cwd' | 'env'>,
): Promise<Required<Pick<SettingsOptions, 'remarks'>> & { readonly fallbacks: readonly SettingsFallback[] }> {
  const file = await settingsFile(question.options, question.from, io.cwd)
  const { context, isContextGiven } = question
  return {
    fallbacks: [
      ...(await environmentFallback(io)),
      ...(file === undefined ? [] : [await fileFallback(file, sectionOf(file, question))]),
    ],
    remarks: [
      ...misspelledVariables(io.env),
      ...(file === undefined ? [] : sectionRemarks(file, context, isContextGiven)),
    ],
  }
}

function sectionRemarks(
  { name, contexts }: SettingsFile,
  context: string | undefined,
  isContextGiven: boolean,
): readonly string[] {
  if (isContextGiven && contexts.size === 0)
    return [`--context ${context} chooses nothing: ${name} has no contexts`]
  if (context !== undefined || contexts.size === 0) return []
  return [
    `no section of ${name} counts, since --context chooses none: it has ${listed([...contexts.keys()])}`,
  ]
}

const VARIABLES = [
  TRUST_DOMAIN_ENV,
  CLASS_NAME_ENV,
  OUTPUT_LABELS_ENV,
  VARIANT_LABEL_KEY_ENV,
  SCM_CONFIG_ENV,
] as const

/** Variables that are nearly one of those that are read. */
function misspelledVariables(env: SourceIo['env']): readonly string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('KLEYM_') && !VARIABLES.some((one) => one === name))
    .toSorted()
    .flatMap((name) => {
      const whole = VARIABLES.find((one) => one.endsWith(name.slice('KLEYM'.length)))
      const meant = didYouMean(whole ?? name, VARIABLES)
      return meant === undefined ? [] : [`the variable ${name} is not read: ${meant}`]
    })
}

/** The section of a context over the general one, and how a person calls it. */
interface Section {
  readonly name: string | undefined
  readonly settings: SettingsWritten
}

function sectionOf(
  { name, general, contexts }: SettingsFile,
  { context, isContextGiven }: Pick<SettingsQuestion, 'context' | 'isContextGiven'>,
): Section {
  const own = context === undefined ? undefined : contexts.get(context)
  if (own !== undefined) return { name: context, settings: { ...general, ...own } }
  if (context === undefined || !isContextGiven || contexts.size === 0)
    return { name: undefined, settings: general }
  const names = [...contexts.keys()]
  throw new KleymError('usage', {
    what: 'the settings file does not know the context',
    where: `--context ${context}`,
    why: `${name} has sections for ${names.join(', ')}`,
    fix: didYouMean(context, names) ?? 'name one of these, or leave --context out',
    docs: 'docs/settings.md',
  })
}

async function fileFallback(file: SettingsFile, { name, settings }: Section): Promise<SettingsFallback> {
  const { trustDomain, className, outputLabels, variantLabelKey } = settings
  return {
    source: name === undefined ? file.name : `${file.name}, context ${name}`,
    subject: settingsSubject(SETTINGS_FILE),
    trustDomain,
    className,
    outputLabels: outputLabels === undefined ? undefined : new Map(Object.entries(outputLabels)),
    variantLabelKey,
    scm: await file.scmConfigs(settings),
  }
}

/** What a finding about a settings file, or about the environment, is about. */
function settingsSubject(name: string): Subject {
  return { kind: 'Settings', namespace: '', name }
}

const ENVIRONMENT = 'the environment'

async function environmentFallback({
  env,
  cwd,
}: Pick<SourceIo, 'cwd' | 'env'>): Promise<readonly SettingsFallback[]> {
  const value = (name: string): string | undefined => (env[name] === '' ? undefined : env[name])
  const checked = (name: string, problemOf: (text: string) => string | undefined): string | undefined => {
    const text = value(name)
    const problem = text === undefined ? undefined : problemOf(text)
    if (problem !== undefined) throw wrongVariable(name, text ?? '', `it ${problem}`)
    return text
  }
  const labels = value(OUTPUT_LABELS_ENV)
  const read = labels === undefined ? undefined : readOutputLabels(labels.split(','))
  if (read?.kind === 'problem') throw wrongVariable(OUTPUT_LABELS_ENV, read.argument, `it ${read.why}`)
  const scmConfig = value(SCM_CONFIG_ENV)
  const source: SettingsFallback = {
    source: ENVIRONMENT,
    subject: settingsSubject(ENVIRONMENT),
    trustDomain: checked(TRUST_DOMAIN_ENV, trustDomainProblem),
    className: value(CLASS_NAME_ENV),
    outputLabels: read?.labels,
    variantLabelKey: checked(VARIANT_LABEL_KEY_ENV, variantLabelKeyProblem),
    scm:
      scmConfig === undefined
        ? []
        : [await readScmConfigFile(scmConfig, cwd, `${SCM_CONFIG_ENV}=${scmConfig}`)],
  }
  const { source: _, subject: __, scm, ...values } = source
  return scm.length > 0 || Object.values(values).some((one) => one !== undefined) ? [source] : []
}

function wrongVariable(name: string, value: string, why: string): KleymError {
  return new KleymError('usage', {
    what: 'an environment variable has a wrong value',
    where: `${name}=${value}`,
    why,
    fix: `correct ${name}, or unset it`,
    docs: 'docs/settings.md',
  })
}

/** How there is another settings file than the one that counts. */
export type SettingsDifference =
  | 'the change edits the settings file'
  | 'the folders before the change have different settings files'

/** The finding that there is another settings file than the one that counts, from before a change. Undefined: both say the same. */
export async function settingsChange(
  what: SettingsDifference,
  before: SettingsFile | undefined,
  after: SettingsFile | undefined,
): Promise<Finding | undefined> {
  if ((await contentOf(before)) === (await contentOf(after))) return undefined
  const isEdit = what === 'the change edits the settings file'
  const [used, other] = isEdit ? ['before', 'after'] : ['used', 'not used']
  return finding('KLM520', {
    subject: settingsSubject(SETTINGS_FILE),
    summary: `${what}; this answer uses ${isEdit ? 'the settings from before the change' : 'that of the first'}`,
    evidence: [
      `${used}: ${before?.name ?? 'no settings file'}`,
      `${other}: ${after?.name ?? 'no settings file'}`,
    ],
  })
}

/** What a settings file says, with the files that it names. */
async function contentOf(file: SettingsFile | undefined): Promise<string> {
  if (file === undefined) return ''
  const sections = [file.general, ...[...file.contexts].map(([, section]) => section)]
  const scm = await Promise.all(sections.map((section) => file.scmConfigs(section)))
  const digests = new Map<unknown, string>()
  return canonicalText([
    sections.map((section) => ({ ...section, scmConfig: undefined })),
    [...file.contexts.keys()],
    scm.map((configs) =>
      configs.map(({ config }) => getOrCreate(digests, config, () => sha256Hex(canonicalText(config)))),
    ),
  ])
}
