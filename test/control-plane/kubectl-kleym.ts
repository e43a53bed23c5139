// `kubectl kleym ...` as people run it: the real kubectl finds the shipped plugin on the PATH, and a kubeconfig says
// which cluster and who they are.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { ensureBinaries } from './binaries.ts'
import { ended, type Ended } from '@kleym/testing/child-process.ts'
import type { ControlPlane } from './control-plane.ts'

/** What `npm run build` leaves: the folder that goes on the PATH. */
export const DIST = join(import.meta.dirname, '../../dist')

export interface PluginOptions {
  /** `admin` when absent. */
  readonly user?: string
  /** In place of the user's kubeconfig. */
  readonly kubeconfig?: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Called when it runs, to send it a signal for example. */
  readonly started?: (child: ReturnType<typeof spawn>) => void
}

export interface PluginRun extends Omit<Ended, 'status'> {
  /** null where a signal ended it. */
  readonly code: number | null
}

/** Runs a command line to its end. */
export async function kubectlKleym(
  cp: ControlPlane,
  args: readonly string[],
  options: PluginOptions = {},
): Promise<PluginRun> {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  const child = spawn(binaries.programs.kubectl, ['kleym', ...args], {
    cwd: cp.folder,
    env: {
      PATH: `${DIST}${delimiter}${process.env['PATH'] ?? ''}`,
      HOME: cp.folder,
      KUBECONFIG: options.kubeconfig ?? cp.kubeconfig(options.user),
      ...options.env,
    },
  })
  options.started?.(child)
  const { status: code, ...rest } = await ended(child, options.stdin)
  return { ...rest, code }
}
