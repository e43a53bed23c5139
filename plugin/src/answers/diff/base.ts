// `diff --base`: two folders, each a whole desired state. Each side is read and settled by itself, with its own settings,
// so that a deletion counts as much as an addition (docs/offline.md, "Two desired states").
import type { CommandContext } from '../../io/context.ts'
import type { SourceOptions } from '../../flags/options.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import type { Question } from '../../gather/question.ts'
import type { DiffOptions } from './base-flag.ts'

/** What a diff is made of. */
export interface DiffInput extends AnswerInput {
  /** The side of `--base`; undefined where the files are compared with what is live. */
  readonly base: AnswerInput | undefined
}

/** Reads one side, or both. */
export async function gatherSides(
  options: Omit<DiffOptions, 'tests' | 'bindings' | 'selector'>,
  question: Question,
  context: CommandContext,
): Promise<DiffInput> {
  if (options.base.length === 0) return { ...(await gather(options, question, context)), base: undefined }
  const side = (changed: Partial<SourceOptions>): Promise<AnswerInput> =>
    gather(
      { ...options, sources: { ...options.sources, ...changed, isDesiredState: true } },
      question,
      context,
    )
  const { files } = options.sources
  const base = await side({
    files: { ...files, files: options.base, kustomize: [] },
    without: [],
    isBefore: true,
  })
  const head = await side({})
  return {
    ...head,
    base,
    before: base.after,
    problems: [...base.problems, ...head.problems],
    documents: (base.documents ?? 0) + (head.documents ?? 0),
    notes: [...new Set([...base.notes, ...head.notes])],
  }
}
