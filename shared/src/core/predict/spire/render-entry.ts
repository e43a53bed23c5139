// The entry that SCM renders for one ClusterSPIFFEID and one pod, and whether the SPIRE server accepts it.
// Source: SCM v0.7.0, pkg/spireentry/entries.go (renderPodEntry); SPIRE v1.15.3, pkg/server/api/entry.go
// (docs/spire-facts.md §3, §11.4-7).
import type { TemplateData } from '../../base/go/template/template.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { dnsNameVerdict } from './dns-name.ts'
import { PLAIN_FACTS, POD_UID } from './placeholders.ts'
import { podUidSelector, PodUidSelector } from './pod-uid-selector.ts'
import { sourceText, type EntrySelector, type RenderedEntry } from './prediction.ts'
import type { PreparedId, Templates } from './prepared-id.ts'
import { parsedIdProblem } from '../../model/spiffe-id.ts'
import { withStandIns, type IdText, type RenderedText, type FieldResult } from './field-template.ts'

/** The result of rendering. */
export type RenderOutcome =
  | {
      readonly kind: 'entry'
      readonly entry: RenderedEntry
      /** Why rendering may fail after all; undefined where it cannot. */
      readonly uncertain: string | undefined
      readonly acceptance: Acceptance
    }
  | { readonly kind: 'failed'; readonly field: string; readonly why: string }
  | {
      readonly kind: 'unknown'
      readonly construct: string
      readonly why: string
      /** The SPIFFE ID, where only another field is not followed. */
      readonly spiffeId?: string | undefined
      /** Those of its selectors that are followed: a container needs all of them. */
      readonly selectors: readonly EntrySelector[]
    }

/** Whether the server accepts an entry: `refusal` and `depends` say why it does not, or may not. */
export interface Acceptance {
  readonly refusal: string | undefined
  readonly depends: string | undefined
  /** The field whose text is no valid UTF-8, which makes the whole batch of entries fail. */
  readonly brokenUtf8: string | undefined
}

/** A rendered parent ID. */
export interface ParentText {
  readonly text: () => string
  readonly placeholders: readonly string[]
  /** False: it is the ID of a whole trust domain, which the server refuses. */
  readonly hasPath: boolean
}

/** The facts of a pod that rendering reads. */
export interface RenderFacts {
  readonly pod: Pod
  /** Whether what is asked of the pod is recorded: what its UID and its node are is then asked if somebody wants to know. */
  readonly isRecorded: boolean
  readonly data: TemplateData
  readonly parent: FieldResult<ParentText>
  /** The DNS names that the pod has by its Services, and what is not known of them. */
  services(): ServiceNames
}

/** DNS names of Services, sorted, and the facts of them that are not known. */
export interface ServiceNames {
  readonly names: readonly string[]
  readonly placeholders: readonly string[]
}

/** Renders the entry of an object for a pod: parent ID, SPIFFE ID, DNS names, selectors. */
export function renderEntry(id: PreparedId, templates: Templates, facts: RenderFacts): RenderOutcome {
  const results = new FieldResults(id)
  const parent = results.take(facts.parent)
  const spiffeId = results.take(templates.id.run(facts.data))
  const dnsNames = templates.dnsNames.map((template) => results.take(template.run(facts.data)))
  const selectors = templates.selectors.map((template) => results.take(template.run(facts.data)))
  const stopped = results.stopped
  if (stopped?.kind === 'unknown')
    return {
      ...stopped,
      spiffeId: spiffeId?.text,
      selectors: selectors.filter((selector) => selector !== undefined),
    }
  if (stopped !== undefined) return stopped
  // No field failed, so every value is there.
  if (parent === undefined || spiffeId === undefined) return UNREACHED
  const parts: RenderedFields = {
    parent,
    spiffeId,
    dnsNames: dnsNames.filter((text) => text !== undefined),
    selectors: selectors.filter((selector) => selector !== undefined),
    services: id.spec.autoPopulateDNSNames ? facts.services() : NO_SERVICES,
  }
  return {
    kind: 'entry',
    entry: entryOf(id, facts, parts),
    uncertain: results.uncertain,
    acceptance: acceptanceOf(id, facts.pod, parts),
  }
}

const UNREACHED: RenderOutcome = {
  kind: 'unknown',
  construct: 'the entry',
  why: 'it could not be rendered',
  selectors: [],
}
const NO_SERVICES: ServiceNames = { names: [], placeholders: [] }

/** Collects what fields lack: a failure prevails over an unknown, since SCM stops at a failure whatever the rest gives. */
class FieldResults {
  readonly #id: PreparedId
  #failed: RenderOutcome | undefined
  #unknown: RenderOutcome | undefined
  uncertain: string | undefined

  constructor(id: PreparedId) {
    this.#id = id
  }

  get stopped(): RenderOutcome | undefined {
    return this.#failed ?? this.#unknown
  }

  take<T>(result: FieldResult<T>): T | undefined {
    switch (result.kind) {
      case 'ok':
        return result.value
      case 'uncertain':
        this.uncertain ??= result.why
        return result.value
      case 'failed': {
        const why = `${this.#of(result.field)} fails on this pod: ${result.why}`
        this.#failed ??= { kind: 'failed', field: result.field, why }
        return undefined
      }
      case 'unknown': {
        const why = `${this.#of(result.field)} cannot be predicted: ${result.construct}`
        this.#unknown ??= { kind: 'unknown', construct: result.construct, why, selectors: [] }
        return undefined
      }
    }
  }

  /** Names the object with its own fields; the parent ID template is a setting of SCM. */
  #of(field: string): string {
    return field.startsWith('.spec.') ? `${field} of ${sourceText(this.#id.source)}` : field
  }
}

interface RenderedFields {
  readonly parent: ParentText
  readonly spiffeId: IdText
  readonly dnsNames: readonly RenderedText[]
  readonly selectors: readonly (EntrySelector & RenderedText)[]
  readonly services: ServiceNames
}

function entryOf(id: PreparedId, { pod, isRecorded }: RenderFacts, parts: RenderedFields): RenderedEntry {
  const { spec, fixed } = id
  const selectors = [isRecorded ? new PodUidSelector(pod) : podUidSelector(pod), ...parts.selectors]
  const entry = {
    spiffeId: parts.spiffeId.text,
    parentId: isRecorded ? '' : parts.parent.text(),
    selectors,
    dnsNames: dnsNamesOf(parts),
    x509SvidTtl: fixed.x509SvidTtl,
    jwtSvidTtl: fixed.jwtSvidTtl,
    federatesWith: fixed.federatesWith,
    hint: spec.hint,
    admin: spec.admin,
    downstream: spec.downstream,
    storeSvid: false,
    placeholders: isRecorded ? NO_PLACEHOLDERS : placeholdersOf(parts, selectors),
  }
  if (isRecorded)
    Object.defineProperties(entry, {
      parentId: { get: parts.parent.text },
      placeholders: { get: () => placeholdersOf(parts, selectors) },
    })
  return entry
}

const NO_PLACEHOLDERS: readonly string[] = []

function dnsNamesOf({ dnsNames, services }: RenderedFields): readonly string[] {
  if (dnsNames.length === 0) return services.names
  return [...new Set([...dnsNames.map(({ text }) => text), ...services.names])]
}

function placeholdersOf(parts: RenderedFields, selectors: readonly EntrySelector[]): readonly string[] {
  const lists = [
    parts.spiffeId.placeholders,
    parts.parent.placeholders,
    ...selectors.map(({ placeholders }) => placeholders),
    ...parts.dnsNames.map(({ placeholders }) => placeholders),
    parts.services.placeholders,
  ].filter((list) => list.length > 0)
  return lists.length === 0 ? NO_PLACEHOLDERS : [...new Set(lists.flat())]
}

function acceptanceOf(id: PreparedId, pod: Pod, parts: RenderedFields): Acceptance {
  const dns = dnsAcceptance(id, parts)
  return {
    refusal:
      id.fixed.refusal ?? idRefusal(id, parts) ?? duplicateRefusal(id, pod, parts.selectors) ?? dns.refusal,
    depends: id.fixed.depends ?? dns.depends,
    brokenUtf8: brokenUtf8(id, parts),
  }
}

function idRefusal(id: PreparedId, { spiffeId, parent }: RenderedFields): string | undefined {
  const problem = parsedIdProblem(spiffeId.parsed)
  if (problem !== undefined)
    return `.spec.spiffeIDTemplate of ${sourceText(id.source)} gives ${spiffeId.text}, which ${problem}`
  return parent.hasPath ? undefined : `the parent ID ${parent.text()} has no path`
}

const UID_SELECTOR = 'k8s:pod-uid:'

function duplicateRefusal(
  id: PreparedId,
  pod: Pod,
  selectors: readonly (EntrySelector & RenderedText)[],
): string | undefined {
  if (selectors.length === 0) return undefined
  const seen = new Set<string>()
  for (const { text } of selectors) {
    const isItsUid = text.startsWith(UID_SELECTOR) && text === `${UID_SELECTOR}${pod.uid ?? POD_UID}`
    if (isItsUid || seen.has(text)) {
      return `.spec.workloadSelectorTemplates of ${sourceText(id.source)} gives the selector ${text} twice`
    }
    seen.add(text)
  }
  return undefined
}

function dnsAcceptance(
  id: PreparedId,
  { dnsNames, services }: RenderedFields,
): { readonly refusal: string | undefined; readonly depends: string | undefined } {
  let depends: string | undefined
  for (const [at, name] of dnsNames.entries()) {
    const where = `.spec.dnsNameTemplates[${at}] of ${sourceText(id.source)} gives ${JSON.stringify(name.text)}`
    const unknown = name.placeholders.find((fact) => !PLAIN_FACTS.has(fact))
    if (unknown !== undefined) {
      depends ??= `${where}, and ${unknown} is not known yet`
      continue
    }
    const verdict = dnsNameVerdict(withStandIns(name))
    if (verdict.kind === 'refused') return { refusal: `${where}, which ${verdict.why}`, depends }
    if (verdict.kind === 'unknown') depends ??= `${where}, which ${verdict.why}`
  }
  for (const name of services.names) {
    const where = `.spec.autoPopulateDNSNames of ${sourceText(id.source)} gives ${JSON.stringify(name)}`
    const verdict = dnsNameVerdict(name)
    if (verdict.kind === 'refused') return { refusal: `${where}, which ${verdict.why}`, depends }
    if (verdict.kind === 'unknown') depends ??= `${where}, which ${verdict.why}`
  }
  return { refusal: undefined, depends }
}

function brokenUtf8(id: PreparedId, { dnsNames, selectors }: RenderedFields): string | undefined {
  const broken = selectors.some(({ validUtf8 }) => !validUtf8)
    ? '.spec.workloadSelectorTemplates'
    : dnsNames.some(({ validUtf8 }) => !validUtf8)
      ? '.spec.dnsNameTemplates'
      : undefined
  return broken === undefined ? undefined : `${broken} of ${sourceText(id.source)}`
}
