// A real browser for tests: Chromium as an npm package, which needs nothing but `npm ci` on Linux. Elsewhere, and where
// KLEYM_BROWSER names one, the browser of the machine. There is no way to skip: without a browser these tests fail.
import process from 'node:process'
import { chromium as playwright, type Browser } from 'playwright-core'

/** Starts a browser; the caller closes it. */
export async function startBrowser(): Promise<Browser> {
  const named = process.env['KLEYM_BROWSER']
  // Root may not use Chromium's sandbox, and the only page that it opens is ours.
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  if (named !== undefined) return playwright.launch({ executablePath: named, args })
  if (process.platform !== 'linux') return playwright.launch({ channel: 'chrome' })
  const { default: chromium } = await import('@sparticuz/chromium')
  return playwright.launch({ executablePath: await chromium.executablePath(), args })
}
