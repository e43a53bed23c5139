// The arguments of `suggest`: pools, objectives, pods and workloads, each as KIND/NAME, or KIND NAME as kubectl has it.
import { OBJECTIVE_KIND, POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { wrongUsage } from '../../io/errors.ts'
import {
  kindNamed,
  parseObjectName,
  POD_KINDS,
  withKindWord,
  type ObjectName,
} from '../../sources/kind-name.ts'

/** Parses the arguments. Throws a usage error for an object of another kind. */
export function parseTargets(words: readonly string[]): readonly ObjectName[] {
  return withKindWord(words).map((text) => {
    if (!text.includes('/')) {
      const kind = kindNamed(text)
      throw wrongUsage('suggest', {
        what: 'cannot tell which object is meant',
        where: text,
        why: kind === undefined ? 'it is not KIND/NAME' : `it names the kind ${kind}, and no object of it`,
        fix:
          kind === undefined
            ? `write pool/${text}, or objective/${text}`
            : `write ${text}/NAME, or -A for all pools`,
      })
    }
    const target = parseObjectName(text, 'the argument')
    if ([POOL_KIND, OBJECTIVE_KIND, ...POD_KINDS].includes(target.kind)) return target
    throw wrongUsage('suggest', {
      what: `nothing is suggested for a ${target.kind}`,
      where: text,
      why: 'bindings are suggested for pools, and for the objectives and pods of pools',
      fix: `name one of ${[POOL_KIND, OBJECTIVE_KIND, ...POD_KINDS].join(', ')}`,
    })
  })
}
