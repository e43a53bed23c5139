// The page of `map` in a real browser: search, filters, clicks, keyboard; that no request leaves it; what axe finds; and names
// that would break out of it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../plugin/test/support/estate.ts'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { workspace } from '../../plugin/test/support/workspace.ts'
import { startBrowser } from './browser.ts'
import { openMap, openText, pageOf, type OpenedPage } from './map-pages.ts'

const ESTATE = ['-A', ...ESTATE_FLAGS]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const started: { browser?: Browser } = {}

beforeAll(async () => {
  started.browser = await startBrowser()
})

afterAll(async () => {
  await started.browser?.close()
})

function browser(): Browser {
  if (started.browser === undefined) throw new Error('the browser has not started')
  return started.browser
}

/** The names of the boxes and rows that are drawn. */
function drawn(page: Page): Promise<readonly string[]> {
  return page
    .locator('#boxes [data-id]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-id') ?? ''))
}

function namespaceCard(page: Page, namespace: string): ReturnType<Page['locator']> {
  return page.locator(`#overview [data-namespace="${namespace}"]`)
}

function note(page: Page): Promise<string> {
  return page.locator('#note').innerText()
}

function box(page: Page, id: string): ReturnType<Page['locator']> {
  return page.locator(`#boxes [data-id="${id}"]`)
}

const CHAT = 'identity/spiffe://example.org/ns/team-a/objective/chat'

test('a large map begins with its namespaces, each with what becomes of its containers', async () => {
  const { page, errors } = await openMap(browser(), { args: ESTATE })
  expect(await page.locator('#overview .card').count()).toBe(14)
  expect(await namespaceCard(page, 'lab').innerText()).toMatch(/11 issued.*4 several.*9 undetermined/s)
  expect(await namespaceCard(page, 'kube-system').innerText()).toContain('no pod')
  expect(await drawn(page)).toEqual([])
  expect(errors).toEqual([])
})

test('an opened namespace shows its pods, what gives them identities, these, and who names them', async () => {
  const { page } = await openMap(browser(), { args: ESTATE })
  await namespaceCard(page, 'team-a').click()
  const ids = await drawn(page)
  expect(ids).toEqual(
    expect.arrayContaining([
      'binding/team-a/chat',
      CHAT,
      'ClusterSPIFFEID/default',
      'policy/XAccessPolicy/agents/tools',
    ]),
  )
  // Three replicas that are alike are one box.
  expect(await page.locator('#boxes').innerText()).toContain('and 2 alike')
  expect(ids.some((id) => id.startsWith('container/') && id.includes('team-b'))).toBe(false)
  await namespaceCard(page, 'team-a').click()
  expect(await drawn(page)).toEqual([])
})

test('a small map is open at once', async () => {
  const args = ['--offline', '-R', '-f', 'examples/pull-request/head']
  const { page } = await openMap(browser(), { args })
  expect((await drawn(page)).length).toBeGreaterThan(5)
})

describe('search and filters', () => {
  test('a search draws what is found with what gives to it and what it holds, and the table has the same rows', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await page.locator('#search').fill('sql-lora')
    await page.waitForFunction(() => document.querySelectorAll('#boxes [data-id]').length > 0)
    expect(await note(page)).toMatch(/^\d+ rows found/)
    expect(await drawn(page)).toContain('binding/team-a/sql-lora')
    const rows = await page.locator('#rows tr').allInnerTexts()
    expect(rows.length).toBeGreaterThan(1)
    expect(await page.locator('#rows-note').innerText()).toBe(`${rows.length} rows.`)
    await page.locator('#search').fill('no-such-thing-anywhere')
    await page.waitForFunction(() => document.querySelectorAll('#rows tr').length === 0)
    // Something is not known, so that nothing is said to be nowhere.
    expect(await note(page)).toBe('No matches; not everything is known.')
    await page.locator('#reset').click()
    expect(await page.locator('#rows tr').count()).toBeGreaterThan(100)
  })

  test('by namespace', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await page.locator('#namespace').selectOption('serving')
    const namespaces = await page.locator('#rows tr td:nth-child(2)').allInnerTexts()
    expect(new Set(namespaces)).toEqual(new Set(['serving', '']))
  })

  test('by verdict: those of the chips that are pressed, with their numbers', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    const chip = page.locator('#states [data-state="several"]')
    const count = Number(/\d+/.exec(await chip.innerText())?.[0])
    await chip.click()
    expect(await page.locator('#states [data-state="several"]').getAttribute('aria-pressed')).toBe('true')
    const states = await page.locator('#rows tr td.state').allInnerTexts()
    expect(states.map((text) => text.trim())).toEqual(states.map(() => 'several'))
    expect(states).toHaveLength(count)
  })

  test('by finding and by identity', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await page.locator('#finding').selectOption('KLM301')
    const codes = await page.locator('#rows tr td:nth-child(6)').allInnerTexts()
    expect(codes.length).toBeGreaterThan(0)
    expect(codes.filter((text) => !text.includes('KLM301'))).toEqual([])
    await page.locator('#reset').click()
    await page.locator('#identity').selectOption(CHAT)
    expect(await drawn(page)).toEqual(expect.arrayContaining([CHAT, 'binding/team-a/chat']))
  })

  test('what takes more boxes than are drawn at once is not drawn, and the page says how many that are', async () => {
    const { page } = await openText(
      browser(),
      await pageOf(['-A', '--offline', '-f', 'many.yaml'], await manyPods(400)),
    )
    await page.locator('#open-all').click()
    expect(await note(page)).toMatch(
      /^What is open takes 4\d\d boxes, more than the 300 that are drawn at once/,
    )
    expect(await drawn(page)).toEqual([])
    await page.locator('#search').fill('bare-17')
    await page.waitForFunction(() => document.querySelectorAll('#boxes [data-id]').length > 0)
    expect((await drawn(page)).some((id) => id.includes('bare-17'))).toBe(true)
  })
})

/** Pods that are alike to nobody. */
async function manyPods(count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `bare-${at}`, namespace: 'crowd', uid: `uid-${at}` },
    spec: { serviceAccountName: 'runner', nodeName: 'n1', containers: [{ name: 'main' }] },
  }))
  return workspace({ 'many.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })
}

describe('a click', () => {
  test('on a container says what who-selects says of it', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await namespaceCard(page, 'team-a').click()
    const row = page.locator('#boxes .pods .row', { hasText: 'lora-adapter-syncer' })
    await row.click()
    const said = await page.locator('#details').innerText()
    const { stdout } = await inProcess(
      ['who-selects', '-n', 'team-a', '-c', 'lora-adapter-syncer', ...ESTATE_FLAGS, '-o', 'json'],
      PROJECT_ROOT,
    )
    const report: unknown = JSON.parse(stdout)
    const [pod] = listAt(report, 'pods')
    const registrations = listAt(listAt(pod, 'containers')[0], 'registrations')
    expect(registrations.length).toBeGreaterThan(2)
    for (const one of registrations) {
      expect(said).toContain(stringAt(one, 'verdict'))
      expect(said).toContain(stringAt(one, 'why') ?? '')
    }
    expect(said).toContain('kubectl kleym who-selects pod/team-a/')
  })

  test('on a binding says what explain says of it', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await namespaceCard(page, 'playground').click()
    await box(page, 'binding/playground/expressions').click()
    const said = await page.locator('#details').innerText()
    const { stdout } = await inProcess(
      ['explain', 'playground/expressions', ...ESTATE_FLAGS, '-o', 'json'],
      PROJECT_ROOT,
    )
    const [binding] = listAt(JSON.parse(stdout), 'bindings')
    expect(said).toContain(stringAt(binding, 'message'))
    for (const step of listAt(binding, 'steps')) expect(said).toContain(stringAt(step, 'outcome'))
    expect(said).toContain('KLM201 error')
    expect(said).toContain('kubectl kleym explain playground/expressions')
  })

  test('on an identity shows who shares it, in the picture and by name', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await namespaceCard(page, 'serving').click()
    const held = await page
      .locator('#boxes .identity')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-id') ?? ''))
    const shared = held.find((id) => id.endsWith('/objective/edge')) ?? ''
    await box(page, shared).click()
    const sharing = await page
      .locator('#boxes .sharing')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-id')))
    expect(sharing.length).toBeGreaterThan(0)
    expect(await page.locator('#details').innerText()).toContain('Certainly held by')
    expect(await page.locator('#arrows .lit').count()).toBeGreaterThanOrEqual(sharing.length)
    await page.keyboard.press('Escape')
    expect(await page.locator('#details').isVisible()).toBe(false)
    expect(await page.locator('#boxes .sharing').count()).toBe(0)
  })

  test('on a row of the table opens the namespace of what it names', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    await page.locator('#rows [data-id="binding/team-a/chat"] button').click()
    expect(await page.locator('#details h2').innerText()).toBe('chat')
    expect(await drawn(page)).toContain('binding/team-a/chat')
    expect(await box(page, 'binding/team-a/chat').getAttribute('aria-current')).toBe('true')
  })
})

test('by keyboard alone: open, go from box to box, select, close, search', async () => {
  const { page } = await openMap(browser(), { args: ESTATE })
  await namespaceCard(page, 'team-a').focus()
  await page.keyboard.press('Enter')
  const focused = (): Promise<string> =>
    page.evaluate(() => document.activeElement?.getAttribute('data-id') ?? document.activeElement?.id ?? '')
  // The card that was opened is focused still, and the boxes are one stop.
  expect(await page.evaluate(() => document.activeElement?.getAttribute('data-namespace'))).toBe('team-a')
  expect(await page.locator('#boxes [tabindex="0"]').count()).toBe(1)
  await page.locator('#boxes [tabindex="0"]').focus()
  const first = await focused()
  const visited = new Set([first])
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft']) {
    await page.keyboard.press(key)
    visited.add(await focused())
  }
  expect(visited.size).toBeGreaterThan(3)
  const last = await focused()
  await page.keyboard.press('Enter')
  expect(await page.locator('#details').isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  expect(await page.locator('#details').isVisible()).toBe(false)
  expect(await focused()).toBe(last)
  await page.keyboard.press('/')
  expect(await focused()).toBe('search')
})

/** What the script below tries, as the policy calls it. */
const FORBIDDEN = ['connect-src', 'img-src', 'script-src-elem', 'frame-src']

describe('no request leaves', () => {
  test('none while it is used', async () => {
    const { page, requests } = await openMap(browser(), { args: ESTATE })
    await namespaceCard(page, 'lab').click()
    await page.locator('#boxes .pods .row').first().click()
    await page.locator('#theme').click()
    expect(requests).toEqual([])
  })

  test('none even where a script within it would make one, and no other script runs', async () => {
    const { page } = await openMap(browser(), { args: ESTATE })
    const refused = await page.evaluate(async (REFUSED) => {
      const directives: string[] = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        directives.push(effectiveDirective),
      )
      await fetch('http://127.0.0.1:9/').catch(() => undefined)
      const image = document.createElement('img')
      image.src = 'http://127.0.0.1:9/x.png'
      const script = document.createElement('script')
      script.textContent = 'document.title = "taken over"'
      const frame = document.createElement('iframe')
      frame.src = 'http://127.0.0.1:9/'
      document.body.append(image, script, frame)
      // Some are told of later than others; a page that refused too few would wait for its test to end.
      await new Promise<void>((resolve) => {
        const enough = (): void => {
          if (new Set(directives).size === REFUSED) resolve()
        }
        document.addEventListener('securitypolicyviolation', enough)
        enough()
      })
      return directives
    }, FORBIDDEN.length)
    expect(new Set(refused)).toEqual(new Set(FORBIDDEN))
    expect(await page.title()).toBe('Who holds what: kubectl kleym map')
  })
})

describe('accessible: axe finds nothing', () => {
  const looks: readonly [string, (opened: OpenedPage) => Promise<void>][] = [
    ['the namespaces', async () => {}],
    [
      'boxes, and one that is selected',
      async ({ page }) => {
        await namespaceCard(page, 'lab').click()
        await page.locator('#boxes .pods .row').first().click()
      },
    ],
    [
      'a search',
      async ({ page }) => {
        await page.locator('#search').fill('vllm')
        await page.waitForFunction(
          () => document.querySelector('#note')?.textContent?.includes('found') === true,
        )
      },
    ],
  ]

  test.each(
    looks.flatMap(([name, act]) =>
      (['light', 'dark'] as const).flatMap((scheme) =>
        [1440, 390].map((width) => ({ name, act, scheme, width })),
      ),
    ),
  )('$name, $scheme, $width wide', async ({ act, scheme, width }) => {
    const opened = await openMap(browser(), { args: ESTATE, scheme, width })
    await act(opened)
    const found = await violations(opened.page)
    expect(found).toEqual([])
    // Nothing sticks out of the page.
    const [content, view] = await opened.page.evaluate(() => [
      document.documentElement.scrollWidth,
      innerWidth,
    ])
    expect(content).toBeLessThanOrEqual(view ?? 0)
  })
})

/** What axe says of a page, a line each. */
async function violations(page: Page): Promise<readonly string[]> {
  // By the debugger, which the policy of the page does not bind.
  await page.evaluate(AXE)
  const result: unknown = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
  return listAt(result, 'violations').map((one) => {
    const [node] = listAt(one, 'nodes')
    return `${stringAt(one, 'id')}: ${stringAt(node, 'html')} ${stringAt(node, 'failureSummary')}`
  })
}

describe('hostile names', () => {
  const HOSTILE = {
    'the end of the script': '</script><script>document.title="taken over"</script>',
    'the end of a comment': '--><img src=x onerror="document.title=1"><!--',
    quotes: `"'\`><b onmouseover=alert(1)>`,
    'what would reorder its surroundings': 'a\u202egnp.exe\u2066b',
    'an entity': '&lt;script&gt;&#x202e;',
    'a template': '${document.title=1}{{constructor}}',
    'a line separator': 'a\u2028b',
    'no end': 'x'.repeat(253),
    __proto__: '__proto__',
  } as const

  test.each(Object.entries(HOSTILE))('%s, in fields of manifests', async (_, text) => {
    const cwd = await workspace({ 'hostile.yaml': listOf(tenant(text)) })
    expect(await harmsOf(await pageOf(['-A', '--offline', '-f', '.'], cwd))).toEqual([])
  })

  // Names that no API server takes are refused before anything is drawn; the page must not rely on it.
  test.each(Object.entries(HOSTILE))('%s, in every name', async (_, text) => {
    const { before, data, after } = partsOf(await pageOf(['-n', 'team-a', ...ESTATE_FLAGS]))
    const hostile = JSON.stringify(withNames(data, text)).replaceAll('<', String.raw`\u003c`)
    expect(await harmsOf(`${before}${hostile}${after}`)).toEqual([])
  })

  test('the data is as it was', async () => {
    const text = HOSTILE.quotes
    const cwd = await workspace({ 'hostile.yaml': listOf(tenant(text)) })
    const html = await pageOf(['-A', '--offline', '-f', '.'], cwd)
    const { embedded, data } = partsOf(html)
    expect(embedded).not.toMatch(/[<>]/)
    // In a box, or in what is said of an object that the API server does not take.
    expect(JSON.stringify(data['report'])).toContain(JSON.stringify(text).slice(1, -1))
  })
})

/** What a page with hostile texts does that it must not, a sentence each; every box of it is clicked. */
async function harmsOf(html: string): Promise<readonly string[]> {
  const { page, requests, errors } = await openText(browser(), html)
  await page.locator('#open-all').click()
  const ids = await drawn(page)
  const untitled: string[] = []
  for (const id of ids) {
    await page.evaluate((wanted) => {
      for (const one of document.querySelectorAll<HTMLElement>('#boxes [data-id]'))
        if (one.dataset['id'] === wanted) one.click()
    }, id)
    if ((await page.locator('#details h2').innerText()) === '') untitled.push(`no details of ${id}`)
  }
  const text = await page.locator('body').innerText()
  // The elements are ours alone: two scripts, of which one is data.
  const foreign = await page.locator('img, iframe, object, embed, link, b b').count()
  const scripts = await page.locator('script').count()
  const { content, view } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    view: innerWidth,
  }))
  return [
    ...(ids.length === 0 ? ['nothing is drawn'] : []),
    ...untitled,
    ...((await page.title()) === 'Who holds what: kubectl kleym map' ? [] : ['its title is another']),
    ...(foreign === 0 && scripts === 2 ? [] : [`it has ${foreign} foreign elements and ${scripts} scripts`]),
    ...(/[\u202a-\u202e\u2066-\u2069\u2028]/.test(text) ? ['text that reorders is shown as it is'] : []),
    ...(content > view ? [`it is ${content} wide on ${view}`] : []),
    ...requests.map((url) => `it asked for ${url}`),
    ...errors,
  ]
}

interface PageParts {
  readonly before: string
  readonly embedded: string
  readonly data: JsonRecord
  readonly after: string
}

/** A page, around the data in it. */
function partsOf(html: string): PageParts {
  const found = /^(.*<script type="application\/json" id="data">)(.*)(<\/script>\n<script>.*)$/s.exec(html)
  const [, before = '', embedded = '', after = ''] = found ?? []
  const data: unknown = JSON.parse(embedded)
  if (!isRecord(data)) throw new Error('the page holds no data')
  return { before, embedded, data, after }
}

/** The same with another text in the place of some names, wherever they stand. */
function withNames(value: unknown, text: string): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/lora-adapter-syncer|sql-lora|team-a|embed|llama-pqjm8lw-\w+/g, () => text)
  if (Array.isArray(value)) return value.map((one) => withNames(one, text))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNames(one, text)]))
}

function listOf(items: readonly unknown[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

function tenant(text: string): readonly unknown[] {
  const metadata = { name: 'shop', namespace: 'shop', uid: 'u', labels: { app: 'llama', [text]: text } }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { serviceAccountName: text, nodeName: text, containers: [{ name: text }, { name: text }] },
    },
    {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata,
      spec: {
        poolRef: { name: text },
        objectiveRef: { name: text },
        serviceAccountName: text,
        containerName: text,
      },
    },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'shop' },
      spec: { spiffeIDTemplate: `spiffe://example.org/${text}`, podSelector: {}, hint: text },
    },
    {
      apiVersion: 'agentic.networking.x-k8s.io/v1alpha1',
      kind: 'XAccessPolicy',
      metadata: { name: 'shop', namespace: 'shop' },
      spec: {
        targetRefs: [],
        rules: [{ name: text, source: { type: 'SPIFFE', spiffe: `spiffe://example.org/${text}` } }],
      },
    },
  ]
}

test('what could not be read is drawn, and nothing is said to be none', async () => {
  const cwd = await workspace({
    'pod.yaml':
      'apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, uid: u}\nspec: {nodeName: n, containers: [{name: main}]}\n',
    'broken.yaml': 'kind: [\n',
  })
  const { page } = await openText(browser(), await pageOf(['-A', '--offline', '-f', '.'], cwd))
  expect(await page.locator('#doubts').innerText()).toContain('broken.yaml')
  expect(await page.locator('#states').innerText()).toMatch(/undetermined\s*1/)
  const gap = page.locator('#rows [data-id^="gap/"] button')
  await gap.first().click()
  expect(await page.locator('#details').innerText()).toContain('nothing here counts it as absent')
})

test('what a change gives and takes: with words, in the picture and in the table', async () => {
  const args = [
    '--offline',
    '--compare',
    'examples/pull-request/base',
    '-R',
    '-f',
    'examples/pull-request/head',
  ]
  const { page } = await openMap(browser(), { args })
  await page.locator('#changes').check()
  const table = await page.locator('#rows').innerText()
  expect(table).toContain('− removed')
  expect(table).toContain('(no more)')
  expect(await page.locator('#arrows .line.removed').count()).toBeGreaterThan(0)
  const changed = page.locator('#boxes .change')
  expect(await changed.count()).toBeGreaterThan(0)
})

test('on paper: the picture and the whole table, without what only a screen needs', async () => {
  const { page } = await openMap(browser(), { args: ['-n', 'roles', ...ESTATE_FLAGS], scheme: 'dark' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: 1000, height: 700 })
  // All boxes are on the sheet of paper.
  const outside = await page.locator('#boxes .box').evaluateAll((all) => {
    const canvas = document.querySelector('#canvas')?.getBoundingClientRect()
    return all.filter((one) => {
      const { right, bottom } = one.getBoundingClientRect()
      return canvas === undefined || right > canvas.right || bottom > canvas.bottom
    }).length
  })
  expect(outside).toBe(0)
  expect(await page.locator('#filters').isVisible()).toBe(false)
  expect(await page.locator('.tools').isVisible()).toBe(false)
  expect(await page.locator('#canvas').isVisible()).toBe(true)
  expect(await page.locator('#rows tr').first().isVisible()).toBe(true)
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(paper).toBe('rgb(255, 255, 255)')
  const pdf = await page.pdf({ format: 'A4', landscape: true })
  expect(pdf.length).toBeGreaterThan(10_000)
})

test('on paper: a word in place of a picture that nobody could read', async () => {
  const { page } = await openMap(browser(), { args: ESTATE })
  await page.locator('#open-all').click()
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  expect(await page.locator('.on-paper').isVisible()).toBe(false)
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('#canvas').isVisible()).toBe(false)
  expect(await page.locator('.on-paper').isVisible()).toBe(true)
})

test('its commands ask the same files, and its head says which and when', async () => {
  const { page } = await openMap(browser(), { args: ESTATE })
  expect(await page.locator('#made').innerText()).toMatch(
    /^files .*examples\/estate.* · \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
  )
  await namespaceCard(page, 'team-a').click()
  await box(page, CHAT).click()
  const command = await page.locator('#details .command').last().innerText()
  expect(command).toMatch(/^kubectl kleym .*\/chat .*--offline/)
})

test('the card of a namespace says how many of its bindings are refused', async () => {
  const { page } = await openMap(browser(), { args: ESTATE })
  expect(await namespaceCard(page, 'playground').innerText()).toMatch(/21 bindings,.*20 refused/s)
  expect(await namespaceCard(page, 'roles').innerText()).not.toContain('refused')
  // Six containers hold an identity: the bar says too that most of what the namespace asks for is refused.
  const bad = (name: string): Promise<number> =>
    namespaceCard(page, name)
      .locator('.bar')
      .evaluate(
        (bar) =>
          [...bar.children].reduce(
            (sum, one) => sum + (one.classList.contains('bad') ? one.clientWidth : 0),
            0,
          ) / bar.clientWidth,
      )
  expect(await bad('playground')).toBeGreaterThan(0.6)
  expect(await bad('roles')).toBe(0)
})

test('it holds the licences of the libraries that it is a copy of', async () => {
  const html = await pageOf(ESTATE)
  for (const name of ['@dagrejs/dagre', 'd3-zoom', 'd3-selection', 'd3-shape'])
    expect(html).toContain(`${name}\n\n`)
  expect(html.match(/Permission (?:is hereby granted|to use, copy, modify)/g)?.length).toBeGreaterThan(3)
})
