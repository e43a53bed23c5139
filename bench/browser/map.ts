// `npm run bench:map`: how long the page of `map` takes, for 5,000 containers with 500 identities, no two pods of which are
// drawn as one: to be made by the executable, to open in a real browser, and to answer a search, an opened namespace and a
// zoom. Medians of several openings. It asserts nothing about time: docs/performance.md holds the aims.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from '../../test/browser/browser.ts'
import { EXECUTABLE } from '../live/measure.ts'
import { machineLine } from '../machine.ts'

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '5' } } })

const NAMESPACES = 50
const BINDINGS_EACH = 10
const PODS_EACH = 5
const CONTAINERS = ['vllm', 'proxy']

/** Bindings of both containers of the pods of a pool; pods that no workload makes are a box each. */
function world(): readonly unknown[] {
  const objects: unknown[] = []
  for (let at = 0; at < NAMESPACES; at++) {
    const namespace = `team-${String(at).padStart(2, '0')}`
    objects.push({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, uid: namespace } })
    for (let one = 0; one < BINDINGS_EACH; one++) {
      const name = `model-${one}`
      objects.push(
        {
          apiVersion: 'inference.networking.k8s.io/v1',
          kind: 'InferencePool',
          metadata: { name, namespace },
          spec: {
            selector: { matchLabels: { app: name } },
            targetPorts: [{ number: 8000 }],
            endpointPickerRef: { name: 'epp', port: { number: 9002 } },
          },
        },
        {
          apiVersion: 'kleym.sonda.red/v1alpha1',
          kind: 'InferenceIdentityBinding',
          metadata: { name, namespace, uid: `${namespace}-${name}` },
          spec: { mode: 'PoolOnly', poolRef: { name }, serviceAccountName: 'runner' },
        },
        ...Array.from({ length: PODS_EACH }, (_, pod) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: `${name}-${pod}`,
            namespace,
            uid: `${namespace}-${name}-${pod}`,
            labels: { app: name },
          },
          spec: {
            serviceAccountName: 'runner',
            nodeName: `n${pod}`,
            containers: CONTAINERS.map((container) => ({ name: container })),
          },
        })),
      )
    }
  }
  return objects
}

const SCM = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  trustDomain: 'example.org',
  clusterName: 'prod',
  watchClassless: true,
}

/** The page of the world, and the milliseconds that the executable took to print it. */
function printPage(folder: string): { readonly html: string; readonly milliseconds: number } {
  const file = (name: string, value: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(value))
    return join(folder, name)
  }
  const scm = file('scm.json', SCM)
  const files = file('world.json', { apiVersion: 'v1', kind: 'List', items: world() })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '', '--scm-config', scm]
  const args = ['map', '-A', '-o', 'html', '--fail-on', 'never', '--offline', '-f', files, ...settings]
  const from = performance.now()
  const { stdout, stderr, status } = spawnSync(EXECUTABLE, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const milliseconds = performance.now() - from
  if (status !== 0) throw new Error(`map ended with ${status}: ${stderr}`)
  return { html: stdout, milliseconds }
}

/** Each of them are two frames. */
const ZOOMS = 30

type Timing = Readonly<Record<string, number>>

/** The milliseconds from a click until the browser has painted what it does. */
function clickTime(page: Page, selector: string): Promise<number> {
  return page.evaluate(async (wanted) => {
    const from = performance.now()
    const found = document.querySelector<HTMLElement>(wanted)
    if (found === null) throw new Error(`the page has no ${wanted}`)
    found.click()
    await new Promise<void>((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
    })
    return performance.now() - from
  }, selector)
}

/** One opening of the page, in milliseconds. */
async function timingOf(browser: Browser, url: string): Promise<Timing> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 950 } })
  await page.goto(url)
  const opened = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))
      }),
  )
  const namespace = await clickTime(page, '#overview [data-namespace="team-07"]')
  const boxes = await page.locator('#boxes [data-id]').count()
  const select = await clickTime(page, '#boxes .pods .row')
  const zooms: number[] = []
  for (let at = 0; at < ZOOMS; at++)
    zooms.push(await clickTime(page, at % 2 === 0 ? '#zoom-in' : '#zoom-out'))
  const verdict = await clickTime(page, '#states [data-state]')
  await page.locator('#reset').click()
  const from = performance.now()
  await page.locator('#search').fill('team-31 model-4')
  await page.waitForFunction(() => document.querySelector('#note')?.textContent?.includes('found') === true)
  const search = performance.now() - from
  await page.close()
  return {
    opened,
    namespace,
    boxes,
    select,
    zoom: median(zooms),
    'slowest of the zooms': Math.max(...zooms),
    verdict,
    search,
  }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right)
  return sorted[sorted.length >> 1] ?? 0
}

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(44)}${text}\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'kleym-bench-map-'))
const browser = await startBrowser()
try {
  const { html, milliseconds } = printPage(folder)
  const file = join(folder, 'map.html')
  writeFileSync(file, html)
  const runs: Timing[] = []
  for (let at = 0; at < Number(options.runs); at++)
    runs.push(await timingOf(browser, pathToFileURL(file).href))
  process.stdout.write(`${machineLine()}\n\n`)
  print(
    'containers, identities',
    `${NAMESPACES * BINDINGS_EACH * PODS_EACH * CONTAINERS.length}, ${NAMESPACES * BINDINGS_EACH}`,
  )
  print('the executable prints the page, ms', milliseconds.toFixed(0))
  print('its size, MiB', (statSync(file).size / 2 ** 20).toFixed(1))
  for (const name of Object.keys(runs[0] ?? {}))
    print(
      name === 'boxes' ? 'boxes and rows of a namespace' : `${name}, ms`,
      median(runs.map((run) => run[name] ?? 0)).toFixed(0),
    )
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
