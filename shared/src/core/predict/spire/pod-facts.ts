// What a prediction knows of each pod beside its labels: its node, the parent ID that follows from the node, and the
// Services that select it.
import type { TemplateData } from '../../base/go/template/template.ts'
import type { Endpoints, Node, Pod } from '../../model/objects/pod.ts'
import { DEFAULT_PARENT_ID_TEMPLATE, type ScmSettings } from '../../model/objects/scm-settings.ts'
import { answerOf, isRecorded } from '../../model/objects/pods-alike.ts'
import { NOT_SCHEDULED } from '../../model/objects/unscheduled.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareBytes, distinct } from '../../base/text/bytes.ts'
import { CLUSTER_DOMAIN } from './placeholders.ts'
import type { ParentText, RenderFacts, ServiceNames } from './render-entry.ts'
import { nodeData, podData, settingsData, type NodeTemplateData, type PodNode } from './template-data.ts'
import {
  readFieldTemplate,
  spiffeIdReader,
  FieldTemplate,
  type IdText,
  type FieldResult,
} from './field-template.ts'

/** The placeholder for the DNS names of a pod's Services. */
export const SERVICE_NAMES = '<DNS names of its Services>'
const PARENT_FIELD = "the parentIDTemplate of SCM's configuration"

/** The facts of a pod, or why SCM skips the pod. */
export type PodFactsResult =
  | { readonly kind: 'facts'; readonly facts: RenderFacts }
  | { readonly kind: 'no node'; readonly why: string }

interface NodeFacts {
  readonly data: NodeTemplateData
  readonly parent: FieldResult<ParentText>
}

type NoNode = Extract<PodFactsResult, { readonly kind: 'no node' }>

/** A node whose parent ID is as nearly all are: nothing in it is not known, and the server takes it. */
const USUAL = Symbol('usual')

type NodeAnswer = NoNode | NodeFacts | typeof USUAL

/** Works out the facts of pods; those of a node once. */
export class PodFactsReader {
  readonly #settings: ScmSettings
  readonly #base: TemplateData
  readonly #nodes: ReadonlyMap<string, Node> | undefined
  readonly #parent: FieldTemplate<IdText> | string
  readonly #byNode = new Map<string, NodeFacts>()
  readonly #answers = new Map<string, NodeAnswer>()
  readonly #withoutNode = new Map<string | undefined, NoNode>()
  readonly #endpoints: ReadonlyMap<string, readonly Endpoints[]> | undefined

  constructor(
    settings: ScmSettings,
    nodes: readonly Node[] | undefined,
    endpoints: readonly Endpoints[] | undefined,
  ) {
    this.#settings = settings
    this.#base = settingsData(settings)
    this.#nodes = nodes === undefined ? undefined : nodesByName(nodes)
    this.#parent = readFieldTemplate(
      PARENT_FIELD,
      settings.parentIDTemplate ?? DEFAULT_PARENT_ID_TEMPLATE,
      spiffeIdReader(settings.trustDomain),
    )
    this.#endpoints = endpoints === undefined ? undefined : endpointsByPod(endpoints)
  }

  /** Why Go cannot parse SCM's own parentIDTemplate, in which case SCM does not start; undefined where it can. */
  get parentTemplateFault(): string | undefined {
    return this.#parent instanceof FieldTemplate ? undefined : `${PARENT_FIELD}: ${this.#parent}`
  }

  /** The facts of one pod. SCM 0.7.0 fails on a pod whose node it does not find (docs/spire-facts.md §2, §11.10). */
  of(pod: Pod): PodFactsResult {
    const found = answerOf(pod, this.#nodeOf)
    if (found !== USUAL && 'why' in found) return found
    const isLater = isRecorded(pod)
    const facts: RenderFacts = {
      pod,
      isRecorded: isLater,
      data: podData(this.#base, pod, { node: () => this.#factsOf(pod).data, isLater }),
      parent: found !== USUAL ? found.parent : isLater ? this.#usualParent(pod) : this.#factsOf(pod).parent,
      services: () => this.#servicesOf(pod),
    }
    return { kind: 'facts', facts }
  }

  /** What rendering depends on of the node of a pod, whichever node it is. */
  readonly #nodeOf = (pod: Pod): NodeAnswer =>
    pod.nodeName === undefined || pod.getsNode === true
      ? this.#aboutNode(pod)
      : getOrCreate(this.#answers, pod.nodeName, () => this.#aboutNode(pod))

  #aboutNode({ nodeName: name, exists, getsNode }: Pod): NodeAnswer {
    if (name === undefined && exists && getsNode === undefined) return this.#noNode(name, NOT_SCHEDULED)
    const known = this.#nodeNamed(name)
    const node = known ?? (getsNode === true ? ({ kind: 'unknown', name } as const) : undefined)
    if (node === undefined) return this.#noNode(name, `there is no Node/${name ?? ''}`)
    const facts = this.#nodeFacts(node)
    const { parent } = facts
    const isUsual = parent.kind === 'ok' && parent.value.placeholders.length === 0 && parent.value.hasPath
    return isUsual ? USUAL : facts
  }

  #noNode(name: string | undefined, why: string): NoNode {
    return getOrCreate(this.#withoutNode, name, () => ({ kind: 'no node', why }))
  }

  #usualParent(pod: Pod): FieldResult<ParentText> {
    const text = (): string => this.parentIdOf(pod) ?? ''
    return { kind: 'ok', value: { text, placeholders: NONE, hasPath: true } }
  }

  /** The parent of the entries of a pod; undefined where it cannot be rendered. */
  parentIdOf(pod: Pod): string | undefined {
    const { parent } = this.#factsOf(pod)
    return 'value' in parent ? parent.value.text() : undefined
  }

  /** The facts of the node of a pod that has one. */
  #factsOf({ nodeName: name }: Pod): NodeFacts {
    return this.#nodeFacts(this.#nodeNamed(name) ?? { kind: 'unknown', name })
  }

  #nodeNamed(name: string | undefined): PodNode | undefined {
    if (name === undefined || this.#nodes === undefined) return { kind: 'unknown', name }
    const node = this.#nodes.get(name)
    return node === undefined ? undefined : { kind: 'known', node }
  }

  #nodeFacts(node: PodNode): NodeFacts {
    const key = (node.kind === 'known' ? node.node.name : node.name) ?? ''
    return getOrCreate(this.#byNode, key, () => {
      const data = nodeData(this.#base, node)
      const parent: FieldResult<ParentText> =
        this.#parent instanceof FieldTemplate
          ? parentOf(this.#parent.run(data))
          : { kind: 'failed', field: PARENT_FIELD, why: this.#parent }
      return { data, parent }
    })
  }

  /** `name`, `name.namespace`, `name.namespace.svc` and, with a cluster domain, the full name; sorted by bytes. */
  #servicesOf(pod: Pod): ServiceNames {
    const narrowed = this.#settings.cacheNamespaces?.get(pod.namespace) !== undefined
    if (pod.uid === undefined || this.#endpoints === undefined || narrowed) {
      return { names: [], placeholders: [SERVICE_NAMES] }
    }
    const mine = (this.#endpoints.get(pod.uid) ?? []).filter(({ namespace }) => namespace === pod.namespace)
    const domain = this.#settings.clusterDomain ?? CLUSTER_DOMAIN
    const all = mine.flatMap(({ name, namespace }) => {
      const inCluster = `${name}.${namespace}.svc`
      const names = [name, `${name}.${namespace}`, inCluster]
      if (domain !== '') names.push(`${inCluster}.${domain}`)
      return names
    })
    const placeholders = all.length > 0 && this.#settings.clusterDomain === undefined ? [CLUSTER_DOMAIN] : []
    return { names: distinct(all), placeholders }
  }
}

const NONE: readonly string[] = []

function parentOf(result: FieldResult<IdText>): FieldResult<ParentText> {
  if (!('value' in result)) return result
  const { text, placeholders, parsed } = result.value
  return { ...result, value: { text: () => text, placeholders, hasPath: !parsed.ok || parsed.path !== '' } }
}

function nodesByName(nodes: readonly Node[]): ReadonlyMap<string, Node> {
  const byName = new Map<string, Node>()
  for (const node of nodes) {
    const duplicate = byName.get(node.name)
    // Of two nodes of one name, which a snapshot should not hold, the same one is taken in whatever order they come.
    if (duplicate === undefined || compareBytes(node.uid ?? '', duplicate.uid ?? '') < 0)
      byName.set(node.name, node)
  }
  return byName
}

function endpointsByPod(endpoints: readonly Endpoints[]): ReadonlyMap<string, readonly Endpoints[]> {
  const byPod = new Map<string, Endpoints[]>()
  for (const item of endpoints) {
    for (const uid of item.podUids) getOrCreate(byPod, uid, () => []).push(item)
  }
  return byPod
}
