// The page of `kubectl kleym map`: reads the data that stands in it, and connects filters, picture, table and details.
import { CONTAINER_STATES, type ContainerState, STATES } from '../../parts/container-states.ts'
import type { PageData } from '../page-data.ts'
import { chosenRows, noChoice, type Choice } from './choice.ts'
import { Details } from './details.ts'
import { button, byId, counted, element, foreign, shown } from './elements.ts'
import { icon, STATE_LOOKS } from './looks.ts'
import { MapPicture } from './picture.ts'
import { Table } from './table.ts'
import { World } from './world.ts'

/** A search is answered so long after the last key, in milliseconds. */
const SEARCH_DELAY = 120

const data: PageData = JSON.parse(byId('data').textContent ?? '')
const world = new World(data)
const choice: Choice = noChoice()
const picture = new MapPicture(world, { select: selectDrawn, toggle })
const table = new Table(world, selectNode)
const details = new Details(world, { select: selectNode, close: deselect })

for (const namespace of MapPicture.openedAtFirst(world)) choice.opened.add(namespace)
drawHead()
drawFilters()
listen()
redraw()

function redraw(): void {
  drawStates()
  picture.draw(choice)
  table.draw(chosenRows(world, choice))
  table.mark(choice.selected)
}

/** Selects a box of the picture, which stays in view beside its details. */
function selectDrawn(id: string): void {
  selectNode(id)
  picture.rise(id)
}

/** Selects a box; one that is not drawn is brought into the picture by opening its namespace. */
function selectNode(id: string): void {
  const node = world.node(id)
  if (node === undefined) return
  choice.selected = id
  details.draw(id)
  if (!picture.show(id, false) && node.namespace !== '' && !choice.opened.has(node.namespace)) {
    choice.opened.add(node.namespace)
    picture.draw(choice)
    picture.show(id, false)
  }
  picture.mark(id)
  table.mark(id)
}

function deselect(): void {
  const { selected } = choice
  choice.selected = undefined
  details.draw(undefined)
  picture.mark(undefined)
  table.mark(undefined)
  if (selected !== undefined) picture.show(selected, true)
}

function toggle(namespace: string): void {
  const { activeElement } = document
  const hadFocus = activeElement instanceof HTMLElement && activeElement.dataset['namespace'] === namespace
  if (!choice.opened.delete(namespace)) choice.opened.add(namespace)
  picture.draw(choice)
  // Its card was made anew.
  if (hadFocus)
    for (const card of byId('overview').querySelectorAll<HTMLElement>('[data-namespace]'))
      if (card.dataset['namespace'] === namespace) card.focus()
}

function drawHead(): void {
  const { scope, summary, nodes } = data.report
  const count = (kind: string): number => nodes.filter((node) => node.kind === kind).length
  const parts = [
    scope.namespace === null ? 'all namespaces' : `namespace ${scope.namespace}`,
    ...(scope.spiffeID === null ? [] : [`what has to do with ${scope.spiffeID}`]),
    ...(scope.selected ? ['pods chosen by labels'] : []),
    counted(count('binding'), 'binding'),
    counted(count('identity'), 'identity', 'identities'),
    `${counted(summary.error, 'error')} and ${counted(summary.warning, 'warning')}`,
    ...(summary.suppressed === 0 ? [] : [`${counted(summary.suppressed, 'finding')} suppressed`]),
    ...(scope.compared ? ['with what a change gives and takes'] : []),
  ]
  byId('scope').replaceChildren(foreign(parts.join(' · ')))
  const { unknowns } = data
  const doubts = byId('doubts')
  doubts.hidden = unknowns.length === 0
  if (unknowns.length > 0)
    doubts.replaceChildren(
      icon(STATE_LOOKS.undetermined),
      element('strong', {}, ' Not everything is known, and what is not may change this picture'),
      element('ul', {}, ...unknowns.map((text) => element('li', {}, foreign(text)))),
    )
  byId('made').replaceChildren(foreign(`${data.source} · ${data.made}`))
  byId('footer').textContent =
    'Made by kubectl kleym map. This page is one file: it loads nothing and sends nothing.'
}

function drawFilters(): void {
  const { findings, nodes } = data.report
  options(
    'namespace',
    'all',
    world.namespaces.map(({ namespace }) => [namespace, namespace]),
  )
  const codes = [...new Set(findings.map(({ code }) => code))].toSorted()
  options(
    'finding',
    'any',
    codes.map((code) => [code, code]),
  )
  options(
    'identity',
    'any',
    nodes.flatMap((node) => (node.kind === 'identity' ? [[node.id, node.spiffeID] as const] : [])),
  )
  byId('changes-only').hidden = !data.report.scope.compared
}

function options(
  id: string,
  none: string,
  values: readonly (readonly [value: string, text: string])[],
): void {
  byId(id).replaceChildren(
    element('option', { value: '' }, none),
    ...values.map(([value, text]) => element('option', { value }, shown(text))),
  )
}

/** The states that containers have: a legend, and a filter. */
function drawStates(): void {
  const counts = new Map<ContainerState, number>()
  for (const node of world.nodes)
    if (node.kind === 'container' && node.change !== 'removed')
      counts.set(node.state, (counts.get(node.state) ?? 0) + node.count)
  const { activeElement } = document
  const focused = activeElement instanceof HTMLElement ? activeElement.dataset['state'] : undefined
  byId('states').replaceChildren(
    ...CONTAINER_STATES.flatMap((state) => {
      const count = counts.get(state)
      if (count === undefined) return []
      const look = STATE_LOOKS[state]
      const isPressed = choice.states.has(state)
      return button(
        {
          class: `chip ${look.tone}`,
          'data-state': state,
          'aria-pressed': String(isPressed),
          title: STATES[state].text,
        },
        () => {
          if (!choice.states.delete(state)) choice.states.add(state)
          redraw()
        },
        icon(look),
        ` ${look.word} `,
        element('b', {}, count.toLocaleString('en')),
      )
    }),
  )
  if (focused !== undefined) byId('states').querySelector<HTMLElement>(`[data-state="${focused}"]`)?.focus()
}

function listen(): void {
  const search = inputOf('search')
  let waiting: number | undefined
  search.addEventListener('input', () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      choice.search = search.value
      redraw()
    }, SEARCH_DELAY)
  })
  for (const id of ['namespace', 'finding', 'identity'] as const)
    byId(id).addEventListener('change', (event) => {
      if (event.target instanceof HTMLSelectElement) choice[id] = event.target.value
      redraw()
    })
  inputOf('changes').addEventListener('change', ({ target }) => {
    choice.changesOnly = target instanceof HTMLInputElement && target.checked
    redraw()
  })
  byId('reset').addEventListener('click', reset)
  byId('open-all').addEventListener('click', () => {
    for (const { namespace } of world.namespaces) choice.opened.add(namespace)
    redraw()
  })
  byId('close-all').addEventListener('click', () => {
    choice.opened.clear()
    redraw()
  })
  byId('theme').addEventListener('click', nextTheme)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && choice.selected !== undefined) deselect()
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
    if (event.key === '/' && !isTyping) {
      event.preventDefault()
      search.focus()
    }
  })
}

function reset(): void {
  Object.assign(choice, { search: '', namespace: '', finding: '', identity: '', changesOnly: false })
  choice.states.clear()
  inputOf('search').value = ''
  inputOf('changes').checked = false
  for (const id of ['namespace', 'finding', 'identity']) {
    const field = byId(id)
    if (field instanceof HTMLSelectElement) field.value = ''
  }
  redraw()
}

/** As the system has it, light, dark, and again. */
function nextTheme(): void {
  const { dataset } = document.documentElement
  const next = { '': 'light', light: 'dark', dark: '' }[dataset['theme'] ?? ''] ?? ''
  if (next === '') delete dataset['theme']
  else dataset['theme'] = next
}

function inputOf(id: string): HTMLInputElement {
  const found = byId(id)
  if (found instanceof HTMLInputElement) return found
  throw new Error(`#${id} of the page is no input`)
}
