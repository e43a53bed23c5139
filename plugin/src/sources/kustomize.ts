// `-k DIR`: what `kubectl kustomize DIR` prints. kubectl is run directly, without a shell, and touches no cluster for it.
import { spawn } from 'node:child_process'
import { findProgram } from '@kleym/shared/kube/program-path.ts'
import { collect } from './files.ts'
import type { InputProblem } from './problem.ts'

/** What running kubectl needs. */
export interface KustomizeOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The manifests that a kustomization makes, or why there are none. */
export async function kustomize(
  folder: string,
  options: KustomizeOptions,
): Promise<Uint8Array | InputProblem> {
  const problem = (why: string, fix: string): InputProblem => ({
    kind: 'failed',
    what: `cannot build the kustomization in ${folder}`,
    where: `-k ${folder}`,
    why,
    fix,
  })
  const kubectl = findProgram('kubectl', options.env)
  if (kubectl === undefined)
    return problem(
      'kubectl is not on the PATH',
      'install kubectl, or give the built manifests: kustomize build | ... -f -',
    )
  const child = spawn(kubectl, ['kustomize', '--', folder], {
    cwd: options.cwd,
    env: { ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | Error>((settle) => {
    child.once('error', settle)
    child.once('close', (code) => settle(code ?? 1))
  })
  const [output, complaint, result] = await Promise.all([
    collect(child.stdout, `-k ${folder}`),
    collect(child.stderr, `-k ${folder}`),
    ended,
  ])
  if (result instanceof Error)
    return problem(
      'kubectl cannot be started',
      `see what ${kubectl} is, or give the built manifests with -f -`,
    )
  if (result !== 0)
    return problem(lastWords(complaint), `see what is wrong with: kubectl kustomize ${folder}`)
  return output
}

/** The end of what a program complained about; its beginning is often a list of warnings. */
function lastWords(complaint: Uint8Array | InputProblem): string {
  const text = complaint instanceof Uint8Array ? new TextDecoder().decode(complaint) : ''
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const said = lines
    .slice(-3)
    .map((line) => line.trim())
    .join('; ')
  return said === ''
    ? 'kubectl kustomize failed and said nothing'
    : `kubectl kustomize says: ${said.slice(-600)}`
}
