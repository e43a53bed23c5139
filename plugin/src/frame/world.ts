// How far the world of an answer goes. Offline the files are all there is, and whoever reads that something is not there has
// to know where it was looked for (docs/assumptions.md, "Objects").
import { bindingsByOutput } from '@kleym/shared/core/analysis/state.ts'
import type { AnswerInput } from '../gather/gather.ts'

/** What follows an absence: ` among these files`, and what is not among them; empty for a cluster. */
export function worldText({ isLive, after }: Pick<AnswerInput, 'isLive' | 'after'>): string {
  if (isLive) return ''
  const ours = bindingsByOutput(after.settled)
  const isForeign = after.settled.outputs.some(({ object }) => !ours.has(object.meta.name))
  return isForeign ? ' among these files' : ' among these files; no ClusterSPIFFEID of others is among them'
}
