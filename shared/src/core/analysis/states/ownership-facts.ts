// What ownership is judged by in a snapshot.
import type { Compiled, OwnershipFacts } from '../../decide/index.ts'
import { bindingsIn, type Snapshot } from '../../snapshot/index.ts'

/** The facts of a snapshot and of what its bindings compile to. */
export function ownershipFacts(snapshot: Snapshot, compiled: readonly Compiled[]): OwnershipFacts {
  const renderedNames = new Map<string, string>(
    compiled.flatMap(({ binding, result }) =>
      result.kind === 'resolved' ? [[binding.key, result.output.metadata.name]] : [],
    ),
  )
  const bindingOf = bindingsIn(snapshot)
  return {
    binding: bindingOf,
    renderedName: (key) => renderedNames.get(key),
    recordedOutput: (key) => {
      const found = bindingOf(key)
      return found.state === 'found' ? found.object.status?.clusterSPIFFEID : undefined
    },
  }
}
