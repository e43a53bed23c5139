// Unified diffs of ClusterSPIFFEIDs: our own, or another program's as kubectl has it (KUBECTL_EXTERNAL_DIFF).
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '@kleym/shared/kube/program-path.ts'
import { createTwoFilesPatch } from 'diff'
import { KleymError } from '../../io/errors.ts'
import type { ObjectChange } from './changes.ts'

/** Lines of context around a change. */
const CONTEXT = 3

/** All changes as unified diffs, one after the other. */
export function unifiedDiff(changes: readonly ObjectChange[]): string {
  return changes
    .map(({ name, before, after }) => {
      const patch = createTwoFilesPatch(
        `live   ClusterSPIFFEID/${name}`,
        `after  ${after === '' ? '(deleted)' : `ClusterSPIFFEID/${name}`}`,
        before,
        after,
        undefined,
        undefined,
        { context: CONTEXT },
      )
      return patch
        .split('\n')
        .filter((row) => !row.startsWith('====='))
        .map((row) => (before === '' && row.startsWith('--- ') ? '--- live   (not there)' : row))
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
  command: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  const folder = await mkdtemp(join(tmpdir(), 'kleym-diff-'))
  try {
    const sides = [join(folder, 'LIVE'), join(folder, 'AFTER')] as const
    await Promise.all(sides.map((side) => mkdir(side)))
    for (const { name, before, after } of changes) {
      if (before !== '') await writeFile(join(sides[0], fileName(name)), before)
      if (after !== '') await writeFile(join(sides[1], fileName(name)), after)
    }
    const safe = args.filter((arg) => /^[a-zA-Z0-9=-]+$/.test(arg))
    return await runDiffer(program, [...safe, ...sides], env)
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
    new KleymError(
      {
        code: 'unreachable',
        what: 'the external differ failed',
        where: `KUBECTL_EXTERNAL_DIFF: ${program}`,
        why,
        fix: 'correct KUBECTL_EXTERNAL_DIFF, or unset it',
      },
      { cause },
    )
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
