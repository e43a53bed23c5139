// What is said of a box that is selected: of a container what `who-selects` says, of a binding what `explain` does, and of all
// of them the findings, and who shares the identity.
import { fewText } from '@kleym/shared/core/base/text/counted.ts'
import { SEVERAL_WHY, STATE_TEXTS } from '../../parts/container-states.ts'
import type { ContainerNode, MapNode, RegistrationEdge } from '../graph.ts'
import type { PageFinding } from '../page-data.ts'
import { button, byId, counted, element, foreign, type Child } from './elements.ts'
import { CHANGE_WORDS, icon, KIND_WORDS, lookOf, STATE_LOOKS } from './looks.ts'
import { holdersText, relatedTo } from './picture.ts'
import { grouped, type World } from './world.ts'

/** What the details tell the page. */
export interface DetailEvents {
  readonly select: (id: string) => void
  readonly close: () => void
}

/** Lists name so many at most, and count the rest. */
const LISTED_MAX = 20

/** Shows what is said of a box; nothing for undefined. */
export function drawDetails(world: World, selected: string | undefined, events: DetailEvents): void {
  const panel = byId('details')
  const node = selected === undefined ? undefined : world.node(selected)
  panel.hidden = node === undefined
  if (node === undefined) {
    panel.replaceChildren()
    return
  }
  const look = lookOf(node)
  panel.replaceChildren(
    element(
      'div',
      { class: 'top' },
      element('p', { class: 'kind' }, KIND_WORDS[node.kind]),
      button({ class: 'close', 'aria-label': 'Close the details' }, events.close, '×'),
    ),
    element('h2', {}, foreign(node.kind === 'gap' ? node.why : node.label)),
    element(
      'p',
      { class: 'verdict' },
      ...(look === undefined ? [] : [icon(look), ' ', element('strong', {}, look.word)]),
      node.change === null
        ? undefined
        : element('span', { class: `change ${node.change}` }, CHANGE_WORDS[node.change]),
    ),
    element(
      'div',
      { class: 'body' },
      ...present(bodyOf(world, node, events)),
      ...present(findingParts(world.findingsOf(node))),
    ),
  )
}

function bodyOf(world: World, node: MapNode, events: DetailEvents): readonly Child[] {
  switch (node.kind) {
    case 'container':
      return containerParts(world, node, events)
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
        ...linkSection(
          world,
          events,
          'Containers',
          world.containersOf(node.id).map(({ id }) => id),
        ),
        ...sharingParts(world, node, events),
        command(world, `kubectl kleym who-selects ${targetOf(node.pods[0] ?? '')}`),
      ]
    case 'binding':
      return bindingParts(world, node.id, node.binding, node.message, node.spiffeID, events)
    case 'ClusterSPIFFEID':
    case 'ClusterStaticEntry': {
      const reached = world.from(node.id).filter((edge) => edge.kind === 'registration')
      return [
        facts([
          ['SCM', node.handling === 'handled' ? 'handles it' : `${node.handling}: ${node.why ?? ''}`],
          ...(node.handling === 'handled' && node.why !== null ? [['note', node.why] as const] : []),
          ['of', node.ownership === 'foreign' ? 'not kleym' : `kleym, ${node.ownership}`],
        ]),
        ...verdictParts(world, reached, events),
      ]
    }
    case 'identity': {
      const named = world.to(node.id).filter((edge) => edge.kind === 'names')
      const asked = world.to(node.id).filter((edge) => edge.kind === 'asks')
      const held = world.holdersOf(node.id)
      return [
        element('p', {}, `${sentence(holdersText(node))}${world.data.world}.`),
        ...linkSection(
          world,
          events,
          'Certainly held by',
          held.filter(({ certain }) => certain).map(({ from }) => from),
        ),
        ...linkSection(
          world,
          events,
          'Perhaps held by',
          held.filter(({ certain, change }) => !certain && change !== 'removed').map(({ from }) => from),
        ),
        ...linkSection(
          world,
          events,
          'No more held by',
          held.filter(({ change }) => change === 'removed').map(({ from }) => from),
        ),
        ...linkSection(
          world,
          events,
          'Asked for by',
          asked.map(({ from }) => from),
        ),
        ...section('Named by', [
          list(
            named.map(({ from, rule, how }) => [
              link(world, from, events),
              foreign(` rule ${rule} (${how})`),
            ]),
          ),
        ]),
        command(world, `kubectl kleym who-selects -A --spiffe-id ${node.spiffeID}`),
      ]
    }
    case 'policy':
      return [
        facts([
          ['namespace', node.namespace],
          ...(node.namesAny ? [['names', 'any principal'] as const] : []),
        ]),
        ...section('Its rules', [list(node.says.map((text) => [foreign(text)]))]),
        ...linkSection(
          world,
          events,
          'Named here',
          world.from(node.id).map(({ to }) => to),
        ),
        command(world, `kubectl kleym policies ${node.policy}`),
      ]
    case 'gap':
      return [
        element(
          'p',
          {},
          node.state === 'unknown'
            ? 'Anything may stand in what could not be read; nothing here counts it as absent.'
            : 'The cluster has no such kind, so that there is none of it.',
        ),
      ]
    case 'namespace':
    case 'workload':
      return [facts([['holds', 'no pod, binding or policy that was read']])]
  }
}

function containerParts(world: World, node: ContainerNode, events: DetailEvents): readonly Child[] {
  const pods = world.node(node.parent ?? '')
  const registrations = world.registrationsOf(node.id)
  return [
    element('p', {}, `${sentence(STATE_TEXTS[node.state])}.`),
    ...(node.open === null
      ? []
      : [
          element(
            'p',
            { class: 'doubt' },
            node.identities.length === 0 ? 'Not certain: ' : 'It may hold more: ',
            foreign(node.open),
          ),
        ]),
    ...(node.state === 'several' ? [element('p', { class: 'doubt' }, `${sentence(SEVERAL_WHY)}.`)] : []),
    facts([
      ['in', pods?.label ?? ''],
      ['namespace', node.namespace],
      ['runs as', node.role],
      ...(node.count > 1 ? [['pods', String(node.count)] as const] : []),
    ]),
    ...section('Registrations that select it', [
      registrations.length === 0
        ? element('p', {}, `None${world.data.world}.`)
        : element(
            'ul',
            { class: 'registrations' },
            ...registrations.map((one) => registrationItem(world, one, events)),
          ),
    ]),
    ...sharingParts(world, node, events),
    command(
      world,
      `kubectl kleym who-selects ${targetOf(pods?.kind === 'pods' ? (pods.pods[0] ?? '') : '')} -c ${node.name}`,
    ),
  ]
}

const VERDICT_LOOKS: Readonly<Record<string, keyof typeof STATE_LOOKS>> = {
  depends: 'undetermined',
  unknown: 'undetermined',
}

function registrationItem(world: World, edge: RegistrationEdge, events: DetailEvents): HTMLElement {
  const state = VERDICT_LOOKS[edge.verdict] ?? edge.verdict
  const look = Object.entries(STATE_LOOKS).find(([name]) => name === state)?.[1] ?? STATE_LOOKS.undetermined
  const hint =
    edge.hint === ''
      ? ''
      : `, hint ${edge.hint}${edge.sharesHint ? ', which another identity here has too' : ''}`
  const selector = edge.selector === null ? '' : `${edge.selector}: `
  return element(
    'li',
    {},
    icon(look),
    ' ',
    element('strong', {}, edge.verdict),
    ' ',
    edge.spiffeID === null ? undefined : foreign(edge.spiffeID, 'id'),
    element('div', { class: 'small' }, 'by ', link(world, edge.from, events), foreign(hint)),
    edge.why === null ? undefined : element('div', { class: 'small' }, foreign(`${selector}${edge.why}`)),
    edge.pending === null ? undefined : element('div', { class: 'small' }, foreign(edge.pending)),
  )
}

function bindingParts(
  world: World,
  id: string,
  key: string,
  message: string,
  spiffeId: string | null,
  events: DetailEvents,
): readonly Child[] {
  const said = world.data.explanations[key]
  const reached = world.from(id).filter((edge) => edge.kind === 'registration')
  return [
    element('p', {}, foreign(message)),
    ...(said?.afterwards == null
      ? []
      : [element('p', { class: 'doubt' }, 'Afterwards: ', foreign(said.afterwards))]),
    ...(said?.due == null ? [] : [element('p', {}, foreign(said.due))]),
    ...(spiffeId === null
      ? []
      : section('Asks for', [list([[link(world, `identity/${spiffeId}`, events)]])])),
    ...(said === undefined
      ? []
      : [
          ...section('Derivation', [
            list(
              said.steps.map(({ name, outcome, text }) => [
                icon(OUTCOMES[outcome] ?? STATE_LOOKS.undetermined),
                ` ${name}: `,
                element('strong', {}, outcome),
                foreign(text === '' ? '' : `, ${text}`),
              ]),
              'plain',
            ),
          ]),
          ...section('Collides with', [
            list(
              said.peers.map(({ binding, proof }) => [
                link(world, `binding/${binding}`, events),
                foreign(`: ${proof}`),
              ]),
            ),
          ]),
          ...section('Selectors', [
            list(
              said.selectors.map(({ selector, object, field }) => [
                element('code', {}, foreign(selector)),
                foreign(`, from ${field} of ${object}`),
              ]),
            ),
          ]),
        ]),
    ...verdictParts(world, reached, events),
    command(world, `kubectl kleym explain ${key}`),
  ]
}

const OUTCOMES: Readonly<Record<string, (typeof STATE_LOOKS)[keyof typeof STATE_LOOKS]>> = {
  passed: STATE_LOOKS.issued,
  failed: STATE_LOOKS.refused,
  unknown: STATE_LOOKS.undetermined,
  'not judged': STATE_LOOKS.none,
}

/** The containers that a registration selects, by what becomes of it there. */
function verdictParts(
  world: World,
  edges: readonly RegistrationEdge[],
  events: DetailEvents,
): readonly Child[] {
  if (edges.length === 0) return [element('p', {}, `It selects no pod${world.data.world}.`)]
  return [...grouped(edges, ({ verdict }) => verdict)].flatMap(([verdict, same]) =>
    linkSection(
      world,
      events,
      `${sentence(verdict)} for ${counted(same.length, 'container')}`,
      same.map(({ to }) => to),
    ),
  )
}

function sharingParts(world: World, node: MapNode, events: DetailEvents): readonly Child[] {
  const sharing = [...relatedTo(world, node.id).sharing]
  const title = `Shares an identity with ${counted(sharing.length, 'other container')}`
  return linkSection(world, events, title, sharing)
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

/** A title with what it is about; nothing where that is empty. */
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

function list(items: readonly (readonly Child[])[], className = ''): HTMLElement {
  const shownItems = items.slice(0, LISTED_MAX).map((children) => element('li', {}, ...children))
  const more = items.length - shownItems.length
  return element(
    'ul',
    className === '' ? {} : { class: className },
    ...shownItems,
    more > 0 ? element('li', {}, `and ${more.toLocaleString('en')} more`) : undefined,
  )
}

/** A title with links to boxes, each once. */
function linkSection(
  world: World,
  events: DetailEvents,
  title: string,
  ids: readonly string[],
): readonly Child[] {
  return section(title, [list([...new Set(ids)].map((id) => [link(world, id, events)]))])
}

/** A box by name, which selects it. */
function link(world: World, id: string, { select }: DetailEvents): HTMLElement {
  const node = world.node(id)
  if (node === undefined) return foreign(id)
  const pods = node.kind === 'container' ? `${world.node(node.parent ?? '')?.label ?? ''}: ` : ''
  const place = node.namespace === '' || node.kind === 'namespace' ? '' : `${node.namespace}/`
  return button({ class: 'link' }, () => select(id), foreign(`${place}${pods}${node.label}`))
}

/** A command that asks the same source. */
function command({ data }: World, text: string): HTMLElement {
  return element('p', { class: 'command' }, element('code', {}, foreign(`${text}${data.echo}`)))
}

/** `pod/team-a/llama-0` of `pod team-a/llama-0`. */
function targetOf(pod: string): string {
  const [kind = '', name = ''] = pod.split(' ', 2)
  return `${kind.toLowerCase()}/${name}`
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function present(children: readonly Child[]): readonly (Node | string)[] {
  return children.filter((child) => child !== undefined)
}
