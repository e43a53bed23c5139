// `npm run screenshot`: the image of docs/map.md, of the page that the executable prints for two namespaces of the estate. Fonts
// differ between machines, so no test compares it; test/browser/map.test.ts tests the page itself.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startBrowser } from '../test/browser/browser.ts'
import { executableName } from './build/bun.ts'

const ROOT = join(import.meta.dirname, '..')
const IMAGE = join(ROOT, 'docs/images/map.png')
const SIZE = { width: 1440, height: 860 }

const program = join(ROOT, 'dist', executableName('kubectl-kleym'))
const args = ['map', '-A', '--offline', '-R', '-f', 'examples/estate', '--fail-on', 'never', '-o', 'html']
const { stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
if (!stdout.startsWith('<!doctype html>'))
  throw new Error(`there is no page (npm run build first): ${stderr}`)

const folder = mkdtempSync(join(tmpdir(), 'kleym-screenshot-'))
const browser = await startBrowser()
try {
  const file = join(folder, 'map.html')
  writeFileSync(file, stdout)
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' })
  await page.goto(pathToFileURL(file).href)
  await page.locator('#overview [data-namespace="team-a"]').click()
  await page.locator('#overview [data-namespace="team-b"]').click()
  await page.locator('#boxes .row', { hasText: 'lora-adapter' }).click()
  await page.locator('#picture').scrollIntoViewIfNeeded()
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true })
  await page.screenshot({ path: IMAGE })
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
