// `npm run test:versions [MINOR…] [-- --quick]`: the suites of test/control-plane on other minors of Kubernetes, each with its
// own API server and controller manager; without a minor, on all of them. It ends with the rows for docs/compatibility.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { ensureBinaries, type NoBinaries } from '../test/control-plane/binaries.ts'
import {
  ensureMinor,
  NEWEST_MINOR,
  OLDER_MINORS,
  type OlderMinor,
} from '../test/control-plane/older-kubernetes.ts'
import { allPassed, countTests, tableHead, tableRow, type VersionResult } from './versions/row.ts'
import { pathOf, QUICK, SUITES, TOPICS } from './versions/suites.ts'

const ROOT = join(import.meta.dirname, '..')
const MINORS: readonly string[] = [...OLDER_MINORS, NEWEST_MINOR]

/** A minor that suites can run on: the folder of its own servers, where they are not the usual ones. */
interface Plane {
  readonly available: true
  readonly version: string
  readonly assets?: string
}

function isOlder(minor: string): minor is OlderMinor {
  return OLDER_MINORS.some((one) => one === minor)
}

async function planeOf(minor: string): Promise<Plane | NoBinaries> {
  if (isOlder(minor)) {
    const servers = await ensureMinor(minor)
    if (!servers.available) return servers
    return {
      available: true,
      version: toldBy(join(servers.folder, 'kube-apiserver')),
      assets: servers.folder,
    }
  }
  const binaries = await ensureBinaries()
  if (!binaries.available) return binaries
  return { available: true, version: toldBy(binaries.programs['kube-apiserver']) }
}

/** What an API server says that it is: a row is about what ran, not about what was asked for. */
function toldBy(apiServer: string): string {
  const { stdout } = spawnSync(apiServer, ['--version'], { encoding: 'utf8' })
  return /^Kubernetes (v\d+\.\d+\.\d+)$/m.exec(stdout)?.[1] ?? ''
}

/** Runs suites on a minor and counts their tests; undefined when vitest writes no report. */
function runOn({ assets }: Plane, suites: readonly string[]): VersionResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-versions-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  try {
    spawnSync(
      process.execPath,
      [
        join(ROOT, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--project=control-plane',
        ...reporters,
        ...suites.map(pathOf),
      ],
      {
        cwd: ROOT,
        stdio: 'inherit',
        env: { ...process.env, ...(assets === undefined ? {} : { KUBEBUILDER_ASSETS: assets }) },
      },
    )
    return countTests(JSON.parse(readFileSync(file, 'utf8')), suites)
  } catch (error) {
    process.stderr.write(`error: vitest wrote no report: ${String(error)}\n`)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function refuse(what: string, fix: string): number {
  process.stderr.write(`error: ${what}\n  fix:  ${fix}\n`)
  return 2
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean' } },
    allowPositionals: true,
  })
  const stray = positionals.find((minor) => !MINORS.includes(minor))
  if (stray !== undefined)
    return refuse(`no API server of Kubernetes ${stray} is built here`, `name one of ${MINORS.join(', ')}`)
  const suites = values.quick === true ? QUICK : TOPICS.flatMap((topic) => SUITES[topic])
  const rows: string[] = []
  let status = 0
  for (const minor of positionals.length === 0 ? MINORS : positionals) {
    const plane = await planeOf(minor)
    if (!plane.available) return refuse(`Kubernetes ${minor} cannot run: ${plane.why}`, plane.fix)
    if (!plane.version.startsWith(`v${minor}.`))
      return refuse(`the API server of ${minor} says that it is ${plane.version}`, 'remove it from the cache')
    process.stdout.write(`\n== Kubernetes ${plane.version}\n`)
    const began = performance.now()
    const result = runOn(plane, suites)
    if (result === undefined || !allPassed(result)) status = 1
    if (result !== undefined) rows.push(tableRow(plane.version, result))
    process.stdout.write(
      `== Kubernetes ${plane.version}: ${Math.round((performance.now() - began) / 1000)} s\n`,
    )
  }
  process.stdout.write(`\n${[tableHead(), ...rows].join('\n')}\n`)
  return status
}

process.exitCode = await main()
