// Charts and kustomizations rendered with the user's own helm and kubectl (`--render`, `-k`). For `--render` both run without plugins, with
// what would need the network refused before anything runs; a proxy that never answers stands in the way of what might still
// try.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SourceIo } from '../io/context.ts'
import type { ReleaseValues } from './fetching.ts'
import { outputOf, type ProgramOutput } from './program-output.ts'
import type { InputProblem } from './problem.ts'

/** How long one chart or kustomization may take, in milliseconds. */
const RENDER_TIME_MAX_MS = 30_000

type RenderIo = Pick<SourceIo, 'cwd' | 'env' | 'interrupts'>

/** What a chart is rendered as, and with. */
export interface HelmRelease {
  readonly name: string
  readonly path: string
  readonly namespace: string
  readonly values: Pick<ReleaseValues, 'files' | 'inline' | 'set'>
}

/** `helm template NAME DIR`. */
export async function helmTemplate(
  { name, path, namespace, values: { files, inline, set } }: HelmRelease,
  io: RenderIo,
  timeMs: number = RENDER_TIME_MAX_MS,
): Promise<ProgramOutput> {
  const folder = inline.length === 0 ? undefined : mkdtempSync(join(tmpdir(), 'kleym-values-'))
  try {
    const written = inline.map((value, number) => {
      const file = join(folder ?? '', `${number}.yaml`)
      // JSON is YAML.
      writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
      return file
    })
    const given = [...files, ...written].flatMap((file) => ['--values', file])
    const values = [...given, ...set.flatMap((one) => ['--set', one])]
    const args = ['template', name, path, '--namespace', namespace, ...values]
    return await outputOf({ program: 'helm', args, env: secluded(io.env), timeMs }, io)
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** `kubectl kustomize DIR`. */
export function kubectlKustomize(path: string, io: RenderIo): Promise<ProgramOutput> {
  const args = ['kustomize', '--', path]
  return outputOf({ program: 'kubectl', args, env: secluded(io.env), timeMs: RENDER_TIME_MAX_MS }, io)
}

/** Port 9 discards whatever it is sent, where it is open at all. */
const REFUSING_ADDRESS = 'http://127.0.0.1:9'

/** An environment without clusters to reach, plugins, and a way out. */
function secluded(env: SourceIo['env']): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(env).filter(([name]) => !/^(?:HELM_|KUBE|GIT_)|_proxy$/i.test(name))
  return {
    ...Object.fromEntries(kept),
    // Git is what kustomize fetches with.
    GIT_ALLOW_PROTOCOL: 'none',
    KUBECONFIG: devNull,
    HELM_NO_PLUGINS: '1',
    HELM_PLUGINS: devNull,
    HTTP_PROXY: REFUSING_ADDRESS,
    HTTPS_PROXY: REFUSING_ADDRESS,
    http_proxy: REFUSING_ADDRESS,
    https_proxy: REFUSING_ADDRESS,
  }
}

/** How long one kustomization may take, in milliseconds: it may fetch what it is built from. */
const KUSTOMIZE_TIME_MAX_MS = 120_000

/**
 * `-k DIR`: what `kubectl kustomize DIR` prints, or why there is nothing. kubectl touches no cluster for it; what the kustomization names
 * elsewhere it fetches, which is what the user asked for.
 */
export async function kustomize(
  folder: string,
  io: RenderIo,
  timeMs: number = KUSTOMIZE_TIME_MAX_MS,
): Promise<Uint8Array | InputProblem> {
  const args = ['kustomize', '--', folder]
  const output = await outputOf({ program: 'kubectl', args, env: io.env, timeMs }, io)
  if (output.state === 'printed') return output.bytes
  return {
    kind: 'failed',
    what: `cannot build the kustomization in ${folder}`,
    where: `-k ${folder}`,
    why: output.why,
    fix:
      output.isAbsent === true
        ? 'install kubectl, or give the built manifests: kustomize build | ... -f -'
        : `see what is wrong with: kubectl kustomize ${folder}`,
  }
}
