// Unified diffs of ClusterSPIFFEIDs: our own, or another program's as kubectl has it (KUBECTL_EXTERNAL_DIFF).
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '@kleym/shared/kube/program-path.ts'
import { createTwoFilesPatch } from 'diff'
import { KleymError } from '../../io/errors.ts'
import type { ObjectChange, Sides } from './changes.ts'

/** Lines of context around a change. */
const CONTEXT = 3
/** The names of both sides take as many columns, so that the names behind them line up. */
const SIDE_COLUMNS = 6

/** All changes as unified diffs, one after the other. */
export function unifiedDiff(changes: readonly ObjectChange[], sides: Sides): string {
  const [left, right] = [sides.before, sides.after].map((side) => side.padEnd(SIDE_COLUMNS))
  return changes
    .map(({ name, before, after }) => {
      const patch = createTwoFilesPatch(
        `${left} ClusterSPIFFEID/${name}`,
        `${right} ${after === '' ? '(deleted)' : `ClusterSPIFFEID/${name}`}`,
        before,
        after,
        undefined,
        undefined,
        { context: CONTEXT },
      )
      return patch
        .split('\n')
        .filter((row) => !row.startsWith('====='))
        .map((row) => (before === '' && row.startsWith('--- ') ? `--- ${left} (not there)` : row))
        .join('\n')
    })
    .join('')
}

/**
 * What another differ prints about two folders that hold one file per ClusterSPIFFEID. As with kubectl, the command is
 * split at blanks and its arguments may hold only letters, digits, dashes and equals signs; it exits with 0 or 1, and
 * anything above is its failure.
 */
export async function externalDiff(
  changes: readonly ObjectChange[],
  sides: Sides,
  { command, env }: { readonly command: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  const folder = await mkdtemp(join(tmpdir(), 'kleym-diff-'))
  try {
    const folders = [sides.before, sides.after].map((side) => join(folder, side.toUpperCase()))
    const [left = '', right = ''] = folders
    await Promise.all(folders.map((side) => mkdir(side)))
    for (const { name, before, after } of changes) {
      if (before !== '') await writeFile(join(left, fileName(name)), before)
      if (after !== '') await writeFile(join(right, fileName(name)), after)
    }
    const safe = args.filter((arg) => /^[a-zA-Z0-9=-]+$/.test(arg))
    return await runDiffer(program, [...safe, ...folders], env)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A live object's name may come from a hostile file: nothing of it but these characters reaches the file system. */
function fileName(name: string): string {
  return `spire.spiffe.io.v1alpha1.ClusterSPIFFEID..${name.replaceAll(/[^a-zA-Z0-9.-]/g, '_').slice(0, 200)}`
}

async function runDiffer(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const fail = (why: string, cause?: unknown): KleymError =>
    new KleymError('unreachable', {
      what: 'the external differ failed',
      where: `KUBECTL_EXTERNAL_DIFF: ${program}`,
      why,
      fix: 'correct KUBECTL_EXTERNAL_DIFF, or unset it',
      cause,
    })
  const path = findProgram(program, env)
  if (path === undefined) throw fail('it is not on the PATH')
  return new Promise((resolve, reject) => {
    const child = spawn(path, [...args], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', (error) => reject(fail(error.message, error)))
    child.on('close', (code) => {
      if (code === 0 || code === 1) resolve(Buffer.concat(out).toString('utf8'))
      else reject(fail(`it exits with ${code ?? 'a signal'}: ${Buffer.concat(err).toString('utf8').trim()}`))
    })
  })
}
