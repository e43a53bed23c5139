// Charts and kustomizations of a tree rendered with the user's own helm and kubectl (`--render`). Both run without a shell
// and without plugins, within a time limit, with what would need the network refused before anything runs; a proxy that
// nobody answers stands in the way of what might still try.
import { spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { findProgram } from '@kleym/shared/kube/program-path.ts'
import type { SourceIo } from '../io/context.ts'
import { collect } from './files.ts'

/** How long one chart or kustomization may take, in milliseconds. */
export const RENDER_TIME_MAX_MS = 30_000

/** What came out, or why nothing did. */
export type RenderResult =
  | { readonly state: 'rendered'; readonly bytes: Uint8Array }
  | { readonly state: 'failed'; readonly why: string }

/** `helm template NAME DIR`, with the chart's default values. */
export function helmTemplate(
  { name, path, namespace }: { readonly name: string; readonly path: string; readonly namespace: string },
  io: Pick<SourceIo, 'cwd' | 'env'>,
  timeMs: number = RENDER_TIME_MAX_MS,
): Promise<RenderResult> {
  return render('helm', ['template', name, path, '--namespace', namespace], io, timeMs)
}

/** `kubectl kustomize DIR`. */
export function kubectlKustomize(
  path: string,
  io: Pick<SourceIo, 'cwd' | 'env'>,
  timeMs: number = RENDER_TIME_MAX_MS,
): Promise<RenderResult> {
  return render('kubectl', ['kustomize', '--', path], io, timeMs)
}

async function render(
  program: string,
  args: readonly string[],
  { cwd, env }: Pick<SourceIo, 'cwd' | 'env'>,
  timeMs: number,
): Promise<RenderResult> {
  const found = findProgram(program, env)
  if (found === undefined) return { state: 'failed', why: `${program} is not on the PATH` }
  const child = spawn(found, args, {
    cwd,
    env: { ...secluded(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeMs,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | 'timed out' | Error>((settle) => {
    child.once('error', settle)
    child.once('close', (code) => settle(code ?? 'timed out'))
  })
  const name = `${program} ${args[0] ?? ''}`
  const [output, complaint, result] = await Promise.all([
    collect(child.stdout, name).then((read) => {
      if (!(read instanceof Uint8Array)) child.kill('SIGKILL')
      return read
    }),
    collect(child.stderr, name),
    ended,
  ])
  if (!(output instanceof Uint8Array)) return { state: 'failed', why: output.why }
  if (result === 'timed out') return { state: 'failed', why: `${name} took longer than ${timeMs / 1000} s` }
  if (result instanceof Error) return { state: 'failed', why: `${program} cannot be started` }
  if (result !== 0)
    return {
      state: 'failed',
      why: `${name} says: ${lastWords(complaint instanceof Uint8Array ? complaint : undefined)}`,
    }
  return { state: 'rendered', bytes: output }
}

/** Port 9 discards whatever it is sent, where it is open at all. */
const NOBODY = 'http://127.0.0.1:9'

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
    HTTP_PROXY: NOBODY,
    HTTPS_PROXY: NOBODY,
    http_proxy: NOBODY,
    https_proxy: NOBODY,
  }
}

/** The longest complaint that is shown, in characters. */
const COMPLAINT_MAX = 400

function lastWords(complaint: Uint8Array | undefined): string {
  const lines = new TextDecoder()
    .decode(complaint)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const said = lines.slice(-2).join('; ')
  return said === '' ? 'nothing' : said.slice(-COMPLAINT_MAX)
}
