// What an API server and the CRDs write into an empty etcd, kept in the user's cache folder: a control plane that begins with it
// has its kinds from the start, and takes a third of the work. It is made once, by a control plane that began with nothing.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { isRecord, listAt, own, stringAt } from '../../shared/src/core/base/json.ts'
import { cacheFolder, type Binaries } from './binaries.ts'
import { CRD_NAMES, crdText } from './crds.ts'
import { callEtcd, type Pair } from './etcd.ts'

/** Keys that belong to one run of an API server: its own Lease. */
const OF_ONE_RUN = '/registry/leases/kube-system/apiserver-'
/** etcd takes 128 operations in one transaction, and 1.5 MiB. */
const PAIRS_AT_ONCE = 100
const BYTES_AT_ONCE = 500_000

/** The file for these programs, with these CRDs and the flags of today. */
export function firstStateFile({ programs, crds }: Binaries): string {
  const server = programs['kube-apiserver']
  const { size, mtimeMs } = statSync(server)
  const key = createHash('sha256').update(JSON.stringify([server, size, mtimeMs]))
  for (const name of CRD_NAMES) key.update(crdText(name, crds))
  for (const file of ['first-state.ts', 'servers.ts'])
    key.update(readFileSync(join(import.meta.dirname, file)))
  return join(cacheFolder(process.env, `first-state-${key.digest('hex').slice(0, 20)}`), 'pairs.json')
}

/** The pairs of a file; undefined if it is not there. */
export function readFirstState(file: string): readonly Pair[] | undefined {
  if (!existsSync(file)) return undefined
  const pairs: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return listAt({ pairs }, 'pairs').map((pair) => ({
    key: stringAt(pair, 'key') ?? '',
    value: stringAt(pair, 'value') ?? '',
  }))
}

/** Keeps all that etcd holds now, but for what ends by itself and what belongs to one run; returns it. */
export async function keepFirstState(etcdPort: number, file: string): Promise<readonly Pair[]> {
  const answer = await callEtcd(etcdPort, 'kv/range', { key: 'AA==', range_end: 'AA==' })
  const pairs = listAt(answer, 'kvs')
    .filter(isRecord)
    .filter((pair) => own(pair, 'lease') === undefined)
    .map((pair) => ({ key: stringAt(pair, 'key') ?? '', value: stringAt(pair, 'value') ?? '' }))
    .filter(({ key }) => !Buffer.from(key, 'base64').toString('utf8').startsWith(OF_ONE_RUN))
  mkdirSync(dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(pairs))
  renameSync(unfinished, file)
  return pairs
}

/** Stores pairs in an etcd that holds nothing yet. */
export async function storeFirstState(etcdPort: number, pairs: readonly Pair[]): Promise<void> {
  let some: Pair[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    if (some.length > 0)
      await callEtcd(etcdPort, 'kv/txn', { success: some.map((pair) => ({ request_put: pair })) })
    some = []
    bytes = 0
  }
  for (const pair of pairs) {
    const size = pair.key.length + pair.value.length
    if (some.length >= PAIRS_AT_ONCE || bytes + size > BYTES_AT_ONCE) await flush()
    some.push(pair)
    bytes += size
  }
  await flush()
}
