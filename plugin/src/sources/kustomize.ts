// `-k DIR`: what `kubectl kustomize DIR` prints. kubectl touches no cluster for it; what the kustomization names elsewhere it
// fetches, which is what the user asked for.
import type { SourceIo } from '../io/context.ts'
import type { InputProblem } from './problem.ts'
import { outputOf } from './program-output.ts'

/** How long one kustomization may take, in milliseconds: it may fetch what it is built from. */
export const KUSTOMIZE_TIME_MAX_MS = 120_000

/** The manifests that a kustomization makes, or why there are none. */
export async function kustomize(
  folder: string,
  io: Pick<SourceIo, 'cwd' | 'env' | 'interrupts'>,
  timeMs: number = KUSTOMIZE_TIME_MAX_MS,
): Promise<Uint8Array | InputProblem> {
  const args = ['kustomize', '--', folder]
  const output = await outputOf({ program: 'kubectl', args, env: io.env, timeMs }, io)
  if (output.state === 'printed') return output.bytes
  const isThere = output.state !== 'not found'
  return {
    kind: 'failed',
    what: `cannot build the kustomization in ${folder}`,
    where: `-k ${folder}`,
    why: isThere ? output.why : 'kubectl is not on the PATH',
    fix: isThere
      ? `see what is wrong with: kubectl kustomize ${folder}`
      : 'install kubectl, or give the built manifests: kustomize build | ... -f -',
  }
}
