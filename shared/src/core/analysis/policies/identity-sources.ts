// What gives SPIFFE IDs: every ClusterSPIFFEID and ClusterStaticEntry of a state. One with a
// literal ID is found by that ID; one with a template is asked whether it may give an ID at all, by index over the text
// before its first action.
import type { NamespacedName } from '../../model/namespaced-name.ts'
import { TRUST_DOMAIN_PLACEHOLDER } from '../../decide/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { chosenByPods, mayGive } from '../../base/go/template/mentions.ts'
import { parseTemplate } from '../../base/go/template/template.ts'
import {
  sourceText,
  type EntrySource,
  type EntryVerdict,
  type ObjectHandling,
  federatedWith,
} from '../../predict/index.ts'
import { parseSpiffeId } from '../../model/spiffe-id.ts'
import type { PolicyContext } from './policy-context.ts'

/** One object that gives an ID. */
export interface IdentitySource {
  readonly source: EntrySource
  /** The binding behind an output of kleym's, and its pool. */
  readonly binding: NamespacedName | undefined
  readonly pool: string | undefined
  /** Why it certainly gives the ID to no container. */
  readonly never: string | undefined
  /** Why it is not certain whether it gives the ID. */
  readonly open: string | undefined
}

/** An object whose IDs depend on the pod. */
interface Renderer {
  readonly identitySource: IdentitySource
  readonly template: string
}

/** The objects that give SPIFFE IDs in a state, by ID. */
export class IdentitySources {
  readonly #literal = new Map<string, IdentitySource[]>()
  /** Where the trust domain is not known: the path of an output's ID. */
  readonly #byPath = new Map<string, IdentitySource[]>()
  readonly #renderers = new Map<string, Renderer[]>()
  readonly #prefixLengths: readonly number[]
  readonly #bySource = new Map<string, IdentitySource>()
  readonly #context: PolicyContext
  #federating: ReadonlyMap<string, readonly EntrySource[]> | undefined

  constructor(context: PolicyContext) {
    this.#context = context
    const pools = poolsOf(context)
    for (const { object, ownership } of context.outputs) {
      const source: EntrySource = { kind: 'ClusterSPIFFEID', name: object.meta.name }
      const binding = ownership.kind === 'ours' ? ownership.binding : undefined
      const handling = context.prediction().objects.get(sourceText(source))?.handling
      this.#add(
        {
          source,
          binding,
          pool: binding === undefined ? undefined : pools.get(binding),
          ...certaintyOfHandling(handling),
        },
        object.spec.spiffeIDTemplate,
        context.base.settings.trustDomain,
      )
    }
    for (const { source, entry, verdict } of context.prediction().staticEntries()) {
      if (entry === undefined) continue
      this.#addLiteral(entry.spiffeId, {
        source,
        binding: undefined,
        pool: undefined,
        ...certaintyOf(verdict),
      })
    }
    this.#prefixLengths = [...new Set([...this.#renderers.keys()].map(({ length }) => length))]
  }

  /** The objects whose ID is literally this one. */
  literally(spiffeId: string): readonly IdentitySource[] {
    return this.#literal.get(spiffeId) ?? []
  }

  /** Outputs of kleym's with this path, in a trust domain that is not known. */
  withPath(path: string): readonly IdentitySource[] {
    return this.#byPath.get(path) ?? []
  }

  /** The IDs of outputs in a trust domain that is not known, and an output that gives each. */
  withoutTrustDomain(): readonly (readonly [spiffeId: string, source: EntrySource])[] {
    return [...this.#byPath].flatMap(([path, [first]]) =>
      first === undefined ? [] : [[`spiffe://${TRUST_DOMAIN_PLACEHOLDER}${path}`, first.source] as const],
    )
  }

  /** The objects whose template may give this ID, for some pod. */
  perhaps(spiffeId: string): readonly IdentitySource[] {
    return this.#prefixLengths
      .filter((length) => length <= spiffeId.length)
      .flatMap((length) => this.#renderers.get(spiffeId.slice(0, length)) ?? [])
      .filter(({ template }) => mayGive(template, [spiffeId]))
      .map(({ identitySource }) => identitySource)
  }

  of(source: EntrySource): IdentitySource | undefined {
    return this.#bySource.get(sourceText(source))
  }

  /** Every ID that an object gives literally, with the objects that give it. */
  literals(): Iterable<readonly [string, readonly IdentitySource[]]> {
    return this.#literal
  }

  /** The objects that federate with a trust domain. */
  federatingWith(trustDomain: string): readonly EntrySource[] {
    this.#federating ??= federations(this.#context)
    return this.#federating.get(trustDomain) ?? []
  }

  #add(identitySource: IdentitySource, written: string, trustDomain: string | undefined): void {
    this.#bySource.set(sourceText(identitySource.source), identitySource)
    const template = withTrustDomain(written, trustDomain)
    if (template.includes(TRUST_DOMAIN_PLACEHOLDER)) {
      const path = template.slice(template.indexOf('/', 'spiffe://'.length))
      getOrCreate(this.#byPath, path, () => []).push(identitySource)
      return
    }
    const literal = literalOf(template)
    if (literal !== undefined) {
      this.#addLiteral(literal, { ...identitySource, ...misplaced(identitySource, literal, trustDomain) })
      return
    }
    if (identitySource.never === undefined)
      getOrCreate(this.#renderers, prefixOf(template), () => []).push({ identitySource, template })
  }

  #addLiteral(spiffeId: string, identitySource: IdentitySource): void {
    this.#bySource.set(sourceText(identitySource.source), identitySource)
    getOrCreate(this.#literal, spiffeId, () => []).push(identitySource)
  }
}

function poolsOf({ base }: PolicyContext): ReadonlyMap<string, string> {
  return new Map(
    base.compiled.flatMap(({ binding, result }) =>
      result.kind === 'resolved' ? [[binding.key, result.identity.poolName] as const] : [],
    ),
  )
}

function certaintyOfHandling(handling: ObjectHandling | undefined): Pick<IdentitySource, 'never' | 'open'> {
  if (handling?.state === 'ignored' || handling?.state === 'invalid')
    return { never: handling.why, open: undefined }
  if (handling?.state === 'undecodable' || handling?.state === 'unknown')
    return { never: undefined, open: handling.why }
  return { never: undefined, open: undefined }
}

function certaintyOf(verdict: EntryVerdict): Pick<IdentitySource, 'never' | 'open'> {
  if (verdict.state === 'declared') return { never: undefined, open: undefined }
  if (verdict.state === 'depends' || verdict.state === 'unknown')
    return { never: undefined, open: verdict.why }
  return { never: verdict.why, open: undefined }
}

/** SCM renders no ID outside of its own trust domain. */
function misplaced(
  identitySource: IdentitySource,
  literal: string,
  trustDomain: string | undefined,
): Partial<IdentitySource> {
  const parsed = parseSpiffeId(literal)
  if (identitySource.never !== undefined || !parsed.ok || trustDomain === undefined) return {}
  if (parsed.trustDomain === trustDomain) return {}
  return { never: `SCM serves ${trustDomain} and renders no ID of ${parsed.trustDomain}` }
}

/** The template with what is the same for every pod filled in. */
function withTrustDomain(template: string, trustDomain: string | undefined): string {
  if (trustDomain === undefined) return template
  return template
    .replace(TRUST_DOMAIN_PLACEHOLDER, () => trustDomain)
    .replaceAll(/\{\{ *\.TrustDomain *\}\}/g, () => trustDomain)
}

/** The ID that a ClusterSPIFFEID gives every pod; undefined: it differs from pod to pod. */
export function literalId(template: string, trustDomain: string | undefined): string | undefined {
  return literalOf(withTrustDomain(template, trustDomain))
}

/** Tells which IDs whoever makes a pod can have a ClusterSPIFFEID give it; undefined: something else decides too. */
export function idsChosenByPods(
  template: string,
  trustDomain: string | undefined,
): ((id: string) => boolean) | undefined {
  const written = withTrustDomain(template, trustDomain)
  return literalOf(written) === undefined ? chosenByPods(written) : undefined
}

function literalOf(template: string): string | undefined {
  if (!template.includes('{{')) return template
  const parsed = parseTemplate(template)
  return parsed.kind === 'template' ? parsed.literal : undefined
}

/** What every text of a template begins with; an action may trim the space before it. */
function prefixOf(template: string): string {
  return (/^[^{]*/.exec(template)?.[0] ?? '').trimEnd()
}

function federations({ outputs, base }: PolicyContext): ReadonlyMap<string, readonly EntrySource[]> {
  const byDomain = new Map<string, EntrySource[]>()
  const add = (source: EntrySource, items: readonly string[]): void => {
    for (const domain of new Set(federatedWith(items))) getOrCreate(byDomain, domain, () => []).push(source)
  }
  for (const { object } of outputs)
    add({ kind: 'ClusterSPIFFEID', name: object.meta.name }, object.spec.federatesWith)
  for (const { meta, spec } of base.snapshot.staticEntries.read)
    add({ kind: 'ClusterStaticEntry', name: meta.name }, spec.federatesWith)
  return byDomain
}
