// `npm run bench:played`: what the plugin costs on a cluster that no machine for tests holds: 10,000 bindings with their
// ClusterSPIFFEIDs and 100,000 pods (`-- --bindings N --pods M`). A server of ours plays the lists of such a cluster; nothing
// else of an API server is there. `-- --executable PATH` measures another build in the same runs, as often as there are builds.
// It prints a table and asserts nothing; it fails where a command does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { gzip } from 'node:zlib'
import { analyse } from '../../shared/src/core/analysis/states/analysis.ts'
import { isRecord, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { compareBytes } from '../../shared/src/core/base/text/bytes.ts'
import { readScmSettings } from '../../shared/src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../shared/src/core/snapshot/snapshot.ts'
import * as resources from '../../shared/src/kube/resources.ts'
import { TRUST_DOMAIN } from '../../test/control-plane/operator.ts'
import { machineLine } from '../machine.ts'
import { CLASS_NAME } from '../objects.ts'
import { AVAILABLE, liveEstate, sizeFrom, type LiveEstate } from './estate.ts'
import { COMMANDS, EXECUTABLE } from './measure.ts'
import { podOf, podStatus } from './pods.ts'
import { run } from './program.ts'
import { playedKubeconfig } from '../played-kubeconfig.ts'

const RUNS = 3

const { values: options } = parseArgs({
  options: {
    bindings: { type: 'string' },
    pods: { type: 'string' },
    executable: { type: 'string', multiple: true, default: [] },
  },
})

/** What field managers leave on every object, which no answer uses and every list carries. */
const MANAGED_FIELDS = [
  {
    manager: 'bench',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-11-02T08:15:31Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} } },
      'f:spec': {
        'f:containers': { 'k:{"name":"vllm"}': { '.': {}, 'f:env': {}, 'f:image': {}, 'f:ports': {} } },
      },
    },
  },
]

let stamped = 0

/** The object as an API server has stored it. */
function stored(object: JsonRecord): JsonRecord {
  stamped += 1
  const metadata = own(object, 'metadata')
  return {
    ...object,
    metadata: {
      ...(isRecord(metadata) ? metadata : {}),
      uid: `00000000-0000-4000-8000-${String(stamped).padStart(12, '0')}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-02T08:15:31Z',
      managedFields: MANAGED_FIELDS,
    },
  }
}

/** The bindings with what they stand on, and the outputs that the operator has written for them. */
function objectsOf({ stages, operator }: LiveEstate): readonly JsonRecord[] {
  const objects = stages.flat().map((one) => stored(one === operator ? { ...one, status: AVAILABLE } : one))
  const config = { trustDomain: { kind: 'set', value: TRUST_DOMAIN } as const, className: CLASS_NAME }
  const evidence = { trustDomain: TRUST_DOMAIN, className: CLASS_NAME, clusterSpiffeIdClasses: [] }
  const scm = readScmSettings(undefined, 'the bench', evidence).settings
  const { changes } = analyse(readSnapshot({ objects: objects.map((value) => ({ value })) }), config, scm)
  const outputs = changes.all.flatMap((change) =>
    change.kind === 'create' ? [stored({ ...change.output })] : [],
  )
  return [...objects, ...outputs]
}

const PLURALS: ReadonlyMap<string, string> = new Map(
  Object.values(resources)
    .flat()
    .flatMap((one) => (typeof one === 'object' && 'plural' in one ? [[one.kind, one.plural]] : [])),
)

/** An item as JSON, by its key in etcd. */
interface Item {
  readonly key: string
  readonly text: string
}

/**
 * The items of every list: of all namespaces, of one, and of an object without a namespace by its name. As an API server lists them: in
 * order of their keys.
 */
class Lists {
  readonly #items = new Map<string, Item[]>()

  constructor(objects: Iterable<JsonRecord>) {
    for (const object of objects) this.#add(object)
    for (const items of this.#items.values()) items.sort((a, b) => compareBytes(a.key, b.key))
  }

  #add(object: JsonRecord): void {
    const { kind, apiVersion, ...item } = object
    const plural = PLURALS.get(String(kind)) ?? ''
    const version = String(apiVersion)
    const base = version.includes('/') ? `/apis/${version}` : `/api/${version}`
    const [namespace, name] = [stringAt(item, 'metadata', 'namespace'), stringAt(item, 'metadata', 'name')]
    const one = { key: `${namespace}/${name}`, text: JSON.stringify(item) }
    const place =
      namespace === undefined ? `${base}/${plural}/${name}` : `${base}/namespaces/${namespace}/${plural}`
    for (const path of [`${base}/${plural}`, place]) this.#of(path).push(one)
  }

  answer(url: URL): string {
    if (url.pathname === '/apis') return JSON.stringify({ groups: GROUPS })
    const all = this.#items.get(url.pathname) ?? []
    if (/\/(?:namespaces|nodes)\/[^/]+$/.test(url.pathname)) return all[0]?.text ?? '{}'
    // The one selector that is asked by is the operator's label.
    const asked = url.searchParams.has('labelSelector')
      ? all.filter(({ text }) => text.includes(OPERATOR_LABEL))
      : all
    const from = Number(url.searchParams.get('continue') ?? 0)
    const to = from + (Number(url.searchParams.get('limit') ?? 0) || asked.length)
    const next = to < asked.length ? String(to) : ''
    const items = asked.slice(from, to).map(({ text }) => text)
    return `{"metadata":{"resourceVersion":"1","continue":"${next}"},"items":[${items.join(',')}]}`
  }

  #of(path: string): Item[] {
    const items = this.#items.get(path) ?? []
    this.#items.set(path, items)
    return items
  }
}

/** As it stands in an object; an operator is there, and its arguments tell its settings. */
const OPERATOR_LABEL = '"app.kubernetes.io/name":"kleym"'

const GROUPS = [
  ['apps', 'v1'],
  ['batch', 'v1'],
  ['kleym.sonda.red', 'v1alpha1'],
  ['inference.networking.k8s.io', 'v1'],
  ['inference.networking.x-k8s.io', 'v1alpha2'],
  ['llm-d.ai', 'v1alpha2'],
  ['spire.spiffe.io', 'v1alpha1'],
].map(([name, version]) => ({ name, versions: [{ version }] }))

const size = sizeFrom(options, { bindings: 10_000, pods: 100_000 })
const estate = liveEstate(size)
const lists = new Lists(
  (function* () {
    yield* objectsOf(estate)
    for (const ask of estate.pods) yield stored({ ...podOf(ask), status: podStatus(ask.at) })
  })(),
)

/** From so many bytes on an API server compresses what may come compressed, at the level 1 (k8s.io/apiserver, responsewriters/writers.go). */
const GZIP_FROM = 128 * 1024

let requests = 0
const server = createServer((request, response) => {
  requests += 1
  response.setHeader('content-type', 'application/json')
  const answer = lists.answer(new URL(request.url ?? '/', 'http://played'))
  if (request.headers['accept-encoding'] !== 'gzip' || answer.length < GZIP_FROM) {
    response.end(answer)
    return
  }
  response.setHeader('content-encoding', 'gzip')
  gzip(answer, { level: 1 }, (error, packed) => (error ? response.destroy(error) : response.end(packed)))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('the server has no port')
const { port } = address
const folder = mkdtempSync(join(tmpdir(), 'kleym-played-'))
const kubeconfig = join(folder, 'config')
writeFileSync(kubeconfig, playedKubeconfig(port))

/** `status` asks for more than lists. */
const PLAYED = COMMANDS.filter(({ program, name }) => program === 'kleym' && name !== 'status')

process.stdout.write(`${machineLine()}\n${size.bindings} bindings, ${size.pods} pods\n`)
const BUILDS = [EXECUTABLE, ...options.executable]
try {
  for (const { name, args, codes } of PLAYED)
    for (let at = 0; at < RUNS; at++)
      for (const command of BUILDS) {
        requests = 0
        const ran = await run({ command, args, cwd: folder, env: { KUBECONFIG: kubeconfig, HOME: folder } })
        if (!codes.some((code) => code === ran.code))
          throw new Error(`${command}: ${name} ended with ${ran.code}: ${ran.stderr}`)
        const cells = [
          `${ran.seconds.toFixed(2)} s`,
          `CPU ${ran.cpu.toFixed(1)} s`,
          `peak ${(ran.peak / 2 ** 20).toFixed(0)} MiB`,
          `${requests} requests`,
        ]
        const build = BUILDS.length > 1 ? `  ${command}` : ''
        process.stdout.write(`${name.padEnd(30)}${cells.map((cell) => cell.padStart(16)).join('')}${build}\n`)
      }
} finally {
  server.close()
  rmSync(folder, { recursive: true, force: true })
}
