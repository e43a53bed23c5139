// `diff --base`: two folders, each a whole desired state. Each side is read and settled by itself, with its own settings,
// so that a deletion counts as much as an addition (docs/offline.md, "Two desired states").
import { resolve } from 'node:path'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { UnreadSides } from '@kleym/shared/core/explain/one-sided.ts'
import type { CommandContext } from '../../io/context.ts'
import type { SourceOptions } from '../../flags/options.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import { findSettingsFile } from '../../settings/find.ts'
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
  const folder = resolve(context.cwd, options.base[0] ?? '.')
  const choice = { ...options.sources, connected: undefined }
  const settings = await withFallbacks(options.settings, choice, context, folder)
  const edits = await settingsEdits(options, folder, context)
  const side = (changed: Partial<SourceOptions>): Promise<AnswerInput> =>
    gather(
      { ...options, settings, sources: { ...options.sources, ...changed, isDesiredState: true } },
      question,
      context,
    )
  const base = await side({
    files: { ...files, files: options.base, flag: '--base', kustomize: [] },
    without: [],
    isBefore: true,
  })
  const head = await side({})
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
 * That a change edits the settings file. The file from before the change counts for both sides: else a change could choose the
 * settings by which it is judged.
 */
async function settingsEdits(
  { settings }: Pick<DiffOptions, 'settings'>,
  base: string,
  { cwd }: CommandContext,
): Promise<readonly Finding[]> {
  const { file } = settings
  if (file?.isNone === true || file?.path !== undefined) return []
  const [before, after] = [findSettingsFile(base), findSettingsFile(cwd)]
  if (before === after) return []
  const { settingsChange, settingsFile } = await import('../../settings/fallbacks.ts')
  const change = await settingsChange(
    await settingsFile(settings, base, cwd),
    await settingsFile(settings, cwd, cwd),
  )
  return change === undefined ? [] : [change]
}
