// The names, label keys and label values that kube-apiserver takes: the rules of `k8s.io/apimachinery`
// `pkg/util/validation` and `pkg/api/validate/content`, as sentences. All of them allow ASCII only, so that a length in
// characters is a length in bytes.

/** A DNS-1123 label without its length limit, as a pattern that RE2 and JavaScript read alike. */
export const DNS1123_LABEL_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
/** A DNS-1123 subdomain without its length limit, as a pattern that RE2 and JavaScript read alike. */
export const DNS1123_SUBDOMAIN_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
/** The name part of a label key, and a label value that is not empty, without the length limit. */
export const QUALIFIED_NAME_PATTERN = '^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$'
/** A DNS-1123 label or nothing, without the length limit. */
export const OPTIONAL_LABEL_PATTERN = `^(${DNS1123_LABEL_PATTERN.slice(1, -1)})?$`

/** What a message calls text that a pattern admits. */
export const PATTERN_NAMES: ReadonlyMap<string, string> = new Map([
  [DNS1123_SUBDOMAIN_PATTERN, 'a DNS-1123 subdomain'],
  [OPTIONAL_LABEL_PATTERN, 'a DNS-1123 label'],
  [QUALIFIED_NAME_PATTERN, 'a label value'],
])

/** The most characters of a DNS-1123 label. */
export const DNS1123_LABEL_MAX = 63
/** The most characters of a DNS-1123 subdomain. */
export const DNS1123_SUBDOMAIN_MAX = 253
/** The most characters of the name part of a label key, and of a label value. */
export const QUALIFIED_NAME_MAX = 63

const label = new RegExp(DNS1123_LABEL_PATTERN)
const subdomain = new RegExp(DNS1123_SUBDOMAIN_PATTERN)
const qualifiedName = new RegExp(QUALIFIED_NAME_PATTERN)

/** Whether `text` is a DNS-1123 label of 1 to 63 characters, such as a namespace or container name. */
export function isDns1123Label(text: string): boolean {
  return text.length <= DNS1123_LABEL_MAX && label.test(text)
}

/** Whether `text` is a DNS-1123 subdomain of 1 to 253 characters, such as the name of a pool or service account. */
export function isDns1123Subdomain(text: string): boolean {
  return text.length <= DNS1123_SUBDOMAIN_MAX && subdomain.test(text)
}

/** Why `key` is no label key (a name of at most 63 characters, with an optional DNS subdomain and slash before it). */
export function qualifiedNameProblem(key: string): string | undefined {
  const slash = key.indexOf('/')
  if (slash !== key.lastIndexOf('/')) return 'has more than one slash'
  if (slash === 0) return 'has nothing before its slash'
  const prefix = key.slice(0, Math.max(slash, 0))
  if (slash > 0 && prefix.length > DNS1123_SUBDOMAIN_MAX)
    return `has a prefix over ${DNS1123_SUBDOMAIN_MAX} characters`
  if (slash > 0 && !subdomain.test(prefix)) return 'has a prefix that is no lower-case DNS name'
  return namePartProblem(key.slice(slash + 1))
}

function namePartProblem(name: string): string | undefined {
  if (name === '') return 'has an empty name'
  if (name.length > QUALIFIED_NAME_MAX) return `has a name over ${QUALIFIED_NAME_MAX} characters`
  return qualifiedName.test(name) ? undefined : shapeProblem(name)
}

/** Why `value` is no label value (at most 63 characters; it may be empty). */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > QUALIFIED_NAME_MAX) return `is over ${QUALIFIED_NAME_MAX} characters`
  return value === '' || qualifiedName.test(value) ? undefined : shapeProblem(value)
}

function shapeProblem(text: string): string {
  const stray = /[^-A-Za-z0-9_.]/u.exec(text)
  if (stray !== null)
    return `has ${JSON.stringify(stray[0])} at character ${stray.index + 1}; only letters, digits, "-", "_" and "." are allowed there`
  return /^[^A-Za-z0-9]/.test(text)
    ? 'does not start with a letter or digit'
    : 'does not end with a letter or digit'
}
