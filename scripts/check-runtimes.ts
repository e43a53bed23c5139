// `npm run check:runtimes`: compares the runtimes that are inside of our executables with what Node.js and Bun have published.
// It downloads some 400 MB; the release workflow runs it before it builds anything.
import process from 'node:process'
import { RUNTIMES } from './runtimes/recorded.ts'
import { upstreamProblems } from './runtimes/upstream.ts'

const DOWNLOAD_MS = 300_000

async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }).catch((cause: unknown) => {
    throw new Error(`${url} cannot be fetched`, { cause })
  })
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

const problems = await upstreamProblems(
  RUNTIMES,
  download,
  (line) => void process.stdout.write(`${line}\n`),
).catch((error: unknown) => [String(error)])
for (const problem of problems)
  process.stderr.write(
    `error: ${problem}\n  fix:  release nothing; look at what the npm package was made from\n`,
  )
process.exitCode = problems.length === 0 ? 0 : 1
