// The entry that SCM renders for one ClusterSPIFFEID and one pod, and what the SPIRE server says to it.
// Source: SCM v0.7.0, pkg/spireentry/entries.go (renderPodEntry); SPIRE v1.15.3, pkg/server/api/entry.go
// (facts/spire.md §3, §11.4-7).
import type { TemplateData } from '../go/template/template.ts'
import type { Pod } from '../objects/pod.ts'
import { dnsNameVerdict } from './dns-name.ts'
import { PLAIN_FACTS, POD_UID } from './placeholders.ts'
import { sourceText, type EntrySelector, type RenderedEntry } from './prediction.ts'
import type { PreparedId, Templates } from './prepared-id.ts'
import { parsedIdProblem } from './spiffe-id.ts'
import { withStandIns, type IdText, type RenderedText, type FieldResult } from './field-template.ts'

/** What rendering gives. */
export type RenderOutcome =
  | {
      readonly kind: 'entry'
      readonly entry: RenderedEntry
      /** Why rendering may yet fail. */
      readonly unsure: string | undefined
      readonly acceptance: Acceptance
    }
  | { readonly kind: 'failed'; readonly field: string; readonly why: string }
  | { readonly kind: 'unknown'; readonly construct: string; readonly why: string }

/** What the server says to an entry. */
export interface Acceptance {
  readonly refusal: string | undefined
  readonly depends: string | undefined
  /** The field whose text is not UTF-8, which makes the whole batch fail. */
  readonly brokenUtf8: string | undefined
}

/** What rendering needs to know of the pod. */
export interface RenderFacts {
  readonly pod: Pod
  readonly data: TemplateData
  readonly parent: FieldResult<IdText>
  /** The DNS names that the Services of the pod give it, sorted, and what is not known of them. */
  services(): ServiceNames
}

export interface ServiceNames {
  readonly names: readonly string[]
  readonly open: readonly string[]
}

/** Renders the entry: parent ID, SPIFFE ID, DNS names, selectors. */
export function renderEntry(id: PreparedId, templates: Templates, facts: RenderFacts): RenderOutcome {
  const progress = new Progress(id)
  const parent = progress.take(facts.parent)
  const spiffeId = progress.take(templates.id.run(facts.data))
  const dnsNames = templates.dnsNames.map((step) => progress.take(step.run(facts.data)))
  const selectors = templates.selectors.map((step) => progress.take(step.run(facts.data)))
  const stopped = progress.stopped
  if (stopped !== undefined) return stopped
  // Nothing stopped, so every value is there.
  if (parent === undefined || spiffeId === undefined) return UNREACHED
  const parts: Parts = {
    parent,
    spiffeId,
    dnsNames: dnsNames.filter((text) => text !== undefined),
    selectors: selectors.filter((selector) => selector !== undefined),
    services: id.spec.autoPopulateDNSNames ? facts.services() : NO_SERVICES,
  }
  return {
    kind: 'entry',
    entry: entryOf(id, facts.pod, parts),
    unsure: progress.unsure,
    acceptance: acceptanceOf(id, facts.pod, parts),
  }
}

const UNREACHED: RenderOutcome = { kind: 'unknown', construct: 'the entry', why: 'it could not be rendered' }
const NO_SERVICES: ServiceNames = { names: [], open: [] }

/** Collects what goes wrong: any failure wins over what is unknown, as SCM stops at it whatever else there is. */
class Progress {
  readonly #id: PreparedId
  #failed: RenderOutcome | undefined
  #unknown: RenderOutcome | undefined
  unsure: string | undefined

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
      case 'open':
        this.unsure ??= result.why
        return result.value
      case 'failed': {
        const why = `${this.#of(result.field)} fails on this pod: ${result.why}`
        this.#failed ??= { kind: 'failed', field: result.field, why }
        return undefined
      }
      case 'unknown': {
        const why = `${this.#of(result.field)} cannot be predicted: ${result.construct}`
        this.#unknown ??= { kind: 'unknown', construct: result.construct, why }
        return undefined
      }
    }
  }

  /** The parent ID template is SCM's own, not the object's. */
  #of(field: string): string {
    return field.startsWith('.spec.') ? `${field} of ${sourceText(this.#id.source)}` : field
  }
}

interface Parts {
  readonly parent: IdText
  readonly spiffeId: IdText
  readonly dnsNames: readonly RenderedText[]
  readonly selectors: readonly (EntrySelector & RenderedText)[]
  readonly services: ServiceNames
}

function entryOf(id: PreparedId, pod: Pod, parts: Parts): RenderedEntry {
  const { spec, fixed } = id
  const selectors = [podUidSelector(pod), ...parts.selectors]
  return {
    spiffeId: parts.spiffeId.text,
    parentId: parts.parent.text,
    selectors,
    dnsNames: dnsNamesOf(parts),
    x509SvidTtl: fixed.x509SvidTtl,
    jwtSvidTtl: fixed.jwtSvidTtl,
    federatesWith: fixed.federatesWith,
    hint: spec.hint,
    admin: spec.admin,
    downstream: spec.downstream,
    storeSvid: false,
    open: openFacts(parts, selectors),
  }
}

const NOTHING_OPEN: readonly string[] = []
const OPEN_POD_UID: readonly string[] = [POD_UID]

function podUidSelector(pod: Pod): EntrySelector {
  return pod.uid === undefined
    ? { type: 'k8s', value: `pod-uid:${POD_UID}`, placeholders: OPEN_POD_UID }
    : { type: 'k8s', value: `pod-uid:${pod.uid}`, placeholders: NOTHING_OPEN }
}

function dnsNamesOf({ dnsNames, services }: Parts): readonly string[] {
  if (dnsNames.length === 0) return services.names
  return [...new Set([...dnsNames.map(({ text }) => text), ...services.names])]
}

function openFacts(parts: Parts, selectors: readonly EntrySelector[]): readonly string[] {
  const lists = [
    parts.spiffeId.placeholders,
    parts.parent.placeholders,
    ...selectors.map(({ placeholders }) => placeholders),
    ...parts.dnsNames.map(({ placeholders }) => placeholders),
    parts.services.open,
  ].filter((open) => open.length > 0)
  return lists.length === 0 ? NOTHING_OPEN : [...new Set(lists.flat())]
}

function acceptanceOf(id: PreparedId, pod: Pod, parts: Parts): Acceptance {
  const dns = dnsAcceptance(id, parts.dnsNames)
  return {
    refusal:
      id.fixed.refusal ?? idRefusal(id, parts) ?? duplicateRefusal(id, pod, parts.selectors) ?? dns.refusal,
    depends: id.fixed.depends ?? dns.depends,
    brokenUtf8: brokenUtf8(id, parts),
  }
}

function idRefusal(id: PreparedId, { spiffeId, parent }: Parts): string | undefined {
  const problem = parsedIdProblem(spiffeId.parsed)
  if (problem !== undefined)
    return `.spec.spiffeIDTemplate of ${sourceText(id.source)} gives ${spiffeId.text}, which ${problem}`
  const { parsed } = parent
  return parsed.ok && parsed.path === '' ? `the parent ID ${parent.text} has no path` : undefined
}

function duplicateRefusal(
  id: PreparedId,
  pod: Pod,
  selectors: readonly (EntrySelector & RenderedText)[],
): string | undefined {
  if (selectors.length === 0) return undefined
  const seen = new Set([`k8s:pod-uid:${pod.uid ?? POD_UID}`])
  for (const { text } of selectors) {
    if (seen.has(text)) {
      return `.spec.workloadSelectorTemplates of ${sourceText(id.source)} gives the selector ${text} twice`
    }
    seen.add(text)
  }
  return undefined
}

function dnsAcceptance(
  id: PreparedId,
  names: readonly RenderedText[],
): { readonly refusal: string | undefined; readonly depends: string | undefined } {
  let depends: string | undefined
  for (const [at, name] of names.entries()) {
    const where = `.spec.dnsNameTemplates[${at}] of ${sourceText(id.source)} gives ${JSON.stringify(name.text)}`
    const open = name.placeholders.find((fact) => !PLAIN_FACTS.has(fact))
    if (open !== undefined) {
      depends ??= `${where}, and ${open} is not known yet`
      continue
    }
    const verdict = dnsNameVerdict(withStandIns(name))
    if (verdict.kind === 'refused') return { refusal: `${where}, which ${verdict.why}`, depends }
    if (verdict.kind === 'unknown') depends ??= `${where}, which ${verdict.why}`
  }
  return { refusal: undefined, depends }
}

function brokenUtf8(id: PreparedId, { dnsNames, selectors }: Parts): string | undefined {
  const broken = selectors.some(({ validUtf8 }) => !validUtf8)
    ? '.spec.workloadSelectorTemplates'
    : dnsNames.some(({ validUtf8 }) => !validUtf8)
      ? '.spec.dnsNameTemplates'
      : undefined
  return broken === undefined ? undefined : `${broken} of ${sourceText(id.source)}`
}
