// How far the world of an answer goes. Offline the files are all there is, and a reader of "not there" has
// to know where it was looked for (docs/assumptions.md).
import { ANNOTATION_BINDING } from '@kleym/shared/core/model/names.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import type { AnswerInput } from '../gather/gather.ts'

/** What follows an absence: ` among these files`, and what is not among them; empty for a cluster. */
export function worldText(input: Pick<AnswerInput, 'isLive' | 'before' | 'after'>): string {
  if (input.isLive) return ''
  return isAlone(input) ? ` among these files; ${NO_OTHERS}` : ' among these files'
}

/**
 * Whether files are all there is, all of them that may hold a ClusterSPIFFEID were read, and every one among them is kleym's, on
 * both sides of a change. Its
 * annotation tells that here: the bindings of other namespaces need not have been read, and no decision rests on it.
 */
export function isAlone({
  isLive,
  before,
  after,
}: Pick<AnswerInput, 'isLive' | 'before' | 'after'>): boolean {
  return (
    !isLive &&
    [before, after].every(
      ({ snapshot }) =>
        snapshot.clusterSpiffeIds.some(({ meta }) => !meta.annotations.has(ANNOTATION_BINDING)) === NO,
    )
  )
}

const NO_OTHERS = 'no ClusterSPIFFEID of others is among them'
