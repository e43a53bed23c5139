// `npm run bench:verify`: `kubectl kleym verify` of as many entries as the largest SPIRE servers hold, against a dump of a cluster
// that asks for all of them, with the executable that ships. `-- --pods 100000`, `-- --registrations 5` (entries of each pod),
// `-- --executable PATH`. Nothing is asserted about time; it fails where an entry is not as it should be.
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { EXECUTABLE } from './live/measure.ts'
import { machineLine } from './machine.ts'
import { usageOf, type Usage } from './operator/usage.ts'

const PODS_PER_NODE = 100
const PODS_PER_NAMESPACE = 200
const CREATED = '2026-01-05T09:00:00Z'
const WATCH_EVERY_MS = 100

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    registrations: { type: 'string', default: '5' },
    executable: { type: 'string', default: EXECUTABLE },
  },
})
const pods = Number(options.pods)
const registrations = Number(options.registrations)
if (!Number.isInteger(pods) || !Number.isInteger(registrations)) throw new Error('give whole numbers')

const uidOf = (kind: string, at: number): string => `${kind}-0000-4000-8000-${String(at).padStart(12, '0')}`
const namespaceOf = (at: number): string => `team-${Math.floor(at / PODS_PER_NAMESPACE)}`
const nodeOf = (at: number): number => Math.floor(at / PODS_PER_NODE)

function meta(name: string, uid: string): object {
  return { name, uid, creationTimestamp: CREATED, generation: 1 }
}

function* clusterObjects(): Generator<object> {
  for (let at = 0; at < pods; at += PODS_PER_NAMESPACE)
    yield { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(at) } }
  for (let at = 0; at < pods; at += PODS_PER_NODE)
    yield {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: meta(`node-${nodeOf(at)}`, uidOf('11111111', nodeOf(at))),
      spec: {},
    }
  for (let at = 0; at < registrations; at++)
    yield {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: meta(`registration-${at}`, uidOf('22222222', at)),
      spec: {
        className: 'prod',
        spiffeIDTemplate: `spiffe://example.org/r${at}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}`,
        hint: `r${at}`,
      },
    }
  for (let at = 0; at < pods; at++)
    yield {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...meta(`pod-${at}`, uidOf('33333333', at)),
        namespace: namespaceOf(at),
        labels: { app: 'vllm' },
      },
      spec: {
        nodeName: `node-${nodeOf(at)}`,
        serviceAccountName: 'runner',
        containers: [{ name: 'vllm', image: 'vllm:1' }],
      },
    }
}

function* serverEntries(): Generator<object> {
  for (let at = 0; at < pods; at++)
    for (let of = 0; of < registrations; of++)
      yield {
        id: `prod.${uidOf(String(of).padStart(8, '4'), at)}`,
        spiffe_id: { trust_domain: 'example.org', path: `/r${of}/ns/${namespaceOf(at)}/sa/runner` },
        parent_id: {
          trust_domain: 'example.org',
          path: `/spire/agent/k8s_psat/prod/${uidOf('11111111', nodeOf(at))}`,
        },
        selectors: [{ type: 'k8s', value: `pod-uid:${uidOf('33333333', at)}` }],
        x509_svid_ttl: 0,
        federates_with: [],
        admin: false,
        downstream: false,
        expires_at: '0',
        dns_names: [],
        revision_number: '0',
        store_svid: false,
        jwt_svid_ttl: 0,
        hint: `r${of}`,
        created_at: '1767603600',
      }
}

async function write(path: string, head: string, items: Iterable<object>, tail: string): Promise<void> {
  const file = createWriteStream(path)
  file.write(head)
  let part = ''
  let isFirst = true
  for (const item of items) {
    part += `${isFirst ? '' : ',\n'}${JSON.stringify(item, null, 2)}`
    isFirst = false
    if (part.length < 1_000_000) continue
    if (!file.write(part)) await once(file, 'drain')
    part = ''
  }
  file.end(`${part}${tail}`)
  await once(file, 'finish')
}

const SCM = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  clusterName: 'prod',
  trustDomain: 'example.org',
  className: 'prod',
  entryIDPrefix: 'prod',
  ignoreNamespaces: ['kube-system'],
}

const folder = mkdtempSync(join(tmpdir(), 'kleym-bench-'))
try {
  await write(join(folder, 'scm.json'), JSON.stringify(SCM), [], '')
  await write(
    join(folder, 'cluster.json'),
    '{"apiVersion":"v1","kind":"List","items":[',
    clusterObjects(),
    ']}',
  )
  await write(join(folder, 'entries.json'), '{"entries":[', serverEntries(), '],"next_page_token":""}\n')
  const megabytes = Math.round(statSync(join(folder, 'entries.json')).size / 1e6)
  const from = performance.now()
  const child = spawn(
    options.executable,
    'verify --offline -f cluster.json --entries entries.json --scm-config scm.json --trust-domain example.org --summary'.split(
      ' ',
    ),
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let usage: Usage | undefined
  const watch = setInterval(() => {
    if (child.pid === undefined || child.exitCode !== null) return
    const now = usageOf(child.pid)
    // A process that has just ended has no memory any more.
    if (!Number.isNaN(now.peak)) usage = now
  }, WATCH_EVERY_MS)
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  const [code]: unknown[] = await once(child, 'exit')
  clearInterval(watch)
  const seconds = (performance.now() - from) / 1000
  process.stdout.write(
    `${machineLine()}\n${pods * registrations} entries, ${megabytes} MB, against ${pods} pods: ${seconds.toFixed(1)} s, ` +
      `${usage?.cpu.toFixed(1) ?? '?'} CPU s, ${Math.round((usage?.peak ?? 0) / 2 ** 20)} MiB\n${said}`,
  )
  if (code !== 0) throw new Error(`verify ended with ${String(code)}`)
} finally {
  rmSync(folder, { recursive: true })
}
