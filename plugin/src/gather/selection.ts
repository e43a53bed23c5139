// Which objects a command line means: by name, by namespace, by labels.
import type { Each } from '@kleym/shared/core/base/each.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { KleymError, wrongUsage } from '../io/errors.ts'
import { namesText } from '../text/names.ts'
import { otherThanBinding } from './other-than-binding.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import type { AnswerInput } from './gather.ts'
import type { NamedBinding } from './question.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import { matchSelector } from '@kleym/shared/core/model/objects/label-match.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { parseLabelQuery } from './label-query.ts'

/** What limits an answer about which the command line names nothing. */
export interface SelectionScope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** A label selector as written. */
  readonly selector: string | undefined
  /** The flags that a suggested command repeats. */
  readonly echo?: string | undefined
}

/** The bindings that are meant: those named, else those in scope. Throws where a named one does not exist. */
export function chooseBindings(
  { after }: Pick<AnswerInput, 'after'>,
  names: readonly string[],
  scope: SelectionScope,
): readonly Binding[] {
  const bindings = after.snapshot.bindings.read
  if (names.length === 0) return inScope(bindings, scope)
  const chosen = names.flatMap((name) => {
    const found = namedBindings(bindings, name, scope)
    if (found.length > 0) return found
    const { namespace = scope.namespace, name: bare } = parseBindingName(name)
    throw missing(
      { written: name, path: namespace === undefined ? bare : namespacedName(namespace, bare) },
      bindings,
      scope,
    )
  })
  return [...new Set(chosen)]
}

/** The bindings in question, out of all. Empty if a named binding does not exist. */
export function bindingsMeant<T extends NamedBinding>(
  bindings: Each<T>,
  names: readonly string[],
  scope: SelectionScope,
): readonly T[] {
  if (names.length === 0) return inScope(bindings, scope)
  const found = names.map((name) => namedBindings(bindings, name, scope))
  return found.some((one) => one.length === 0) ? [] : found.flat()
}

function inScope<T extends NamedBinding>(
  bindings: Each<T>,
  { namespace, selector }: SelectionScope,
): readonly T[] {
  const query = selector === undefined ? undefined : parseLabelQuery(selector)
  return bindings.filter(
    ({ meta }) =>
      (namespace === undefined || meta.namespace === namespace) &&
      (query === undefined || matchSelector(query, { labels: meta.labels }) === YES),
  )
}

/** A bare name is one of the current namespace, or of any if there is none. */
function namedBindings<T extends NamedBinding>(
  bindings: Each<T>,
  written: string,
  scope: SelectionScope,
): readonly T[] {
  const { namespace = scope.namespace, name } = parseBindingName(written)
  return bindings.filter(
    ({ meta }) => meta.name === name && (namespace === undefined || meta.namespace === namespace),
  )
}

/** The namespace that the name of a binding on a command line holds; undefined: none. */
export function namespaceNamed(written: string): string | undefined {
  return parseBindingName(written).namespace
}

/** `chat`, `team-a/chat` or `iib/team-a/chat`. */
function parseBindingName(written: string): {
  readonly namespace: string | undefined
  readonly name: string
} {
  const path = written.split('/')
  if (path.length > 1 && KIND_WORDS.has((path[0] ?? '').toLowerCase())) path.shift()
  if (path.length > 2) throw unclear(written)
  const name = path.pop() ?? ''
  return { name, namespace: path.pop() }
}

function missing(
  { written, path }: { readonly written: string; readonly path: string },
  bindings: Each<Binding>,
  { namespace, echo = '' }: SelectionScope,
): KleymError {
  const keys = bindings.map(({ key }) => key)
  const there =
    keys.length === 0
      ? 'no binding is there'
      : `${counted(keys.length, 'binding')} found, and none has this name`
  const other = otherThanBinding(written, namespace, echo)
  return new KleymError('not-found', {
    what: 'there is no such binding',
    where: other === undefined ? path : written,
    why: other?.why ?? `${there}${keys.length > 0 && path.includes('/') ? ' in this namespace' : ''}`,
    fix:
      other?.fix ??
      fileHint(path) ??
      elsewhereHint(path, bindings) ??
      didYouMean(path, path.includes('/') ? keys : bindings.map(({ meta }) => meta.name)) ??
      (keys.length === 0
        ? `see which bindings there could be: kubectl kleym suggest -A${echo}`
        : `list them with: kubectl kleym explain -A${echo} -o name`),
  })
}

/** A binding of that name in another namespace. */
function elsewhereHint(path: string, bindings: Each<Binding>): string | undefined {
  const name = path.split('/').at(-1)
  const there = bindings.filter(({ meta }) => meta.name === name).map(({ key }) => key)
  return there.length === 0 ? undefined : `did you mean ${namesText(there)}?`
}

function unclear(written: string): KleymError {
  const other = otherThanBinding(written, undefined, '')
  return wrongUsage('explain', {
    what: 'cannot tell which binding is meant',
    where: written,
    why: other?.why ?? 'a binding is named NAME, NAMESPACE/NAME or iib/NAMESPACE/NAME',
    fix: fileHint(written) ?? other?.fix ?? 'write it like team-a/chat',
  })
}

/** `-f a.yaml b.yaml`: the second file stands where a name belongs. */
function fileHint(written: string): string | undefined {
  return /\.(?:ya?ml|json)$/.test(written) ? `give each file its own -f: -f ${written}` : undefined
}

/** The names in the arguments of a command line: the kind of `iib chat` is no name. */
export function withoutKind(written: readonly string[]): readonly string[] {
  const file = written.find((word) => /\.(?:ya?ml|json)$/.test(word))
  if (file !== undefined)
    throw new KleymError('usage', {
      what: `unexpected argument ${file}`,
      why: 'arguments are names of bindings; a file is given with -f',
      fix: `give each file its own -f: -f ${file}`,
    })
  const [first, ...names] = written
  return names.length > 0 && first !== undefined && KIND_WORDS.has(first.toLowerCase()) ? names : written
}

const KIND_WORDS: ReadonlySet<string> = new Set([
  'iib',
  'inferenceidentitybinding',
  'inferenceidentitybindings',
  'inferenceidentitybinding.kleym.sonda.red',
  'inferenceidentitybindings.kleym.sonda.red',
])
