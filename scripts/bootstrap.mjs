// Makes `npm run demo` and `npm test` work on a fresh clone: installs what package-lock.json says when node_modules is
// missing, interrupted or out of step. Runs as an npm pre-script, on the machine's own Node (20 or later), before
// anything is installed: built-ins only, and no TypeScript. Says nothing when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whose dependencies: the project's, or those of the folder of it that is named, which has a package.json of its own. */
const FOLDER = process.argv[2] ?? '.'
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', FOLDER)
const OLDEST_NODE = 20

const reason = staleness()
if (reason !== undefined) install(reason)

/** Why node_modules cannot be used as it is; undefined when it can. */
function staleness() {
  const wanted = packagesOf(join(ROOT, 'package-lock.json'))
  if (wanted === undefined)
    return fail(
      'package-lock.json is missing or broken',
      `restore it: git checkout ${join(FOLDER, 'package-lock.json')}`,
    )
  // npm writes this file last, so an interrupted install has none.
  const installed = packagesOf(join(ROOT, 'node_modules/.package-lock.json'))
  if (installed === undefined) return 'nothing is installed yet'
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue
    const found = installed[path]
    if (found === undefined) {
      if (entry.optional === true && !isThisRuntime(path, entry)) continue
      return `${path} is missing`
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity)
      return `${path} is another version`
    if (!existsSync(join(ROOT, path, 'package.json'))) return `${path} is gone`
  }
  for (const path of Object.keys(installed)) if (!(path in wanted)) return `${path} is not wanted any more`
  return undefined
}

/** The `packages` of a lock file; undefined when it cannot be read. */
function packagesOf(file) {
  try {
    const { packages } = JSON.parse(readFileSync(file, 'utf8'))
    return typeof packages === 'object' && packages !== null ? packages : undefined
  } catch {
    return undefined
  }
}

/** Whether an entry is the Node or the Bun that the project pins for this platform: optional for npm, but not for us. */
function isThisRuntime(path, entry) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return (
    /^(node-|node-bin-|@oven\/bun-)(linux|darwin|win|windows)-/.test(name) &&
    fits(entry.os, process.platform) &&
    fits(entry.cpu, process.arch) &&
    (entry.libc === undefined || fits(entry.libc, libc()))
  )
}

/** The C library of this Linux, as npm calls it. */
function libc() {
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

/** `os` and `cpu` of a lock entry are a string or a list. */
function fits(wanted, have) {
  return wanted === undefined || [wanted].flat().includes(have)
}

function install(why) {
  const [major] = process.versions.node.split('.')
  if (Number(major) < OLDEST_NODE)
    return fail(
      `Node.js ${process.versions.node} is too old for the installation`,
      `use Node.js ${OLDEST_NODE} or later`,
    )
  console.error(`installing the dependencies once (${why}): npm ci, half a minute to three`)
  // npm says how it runs itself; without a shell, and not through node_modules, which `ci` deletes.
  const node = process.env['npm_node_execpath'] ?? process.execPath
  const npm = process.env['npm_execpath']
  if (npm === undefined) return fail('this script needs npm', 'start it through npm: npm test, npm run demo')
  // No dependency runs code of its own while it is installed: none needs to (test/house/dependencies.test.ts).
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund']
  const flags = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', ...quiet]
  // stdout belongs to the script that npm runs next.
  const { status, signal, error } = spawnSync(node, [npm, ...flags], { cwd: ROOT, stdio: ['ignore', 2, 2] })
  const ended = error?.message ?? (signal === null ? `exit code ${status}` : `ended by ${signal}`)
  if (status !== 0)
    return fail(`npm ci failed (${ended})`, 'see what it says above; it needs the network once')
  return undefined
}

function fail(what, fix) {
  console.error(`error: ${what}\n  fix:  ${fix}`)
  process.exitCode = 1
  return undefined
}
