// Placeholders in manifests: what helm, envsubst, kustomize or a reader of a README is to fill in. A document that has them
// where they decide is a template, and no object.
import { mayHoldScmConfig, SCM_CONFIG_KIND } from '@kleym/shared/core/model/subject-groups.ts'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/model/names.ts'
import {
  isDns1123Label,
  isDns1123Subdomain,
  labelValueProblem,
  qualifiedNameProblem,
} from '@kleym/shared/core/base/text/kubernetes.ts'
import { kindOf } from '@kleym/shared/core/model/kinds.ts'
import { scaledBy } from '@kleym/shared/core/model/objects/known-makers.ts'
import { actionForAnotherTool } from './helm-action.ts'

/** A way to write what is filled in later. */
interface Style {
  /** The first placeholder in a text. It takes time in proportion to the text, whatever the text is. */
  readonly find: (text: string) => string | undefined
  readonly fix: string
}

/** What stands between two marks, with them. Where the first beginning has no end, no later one has. */
function between(text: string, begin: string, end: string): string | undefined {
  const from = text.indexOf(begin)
  const to = from === -1 ? -1 : text.indexOf(end, from + begin.length)
  return to === -1 ? undefined : text.slice(from, to + end.length)
}

function matching(pattern: RegExp): Style['find'] {
  return (text) => pattern.exec(text)?.[0]
}

const GO: Style = {
  find: (text) => between(text, '{{', '}}') ?? between(text, '{%', '%}'),
  fix: 'render it first, and give what comes out: helm template DIR | kubectl kleym ... -f -',
}
/** In texts that SCM renders: its own actions are no placeholders. */
const BESIDE_SCM: Style = { find: actionForAnotherTool, fix: GO.fix }
const SHELL: Style = {
  find: matching(/\$\{[A-Za-z_][A-Za-z0-9_]*(?:[:?+=-][^}\n]{0,200})?\}/),
  fix: 'fill it in first, and give what comes out: envsubst < FILE | kubectl kleym ... -f -',
}
const KUSTOMIZE: Style = {
  find: matching(/\$\([A-Za-z_][A-Za-z0-9_.-]*\)/),
  fix: 'build it first: kubectl kleym ... -k DIR, or fill it in and give what comes out with -f -',
}
const READER: Style = {
  find: matching(/<[A-Za-z][A-Za-z0-9_ .-]*>/),
  fix: 'write the value in its place, or leave the document out: --exclude FILE',
}

/** What SOPS has encrypted: https://getsops.io/docs/ */
const SOPS: Style = {
  find: matching(/ENC\[AES256_GCM,[^\]\n]{0,200}/),
  fix: 'decrypt it first, and give what comes out: sops decrypt FILE | kubectl kleym ... -f -',
}

const IN_VALUES: readonly Style[] = [SOPS, GO, SHELL, KUSTOMIZE, READER]
const IN_TEMPLATES: readonly Style[] = [BESIDE_SCM, SHELL, KUSTOMIZE, READER]
/** In a document that has none of their beginnings, only texts that the API server does not take are looked for. */
const NO_STYLES: readonly Style[] = []

/** A placeholder, as it stands there, and what to do about it. */
export interface ManifestPlaceholder {
  readonly text: string
  readonly fix: string
  /** Of a text that may be no placeholder: why the API server does not take it. */
  readonly problem?: string
}

/**
 * A text that the API server does not take in its place: a tool is to write another one there. If the API server has a grammar for a field,
 * this finds every way to write a placeholder. The styles above are for the other fields.
 */
function unfit(text: string, problem: string | undefined): ManifestPlaceholder | undefined {
  return problem === undefined ? undefined : { text: shown(text), fix: READER.fix, problem }
}

/** The kind or the API version that no API server has: `@KIND@`, `__GROUP__/v1`. */
export function placeholderInType(text: string): ManifestPlaceholder | undefined {
  const isPossible = text === '' || /^[A-Za-z0-9][A-Za-z0-9./-]*$/.test(text)
  return placeholderIn(text) ?? unfit(text, isPossible ? undefined : 'no API server has such a type')
}

/** Among labels, and among the labels that are asked for, every key and value decides. */
function placeholderInLabels(value: unknown, styles: readonly Style[]): ManifestPlaceholder | undefined {
  const found = placeholderInValue(value, styles)
  if (found !== undefined || !isRecord(value)) return found
  return firstIn(
    Object.entries(value),
    ([key, one]) =>
      unfit(key, sentence('label key', qualifiedNameProblem(key))) ??
      (typeof one === 'string' ? unfit(one, sentence('label value', labelValueProblem(one))) : undefined),
  )
}

function sentence(what: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `as a ${what} it ${problem}`
}

/** Fields that name something, with what the API server takes there. */
const NAMES: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['serviceAccountName', isDns1123Subdomain],
  ['className', (text) => /^[A-Za-z0-9][\w./:-]*$/.test(text)],
])

function placeholderInName(
  key: string,
  value: unknown,
  styles: readonly Style[],
): ManifestPlaceholder | undefined {
  if (key === 'matchExpressions' && Array.isArray(value))
    return firstIn(value, (one) =>
      firstIn(['', ...listAt(one, 'values')], (asked) =>
        placeholderInLabels({ [stringAt(one, 'key') ?? 'key']: asked }, styles),
      ),
    )
  if (Array.isArray(value) && /containers$/i.test(key))
    return firstIn(value, (one) => {
      const name = stringAt(one, 'name') ?? ''
      return unfit(
        name,
        name === '' || isDns1123Label(name) ? undefined : 'it cannot be the name of a container',
      )
    })
  const isFit = typeof value === 'string' ? NAMES.get(key) : undefined
  return typeof value !== 'string' || value === '' || isFit === undefined || isFit(value)
    ? undefined
    : unfit(value, `it cannot be a ${key}`)
}

/** The first placeholder in the text of a document that does not parse. */
export function placeholderIn(text: string): ManifestPlaceholder | undefined {
  return firstOf(text, IN_VALUES)
}

/** Where an object is, as far as its metadata says it and is filled in; in the given namespace if it names none. */
export function placeIn(
  value: unknown,
  outer?: string,
): { readonly namespace: string | undefined; readonly name: string | undefined } {
  const [namespace, name] = ['namespace', 'name'].map(
    (field) => stringAt(value, 'metadata', field) || undefined,
  )
  return { namespace: filledIn(namespace ?? outer), name: filledIn(name) }
}

function filledIn(text: string | undefined): string | undefined {
  return text === undefined || placeholderIn(text) !== undefined ? undefined : text
}

/** What every placeholder begins with. Most texts have none of it. */
const BEGINNING = /[{$<]|ENC\[/

function firstOf(text: string, styles: readonly Style[]): ManifestPlaceholder | undefined {
  if (!BEGINNING.test(text)) return undefined
  return firstIn(styles, ({ find, fix }) => {
    const found = find(text)
    return found === undefined ? undefined : { text: shown(found), fix }
  })
}

/** The longest placeholder that a message quotes. */
const SHOWN_MAX = 60

function shown(text: string): string {
  const line = text.slice(0, 4 * SHOWN_MAX).replaceAll(/\s+/g, ' ')
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}...` : line
}

/**
 * The first placeholder in an object that parses, where it decides about identities: its name, its labels, its spec. Images, arguments
 * and annotations do not decide. `mayHaveStyles`: whether its text may have the beginning of one.
 */
export function placeholderInObject(
  value: JsonRecord,
  mayHaveStyles: boolean,
): ManifestPlaceholder | undefined {
  const [inValues, inTemplates] = mayHaveStyles ? [IN_VALUES, IN_TEMPLATES] : [NO_STYLES, NO_STYLES]
  const metadata = own(value, 'metadata')
  const placed = placeholderInValue([own(metadata, 'name'), own(metadata, 'namespace')], inValues)
  const found = placed ?? placeholderInLabels(own(metadata, 'labels'), inValues)
  if (found !== undefined) return found
  const { kind, group } = kindOf(value)
  if (kind === SCM_CONFIG_KIND) return placeholderInValue(value, inTemplates)
  if (kind === 'ConfigMap') return mayHaveStyles ? placeholderInScmConfig(own(value, 'data')) : undefined
  // KServe fills in its own.
  if (kind === 'LLMInferenceServiceConfig') return undefined
  // Of an autoscaler that alone is read: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
  const scaled = scaledBy(value)
  if (scaled !== undefined) return placeholderInValue(scaled, inValues)
  const spec = own(value, 'spec')
  // Its own checks say of each field what is wrong with it, unless that is a mark of some tool.
  if (kind === BINDING_KIND) return placeholderInValue(spec, inValues) ?? markInBinding(spec)
  const hasTemplates = group === SPIRE_GROUP && kind === CLUSTER_SPIFFE_ID_KIND
  return placeholderInSpec(spec, inValues, hasTemplates ? inTemplates : undefined)
}

/** What nobody writes by mistake where a name belongs: `@POOL@`, `__POOL__`, `POOL_NAME`. */
const MARK = /[^A-Za-z0-9.\s_-]|__|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/

function markInBinding(value: unknown, key = ''): ManifestPlaceholder | undefined {
  if (isRecord(value)) return firstIn(Object.entries(value), ([field, one]) => markInBinding(one, field))
  if (typeof value !== 'string' || !MARK.test(value)) return undefined
  // A variant is the value of a label; all else names objects and kinds.
  const isFit = key === 'variant' && labelValueProblem(value) === undefined
  return isFit ? undefined : unfit(value, 'no name in a binding has such characters')
}

/** What decides about no identity, in whatever makes pods: `$(POD_IP)` in arguments is for Kubernetes to fill in. */
const NOT_DECIDING: ReadonlySet<string> = new Set([
  'annotations',
  'args',
  'command',
  'env',
  'envFrom',
  'image',
  'ports',
  'replicas',
  'resources',
  'volumes',
])

/** The first placeholder in a spec of any kind; among labels every key decides. `inTemplates`: in what SCM renders of it. */
function placeholderInSpec(
  value: unknown,
  styles: readonly Style[],
  inTemplates?: readonly Style[],
): ManifestPlaceholder | undefined {
  if (Array.isArray(value)) return firstIn(value, (one) => placeholderInSpec(one, styles))
  if (!isRecord(value)) return placeholderInValue(value, styles)
  return firstIn(Object.entries(value), ([key, one]) => {
    if (NOT_DECIDING.has(key)) return undefined
    if (inTemplates !== undefined && TEMPLATE_FIELDS.has(key)) return placeholderInValue(one, inTemplates)
    if (/labels$/i.test(key)) return placeholderInLabels(one, styles)
    return (
      placeholderInValue(key, styles) ?? placeholderInName(key, one, styles) ?? placeholderInSpec(one, styles)
    )
  })
}

function firstIn<T>(
  values: readonly T[],
  find: (value: T) => ManifestPlaceholder | undefined,
): ManifestPlaceholder | undefined {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}

/** The fields of a ClusterSPIFFEID that SCM renders; its braces in any other are a placeholder. */
const TEMPLATE_FIELDS: ReadonlySet<string> = new Set([
  'spiffeIDTemplate',
  'dnsNameTemplates',
  'workloadSelectorTemplates',
])

/** In a ConfigMap only SCM's configuration decides; its templates are for SCM to fill in. */
function placeholderInScmConfig(data: unknown): ManifestPlaceholder | undefined {
  if (!isRecord(data)) return undefined
  return firstIn(Object.values(data), (text) =>
    typeof text === 'string' && mayHoldScmConfig(text) ? placeholderInValue(text, IN_TEMPLATES) : undefined,
  )
}

/** Everything below is text, or holds it. The depth is bounded by what the readers take. */
function placeholderInValue(value: unknown, styles: readonly Style[]): ManifestPlaceholder | undefined {
  if (styles.length === 0) return undefined
  if (typeof value === 'string') return firstOf(value, styles)
  if (typeof value !== 'object' || value === null) return undefined
  return firstIn(
    Object.entries(value),
    ([key, one]) => placeholderInValue(key, styles) ?? placeholderInValue(one, styles),
  )
}
