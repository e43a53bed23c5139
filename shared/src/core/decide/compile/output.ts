// The ClusterSPIFFEID of an identity, byte for byte the same for the same inputs (docs/contract.md §5).
import { CLUSTER_SPIFFE_ID, apiVersionOf } from '../../model/kinds.ts'
import { namespacedName, parseNamespacedName, splitNamespacedName } from '../../model/namespaced-name.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_BINDING_UID,
  ANNOTATION_INSTALL,
  ANNOTATION_OUTPUT_LABELS,
  CLUSTER_SPIFFE_ID_KIND,
  LABEL_BINDING_NAME,
  LABEL_BINDING_NAMESPACE,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  NAMESPACE_NAME_LABEL,
  SCM_CLASS_LABEL,
} from '../../model/names.ts'
import { byteLength, compareBytes, cutToBytes } from '../../base/text/bytes.ts'
import { isDns1123Label, isDns1123Subdomain, labelValueProblem } from '../../base/text/kubernetes.ts'
import { sha256Hex } from '../../base/text/sha256.ts'
import { TRUST_DOMAIN_PLACEHOLDER, type Config } from '../settings/config.ts'
import { podLabelsOf, type Identity } from './identity.ts'
import { boundaryWord, parseIdentity, type BoundaryWord } from './identity-path.ts'

const NAME_MAX = 63
const HASH_DIGITS = 20
const SHORT_HASH_DIGITS = 8
const LABEL_VALUE_MAX = 63
const HINT_MAX = 255

/** The `spec` of kleym's output: exactly these fields; any other that is found on it is drift. */
export interface OutputSpec {
  readonly spiffeIDTemplate: string
  readonly namespaceSelector: { readonly matchLabels: Readonly<Record<string, string>> }
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
  readonly workloadSelectorTemplates: readonly string[]
  readonly fallback: false
  readonly hint: string
  readonly className?: string
}

/** The object that kleym writes: a ClusterSPIFFEID without the fields that the API server sets. */
export interface Output {
  readonly apiVersion: string
  readonly kind: typeof CLUSTER_SPIFFE_ID_KIND
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: OutputSpec
}

/** What of the install's settings an output shows. */
export type OutputSettings = Pick<Config, 'className' | 'outputLabels' | 'install'>

/** Renders the ClusterSPIFFEID; without a UID (a manifest) its annotation is left out. */
export function renderOutput(
  identity: Identity,
  bindingUid: string | undefined,
  { className, outputLabels = NO_LABELS, install }: OutputSettings,
): Output {
  const key = namespacedName(identity.namespace, identity.binding)
  return {
    apiVersion: apiVersionOf(CLUSTER_SPIFFE_ID),
    kind: CLUSTER_SPIFFE_ID_KIND,
    metadata: {
      name: outputName(identity.namespace, identity.binding, boundaryWord(identity.mode), identity.spiffeId),
      labels: {
        [LABEL_MANAGED_BY]: MANAGED_BY,
        [LABEL_BINDING_NAME]: labelValue(identity.binding),
        [LABEL_BINDING_NAMESPACE]: labelValue(identity.namespace),
        ...labelsForScm({ className, outputLabels }),
      },
      annotations: {
        [ANNOTATION_BINDING]: key,
        ...(bindingUid === undefined ? {} : { [ANNOTATION_BINDING_UID]: bindingUid }),
        ...(install === undefined ? {} : { [ANNOTATION_INSTALL]: install }),
        ...(outputLabels.size === 0 ? {} : { [ANNOTATION_OUTPUT_LABELS]: labelKeysText(outputLabels) }),
      },
    },
    spec: {
      spiffeIDTemplate: identity.spiffeId,
      namespaceSelector: { matchLabels: { [NAMESPACE_NAME_LABEL]: identity.namespace } },
      podSelector: { matchLabels: Object.fromEntries(podLabelsOf(identity)) },
      workloadSelectorTemplates: identity.selectors.map(({ selector }) => selector),
      fallback: false,
      hint: hintOf(key),
      ...(className === '' ? {} : { className }),
    },
  }
}

/** The labels by which an SCM may choose the objects that it handles. */
export function labelsForScm({
  className,
  outputLabels = NO_LABELS,
}: Pick<OutputSettings, 'className' | 'outputLabels'>): Readonly<Record<string, string>> {
  return {
    ...(isClassLabel(className) ? { [SCM_CLASS_LABEL]: className } : {}),
    ...Object.fromEntries(outputLabels),
  }
}

const NO_LABELS: ReadonlyMap<string, string> = new Map()

/** Whether a class can stand in SCM's class label: one that is no label value is rendered as `spec.className` alone. */
export function isClassLabel(className: string): boolean {
  return className !== '' && classLabelProblem(className) === undefined
}

/** Why outputs of this class lack SCM's class label although there is a class, e.g. `is over 63 characters`. */
export function classLabelProblem(className: string): string | undefined {
  return labelValueProblem(className)
}

/** Label keys as the annotation lists them: in byte order, a comma between. No label key holds a comma. */
function labelKeysText(labels: ReadonlyMap<string, string>): string {
  return [...labels.keys()].toSorted(compareBytes).join(',')
}

/**
 * `<base>-<pool, variant or objective>-<hash>`, at most 63 characters. Only the hash makes it unique: 20 hex digits of SHA-256
 * over `<namespace>/<binding>`, a line feed, and the SPIFFE ID.
 */
export function outputName(namespace: string, binding: string, word: BoundaryWord, spiffeId: string): string {
  const hash = sha256Hex(`${namespacedName(namespace, binding)}\n${spiffeId}`).slice(0, HASH_DIGITS)
  const tail = `-${word}-${spiffeId.includes(TRUST_DOMAIN_PLACEHOLDER) ? unknownHash(hash) : hash}`
  const base = `kleym-${namespace}-${binding}`
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_MAX - tail.length)
    .replaceAll(/^-+|-+$/g, '')
  return `${base}${tail}`
}

/** Replaces a hash that depends on an unknown trust domain: it tells names apart, and no object can have it as its name. */
function unknownHash(hash: string): string {
  return `<hash-${hash.slice(0, SHORT_HASH_DIGITS)}>`
}

/**
 * Whether a name has the shape of those that `outputName` gives, whatever the object says. A webhook may change all of an
 * object but its name, so that alone says what kleym may have written.
 */
export function isOutputName(name: string): boolean {
  return OUTPUT_NAME.test(name)
}

const OUTPUT_NAME = new RegExp(`^kleym-[a-z0-9-]+-[0-9a-f]{${HASH_DIGITS}}$`)

/**
 * The name that kleym gives to an output with this annotation and template (docs/contract.md §8, "Whose object is it");
 * undefined where the two do not belong together.
 */
export function nameFromItself(bindingKey: string, spiffeIDTemplate: string): string | undefined {
  const key = parseNamespacedName(bindingKey)
  if (key === undefined) return undefined
  const { namespace, name } = splitNamespacedName(key)
  // No object has such a name: a read of it would ask about something else, as about all objects for an empty one.
  if (!isDns1123Label(namespace) || !isDns1123Subdomain(name)) return undefined
  // A template with actions is no literal ID, whatever its texts look like.
  const identity = /[{}]/.test(spiffeIDTemplate) ? undefined : parseIdentity(spiffeIDTemplate)
  if (identity?.namespace !== namespace) return undefined
  return outputName(namespace, name, boundaryWord(identity.mode), spiffeIDTemplate)
}

/** A label value: a longer name is cut to 54 characters, a dash and 8 hex digits of its SHA-256. */
export function labelValue(name: string): string {
  if (name.length <= LABEL_VALUE_MAX) return name
  return `${name.slice(0, LABEL_VALUE_MAX - SHORT_HASH_DIGITS - 1)}-${sha256Hex(name).slice(0, SHORT_HASH_DIGITS)}`
}

/** A hint: over 255 bytes it is cut to 246, a dash and 8 hex digits of its SHA-256. */
export function hintOf(key: string): string {
  if (byteLength(key) <= HINT_MAX) return key
  return `${cutToBytes(key, HINT_MAX - SHORT_HASH_DIGITS - 1)}-${sha256Hex(key).slice(0, SHORT_HASH_DIGITS)}`
}
