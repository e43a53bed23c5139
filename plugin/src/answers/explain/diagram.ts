// The derivation of bindings as a graph: binding, pool and objective, selectors, ClusterSPIFFEID, pods and containers.
import { judgementWord } from '@kleym/shared/core/decide/index.ts'
import { splitNamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Explanation, DerivationStep } from '@kleym/shared/core/answers/index.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Diagram, DiagramEdge, DiagramNode, NodeStyle } from '../../output/mermaid.ts'
import { labelLines, DRAWN_MAX, findingNode } from '../../frame/diagram.ts'

type Steps = Readonly<Record<DerivationStep['outcome'], { readonly mark: string; readonly style: NodeStyle }>>

const OUTCOMES: Steps = {
  passed: { mark: '✓', style: 'good' },
  failed: { mark: '✗', style: 'bad' },
  unknown: { mark: '!', style: 'doubtful' },
  'not judged': { mark: '·', style: 'note' },
}

/** All bindings in one graph: what they share (a pool, a pod, a peer) is one node. */
export function explainDiagram(
  explanations: readonly Explanation[],
  about: ReadonlyMap<string, readonly Finding[]>,
): Diagram {
  const parts = explanations.map((one) => partOf(one, about.get(one.key) ?? []))
  return {
    // The bindings that are explained come first: as peers of others they have less to say.
    nodes: [...explanations.map(bindingNode), ...parts.flatMap(({ nodes }) => nodes)],
    edges: parts.flatMap(({ edges }) => edges),
  }
}

function partOf(one: Explanation, about: readonly Finding[]): Diagram {
  const graph = { nodes: [] as DiagramNode[], edges: [] as DiagramEdge[] }
  const pool = addSteps(one, graph)
  addOutput(one, pool, graph)
  for (const { binding, relation } of one.peers.slice(0, DRAWN_MAX)) {
    graph.nodes.push({ key: bindingKey(binding), lines: [BINDING_KIND, binding], style: 'plain' })
    graph.edges.push({ from: bindingKey(one.key), to: bindingKey(binding), label: relation, dotted: true })
  }
  addMore(one.peers.length, bindingKey(one.key), 'peers', graph)
  for (const each of about)
    graph.edges.push({ from: findingNode(each), to: bindingKey(one.key), label: '', dotted: true })
  return graph
}

interface Graph {
  readonly nodes: DiagramNode[]
  readonly edges: DiagramEdge[]
}

function bindingKey(key: string): string {
  return `binding\n${key}`
}

function bindingNode({ key, verdict, judgement }: Explanation): DiagramNode {
  const outcome =
    judgement.state === 'deleting'
      ? 'not judged'
      : verdict.ready === 'True'
        ? 'passed'
        : verdict.ready === 'False'
          ? 'failed'
          : 'unknown'
  const { mark, style } = OUTCOMES[outcome]
  const reason = outcome === 'passed' || outcome === 'not judged' ? '' : ` (${verdict.reason})`
  return {
    key: bindingKey(key),
    lines: [BINDING_KIND, key, `${mark} ${judgementWord(judgement.state)}${reason}`],
    style,
  }
}

/** The pool, the objective, and every step that failed or is not known. Returns the key of the pool's node. */
function addSteps(one: Explanation, { nodes, edges }: Graph): string {
  const { objective } = one.judgement.compiled.input
  const namespace = splitNamespacedName(one.key).namespace
  let pool = ''
  for (const { name, outcome, text } of one.steps) {
    const isObject = name === 'pool' || (name === 'objective' && objective?.state === 'found')
    if (outcome === 'not judged' || (outcome === 'passed' && !isObject)) continue
    // What is found is one node for all bindings that name it; what is not is each binding's own.
    const key = outcome === 'passed' ? `${name}\n${namespace}\n${text}` : `${name}\n${one.key}`
    const { mark, style } = OUTCOMES[outcome]
    nodes.push({ key, lines: outcome === 'passed' ? [text] : labelLines(`${mark} ${name}: ${text}`), style })
    edges.push({ from: bindingKey(one.key), to: key, label: name })
    if (name === 'pool') pool = key
  }
  return pool
}

function addOutput(one: Explanation, pool: string, graph: Graph): void {
  const { nodes, edges } = graph
  for (const { name, because } of one.withdrawn) {
    const key = `withdrawn\n${name}`
    nodes.push({
      key,
      lines: ['ClusterSPIFFEID', name, ...labelLines(`withdrawn: ${because}`)],
      style: 'doubtful',
    })
    edges.push({ from: bindingKey(one.key), to: key, label: '', dotted: true })
  }
  if (one.output === undefined) return
  const output = `output\n${one.output.name}`
  nodes.push({
    key: output,
    lines: ['ClusterSPIFFEID', one.output.name, one.identity?.spiffeId ?? '', one.output.state],
    style: 'plain',
  })
  for (const { selector, object, field } of one.selectors) {
    const key = `selector\n${one.key}\n${selector}`
    nodes.push({ key, lines: [selector], style: 'plain' })
    edges.push({
      from: object.startsWith(`${BINDING_KIND}/`) ? bindingKey(one.key) : pool,
      to: key,
      label: field,
    })
    edges.push({ from: key, to: output, label: '' })
  }
  if (one.reach !== undefined) addReach(one.reach, one.podsUnknown === undefined, output, graph)
}

function addReach(
  reach: NonNullable<Explanation['reach']>,
  areKnown: boolean,
  output: string,
  graph: Graph,
): void {
  const reached = reach.reached.map(({ pod, containers }) => ({ pod, label: containers.join(', ') }))
  const perhaps = reach.perhaps.map(({ pod, why }) => ({
    pod,
    label: `perhaps: ${why}`,
    dotted: true as const,
  }))
  const missed = reach.missed.map(({ pod, why }) => ({
    pod,
    label: `selected, not matched: ${why}`,
    dotted: true as const,
  }))
  const all = [...reached, ...perhaps, ...missed]
  for (const { pod, ...edge } of all.slice(0, DRAWN_MAX)) {
    const key = `pod\n${podText(pod)}`
    graph.nodes.push({ key, lines: [podText(pod)], style: 'plain' })
    graph.edges.push({ from: output, to: key, ...edge })
  }
  addMore(all.length, output, 'pods', graph)
  if (all.length > 0) return
  graph.nodes.push({
    key: `${output}\nno pod`,
    lines: [areKnown ? '! reaches no container' : '! the pods are not known'],
    style: 'doubtful',
  })
  graph.edges.push({ from: output, to: `${output}\nno pod`, label: '' })
}

function addMore(count: number, from: string, what: string, { nodes, edges }: Graph): void {
  const more = count - DRAWN_MAX
  if (more <= 0) return
  const key = `${from}\nmore ${what}`
  nodes.push({ key, lines: [`and ${more} more ${what}`], style: 'plain' })
  edges.push({ from, to: key, label: '' })
}
