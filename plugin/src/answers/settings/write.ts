// `settings --write`: `.kleym.yaml` from what the cluster or the files say; with `--context`, a section of it.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Document, parseDocument } from 'yaml'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { KleymError } from '../../io/errors.ts'
import { systemReason } from '../../sources/files.ts'
import { SETTINGS_FILE } from '../../settings/find.ts'
import { readSettingsFile, settingsOfText } from '../../settings/read-file.ts'

/**
 * Writes the settings that a source says into the file of a folder: for one kube context, into a section of its own. Throws a KleymError if
 * there is one already, or nothing to write.
 */
export async function writeSettings(
  input: AnswerInput,
  { cwd, context }: { readonly cwd: string; readonly context: string | undefined },
): Promise<string> {
  const settings = settingsOf(input)
  if (Object.keys(settings).length === 0)
    throw failed(
      'usage',
      'no source says any setting',
      'ask a cluster, or files that hold the operator: -f DIR',
    )
  const path = join(cwd, SETTINGS_FILE)
  const there = context === undefined ? undefined : await documentAt(path)
  const document = there ?? new Document({})
  if (context !== undefined && document.hasIn(['contexts', context]))
    throw failed('usage', `the file has a section for the context ${context}`, `edit it: ${SETTINGS_FILE}`)
  const section = document.createNode(settings)
  const comment = ` Settings of kubectl kleym (docs/settings.md), from ${sourcesOf(input).join(', ')}.`
  if (context === undefined) document.contents = section
  else document.setIn(['contexts', context], section)
  if (there === undefined) document.commentBefore = comment
  const text = document.toString()
  // What cannot be read is not written.
  settingsOfText(text, path, SETTINGS_FILE)
  try {
    // Never over what a person wrote.
    await writeFile(path, text, { flag: there === undefined ? 'wx' : 'w' })
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw isThere
      ? failed('usage', 'the file is there already', `edit it, or add a section to it: --context NAME`)
      : failed('output', systemReason(error), 'make the folder writable')
  }
  return context === undefined ? SETTINGS_FILE : `${SETTINGS_FILE}, context ${context}`
}

/** The file as it is, with its comments; undefined: there is none. Throws a usage error for one that is wrong. */
async function documentAt(path: string): Promise<Document | undefined> {
  if (!existsSync(path)) return undefined
  await readSettingsFile(path, SETTINGS_FILE)
  return parseDocument(await readFile(path, 'utf8'))
}

/** In the order of the schema. */
function settingsOf({ operator, scmConfigs = [] }: AnswerInput): JsonRecord {
  const {
    trustDomain,
    className,
    outputLabels = new Map<string, string>(),
    variantLabelKey,
  } = operator.config
  const configs = scmConfigs.map(({ config }) => config)
  return {
    ...(operator.trustDomainSource !== undefined &&
      trustDomain.kind === 'set' && { trustDomain: trustDomain.value }),
    ...(operator.classNameSource !== undefined && { className }),
    ...(operator.outputLabelsSource !== undefined && { outputLabels: Object.fromEntries(outputLabels) }),
    ...(variantLabelKey !== undefined && { variantLabelKey }),
    ...(configs.length > 0 && { scmConfig: configs.length === 1 ? configs[0] : configs }),
  }
}

function sourcesOf({ operator, scmConfigs = [] }: AnswerInput): readonly string[] {
  const { trustDomainSource, classNameSource, outputLabelsSource, variantLabelKeySource } = operator
  const sources = [
    trustDomainSource,
    classNameSource,
    outputLabelsSource,
    variantLabelKeySource,
    ...scmConfigs.map(({ source }) => source),
  ]
  return [...new Set(sources.filter((source) => source !== undefined))]
}

function failed(code: 'usage' | 'output', why: string, fix: string): KleymError {
  return new KleymError(code, { what: `${SETTINGS_FILE} was not written`, where: '--write', why, fix })
}
