// Pages of `map` for tests in a browser: what the program prints for some files, opened as a file, as people open it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { PROJECT_ROOT } from '../../plugin/test/support/estate.ts'

/** How a page is opened. */
export interface Opening {
  readonly args: readonly string[]
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
}

/** A page that is open, and what it did. */
export interface OpenedPage {
  readonly page: Page
  /** The addresses that it asked for, but for its own. */
  readonly requests: readonly string[]
  /** The errors of its script, and what its policy has refused. */
  readonly errors: readonly string[]
}

/** The page that a command line prints, in a folder. */
export async function pageOf(args: readonly string[], cwd: string = PROJECT_ROOT): Promise<string> {
  const { stdout, stderr } = await inProcess(['map', ...args, '-o', 'html'], cwd)
  if (!stdout.startsWith('<!doctype html>')) throw new Error(`no page: ${stderr}`)
  return stdout
}

/** Opens the page of a command line; it is closed when the test ends. */
export async function openMap(
  browser: Browser,
  { args, width = 1440, height = 950, scheme = 'light' }: Opening,
): Promise<OpenedPage> {
  return openText(browser, await pageOf(args), { width, height, scheme })
}

/** The same for the text of a page. */
export async function openText(
  browser: Browser,
  text: string,
  { width = 1440, height = 950, scheme = 'light' }: Omit<Opening, 'args'> = {},
): Promise<OpenedPage> {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-page-'))
  const file = join(folder, 'map.html')
  writeFileSync(file, text)
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme })
  onTestFinished(async () => {
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const page = await context.newPage()
  const requests: string[] = []
  const errors: string[] = []
  const own = pathToFileURL(file).href
  page.on('request', (request) => {
    if (request.url() !== own) requests.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(own)
  return { page, requests, errors }
}
