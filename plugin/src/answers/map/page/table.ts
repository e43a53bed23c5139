// The table behind the picture: the same rows, for people who read rather than look.
import type { MapNode } from '../graph.ts'
import { button, byId, counted, element, foreign } from './elements.ts'
import { changeBadge, icon, KIND_WORDS, lookOf } from './looks.ts'
import type { World } from './world.ts'

/** Rows are shown so many at a time: a browser lays out thousands only slowly. */
export const ROWS_AT_A_TIME = 200
/** As many as these are printed. */
const PRINTED_MAX = 2000

/** The table. */
export class Table {
  readonly #world: World
  readonly #select: (id: string) => void
  #rows: readonly MapNode[] = []
  #shown = ROWS_AT_A_TIME

  constructor(world: World, select: (id: string) => void) {
    this.#world = world
    this.#select = select
    byId('more-rows').addEventListener('click', () => {
      this.#shown += ROWS_AT_A_TIME
      this.#render()
    })
    addEventListener('beforeprint', () => {
      this.#shown = Math.max(this.#shown, PRINTED_MAX)
      this.#render()
    })
  }

  /** Shows these rows, from the first. */
  draw(rows: readonly MapNode[]): void {
    this.#rows = rows
    this.#shown = ROWS_AT_A_TIME
    this.#render()
  }

  /** Shows which row is selected. */
  mark(selected: string | undefined): void {
    for (const row of byId('rows').querySelectorAll<HTMLElement>('tr'))
      row.classList.toggle('selected', row.dataset['id'] === selected)
  }

  #render(): void {
    const shown = this.#rows.slice(0, this.#shown)
    byId('rows').replaceChildren(...shown.map((node) => this.#row(node)))
    const more = this.#rows.length - shown.length
    byId('rows-note').textContent =
      more === 0
        ? `${counted(this.#rows.length, 'row')}.`
        : `The first ${shown.length} of ${counted(this.#rows.length, 'row')}.`
    byId('more-rows').hidden = more === 0
  }

  #row(node: MapNode): HTMLElement {
    const look = lookOf(node)
    const pods = node.kind === 'container' ? this.#world.node(node.parent ?? '') : undefined
    const name = pods === undefined ? node.label : `${pods.label}: ${node.label}`
    const findings = this.#world.findingsOf(node)
    const reason = node.kind === 'binding' && node.state !== 'ready' ? `, ${node.reason}` : ''
    return element(
      'tr',
      { 'data-id': node.id },
      element('td', {}, KIND_WORDS[node.kind]),
      element('td', {}, foreign(node.namespace)),
      element(
        'th',
        { scope: 'row' },
        button(
          { class: 'link' },
          () => this.#select(node.id),
          foreign(node.kind === 'gap' ? node.why : name),
        ),
      ),
      element(
        'td',
        { class: 'state' },
        ...(look === undefined ? [] : [icon(look), ` ${look.word}`]),
        reason === '' ? undefined : foreign(reason),
        changeBadge(node),
      ),
      element('td', { class: 'ids' }, ...this.#identities(node)),
      element('td', {}, [...new Set(findings.map(({ code }) => code))].join(', ')),
    )
  }

  #identities(node: MapNode): readonly HTMLElement[] {
    if (node.kind === 'binding')
      return node.spiffeID === null ? [] : [element('div', {}, foreign(node.spiffeID))]
    return this.#world.holdsOf(node.id).map(({ to, certain, change }) => {
      const id = to.slice('identity/'.length)
      const doubt = change === 'removed' ? ' (no more)' : certain ? '' : ' (perhaps)'
      return element('div', {}, foreign(id), doubt)
    })
  }
}
