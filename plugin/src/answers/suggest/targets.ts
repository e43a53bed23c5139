// The arguments of `suggest`: pools, objectives, pods and workloads, each as KIND/NAME.
import { OBJECTIVE_KIND, POOL_KIND } from '@kleym/shared/core/kinds.ts'
import { KleymError } from '../../io/errors.ts'
import { parseObjectName, type ObjectName } from '../../sources/kind-name.ts'
import { POD_KINDS } from '../who-selects/target.ts'

/** Parses the arguments. Throws a usage error for an object of another kind. */
export function parseTargets(words: readonly string[]): readonly ObjectName[] {
  return words.map((text) => {
    if (!text.includes('/'))
      throw new KleymError({
        code: 'usage',
        what: 'cannot tell which object is meant',
        where: text,
        why: 'it is not KIND/NAME',
        fix: `write pool/${text}, or objective/${text}`,
        docs: 'kubectl kleym suggest --help',
      })
    const target = parseObjectName(text, 'the argument')
    if ([POOL_KIND, OBJECTIVE_KIND, ...POD_KINDS].includes(target.kind)) return target
    throw new KleymError({
      code: 'usage',
      what: `nothing is suggested for a ${target.kind}`,
      where: text,
      why: 'bindings are suggested for pools, and for the objectives and pods of pools',
      fix: `name one of ${[POOL_KIND, OBJECTIVE_KIND, ...POD_KINDS].join(', ')}`,
      docs: 'kubectl kleym suggest --help',
    })
  })
}
