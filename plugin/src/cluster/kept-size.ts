// How much of a cluster kleym keeps. Clusters may be a stranger's.
import { INPUT_LIMITS } from '../sources/budget.ts'

/** How much of a cluster is kept at most, as `sizeOf` counts. */
export const KEPT_MAX = 512 * 1024 * 1024

/** Why so many are more than kleym takes in; undefined where they are not. */
export function overLimit(what: 'objects' | 'bindings', count: number): string | undefined {
  const most = INPUT_LIMITS[what]
  return count > most ? `it has more than ${most.toLocaleString('en')} ${what}` : undefined
}
