// What is said of a box that is selected: of a container what `who-selects` says, of a binding what `explain` does, and of all
// of them the findings, and who shares the identity.
import { fewText } from '@kleym/shared/core/base/text/counted.ts'
import { SEVERAL_WHY, STATES } from '../../parts/container-states.ts'
import type { BindingNode, ContainerNode, MapEdge, MapNode, RegistrationEdge } from '../graph.ts'
import type { PageFinding } from '../page-data.ts'
import { button, byId, counted, element, foreign, type Child } from './elements.ts'
import { changeBadge, icon, KIND_WORDS, lookOf, STATE_LOOKS, type Look } from './looks.ts'
import { holdersText, relatedTo } from './picture.ts'
import { grouped, type World } from './world.ts'

/** What the details tell the page. */
export interface DetailEvents {
  readonly select: (id: string) => void
  readonly close: () => void
}

/** Lists name so many at most, and count the rest. */
const LISTED_MAX = 20

/** Shows what is said of a box, in a panel beside the picture. */
export class Details {
  readonly #world: World
  readonly #events: DetailEvents

  constructor(world: World, events: DetailEvents) {
    this.#world = world
    this.#events = events
  }

  /** Shows what is said of a box; nothing for undefined. */
  draw(selected: string | undefined): void {
    const panel = byId('details')
    const node = selected === undefined ? undefined : this.#world.node(selected)
    panel.hidden = node === undefined
    panel.replaceChildren(...(node === undefined ? [] : this.#parts(node)))
  }

  #parts(node: MapNode): readonly HTMLElement[] {
    const look = lookOf(node)
    return [
      element(
        'div',
        { class: 'top' },
        element('p', { class: 'kind' }, KIND_WORDS[node.kind]),
        button({ class: 'close', 'aria-label': 'Close the details' }, this.#events.close, '×'),
      ),
      element('h2', {}, foreign(node.kind === 'gap' ? node.why : node.label)),
      element(
        'p',
        { class: 'verdict' },
        ...(look === undefined ? [] : [icon(look), ' ', element('strong', {}, look.word)]),
        changeBadge(node),
      ),
      element('div', { class: 'body' }, ...this.#body(node), ...findingParts(this.#world.findingsOf(node))),
    ]
  }

  #body(node: MapNode): readonly Child[] {
    const world = this.#world
    switch (node.kind) {
      case 'container':
        return this.#container(node)
      case 'pods':
        return [
          facts([
            ['namespace', node.namespace],
            ['service account', node.serviceAccount ?? 'not known'],
            ['nodes', node.nodes.length === 0 ? 'none yet' : fewText(node.nodes, LISTED_MAX)],
            ['there', node.exists ? 'yes' : 'not yet: a template or a manifest'],
            ...(node.perhaps === null ? [] : [['perhaps', node.perhaps] as const]),
          ]),
          ...section(counted(node.pods.length, 'pod'), [list(node.pods.map((text) => [foreign(text)]))]),
          ...this.#boxes('Containers', world.containersOf(node.id).map(idOf)),
          ...this.#sharing(node),
          this.#command(`who-selects ${targetOf(node.pods[0] ?? '')}`),
        ]
      case 'binding':
        return this.#binding(node)
      case 'ClusterSPIFFEID':
      case 'ClusterStaticEntry':
        return [
          facts([
            ['SCM', node.handling === 'handled' ? 'handles it' : `${node.handling}: ${node.why ?? ''}`],
            ...(node.handling === 'handled' && node.why !== null ? [['note', node.why] as const] : []),
            ['of', node.ownership === 'foreign' ? 'not kleym' : `kleym, ${node.ownership}`],
          ]),
          ...this.#verdicts(node.id),
        ]
      case 'identity': {
        const to = world.to(node.id)
        const held = world.holdersOf(node.id)
        const named = to.filter((edge) => edge.kind === 'names')
        return [
          element('p', {}, `${sentence(holdersText(node))}${world.data.world}.`),
          ...this.#boxes('Certainly held by', held.filter(({ certain }) => certain).map(fromOf)),
          ...this.#boxes(
            'Perhaps held by',
            held.filter(({ certain, change }) => !certain && change !== 'removed').map(fromOf),
          ),
          ...this.#boxes('No more held by', held.filter(({ change }) => change === 'removed').map(fromOf)),
          ...this.#boxes('Asked for by', to.filter(({ kind }) => kind === 'asks').map(fromOf)),
          ...section('Named by', [
            list(named.map(({ from, rule, how }) => [this.#link(from), foreign(` rule ${rule} (${how})`)])),
          ]),
          this.#command(`who-selects -A --spiffe-id ${node.spiffeID}`),
        ]
      }
      case 'policy':
        return [
          facts([
            ['namespace', node.namespace],
            ...(node.namesAny ? [['names', 'any principal'] as const] : []),
          ]),
          ...section('Its rules', [list(node.says.map((text) => [foreign(text)]))]),
          ...this.#boxes('Named here', world.from(node.id).map(toOf)),
          this.#command(`policies ${node.policy}`),
        ]
      case 'gap':
        return [
          element(
            'p',
            {},
            node.state === 'unknown'
              ? 'What could not be read may hold anything; nothing here counts it as absent.'
              : 'The cluster has no such kind, so that there is none of it.',
          ),
        ]
      case 'namespace':
      case 'workload':
        return [facts([['holds', 'no pod, binding or policy that was read']])]
    }
  }

  #container(node: ContainerNode): readonly Child[] {
    const pods = this.#world.node(node.parent ?? '')
    const registrations = this.#world.registrationsOf(node.id).map((one) => this.#registration(one))
    const doubt = node.identities.length === 0 ? 'Not certain: ' : 'It may hold more: '
    return [
      element('p', {}, `${sentence(STATES[node.state].text)}.`),
      node.open === null ? undefined : element('p', { class: 'doubt' }, doubt, foreign(node.open)),
      node.state === 'several' ? element('p', { class: 'doubt' }, `${sentence(SEVERAL_WHY)}.`) : undefined,
      facts([
        ['in', pods?.label ?? ''],
        ['namespace', node.namespace],
        ['runs as', node.role],
        ...(node.count > 1 ? [['pods', String(node.count)] as const] : []),
      ]),
      ...section('Registrations that select it', [
        registrations.length === 0
          ? element('p', {}, `None${this.#world.data.world}.`)
          : element('ul', { class: 'registrations' }, ...registrations),
      ]),
      ...this.#sharing(node),
      this.#command(
        `who-selects ${targetOf(pods?.kind === 'pods' ? (pods.pods[0] ?? '') : '')} -c ${node.name}`,
      ),
    ]
  }

  #registration(edge: RegistrationEdge): HTMLElement {
    const { verdict, spiffeID, hint, sharesHint, selector, why, pending, from } = edge
    const shared = sharesHint ? ', which another identity here has too' : ''
    return element(
      'li',
      {},
      icon(VERDICT_LOOKS[verdict] ?? STATE_LOOKS.undetermined),
      ' ',
      element('strong', {}, verdict),
      ' ',
      spiffeID === null ? undefined : foreign(spiffeID, 'id'),
      small('by ', this.#link(from), foreign(hint === '' ? '' : `, hint ${hint}${shared}`)),
      why === null ? undefined : small(foreign(`${selector === null ? '' : `${selector}: `}${why}`)),
      pending === null ? undefined : small(foreign(pending)),
    )
  }

  #binding({ id, binding, message, spiffeID }: BindingNode): readonly Child[] {
    const said = this.#world.data.explanations[binding]
    const steps = said?.steps.map(({ name, outcome, text }) => [
      icon(OUTCOMES[outcome] ?? STATE_LOOKS.undetermined),
      ` ${name}: `,
      element('strong', {}, outcome),
      foreign(text === '' ? '' : `, ${text}`),
    ])
    const peers = said?.peers.map((one) => [this.#link(`binding/${one.binding}`), foreign(`: ${one.proof}`)])
    const selectors = said?.selectors.map(({ selector, object, field }) => [
      element('code', {}, foreign(selector)),
      foreign(`, from ${field} of ${object}`),
    ])
    return [
      element('p', {}, foreign(message)),
      said?.afterwards == null
        ? undefined
        : element('p', { class: 'doubt' }, 'Afterwards: ', foreign(said.afterwards)),
      said?.due == null ? undefined : element('p', {}, foreign(said.due)),
      ...this.#boxes('Asks for', spiffeID === null ? [] : [`identity/${spiffeID}`]),
      ...section('Derivation', [list(steps, 'plain')]),
      ...section('Collides with', [list(peers)]),
      ...section('Selectors', [list(selectors)]),
      ...this.#verdicts(id),
      this.#command(`explain ${binding}`),
    ]
  }

  /** The containers that a registration selects, by its verdict there. */
  #verdicts(id: string): readonly Child[] {
    const { data } = this.#world
    const reached = this.#world.from(id).filter((edge) => edge.kind === 'registration')
    if (reached.length === 0) return [element('p', {}, `It selects no pod${data.world}.`)]
    return [...grouped(reached, ({ verdict }) => verdict)].flatMap(([verdict, same]) =>
      this.#boxes(`${sentence(verdict)} for ${counted(same.length, 'container')}`, same.map(toOf)),
    )
  }

  #sharing(node: MapNode): readonly Child[] {
    const sharing = [...relatedTo(this.#world, node.id).sharing]
    return this.#boxes(`Shares an identity with ${counted(sharing.length, 'other container')}`, sharing)
  }

  /** A title with links to boxes, each once. */
  #boxes(title: string, ids: readonly string[]): readonly Child[] {
    return section(title, [list([...new Set(ids)].map((id) => [this.#link(id)]))])
  }

  /** A box by name, which selects it. */
  #link(id: string): HTMLElement {
    const node = this.#world.node(id)
    if (node === undefined) return foreign(id)
    const pods = node.kind === 'container' ? `${this.#world.node(node.parent ?? '')?.label ?? ''}: ` : ''
    const place = node.namespace === '' || node.kind === 'namespace' ? '' : `${node.namespace}/`
    return button({ class: 'link' }, () => this.#events.select(id), foreign(`${place}${pods}${node.label}`))
  }

  /** A command that asks the same source. */
  #command(text: string): HTMLElement {
    const command = foreign(`kubectl kleym ${text}${this.#world.data.echo}`)
    return element('p', { class: 'command' }, element('code', {}, command))
  }
}

const idOf = ({ id }: MapNode): string => id
const fromOf = ({ from }: MapEdge): string => from
const toOf = ({ to }: MapEdge): string => to

const VERDICT_LOOKS: Readonly<Record<string, Look>> = STATE_LOOKS

const OUTCOMES: Readonly<Record<string, Look>> = {
  passed: STATE_LOOKS.issued,
  failed: STATE_LOOKS.refused,
  unknown: STATE_LOOKS.undetermined,
  'not judged': STATE_LOOKS.none,
}

function findingParts(findings: readonly PageFinding[]): readonly Child[] {
  return section(
    'Findings',
    findings.map(({ code, severity, summary, evidence, fix }) =>
      element(
        'div',
        { class: `finding ${severity}` },
        element('p', {}, element('strong', {}, `${code} ${severity}`), ': ', foreign(summary)),
        list(evidence.map((text) => [foreign(text)])),
        element('p', { class: 'small' }, 'Fix: ', foreign(fix)),
      ),
    ),
  )
}

/** A title with its content; nothing if the content is empty. */
function section(title: string, parts: readonly Child[]): readonly Child[] {
  const filled = parts.filter((part) => part instanceof Node && (part.textContent ?? '') !== '')
  return filled.length === 0 ? [] : [element('h3', {}, title), ...filled]
}

function facts(rows: readonly (readonly [name: string, value: string])[]): HTMLElement {
  return element(
    'dl',
    {},
    ...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, foreign(value))]),
  )
}

function list(items: readonly (readonly Child[])[] = [], className = ''): HTMLElement {
  const shownItems = items.slice(0, LISTED_MAX).map((children) => element('li', {}, ...children))
  const more = items.length - shownItems.length
  return element(
    'ul',
    className === '' ? {} : { class: className },
    ...shownItems,
    more > 0 ? element('li', {}, `and ${more.toLocaleString('en')} more`) : undefined,
  )
}

function small(...children: readonly Child[]): HTMLElement {
  return element('div', { class: 'small' }, ...children)
}

/** `pod/team-a/llama-0` of `pod team-a/llama-0`. */
function targetOf(pod: string): string {
  const [kind = '', name = ''] = pod.split(' ', 2)
  return `${kind.toLowerCase()}/${name}`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
