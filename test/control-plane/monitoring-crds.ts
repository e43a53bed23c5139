// The kinds by which the Prometheus operator is told what to scrape, as CRD objects of its own module.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { parse } from 'yaml'
import { isRecord, type JsonRecord } from '../../shared/src/core/json.ts'
import { cacheFolder } from './binaries.ts'
import { ensureCrdFiles } from './crd-files.ts'
import { goOn } from './go-build.ts'
import { withLock } from './lock.ts'
import { BUILD, MONITORING_CRD_SOURCES } from './tools.ts'

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** PodMonitor and ServiceMonitor. Rejects when their module cannot be had. */
export async function monitoringCrds(): Promise<readonly JsonRecord[]> {
  const { env } = process
  const key = createHash('sha256').update(JSON.stringify(MONITORING_CRD_SOURCES.map(({ sum }) => sum)))
  const folder = cacheFolder(env, `monitoring-${key.digest('hex').slice(0, 20)}`)
  mkdirSync(dirname(folder), { recursive: true })
  await withLock(`${folder}.lock`, say, async () => {
    await ensureCrdFiles(folder, { go: goOn(env, BUILD) === 'usable', env, say }, MONITORING_CRD_SOURCES)
  })
  return readdirSync(folder).map((file) => {
    const crd: unknown = parse(readFileSync(join(folder, file), 'utf8'))
    if (!isRecord(crd)) throw new TypeError(`${file} holds no object`)
    return crd
  })
}
