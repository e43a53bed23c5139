// How states look: a shape and a word for each, and a colour of style.css that adds nothing to them.
import { type ContainerState, STATES, type StateMark } from '../../parts/container-states.ts'
import type { MapChange, MapNode } from '../graph.ts'
import { span } from './elements.ts'

/** How a state is shown: by its tone (the colour), its shape and its word. */
export interface Look {
  readonly tone: 'good' | 'many' | 'open' | 'bad' | 'mute'
  /** Of a shape of 16 by 16, drawn as lines. */
  readonly shape: string
  readonly word: string
}

const CIRCLE = 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13'
const DIAMOND = 'M8 .8 15.2 8 8 15.2.8 8Z'
const OCTAGON = 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3Z'
const TRIANGLE = 'M8 1.5 15 14H1Z'

const TONES: Readonly<Record<StateMark, Look['tone']>> = {
  ok: 'good',
  warn: 'open',
  bad: 'bad',
  note: 'mute',
}

function stateLook(state: ContainerState, shape: string): Look {
  return { tone: TONES[STATES[state].mark], shape, word: state }
}

/** Of containers. */
export const STATE_LOOKS: Readonly<Record<ContainerState, Look>> = {
  issued: stateLook('issued', `${CIRCLE}M4.8 8.3l2.3 2.3 4.2-4.8`),
  // What a container does with several is not what one does that has none yet.
  several: {
    ...stateLook('several', 'M6 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10M10 3a5 5 0 1 1 0 10'),
    tone: 'many',
  },
  pending: stateLook('pending', `${CIRCLE}M8 4.5V8l2.5 2`),
  undetermined: stateLook(
    'undetermined',
    `${DIAMOND}M6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.4-.8.6-.8 1.2M8 11.2v.4`,
  ),
  refused: stateLook('refused', `${OCTAGON}M5.5 5.5l5 5M10.5 5.5l-5 5`),
  failed: stateLook('failed', `${TRIANGLE}M8 6v4M8 11.6v.5`),
  displaced: stateLook('displaced', 'M1.5 3h6v10h-6ZM6 8h8M11.4 5.2 14.2 8l-2.8 2.8'),
  masked: stateLook('masked', 'M1.5 1.5h8v8h-8ZM6.5 6.5h8v8h-8Z'),
  ignored: stateLook('ignored', `${CIRCLE}M3.6 3.6l8.8 8.8`),
  dead: stateLook('dead', 'M3 3l10 10M13 3 3 13'),
  none: stateLook('none', CIRCLE),
}

const BINDING_LOOKS = {
  ready: STATE_LOOKS.issued,
  refused: STATE_LOOKS.refused,
  undetermined: STATE_LOOKS.undetermined,
  waiting: STATE_LOOKS.pending,
  deleting: STATE_LOOKS.dead,
} as const
const HANDLING_LOOKS = {
  handled: STATE_LOOKS.issued,
  ignored: STATE_LOOKS.ignored,
  invalid: STATE_LOOKS.failed,
  undecodable: STATE_LOOKS.failed,
  unknown: STATE_LOOKS.undetermined,
} as const
const IDENTITY_LOOKS = {
  held: STATE_LOOKS.issued,
  perhaps: STATE_LOOKS.undetermined,
  unheld: STATE_LOOKS.none,
  unknown: STATE_LOOKS.undetermined,
} as const

/** The look of a box; undefined for one that has no state. What a change removes is shown as what it was. */
export function lookOf(node: MapNode): Look | undefined {
  const look = lookNow(node)
  if (look === undefined || node.change !== 'removed' || node.kind === 'identity') return look
  return { ...look, tone: 'mute', word: `was ${look.word}` }
}

function lookNow(node: MapNode): Look | undefined {
  switch (node.kind) {
    case 'container':
      return STATE_LOOKS[node.state]
    case 'binding':
      return { ...BINDING_LOOKS[node.state], word: node.state }
    case 'ClusterSPIFFEID':
    case 'ClusterStaticEntry':
      return { ...HANDLING_LOOKS[node.handling], word: node.handling }
    case 'identity':
      return { ...IDENTITY_LOOKS[node.state], word: node.state }
    case 'policy':
      return node.isInterpreted ? undefined : { ...STATE_LOOKS.undetermined, word: 'not interpreted' }
    case 'gap':
      return { ...STATE_LOOKS.undetermined, word: node.state }
    case 'namespace':
    case 'workload':
    case 'pods':
      return undefined
  }
}

/** What a box is called. */
export const KIND_WORDS: Readonly<Record<MapNode['kind'], string>> = {
  namespace: 'Namespace',
  workload: 'Workload',
  pods: 'Pods',
  container: 'Container',
  binding: 'Binding',
  ClusterSPIFFEID: 'ClusterSPIFFEID',
  ClusterStaticEntry: 'ClusterStaticEntry',
  identity: 'Identity',
  policy: 'Access policy',
  gap: 'Not known',
}

const CHANGE_WORDS: Readonly<Record<MapChange, string>> = {
  added: '+ added',
  removed: '− removed',
  changed: '± changed',
  uncertain: '? uncertain',
}

/** What a change does to a box, as a mark and a word. */
export function changeBadge({ change }: MapNode): HTMLElement | undefined {
  return change === null ? undefined : span(`change ${change}`, CHANGE_WORDS[change])
}

/** The shape as a picture; the word stands beside it. */
export function icon({ tone, shape }: Look): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 16 16')
  svg.setAttribute('class', `icon ${tone}`)
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', shape)
  svg.append(path)
  return svg
}
