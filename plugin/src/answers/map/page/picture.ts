// The picture: namespaces as cards, and of those that are open, or of what is searched for, boxes and lines on a sheet that
// can be moved and zoomed.
import { select } from 'd3-selection'
import { zoom, zoomIdentity, type ZoomTransform } from 'd3-zoom'
import { CONTAINER_STATES } from '../../parts/container-states.ts'
import type { IdentityNode, MapNode, NamespaceNode, PodsNode } from '../graph.ts'
import { boxesFor, chosenRows, isFiltered, openedRows, type Choice } from './choice.ts'
import { button, byId, counted, element, span, foreign, shown, type Child } from './elements.ts'
import { rowOf, sheetOf, type Place, type Sheet } from './layout.ts'
import { changeBadge, icon, KIND_WORDS, lookOf, STATE_LOOKS } from './looks.ts'
import type { World } from './world.ts'

/** More boxes than these are not drawn at once: the page stays fluent, and no one could read them. */
export const BOXES_MAX = 300
/** A map with no more boxes than these is opened whole. */
const OPEN_AT_ONCE_MAX = 40

const SCALES: [smallest: number, largest: number] = [0.1, 2]
/** The smallest scale that a picture is shown at by itself: text of it can still be read. */
const READABLE = 0.9
/** Paper shows finer lines than a screen. */
const READABLE_ON_PAPER = 0.66
const STEP = 1.3
/** What a sheet of paper of A4 or Letter, lying, holds within its margins, in pixels of CSS. */
const PAPER = { width: 960, height: 590 } as const

/** What d3 tells of a zoom; without a source where the page has asked for it. */
interface ZoomEvent {
  readonly transform: ZoomTransform
  readonly sourceEvent: Event | null
}

/** What the picture tells the page. */
export interface PictureEvents {
  readonly select: (id: string) => void
  readonly toggle: (namespace: string) => void
}

/** The picture; `draw` makes it anew, `mark` shows what is selected. */
export class MapPicture {
  readonly #world: World
  readonly #events: PictureEvents
  readonly #canvas = byId('canvas')
  readonly #sheetElement = byId('sheet')
  readonly #zoom = zoom<HTMLElement, unknown>()
  #sheet: Sheet | undefined
  #drawn = ''
  /** Whether a person has moved or zoomed the sheet since it was drawn. */
  #isMoved = false

  constructor(world: World, events: PictureEvents) {
    this.#world = world
    this.#events = events
    this.#zoom
      .scaleExtent(SCALES)
      // The wheel alone moves the sheet, as it would the page; with Ctrl, or by a pinch, it zooms.
      .filter((event: MouseEvent | WheelEvent) => event.type !== 'wheel' || event.ctrlKey)
      .on('zoom', ({ transform, sourceEvent }: ZoomEvent) => {
        this.#isMoved ||= sourceEvent !== null
        this.#sheetElement.style.transform = `translate(${transform.x}px, ${transform.y}px) scale(${transform.k})`
      })
    select(this.#canvas).call(this.#zoom)
    this.#canvas.addEventListener('wheel', (event) => this.#move(event), { passive: false })
    byId('zoom-in').addEventListener('click', () => this.#scale(STEP))
    byId('zoom-out').addEventListener('click', () => this.#scale(1 / STEP))
    byId('fit').addEventListener('click', () => this.fit(SCALES[0]))
    byId('boxes').addEventListener('keydown', (event) => this.#onKey(event))
    addEventListener('beforeprint', () => this.#forPrint())
    // The details take a part of the width.
    new ResizeObserver(() => {
      if (!this.#isMoved) this.fit(READABLE)
    }).observe(this.#canvas)
  }

  /** The namespaces that are open at first: all of a small map. */
  static openedAtFirst(world: World): readonly string[] {
    const all = world.namespaces.map(({ namespace }) => namespace)
    const rows = world.rows.filter(({ kind }) => kind !== 'namespace')
    return boxesFor(world, rows).size <= OPEN_AT_ONCE_MAX ? all : []
  }

  /** Draws what is chosen. */
  draw(choice: Choice): void {
    const isSearch = isFiltered(choice)
    const rows = isSearch ? chosenRows(this.#world, choice) : openedRows(this.#world, choice)
    const boxes = boxesFor(this.#world, rows)
    const isTooMuch = boxes.size > BOXES_MAX
    const isDrawn = boxes.size > 0 && !isTooMuch
    const what = { boxes: boxes.size, rows: rows.length, isSearch, isOpen: choice.opened.size > 0 }
    byId('note').textContent = noteText(this.#world, what)
    byId('canvas').hidden = !isDrawn
    // Whatever is drawn, a namespace can be opened.
    this.#drawCards(choice, isSearch && !isDrawn ? rows : undefined, isDrawn)
    const key = isDrawn ? [...boxes].join('\n') : ''
    if (key !== this.#drawn) {
      this.#drawn = key
      this.#drawSheet(isDrawn ? boxes : new Set())
      this.#isMoved = false
      if (isDrawn) this.fit(READABLE)
    }
    this.mark(choice.selected)
  }

  #drawCards(choice: Choice, matching: readonly MapNode[] | undefined, isCompact: boolean): void {
    const counts = new Map<string, number>()
    for (const { namespace } of matching ?? []) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    const shownOnes = this.#world.namespaces.filter(
      ({ namespace }) => matching === undefined || counts.has(namespace),
    )
    const overview = byId('overview')
    overview.className = isCompact ? 'cards compact' : 'cards'
    overview.replaceChildren(
      ...shownOnes.map((node) =>
        this.#card(node, choice, { isCompact, matches: counts.get(node.namespace) }),
      ),
    )
  }

  #card(
    node: NamespaceNode,
    { opened }: Choice,
    { isCompact, matches }: { readonly isCompact: boolean; readonly matches: number | undefined },
  ): HTMLElement {
    const isOpen = opened.has(node.namespace)
    const states = CONTAINER_STATES.flatMap((state) => {
      const count = node.containers[state]
      return count === undefined ? [] : [{ state, count }]
    })
    const total = states.reduce((sum, { count }) => sum + count, 0)
    const bindings = this.#world.childrenOf(node.id).filter((one) => one.kind === 'binding')
    const refused = bindings.filter(({ state }) => state === 'refused').length
    const gaps = this.#world.childrenOf(node.id).filter(({ kind }) => kind === 'gap').length
    const bar = element('span', { class: 'bar', 'aria-hidden': 'true' })
    // A namespace is not well whose containers hold other identities, and whose own bindings are refused.
    const parts = [
      ...states.map(({ state, count }) => ({ tone: STATE_LOOKS[state].tone, count })),
      ...(refused === 0 ? [] : [{ tone: STATE_LOOKS.refused.tone, count: refused }]),
    ]
    for (const { tone, count } of parts) {
      const part = span(tone)
      part.style.flexGrow = String(count)
      bar.append(part)
    }
    const more: readonly Child[] = isCompact
      ? []
      : [
          bar,
          span(
            'counts',
            ...(total === 0 ? [emptyText(node)] : []),
            ...states.map(({ state, count }) =>
              span('count', icon(STATE_LOOKS[state]), ` ${count.toLocaleString('en')} ${state}`),
            ),
          ),
          span(
            'small',
            [counted(node.pods, 'pod'), counted(bindings.length, 'binding')].join(', '),
            ...(refused === 0
              ? []
              : [', ', icon(STATE_LOOKS.refused), element('strong', {}, ` ${refused} refused`)]),
            gaps === 0 && node.open === null
              ? undefined
              : element('strong', {}, '; not all of it could be read'),
          ),
        ]
    return button(
      { class: 'card', 'data-namespace': node.namespace, 'aria-expanded': String(isOpen) },
      () => this.#events.toggle(node.namespace),
      span('name', foreign(node.label)),
      matches === undefined ? undefined : span('small', `${counted(matches, 'row')} found`),
      ...more,
    )
  }

  #drawSheet(boxes: ReadonlySet<string>): void {
    const sheet = boxes.size === 0 ? undefined : sheetOf(this.#world, boxes)
    this.#sheet = sheet
    const arrows = byId('arrows')
    const holder = byId('boxes')
    if (sheet === undefined) {
      arrows.replaceChildren()
      holder.replaceChildren()
      return
    }
    arrows.setAttribute('width', String(sheet.width))
    arrows.setAttribute('height', String(sheet.height))
    arrows.replaceChildren(
      ...sheet.lines.map(({ path, edge, way }) => {
        const line = document.createElementNS('http://www.w3.org/2000/svg', 'path')
        const change = edge.kind === 'holds' && edge.change !== null ? ` ${edge.change}` : ''
        line.setAttribute('d', path)
        line.setAttribute('class', `line ${edge.kind} ${way}${change}`)
        line.dataset['from'] = edge.from
        line.dataset['to'] = edge.to
        return line
      }),
    )
    const frames = [...sheet.frames].map(([namespace, place]) => {
      const frame = element('div', { class: 'frame' }, span('title', foreign(namespace)))
      return placed(frame, place)
    })
    const drawn = [...sheet.places].flatMap(([id, place]) => {
      const node = this.#world.node(id)
      return node === undefined ? [] : [placed(this.#box(node), place)]
    })
    holder.replaceChildren(...frames, ...drawn)
    this.#sheetElement.style.width = `${sheet.width}px`
    this.#sheetElement.style.height = `${sheet.height}px`
    const [first] = this.#stops()
    if (first !== undefined) first.tabIndex = 0
  }

  #box(node: MapNode): HTMLElement {
    if (node.kind === 'pods') return this.#podsBox(node)
    const look = lookOf(node)
    const word = node.kind === 'identity' ? holdersText(node) : look?.word
    const state = look === undefined ? [] : [icon(look), element('span', {}, ` ${word ?? ''}`)]
    const detail = node.kind === 'binding' && node.state !== 'ready' ? `, ${node.reason}` : ''
    return this.#stop(
      node,
      { class: `box ${node.kind} ${look?.tone ?? ''}` },
      span('kind', ...kindOf(node), changeBadge(node)),
      element('span', { class: 'label', title: shown(node.label) }, foreign(labelOf(node))),
      span(
        'state',
        ...state,
        detail === '' ? undefined : foreign(detail),
        node.kind === 'policy' && node.namesAny ? ' names any principal' : undefined,
      ),
    )
  }

  #podsBox(node: PodsNode): HTMLElement {
    const workload = this.#world.node(node.parent ?? '')
    const kind = workload?.kind === 'workload' ? workload.label : 'Pod'
    const containers = this.#world.containersOf(node.id)
    return element(
      'div',
      { class: `box pods${node.exists ? '' : ' template'}${node.perhaps === null ? '' : ' perhaps'}` },
      this.#stop(
        node,
        { class: 'head' },
        span('kind', foreign(kind), node.perhaps === null ? '' : ' (perhaps)', changeBadge(node)),
        element('span', { class: 'label', title: shown(node.pods.join('\n')) }, foreign(node.label)),
      ),
      ...containers.map((container) => {
        const look = lookOf(container) ?? STATE_LOOKS[container.state]
        const isMore = container.open !== null && container.identities.length > 0
        return this.#stop(
          container,
          { class: `row ${look.tone}` },
          element('span', { class: 'label', title: shown(container.name) }, foreign(container.name)),
          changeBadge(container),
          span('state', icon(look), ` ${look.word}${isMore ? ', perhaps more' : ''}`),
        )
      }),
      ...(containers.length === 0 ? [element('div', { class: 'row mute' }, 'no container')] : []),
    )
  }

  /** A box that can be focused and selected. */
  #stop(
    node: MapNode,
    attributes: Readonly<Record<string, string>>,
    ...children: readonly Child[]
  ): HTMLElement {
    return button(
      { ...attributes, 'data-id': node.id, tabindex: '-1' },
      () => this.#events.select(node.id),
      ...children,
    )
  }

  #stops(): readonly HTMLElement[] {
    return [...byId('boxes').querySelectorAll<HTMLElement>('[data-id]')]
  }

  /** Shows what is selected, and who shares its identities. */
  mark(selected: string | undefined): void {
    const { related, sharing } = relatedTo(this.#world, selected)
    this.#canvas.classList.toggle('has-selection', selected !== undefined)
    for (const stop of this.#stops()) {
      const id = stop.dataset['id'] ?? ''
      stop.classList.toggle('selected', id === selected)
      stop.classList.toggle('related', related.has(id))
      stop.classList.toggle('sharing', sharing.has(id))
      if (id === selected) stop.setAttribute('aria-current', 'true')
      else stop.removeAttribute('aria-current')
    }
    for (const line of byId('arrows').querySelectorAll<SVGPathElement>('.line')) {
      const { from = '', to = '' } = line.dataset
      const isLit = (related.has(from) || from === selected) && (related.has(to) || to === selected)
      line.classList.toggle('lit', isLit)
    }
  }

  /** Brings a box into view and focuses it; false where it is not drawn. */
  show(id: string, isFocused: boolean): boolean {
    const place = this.#sheet === undefined ? undefined : rowOf(this.#world, id, this.#sheet.places)
    const stop = this.#stops().find((one) => one.dataset['id'] === id)
    if (place === undefined || stop === undefined) return false
    if (!this.#isInView(stop)) {
      this.#isMoved = true
      select(this.#canvas).call(
        // The middle of the box into the middle of the canvas.
        (canvas) => this.#zoom.translateTo(canvas, place.x + place.width / 2, place.y + place.height / 2),
      )
    }
    if (isFocused) this.#focus(stop)
    return true
  }

  /** Where the details lie over the page, the picture goes to where they leave room, with a box in view. */
  rise(id: string): void {
    if (getComputedStyle(byId('details')).position !== 'fixed') return
    this.#isMoved = true
    this.#canvas.scrollIntoView({ block: 'start' })
    this.show(id, false)
  }

  #isInView(stop: HTMLElement): boolean {
    const [inner, outer] = [stop.getBoundingClientRect(), this.#canvas.getBoundingClientRect()]
    return (
      inner.left >= outer.left &&
      inner.right <= outer.right &&
      inner.top >= outer.top &&
      inner.bottom <= outer.bottom
    )
  }

  #focus(stop: HTMLElement): void {
    for (const one of this.#stops()) one.tabIndex = one === stop ? 0 : -1
    stop.focus({ preventScroll: true })
    this.#canvas.scrollTo(0, 0)
  }

  /** Zooms until all of the sheet is in view, or to the smallest scale that is asked for; then its upper left corner is. */
  fit(smallest: number): void {
    const sheet = this.#sheet
    const { clientWidth: width, clientHeight: height } = this.#canvas
    if (sheet === undefined || width === 0 || height === 0) return
    const whole = Math.min(width / sheet.width, height / sheet.height)
    const scale = Math.min(1, Math.max(whole, smallest))
    const x = Math.max(0, (width - sheet.width * scale) / 2)
    const y = Math.max(0, (height - sheet.height * scale) / 2)
    select(this.#canvas).call((canvas) =>
      this.#zoom.transform(canvas, zoomIdentity.translate(x, y).scale(scale)),
    )
  }

  #scale(by: number): void {
    this.#isMoved = true
    select(this.#canvas).call((canvas) => this.#zoom.scaleBy(canvas, by))
  }

  #move(event: WheelEvent): void {
    if (event.ctrlKey) return
    event.preventDefault()
    this.#isMoved = true
    const transform = this.#transform()
    select(this.#canvas).call((canvas) =>
      this.#zoom.translateBy(canvas, -event.deltaX / transform.k, -event.deltaY / transform.k),
    )
  }

  #transform(): ZoomTransform {
    return select(this.#canvas).property('__zoom') ?? zoomIdentity
  }

  /** Paper cannot be moved: all of the sheet, on one page, or a word where nobody could read it there. */
  #forPrint(): void {
    const sheet = this.#sheet
    if (sheet === undefined) return
    const before = this.#transform()
    const wasMoved = this.#isMoved
    this.#isMoved = true
    const scale = Math.min(1, PAPER.width / sheet.width, PAPER.height / sheet.height)
    byId('picture').classList.toggle('too-large', scale < READABLE_ON_PAPER)
    select(this.#canvas).call((canvas) => this.#zoom.transform(canvas, zoomIdentity.scale(scale)))
    addEventListener(
      'afterprint',
      () => {
        select(this.#canvas).call((canvas) => this.#zoom.transform(canvas, before))
        this.#isMoved = wasMoved
      },
      { once: true },
    )
  }

  /** Arrow keys lead to the nearest box in their direction. */
  #onKey(event: KeyboardEvent): void {
    const direction = DIRECTIONS.get(event.key)
    const { target } = event
    if (direction === undefined || !(target instanceof HTMLElement) || this.#sheet === undefined) return
    const places = this.#sheet.places
    const from = rowOf(this.#world, target.dataset['id'] ?? '', places)
    if (from === undefined) return
    event.preventDefault()
    const here = middleOf(from)
    const ranked = this.#stops().flatMap((stop) => {
      const id = stop.dataset['id'] ?? ''
      const place = this.#headOf(id)
      if (stop === target || place === undefined) return []
      const there = middleOf(place)
      const [x, y] = [there.x - here.x, there.y - here.y]
      const along = x * direction.x + y * direction.y
      return along <= 1 ? [] : [{ id, cost: along + 2 * Math.abs(direction.x === 0 ? x : y) }]
    })
    const [next] = ranked.toSorted((left, right) => left.cost - right.cost)
    if (next !== undefined) this.show(next.id, true)
  }

  /** The head of a box of pods stands above its rows. */
  #headOf(id: string): ReturnType<typeof rowOf> {
    const place = this.#sheet === undefined ? undefined : rowOf(this.#world, id, this.#sheet.places)
    return place !== undefined && this.#world.node(id)?.kind === 'pods' ? { ...place, height: 46 } : place
  }
}

const DIRECTIONS: ReadonlyMap<string, { readonly x: number; readonly y: number }> = new Map([
  ['ArrowLeft', { x: -1, y: 0 }],
  ['ArrowRight', { x: 1, y: 0 }],
  ['ArrowUp', { x: 0, y: -1 }],
  ['ArrowDown', { x: 0, y: 1 }],
])

function middleOf({ x, y, width, height }: Place): Pick<Place, 'x' | 'y'> {
  return { x: x + width / 2, y: y + height / 2 }
}

function placed(one: HTMLElement, { x, y, width, height }: Place): HTMLElement {
  Object.assign(one.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` })
  return one
}

function emptyText({ pods, open }: NamespaceNode): string {
  if (open !== null) return pods === 0 ? 'no pod is known' : 'no container is known'
  return pods === 0 ? 'no pod' : 'no container'
}

/** The trust domain of an identity stands apart, since the path tells one from another. */
const TRUST_DOMAIN = /^spiffe:\/\/([^/]*)/

function kindOf(node: MapNode): readonly Child[] {
  const domain = node.kind === 'identity' ? TRUST_DOMAIN.exec(node.spiffeID)?.[1] : undefined
  const kind = KIND_WORDS[node.kind]
  if (domain !== undefined) return [`${kind} of `, foreign(domain)]
  return node.namespace === '' ? [kind] : [`${kind} in `, foreign(node.namespace)]
}

function labelOf(node: MapNode): string {
  if (node.kind === 'gap') return node.why
  return node.kind === 'identity' ? node.spiffeID.replace(TRUST_DOMAIN, '') || node.spiffeID : node.label
}

/** `held by 3 containers`, `held by 1 container, perhaps by 2 more`. */
export function holdersText({ state, holders, perhaps }: IdentityNode): string {
  if (state === 'unknown') return 'not known to be held'
  if (holders === 0 && perhaps === 0) return 'held by no container here'
  const more =
    perhaps === 0
      ? ''
      : `perhaps ${holders === 0 ? 'held by' : 'by'} ${perhaps.toLocaleString('en')}${holders === 0 ? '' : ' more'}`
  return [holders === 0 ? '' : `held by ${counted(holders, 'container')}`, more]
    .filter((text) => text !== '')
    .join(', ')
}

/** What is asked for: how much, and how. */
interface Drawing {
  readonly boxes: number
  readonly rows: number
  readonly isSearch: boolean
  /** Whether a namespace is open. */
  readonly isOpen: boolean
}

function noteText(world: World, { boxes, rows, isSearch, isOpen }: Drawing): string {
  if (boxes > BOXES_MAX) {
    const what = isSearch ? 'What is found' : 'What is open'
    const fix = isSearch ? 'search more narrowly' : 'close a namespace, or search'
    const many = `${what} takes ${counted(boxes, 'box', 'boxes')}, more than the ${BOXES_MAX} that are drawn at once`
    return `${many}: only namespaces are. The table has all of it; to see boxes, ${fix}.`
  }
  if (isSearch)
    return rows === 0
      ? `No matches${world.data.unknowns.length === 0 ? '' : '; not everything is known'}.`
      : `${counted(rows, 'row')} found; drawn with what gives to them, and what they hold.`
  if (boxes > 0)
    return 'Lines: solid, it is issued; dashed, perhaps; dotted, it gives nothing. Select a box to see why.'
  return isOpen
    ? 'What is open holds nothing that could be drawn.'
    : `${counted(world.namespaces.length, 'namespace')}. Open one to see its pods, what gives them identities, and who names these.`
}

/** What has to do with a box, and the boxes that hold an identity that it holds. */
export function relatedTo(
  world: World,
  selected: string | undefined,
): { readonly related: ReadonlySet<string>; readonly sharing: ReadonlySet<string> } {
  const related = new Set<string>()
  const sharing = new Set<string>()
  const node = selected === undefined ? undefined : world.node(selected)
  if (node === undefined) return { related, sharing }
  const members =
    node.kind === 'pods' ? [node.id, ...world.containersOf(node.id).map(({ id }) => id)] : [node.id]
  const add = (id: string): void => {
    related.add(id)
    related.add(world.boxOf(id))
  }
  const identities = new Set<string>(node.kind === 'identity' ? [node.id] : [])
  for (const id of members) {
    add(id)
    for (const edge of world.from(id)) {
      add(edge.to)
      if (edge.kind === 'holds' && edge.certain) identities.add(edge.to)
      if (edge.kind === 'registration')
        for (const held of world.holdsOf(edge.to))
          if (held.to === `identity/${edge.spiffeID ?? ''}`) add(held.to)
    }
    for (const edge of world.to(id)) add(edge.from)
  }
  for (const identity of identities)
    for (const edge of world.holdersOf(identity))
      if (edge.certain && !members.includes(edge.from)) {
        sharing.add(edge.from)
        if (node.kind === 'identity') add(edge.from)
      }
  return { related, sharing }
}
