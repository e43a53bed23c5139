// A bearer token that lives in a file and changes there: a pod's, and `tokenFile` of a kubeconfig.
import { readFile } from 'node:fs/promises'
import { ClusterConfigError } from './cluster.ts'

/** Reads a token. Rejects with a ClusterConfigError, whose text never holds what the file holds. */
export async function readToken(path: string): Promise<string> {
  const token = (await readText(path)).trim()
  // A header can hold nothing else (RFC 6750 §2.1).
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw unreadable(path, token === '' ? 'it is empty' : 'it holds something other than one token')
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error instanceof Error ? error.message : 'it cannot be read', error)
  }
}

function unreadable(path: string, why: string, cause?: unknown): ClusterConfigError {
  return new ClusterConfigError(
    { what: 'cannot read a token', where: path, why, fix: 'put a valid bearer token into that file' },
    { cause },
  )
}
