// The commands of the chart's pages, run as they stand there by a shell that has the real kubectl and the real Helm.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { ended } from '@kleym/testing/child-process.ts'
import { ensureBinaries } from './binaries.ts'
import { ensureClient } from './client-binaries.ts'
import type { ControlPlane } from './control-plane.ts'
import type { KubectlResult } from './kubectl.ts'

const ROOT = join(import.meta.dirname, '../..')
const SHELL_MS = 120_000

/** Runs commands in the root of the project as admin, up to the first that fails. */
export type Shell = (commands: string) => Promise<KubectlResult>

/** The blocks of shell commands of a page of docs/, in their order. */
export function commandsIn(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8')
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands)
}

/** A shell with a home of its own. */
export async function shellOn(cp: ControlPlane): Promise<Shell> {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  const bin = join(cp.folder, 'bin')
  mkdirSync(bin)
  symlinkSync(binaries.programs.kubectl, join(bin, 'kubectl'))
  symlinkSync(await ensureClient('helm'), join(bin, 'helm'))
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: cp.folder,
    KUBECONFIG: cp.kubeconfig(),
  }
  return (commands) => run(commands, env)
}

function run(commands: string, env: Readonly<Record<string, string>>): Promise<KubectlResult> {
  return ended(
    spawn('sh', ['-e', '-c', commands], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
    '',
    SHELL_MS,
  )
}
