// One question about a few manifests, with settings that leave nothing open.
import { kleym, type Run } from './plugin.ts'
import { SCM_CONFIG, SETTINGS, workspace } from './workspace.ts'

/** Runs a command offline on manifests. Every run of blanks and line breaks on stdout becomes one blank. */
export async function ask(
  manifests: string,
  ...args: readonly string[]
): Promise<Pick<Run, 'code' | 'stdout' | 'stderr'>> {
  const cwd = workspace({ 'manifests/all.yaml': manifests, 'scm.yaml': SCM_CONFIG })
  const run = await kleym([...args, '--offline', '-f', 'manifests', ...SETTINGS], { cwd })
  return { code: run.code, stdout: run.stdout.replaceAll(/\s+/g, ' '), stderr: run.stderr }
}
