// What decides how a text view is laid out.
import type { CommandContext } from '../io/context.ts'
import { DEFAULT_WIDTH } from './wrap.ts'

/** How a view is to be laid out. */
export interface Layout {
  /** Columns. */
  readonly width: number
  /** `-o wide`: everything, nothing shortened. */
  readonly wide: boolean
  /** Something could not be read: nothing may then be said to be fine. */
  readonly incomplete?: boolean
  /** Settings that matter were not given: nothing may then be said without saying that it depends on them. */
  readonly unsettled?: boolean
  /** How far the world of the answer goes, behind an absence: ` among these files`; empty for a cluster. */
  readonly world?: string
  /** Only the first lines are wanted. */
  readonly summary?: boolean
  /** The flags that say where the answer comes from, as they were given, for a suggested command: ` --offline -f pr`. */
  readonly echo?: string
  /** No ClusterSPIFFEID of others is among the files that are all there is. */
  readonly isAlone?: boolean
}

/** The narrowest layout; a smaller terminal wraps by itself. */
const MIN_WIDTH = 40

/** Columns for a text view: those of the terminal, else `COLUMNS`, else 80. */
export function viewWidth({ env, stdout }: CommandContext): number {
  const told = stdout.columns ?? Number(env['COLUMNS'])
  return Number.isInteger(told) && told > 0 ? Math.max(MIN_WIDTH, told) : DEFAULT_WIDTH
}
