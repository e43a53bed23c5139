// What `--suppress CODE=KIND/NAMESPACE/NAME` means: a code, and a pattern for the object that a finding is about.
import type { FindingCode } from '../registry/findings.ts'
import type { Finding } from './finding.ts'
import { bareKind } from './suppress-annotation.ts'

/** A parsed flag. `*` in a namespace or name stands for any run of characters; as a kind, for every kind. */
export interface FlagSuppression {
  readonly code: FindingCode
  /** The canonical kind, or `*`. */
  readonly kind: string
  /** Empty for a cluster-scoped object. */
  readonly namespace: string
  readonly name: string
  /** As written. */
  readonly text: string
}

/** Whether a flag suppresses a finding. Its subject decides, not the objects related to it. */
export function matchesPattern(flag: FlagSuppression, { code, subject }: Finding): boolean {
  if (code !== flag.code) return false
  return (
    (flag.kind === '*' || flag.kind === bareKind(subject.kind)) &&
    // A pattern without a namespace means cluster-scoped objects alone, one with a namespace none of them.
    (flag.namespace === '') === (subject.namespace === '') &&
    matchesWildcard(flag.namespace, subject.namespace) &&
    matchesWildcard(flag.name, subject.name)
  )
}

/** Whether a text matches a pattern; every `*` stands for any run of characters, an empty one too. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false
  // What is between is taken as early as possible, which leaves the most room for the rest.
  const end = text.length - last.length
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
