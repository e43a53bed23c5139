// Writes the completion script into a folder; never over anything but a script of ours.
import { chmod, lstat, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '@kleym/shared/kube/failures.ts'
import { KleymError, wrongUsage } from '../../io/errors.ts'
import { MARK, type CompletionScript } from './script.ts'

/** Writes it, and returns its path. Throws a KleymError that says what stands in the way. */
export async function installScript({ name, text }: CompletionScript, folder: string): Promise<string> {
  await requireFolder(folder)
  const path = join(folder, name)
  await requireOurs(path)
  try {
    await writeFile(path, text)
    await chmod(path, 0o755)
  } catch (error) {
    throw new KleymError('output', {
      what: 'cannot write the completion script',
      where: path,
      why: `the system says ${codeOf(error)}`,
      fix: 'name a folder of PATH that you may write to: kubectl kleym completion install DIR',
      docs: 'kubectl kleym completion --help',
      cause: error,
    })
  }
  return path
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() === true) return
  throw wrongUsage('completion', {
    what: 'cannot install there',
    where: folder,
    why: found === undefined ? 'there is no such folder' : 'it is no folder',
    fix: 'name a folder that is there and on PATH',
  })
}

/** A link is left alone too: to write through it could overwrite the plugin itself. */
async function requireOurs(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  const isOurs = found.isFile() && (await readFile(path, 'utf8').catch(() => '')).includes(MARK)
  if (isOurs) return
  throw wrongUsage('completion', {
    what: 'something else has the name of the completion script',
    where: path,
    why: found.isSymbolicLink()
      ? 'it is a link; one to kubectl-kleym completes as well as the script does'
      : 'kleym did not write it',
    fix: 'remove it first, or name another folder',
  })
}
