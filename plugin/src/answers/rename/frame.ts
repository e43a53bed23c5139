// The report of `rename`: the plan, who has to accept both IDs, and what the whole of it brings.
import { manifestsDue, renameSteps, type Rename } from '@kleym/shared/core/answers/index.ts'
import { causesOf } from '../../frame/causes.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { namedManifest } from '../../output/name.ts'
import { openCutOffs } from '../parts/cut-offs.ts'
import { renameAnswer, verdictOf, viewRename } from './view.ts'

/** Makes the report; `command` is what asked for it. */
export function renameFrame(input: AnswerInput, rename: Rename, command: string): Frame {
  const { renamed, cutOffs, question } = rename
  const steps = renameSteps(rename, { analysis: input.after, command })
  const keys = new Set<string>(renamed.flatMap(({ binding, next }) => [binding.key, next]))
  const judgements = [...keys].flatMap((key) => input.after.settled.judgements.get(key) ?? [])
  return {
    kind: 'RenameReport',
    ...reported(
      async () => (await import('./schema.ts')).renameReportSchema,
      () => ({
        rename: question,
        cutOff: verdictOf(rename),
        cutOffs,
        bindings: renamed,
        changes: rename.changes.map(({ oldId, newId }) => ({
          oldID: oldId,
          newID: newId,
          containers: rename.holders.get(oldId) ?? [],
        })),
        consumers: rename.consumers.edits,
        steps,
        ...rename.effects,
      }),
    ),
    findings: rename.brings,
    judged: { count: input.after.compiled.length, what: 'binding' },
    causes: causesOf(
      { ...input, after: rename.done },
      {
        judgements,
        bindings: keys,
        further: openCutOffs(cutOffs),
      },
    ),
    names: () => manifestsDue(rename).map(namedManifest),
    answer: () => renameAnswer(rename, steps.length),
    view: (layout, shown) => viewRename(rename, steps, shown, layout),
    documents: async () => {
      const { toDocuments } = await import('../suggest/documents.ts')
      return toDocuments(
        [
          `rename of ${question.namespace}/${question.from} to ${question.to}: read the plan first: ${command}`,
        ],
        manifestsDue(rename).map((manifest) => ({ comments: [], manifest })),
      )
    },
  }
}
