// Kinds of other projects that only a few suites want in their cluster, as CRD objects of those projects' Go modules.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { parseAllDocuments } from 'yaml'
import { isRecord, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { cacheFolder } from './binaries.ts'
import { ensureCrdFiles } from './crd-files.ts'
import { goOn } from './go-build.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import {
  BUILD,
  KSERVE_NEEDS,
  KSERVE_OBJECTS,
  MAKER_MANIFESTS,
  MONITORING_CRD_SOURCES,
  POLICY_CRD_SOURCES,
  REPORT_CRD_SOURCES,
  type CrdSource,
  type Maker,
} from './tools.ts'

/** What the Prometheus operator is told by: PodMonitor, ServiceMonitor, PrometheusRule. Rejects without their module. */
export function monitoringCrds(): Promise<readonly JsonRecord[]> {
  return crdsOf('monitoring', MONITORING_CRD_SOURCES)
}

/** Report and ClusterReport of OpenReports. Rejects when its module cannot be had. */
export function reportCrds(): Promise<readonly JsonRecord[]> {
  return crdsOf('reports', REPORT_CRD_SOURCES)
}

/** XAccessPolicy of Kube Agentic Networking. Rejects when its module cannot be had. */
export function policyCrds(): Promise<readonly JsonRecord[]> {
  return crdsOf('policies', POLICY_CRD_SOURCES)
}

/** The CRDs of a controller, and the configurations of its webhooks. Rejects when its module cannot be had. */
export function makerManifests(maker: Maker): Promise<readonly JsonRecord[]> {
  const needed = maker === 'kserve' ? KSERVE_NEEDS : []
  return crdsOf(`${maker}-manifests`, [MAKER_MANIFESTS[maker], ...needed])
}

/** What KServe ships beside its CRDs, without namespaces. Rejects when its module cannot be had. */
export function kserveObjects(): Promise<readonly JsonRecord[]> {
  return crdsOf('kserve-objects', [KSERVE_OBJECTS])
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** `name` begins the name of their folder in the cache. */
async function crdsOf(name: string, sources: readonly CrdSource[]): Promise<readonly JsonRecord[]> {
  const { env } = process
  const key = createHash('sha256').update(JSON.stringify(sources.map(({ sum }) => sum)))
  const folder = cacheFolder(env, `${name}-${key.digest('hex').slice(0, 20)}`)
  mkdirSync(dirname(folder), { recursive: true })
  await withLock(`${folder}.lock`, say, async () => {
    await ensureCrdFiles(folder, { go: goOn(env, BUILD) === 'usable', env, say }, sources)
  })
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => {
      const object: unknown = document.toJS()
      if (!isRecord(object)) throw new TypeError(`${file} holds no object`)
      // The files of some projects carry an empty status, which an apply would claim.
      return Object.fromEntries(Object.entries(object).filter(([field]) => field !== 'status'))
    }),
  )
}
