// Whether the recorded runtimes are those that their projects released: each archive has the checksum that upstream publishes
// beside it, and the executable in the archive is the recorded one.
import { unzipSync } from 'fflate'
import { membersOf } from '../release/tar.ts'
import { sha256Of, type RuntimeExecutable, type RuntimeRelease } from './recorded.ts'

/** Fetches a file; rejects where it cannot be had. */
export type Fetch = (url: string) => Promise<Buffer>

/** What is wrong, one sentence each; nothing when all are upstream's own. */
export async function upstreamProblems(
  runtimes: readonly RuntimeRelease[],
  fetch: Fetch,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { name, version, release, checksums, executables } of runtimes) {
    const published = checksumsIn((await fetch(`${release}/${checksums}`)).toString('utf8'))
    for (const executable of executables) {
      const problem = await problemOf(executable, release, { published, fetch })
      say(`${problem === undefined ? 'ok    ' : 'WRONG '}  ${name} ${version}  ${executable.package}`)
      if (problem !== undefined) problems.push(`${executable.package}: ${problem}`)
    }
  }
  return problems
}

/** What upstream has published, and how to get it. */
interface Upstream {
  /** SHA-256 sums by the names of the files. */
  readonly published: ReadonlyMap<string, string>
  readonly fetch: Fetch
}

async function problemOf(
  { archive, member, sha256 }: RuntimeExecutable,
  release: string,
  { published, fetch }: Upstream,
): Promise<string | undefined> {
  const wanted = published.get(archive)
  if (wanted === undefined) return `upstream publishes no checksum of ${archive}`
  const bytes = await fetch(`${release}/${archive}`)
  const found = sha256Of(bytes)
  if (found !== wanted) return `${archive} has the SHA-256 ${found}, and upstream publishes ${wanted}`
  const inside = await memberOf(archive, bytes, member)
  if (inside === undefined) return `${archive} holds no ${member}`
  const digest = sha256Of(inside)
  return digest === sha256 ? undefined : `${member} of ${archive} is ${digest}, and ${sha256} is recorded`
}

/** The lines of `sha256sum`. */
function checksumsIn(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/^([0-9a-f]{64}) [ *](\S+)$/gm)].map(([, sum = '', name = '']) => [name, sum]),
  )
}

async function memberOf(archive: string, bytes: Buffer, member: string): Promise<Buffer | undefined> {
  if (!archive.endsWith('.zip')) return (await membersOf(bytes)).find(({ name }) => name === member)?.bytes
  const file = unzipSync(bytes, { filter: ({ name }) => name === member })[member]
  return file === undefined ? undefined : Buffer.from(file)
}
