// `diff --base`: two folders, each a whole desired state. Each side is read and settled by itself, with its own settings,
// so that a deletion counts as much as an addition (docs/offline.md, "Two desired states").
import { resolve } from 'node:path'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { UnreadSides } from '@kleym/shared/core/explain/one-sided.ts'
import type { CommandContext } from '../../io/context.ts'
import type { SettingsFallback, SourceOptions } from '../../flags/options.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { findSettingsFile } from '../../settings/find.ts'
import { realOf } from '../../sources/files.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
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
): Promise<DiffInput> {
  if (options.base.length === 0) return { ...(await gather(options, question, context)), base: undefined }
  const { files } = options.sources
  // A link is not where the settings of what it leads to are.
  const folder = realOf(resolve(context.cwd, options.base[0] ?? '.'))
  const choice = { ...options.sources, connected: undefined }
  const settings = await withFallbacks(options.settings, choice, context, folder)
  const edits = await settingsEdits(options, folder, context)
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
    files: { ...files, files: options.base, flag: '--base', kustomize: [] },
    without: [],
    isBefore: true,
  })
  const head = await side({}, keptSettings(base))
  const { operator } = head
  return {
    ...head,
    operator: { ...operator, disagreements: [...edits, ...operator.disagreements] },
    inputFindings: [...edits, ...head.inputFindings],
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
 * both sides: else a change could choose the settings by which it is judged, or the next one is.
 */
async function settingsEdits(
  { settings, sources }: Pick<DiffOptions, 'settings' | 'sources'>,
  base: string,
  { cwd }: CommandContext,
): Promise<readonly Finding[]> {
  const { file } = settings
  if (file?.isNone === true || file?.path !== undefined) return []
  // A file that was given may lie where no settings file counts, such as one that was rendered: that edits none.
  const places = new Map<string | undefined, string>()
  for (const path of sources.files.files) {
    const place = realOf(resolve(cwd, path))
    const found = path === STDIN_ARGUMENT ? undefined : fileOf(place)
    if (found !== undefined) places.set(found, place)
  }
  places.set(fileOf(cwd), cwd)
  places.delete(fileOf(base))
  if (places.size === 0) return []
  const { settingsChange, settingsFile } = await import('../../settings/fallbacks.ts')
  const before = await settingsFile(settings, base, cwd)
  const changes = [...places.values()].map(async (place) =>
    settingsChange(before, await settingsFile(settings, place, cwd)),
  )
  return (await Promise.all(changes)).flatMap((change) => change ?? [])
}

/** The settings file that counts for a folder, links followed. */
function fileOf(place: string): string | undefined {
  const path = findSettingsFile(place)
  return path === undefined ? undefined : realOf(path)
}
