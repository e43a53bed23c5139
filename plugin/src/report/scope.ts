// Which objects a command line means: by name, by namespace, by labels.
import { KleymError } from '../cli/errors.ts'
import { didYouMean } from '@kleym/shared/core/text/suggest.ts'
import type { World } from '../gather/gather.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import { matchSelector } from '@kleym/shared/core/spire/selector.ts'
import { parseLabelQuery } from './label-query.ts'

export interface Scope {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** A label selector as written. */
  readonly selector: string | undefined
}

/** The bindings that are meant: those named, else those in scope. Throws where a named one does not exist. */
export function chooseBindings(
  { after, isLive }: Pick<World, 'after' | 'isLive'>,
  names: readonly string[],
  scope: Scope,
): readonly Binding[] {
  const { bindings } = after.snapshot
  const query = scope.selector === undefined ? undefined : parseLabelQuery(scope.selector)
  const inScope = bindings.filter(
    ({ meta }) =>
      (scope.namespace === undefined || meta.namespace === scope.namespace) &&
      (query === undefined || matchSelector(query, { labels: meta.labels }) === 'yes'),
  )
  if (names.length === 0) return inScope
  const chosen = names.flatMap((name) => {
    const { namespace = scope.namespace, name: bare } = parseBindingName(name)
    const found = bindings.filter(
      ({ meta }) => meta.name === bare && (namespace === undefined || meta.namespace === namespace),
    )
    if (found.length === 0)
      throw missing(namespace === undefined ? bare : `${namespace}/${bare}`, bindings, isLive)
    return found
  })
  return [...new Set(chosen)]
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

function missing(path: string, bindings: readonly Binding[], isLive: boolean): KleymError {
  const keys = bindings.map(({ key }) => key)
  const there = keys.length === 0 ? 'no binding is' : `${keys.length} bindings are`
  const files = isLive ? '' : ' --offline -R -f DIR'
  return new KleymError({
    code: 'not-found',
    what: 'there is no such binding',
    where: path,
    why: `${there} there, and none has this name${path.includes('/') ? ' in this namespace' : ''}`,
    fix: didYouMean(path, keys) ?? `list them with: kubectl kleym explain${files} -o name`,
  })
}

function unclear(written: string): KleymError {
  return new KleymError({
    code: 'usage',
    what: 'cannot tell which binding is meant',
    where: written,
    why: 'a binding is named NAME, NAMESPACE/NAME or iib/NAMESPACE/NAME',
    fix: 'write it like team-a/chat',
    docs: 'kubectl kleym explain --help',
  })
}

const KIND_WORDS: ReadonlySet<string> = new Set([
  'iib',
  'inferenceidentitybinding',
  'inferenceidentitybindings',
  'inferenceidentitybinding.kleym.sonda.red',
  'inferenceidentitybindings.kleym.sonda.red',
])
