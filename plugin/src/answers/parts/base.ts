// `diff --base`: two folders, each a whole desired state. Each side is read and settled by itself, with its own settings,
// so that a deletion counts as much as an addition (docs/offline.md, "Two desired states").
import { resolve } from 'node:path'
import { lostOperatorFindings } from '@kleym/shared/core/findings/index.ts'
import type { UnreadSides } from '@kleym/shared/core/answers/index.ts'
import type { CommandContext } from '../../io/context.ts'
import type { SettingsFallback, SourceOptions } from '../../flags/options.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { findSettingsFile } from '../../settings/find.ts'
import { realOf } from '../../sources/files.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import type { SettingsDifference } from '../../settings/fallbacks.ts'
import { withFallbacks } from '../../settings/in-force.ts'
import type { Question } from '../../gather/question.ts'
import { partsOnlyIn } from '../../gather/unread-parts.ts'
import type { DiffOptions } from './base-flag.ts'

/** What a diff is made of. */
export interface DiffInput extends AnswerInput {
  /** The side of `--base`; undefined where the files are compared with what is live. */
  readonly base: AnswerInput | undefined
  /** Of two folders: what only one of them leaves unread. */
  readonly unread?: UnreadSides
}

/** Reads one side, or both. */
export async function gatherSides(
  options: Omit<DiffOptions, 'tests' | 'bindings' | 'selector'>,
  question: Question,
  context: CommandContext,
  flag: '--base' | '--compare' = '--base',
): Promise<DiffInput> {
  if (options.base.length === 0) return { ...(await gather(options, question, context)), base: undefined }
  const { files } = options.sources
  // A link is not where the settings of what it leads to are.
  const folder = realOf(resolve(context.cwd, options.base[0] ?? '.'))
  const choice = { ...options.sources, connected: undefined }
  const settings = await withFallbacks(options.settings, choice, context, folder)
  const edits = await settingsEdits(options, { folder, flag }, context)
  const side = (
    changed: Partial<SourceOptions>,
    staying: readonly SettingsFallback[] = [],
  ): Promise<AnswerInput> =>
    gather(
      {
        ...options,
        settings: { ...settings, fallbacks: [...(settings.fallbacks ?? []), ...staying] },
        sources: { ...options.sources, ...changed, isDesiredState: true },
      },
      question,
      context,
    )
  const base = await side({
    files: { ...files, files: options.base, flag, kustomize: [] },
    without: [],
    isBefore: true,
  })
  const head = await side(base.desired === undefined ? {} : { appliedOver: base.desired }, keptSettings(base))
  const { operator } = head
  return {
    ...head,
    operator: { ...operator, disagreements: [...edits.inputFindings, ...operator.disagreements] },
    inputFindings: [
      ...edits.inputFindings,
      ...head.inputFindings,
      // Files that hold an operator say by themselves that it does not run.
      ...(operator.deployments.length > 0
        ? []
        : lostOperatorFindings([], base.operator.deployments, head.problems[0]?.what)),
    ],
    remarks: [...edits.remarks, ...(head.remarks ?? [])],
    base,
    unread: {
      before: partsOnlyIn(base.unreadParts, head.unreadParts),
      after: partsOnlyIn(head.unreadParts, base.unreadParts),
    },
    before: base.after,
    problems: [...base.problems, ...head.problems],
    documents: (base.documents ?? 0) + (head.documents ?? 0),
    notes: [...new Set([...base.notes, ...head.notes])],
  }
}

/**
 * kleym's own settings as the objects before the change have them: where the change says nothing of one, it stays. Not the other way round: a
 * change cannot choose the settings by which the state before it is judged.
 */
function keptSettings({ operator }: AnswerInput): readonly SettingsFallback[] {
  const { config, trustDomainSource, classNameSource, outputLabelsSource, variantLabelKeySource } = operator
  const { trustDomain } = config
  return [
    ...kept(trustDomainSource, { trustDomain: trustDomain.kind === 'set' ? trustDomain.value : undefined }),
    ...kept(classNameSource, { className: config.className }),
    ...kept(outputLabelsSource, { outputLabels: config.outputLabels }),
    ...kept(variantLabelKeySource, { variantLabelKey: config.variantLabelKey }),
  ]
}

function kept(source: string | undefined, values: Partial<SettingsFallback>): readonly SettingsFallback[] {
  return source === undefined ? [] : [{ ...NOTHING_SAID, ...values, source: `${source}, before the change` }]
}

/** Without a subject: that a change says otherwise is a change, and no dispute. */
const NOTHING_SAID = {
  subject: undefined,
  trustDomain: undefined,
  className: undefined,
  outputLabels: undefined,
  variantLabelKey: undefined,
  scm: [],
} as const

/**
 * That a change edits the settings file, or brings one for the files that were given. The file from before the change counts for
 * both sides: else a change could choose the settings by which it is judged, or the next one is. The same if folders of `--base` have
 * different ones: that of the first counts.
 */
async function settingsEdits(
  { base, settings, sources }: Pick<DiffOptions, 'base' | 'settings' | 'sources'>,
  { folder, flag }: { readonly folder: string; readonly flag: string },
  { cwd }: CommandContext,
): Promise<Pick<DiffInput, 'inputFindings'> & { readonly remarks: readonly string[] }> {
  const { file } = settings
  if (file?.isNone === true || file?.path !== undefined) return { inputFindings: [], remarks: [] }
  const placesOf = (paths: readonly string[]): ReadonlyMap<string | undefined, string> => {
    const places = paths.filter((path) => path !== STDIN_ARGUMENT).map((path) => realOf(resolve(cwd, path)))
    return new Map(places.map((place) => [fileOf(place), place]))
  }
  const given = placesOf([...sources.files.files, ...sources.files.kustomize])
  const counts = fileOf(folder)
  const isOfChange = counts !== undefined && given.has(counts)
  const remarks = isOfChange
    ? [`${flag} ${base[0]} has no settings file of its own: that of the change counts for both sides`]
    : []
  // What was given may lie where no settings file counts, such as what was rendered: that edits none.
  const having = (places: typeof given): typeof given =>
    new Map([...places].filter(([found]) => found !== undefined))
  const kinds: readonly (readonly [SettingsDifference, typeof given])[] = [
    ['the change edits the settings file', new Map([...having(given), ...placesOf([cwd])])],
    ['the folders before the change have different settings files', having(placesOf(base.slice(1)))],
  ]
  const others = kinds.flatMap(([what, places]) =>
    [...places].flatMap(([found, place]) => (found === counts ? [] : [{ what, place }])),
  )
  if (others.length === 0) return { inputFindings: [], remarks }
  const { settingsChange, settingsFile } = await import('../../settings/fallbacks.ts')
  const before = await settingsFile(settings, folder, cwd)
  const findings = others.map(async ({ what, place }) =>
    settingsChange(what, before, await settingsFile(settings, place, cwd)),
  )
  return { inputFindings: (await Promise.all(findings)).flatMap((one) => one ?? []), remarks }
}

/** The settings file that counts for a folder, links followed. */
function fileOf(place: string): string | undefined {
  const path = findSettingsFile(place)
  return path === undefined ? undefined : realOf(path)
}
