// `npm run test:versions [MINOR…] [-- --quick --spire 1.12 --scm 0.6.4 --gaie 1.1 --helm 3.17 --maker lws]`: the suites of
// test/control-plane on other minors of Kubernetes, each with its own API server and controller manager; and on the newest
// minor, the suites that would notice another release of what stands beside it, and those that run the controller of a serving
// stack. Without an argument, all minors. It ends with
// rows for docs/compatibility.md.
import { spawnSync } from 'node:child_process'
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
import { OTHER_RELEASES, PEERS, type Peer } from '../test/control-plane/other-releases.ts'
import { goModule, MAKER_MANIFESTS, requirement, type Maker } from '../test/control-plane/tools.ts'
import { keysOf } from '../shared/src/core/base/json.ts'
import {
  allPassed,
  countFiles,
  countTests,
  peerRow,
  PEER_TABLE_HEAD,
  tableHead,
  tableRow,
} from './versions/row.ts'
import { runSuites } from './versions/run.ts'
import { MAKER_SUITES, pathOf, PEER_SUITES, QUICK, SUITES, TOPICS } from './versions/suites.ts'

const MINORS: readonly string[] = [...OLDER_MINORS, NEWEST_MINOR]

/** A minor that suites can run on: the folder of its own servers, where they are not the usual ones. */
interface Plane {
  readonly available: true
  readonly version: string
  readonly assets?: string
}

/** A release of something beside Kubernetes that is asked for. */
interface PeerRelease {
  readonly peer: Peer
  readonly release: string
}

/** The rows of a table that were filled, and whether every test passed. */
interface Outcome {
  readonly rows: readonly string[]
  readonly passed: boolean
}

/** Something that is asked for and cannot run. */
class Refusal extends Error {
  readonly fix: string
  constructor(what: string, fix: string) {
    super(what)
    this.fix = fix
  }
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

/** Runs something under a title, and says how long it took. */
function timed<T>(title: string, run: () => T): T {
  process.stdout.write(`\n== ${title}\n`)
  const began = performance.now()
  const result = run()
  process.stdout.write(`== ${title}: ${Math.round((performance.now() - began) / 1000)} s\n`)
  return result
}

async function runMinors(minors: readonly string[], suites: readonly string[]): Promise<Outcome> {
  const rows: string[] = []
  let passed = true
  for (const minor of minors) {
    const plane = await planeOf(minor)
    if (!plane.available) throw new Refusal(`Kubernetes ${minor} cannot run: ${plane.why}`, plane.fix)
    const { version, assets } = plane
    if (!version.startsWith(`v${minor}.`))
      throw new Refusal(`the API server of ${minor} says that it is ${version}`, 'remove it from the cache')
    const variables = assets === undefined ? {} : { KUBEBUILDER_ASSETS: assets }
    const report = timed(`Kubernetes ${version}`, () =>
      runSuites({ project: 'control-plane', files: suites.map(pathOf), variables }),
    )
    const result = report === undefined ? undefined : countTests(report, suites)
    if (result === undefined || !allPassed(result)) passed = false
    if (result !== undefined) rows.push(tableRow(version, result))
  }
  return { rows, passed }
}

function runPeers(releases: readonly PeerRelease[]): Outcome {
  const rows: string[] = []
  let passed = true
  for (const { peer, release } of releases) {
    const { title, variable, module, path } = OTHER_RELEASES[peer]
    const name = `${title} ${requirement(goModule(`${module}-${release}`), path)}`
    const { project, files } = PEER_SUITES[peer]
    const report = timed(name, () => runSuites({ project, files, variables: { [variable]: release } }))
    const counts = report === undefined ? undefined : countFiles(report, files)
    if (counts === undefined || counts.failed > 0) passed = false
    if (counts !== undefined) rows.push(peerRow(name, files, counts))
  }
  return { rows, passed }
}

function runMakers(makers: readonly Maker[]): Outcome {
  const outcomes = makers.map((maker) => {
    const { title, file } = MAKER_SUITES[maker]
    const name = `${title} ${MAKER_MANIFESTS[maker].version}`
    const report = timed(name, () => runSuites({ project: 'makers', files: [file], variables: {} }))
    const counts = countFiles(report, [file])
    return { row: peerRow(name, [file], counts), passed: counts.failed === 0 }
  })
  return { rows: outcomes.map(({ row }) => row), passed: outcomes.every(({ passed }) => passed) }
}

function makersIn(asked: readonly string[]): readonly Maker[] {
  const known = keysOf(MAKER_SUITES)
  const stray = asked.find((name) => !known.some((one) => one === name))
  if (stray !== undefined)
    throw new Refusal(`no controller ${stray} is built here`, `name one of ${known.join(', ')}`)
  return known.filter((maker) => asked.includes(maker))
}

/** Those that are asked for, in the order of `PEERS`. */
function releasesIn(values: Readonly<Partial<Record<Peer, readonly string[]>>>): readonly PeerRelease[] {
  return PEERS.flatMap((peer) =>
    (values[peer] ?? []).map((release) => {
      const releases: readonly string[] = OTHER_RELEASES[peer].releases
      if (!releases.includes(release))
        throw new Refusal(
          `no ${OTHER_RELEASES[peer].title} ${release} is built here`,
          `name one of ${releases.join(', ')}`,
        )
      return { peer, release }
    }),
  )
}

async function main(): Promise<number> {
  const several = { type: 'string', multiple: true } as const
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      spire: several,
      scm: several,
      gaie: several,
      helm: several,
      maker: several,
    },
    allowPositionals: true,
  })
  const stray = positionals.find((minor) => !MINORS.includes(minor))
  if (stray !== undefined)
    throw new Refusal(
      `no API server of Kubernetes ${stray} is built here`,
      `name one of ${MINORS.join(', ')}`,
    )
  const releases = releasesIn(values)
  const makers = makersIn(values.maker ?? [])
  const isMore = releases.length > 0 || makers.length > 0
  const minors = positionals.length === 0 && !isMore ? MINORS : positionals
  const suites = values.quick === true ? QUICK : TOPICS.flatMap((topic) => SUITES[topic])
  const ofMinors = await runMinors(minors, suites)
  const outcomes = [runPeers(releases), runMakers(makers)]
  const ofOthers = outcomes.flatMap(({ rows }) => rows)
  if (ofMinors.rows.length > 0) process.stdout.write(`\n${[tableHead(), ...ofMinors.rows].join('\n')}\n`)
  if (ofOthers.length > 0) process.stdout.write(`\n${[PEER_TABLE_HEAD, ...ofOthers].join('\n')}\n`)
  return [ofMinors, ...outcomes].every(({ passed }) => passed) ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`error: ${error.message}\n  fix:  ${error.fix}\n`)
  process.exitCode = 2
}
