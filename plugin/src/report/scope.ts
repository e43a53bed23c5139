// Which objects a command line means: by name, by namespace, by labels.
import { KleymError } from '../cli/errors.ts'
import { didYouMean } from '@kleym/shared/core/text/suggest.ts'
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
  bindings: readonly Binding[],
  names: readonly string[],
  scope: Scope,
): readonly Binding[] {
  const query = scope.selector === undefined ? undefined : parseLabelQuery(scope.selector)
  const inScope = bindings.filter(
    ({ meta }) =>
      (scope.namespace === undefined || meta.namespace === scope.namespace) &&
      (query === undefined || matchSelector(query, { labels: meta.labels }) === 'yes'),
  )
  if (names.length === 0) return inScope
  const chosen = names.flatMap((name) => chooseByName(bindings, name, scope.namespace))
  return [...new Set(chosen)]
}

function chooseByName(
  bindings: readonly Binding[],
  written: string,
  namespace: string | undefined,
): readonly Binding[] {
  const path = written.split('/')
  if (path.length > 1 && KIND_WORDS.has((path[0] ?? '').toLowerCase())) path.shift()
  if (path.length > 2) throw unclear(written)
  const name = path.pop() ?? ''
  const where = path.pop() ?? namespace
  const found = bindings.filter(
    ({ meta }) => meta.name === name && (where === undefined || meta.namespace === where),
  )
  if (found.length > 0) return found
  const keys = bindings.map(({ key }) => key)
  throw new KleymError({
    code: 'not-found',
    what: 'there is no such binding',
    where: where === undefined ? name : `${where}/${name}`,
    why: `${keys.length === 0 ? 'no binding is' : `${keys.length} bindings are`} there, and none has this name${where === undefined ? '' : ' in this namespace'}`,
    fix:
      didYouMean(where === undefined ? name : `${where}/${name}`, keys) ??
      'list them with: kubectl kleym explain --offline -R -f DIR -o name',
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
