// The documentation site as it is built: every link and anchor of its HTML leads somewhere, and in a real browser no page asks
// for anything of another origin, none is wider than its window, and what axe looks for is as it should be.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, posix } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SITE_HTML } from '../../scripts/docs.ts'
import { pagePaths, sitePath } from '../../scripts/docs/pages.ts'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { startBrowser } from './browser.ts'
import { ROOT, textOf } from '../house/files.ts'
import { anchorsOf } from '../house/markdown.ts'
import { BUILD_MAX_MS, buildSite, htmlPages, serveSite, type ServedSite } from './built-site.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDTHS = [390, 1280] as const

const started: { browser?: Browser; site?: ServedSite } = {}
beforeAll(async () => {
  await buildSite()
  started.site = await serveSite()
  started.browser = await startBrowser()
}, BUILD_MAX_MS)
afterAll(async () => {
  await started.browser?.close()
  started.site?.close()
})

/** The address of a page of the site. */
function addressOf(path: string): string {
  if (started.site === undefined) throw new Error('the site is not served')
  return `${started.site.origin}/${path}`
}

function htmlOf(path: string): string {
  return readFileSync(join(SITE_HTML, path), 'utf8')
}

/** The values of an attribute, wherever it stands. */
function attributes(html: string, name: string): readonly string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )
}

/** Where the HTML of a page of the repository is. */
function htmlPath(page: string): string {
  return sitePath(page).replace(/\.md$/, '.html')
}

test('every page of the repository is a page of the site', () => {
  const built = new Set(htmlPages())
  const missing = pagePaths(ROOT).filter((page) => !built.has(htmlPath(page)))
  expect(missing).toEqual([])
})

test('every link within the site leads to a file of it, and every anchor to an element', () => {
  const ids = new Map(htmlPages().map((path) => [path, new Set(attributes(htmlOf(path), 'id'))]))
  const problems = htmlPages().flatMap((page) =>
    [...attributes(htmlOf(page), 'href'), ...attributes(htmlOf(page), 'src')].flatMap((target) => {
      if (/^[a-z][a-z+.-]*:/i.test(target)) return []
      const [file = '', anchor] = target.split('#')
      const path =
        file === '' ? page : file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(page), file)
      const found = path === '' || path.endsWith('/') ? `${path}index.html` : path
      if (statSync(join(SITE_HTML, found), { throwIfNoEntry: false })?.isFile() !== true)
        return [`${page}: ${target}: there is no ${found}`]
      if (anchor === undefined || anchor === '' || ids.get(found)?.has(decodeURIComponent(anchor)) !== false)
        return []
      return [`${page}: ${target}: ${found} has no such element`]
    }),
  )
  expect(problems).toEqual([])
})

test('headings have the anchors that the forge gives them', () => {
  const problems = pagePaths(ROOT).flatMap((page) => {
    const ids = new Set(attributes(htmlOf(htmlPath(page)), 'id'))
    return [...anchorsOf(textOf(page))]
      .filter((anchor) => !ids.has(anchor))
      .map((anchor) => `${page}#${anchor}`)
  })
  expect(problems).toEqual([])
})

/** A page in a browser, and what it did. */
interface Visit {
  readonly page: Page
  /** Addresses of other origins that it asked for. */
  readonly foreign: readonly string[]
  readonly errors: readonly string[]
}

/** Opens pages one after the other in one window. */
async function visitor(scheme: 'light' | 'dark'): Promise<Visit> {
  if (started.browser === undefined) throw new Error('the browser has not started')
  const context = await started.browser.newContext({ colorScheme: scheme })
  const page = await context.newPage()
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(addressOf('')) && !request.url().startsWith('data:'))
      foreign.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()}`)
  })
  return { page, foreign, errors }
}

/** All pages but for those of folders whose pages are alike, of which every tenth stands for the others. */
function lookedAt(): readonly string[] {
  const alike = /^(?:findings|decisions|runbooks)\/(?!index)/
  return htmlPages().filter((path, at) => !alike.test(path) || at % 10 === 0)
}

test('no page asks for anything of another origin, fails in its script, or is wider than a phone or a desktop', async () => {
  const { page, foreign, errors } = await visitor('light')
  const wide: string[] = []
  expect(lookedAt().length).toBeGreaterThan(50)
  for (const path of lookedAt()) {
    await page.goto(addressOf(path), { waitUntil: 'load' })
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const content = await page.evaluate(() => document.documentElement.scrollWidth)
      if (content > width) wide.push(`${path} is ${content} wide on ${width}`)
    }
  }
  await page.context().close()
  expect({ wide, foreign, errors }).toEqual({ wide: [], foreign: [], errors: [] })
})

test('its policy would refuse what is of another origin', async () => {
  const { page } = await visitor('light')
  await page.goto(addressOf('index.html'))
  const refused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.blockedURI))
        const image = document.createElement('img')
        image.src = 'https://example.org/x.png'
        document.body.append(image)
      }),
  )
  await page.context().close()
  expect(refused).toBe('https://example.org/x.png')
})

/** Waits until every diagram of a page is drawn in these colours; the bound is the browser's. */
async function untilDrawn(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  for (const diagram of await page.locator('.diagram').all())
    await diagram.and(page.locator(`[data-drawn="${scheme}"]`)).waitFor()
}

/** A page of each kind: prose with an image, diagrams, long tables, code with colours, and a short one. */
const LOOKED_AT = [
  'index.html',
  htmlPath('docs/architecture.md'),
  'reference/reasons.html',
  'gitops.html',
  'findings/KLM301.html',
]

describe.each(['light', 'dark'] as const)('in %s', (scheme) => {
  test.each(LOOKED_AT)('axe finds nothing on %s', async (path) => {
    const { page } = await visitor(scheme)
    await page.goto(addressOf(path))
    await untilDrawn(page, scheme)
    await page.evaluate(AXE)
    const result: unknown = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
    const found = listAt(result, 'violations').flatMap((one) =>
      listAt(one, 'nodes').map(
        (node) => `${stringAt(one, 'id')}: ${stringAt(node, 'html')} ${stringAt(node, 'failureSummary')}`,
      ),
    )
    await page.context().close()
    expect(found).toEqual([])
  })

  test('diagrams are drawn', async () => {
    const { page, foreign } = await visitor(scheme)
    await page.goto(addressOf(htmlPath('docs/architecture.md')))
    await untilDrawn(page, scheme)
    expect(await page.locator('.diagram svg').count()).toBe(await page.locator('.diagram').count())
    expect(await page.locator('.diagram').first().innerText()).toContain('caches')
    expect(await cutLabels(page)).toEqual([])
    await page.context().close()
    expect(foreign).toEqual([])
  })
})

test('every picture is seen as a whole on a phone', async () => {
  const { page } = await visitor('light')
  await page.setViewportSize({ width: WIDTHS[0], height: 900 })
  const pictured = pagePaths(ROOT).filter((path) => textOf(path).includes('```mermaid'))
  expect(pictured.length).toBeGreaterThan(3)
  for (const path of pictured) {
    await page.goto(addressOf(htmlPath(path)))
    await untilDrawn(page, 'light')
    const cut = await page
      .locator('.diagram')
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)
    expect({ path, cut }).toEqual({ path, cut: 0 })
  }
  await page.context().close()
})

/** Labels of boxes that are higher than the room that was left for them. */
function cutLabels(page: Page): Promise<readonly string[]> {
  return page
    .locator('.diagram foreignObject')
    .evaluateAll((all) =>
      all
        .filter((one) => (one.firstElementChild?.scrollHeight ?? 0) > Number(one.getAttribute('height')) + 1)
        .map((one) => one.textContent ?? ''),
    )
}

/** How many lines of code stand beyond their box, and how many short codes are broken. */
async function codeFaults(page: Page): Promise<{ readonly cut: number; readonly broken: number }> {
  return page.evaluate(() => {
    const blocks = [...document.querySelectorAll('.vp-doc pre')]
    const short = [...document.querySelectorAll('.vp-doc :not(pre) > code')].filter(
      ({ textContent }) => textContent.length <= 12,
    )
    return {
      cut: blocks.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
      broken: short.filter((code) => code.getClientRects().length > 1).length,
    }
  })
}

test('a flag is read in one piece on a phone, and paper shows commands as a whole', async () => {
  const { page } = await visitor('light')
  await page.setViewportSize({ width: WIDTHS[0], height: 900 })
  for (const path of ['quick-start.html', 'reference/commands.html', 'no-svid.html']) {
    await page.goto(addressOf(path))
    await page.emulateMedia({ media: 'screen' })
    expect({ path, ...(await codeFaults(page)) }).toMatchObject({ path, broken: 0 })
    await page.emulateMedia({ media: 'print' })
    expect({ path, ...(await codeFaults(page)) }).toEqual({ path, cut: 0, broken: 0 })
  }
  await page.context().close()
})

test('labels of the picture of the first page are not cut', async () => {
  const { page } = await visitor('light')
  await page.goto(addressOf('index.html'))
  await untilDrawn(page, 'light')
  const cut = await cutLabels(page)
  await page.context().close()
  expect(cut).toEqual([])
})

test('search finds a reason by its name, without a request to another origin', async () => {
  const { page, foreign } = await visitor('light')
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(addressOf('index.html'))
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('.VPLocalSearchBox input').fill('WaitingForPeer')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
  const titles = await page.locator('.VPLocalSearchBox .result').allInnerTexts()
  await page.context().close()
  expect(titles.join('\n')).toContain('Condition reasons')
  expect(foreign).toEqual([])
})
