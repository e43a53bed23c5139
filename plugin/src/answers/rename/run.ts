// The answer of `kubectl kleym rename`.
import { BINDING, OBJECTIVE_KINDS, POOL_KINDS } from '@kleym/shared/core/model/kinds.ts'
import { summaryText } from '@kleym/shared/core/base/text/counted.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { renaming } from '@kleym/shared/core/answers/index.ts'
import { objectsOfKind, type RenameQuestion } from '@kleym/shared/core/snapshot/index.ts'
import { shellWord } from '../../flags/echo.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { noSuchObject, notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { gather, type GatheredInput } from '../../gather/gather.ts'
import { WHOM_ALL_NAME } from '../../gather/question.ts'
import { kindsOfName } from '../../sources/kind-name.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { renameFrame } from './frame.ts'
import type { RenameAsked } from './targets.ts'

/** What `rename` is asked. */
export interface RenameOptions extends CommonOptions {
  readonly asked: RenameAsked
}

/** Plans a rename. */
export async function run(options: RenameOptions, context: CommandContext): Promise<CommandResult> {
  const { asked } = options
  // The consumers of an ID may be in any namespace.
  const question = {
    allNamespaces: false,
    named: [asked.namespace],
    ...WHOM_ALL_NAME,
    readsAll: true,
  }
  const input = await gather(options, question, context)
  const meant = notFoundOnlyIfRead(input, kindsOfName({ ...KIND_OF[asked.kind], group: undefined }), () =>
    questionOf(input, options),
  )
  const rename = input.drive(renaming(input.after, meant, input))
  const frame = renameFrame(input, rename, commandOf(meant, options))
  return finish(frame, { ...input, after: rename.done }, options.output, context)
}

const KIND_OF = { binding: BINDING, pool: POOL_KINDS[0], objective: OBJECTIVE_KINDS[0] } as const
const WORDS = { binding: 'iib', pool: 'pool', objective: 'objective' } as const

function questionOf(
  { after: { snapshot }, namespaceInForce, isLive }: GatheredInput,
  { asked }: RenameOptions,
): RenameQuestion {
  const { kind, from, to } = asked
  const all = objectsOfKind(snapshot, kind)
  const place = asked.namespace ?? namespaceInForce
  const found = [
    ...new Set(
      all
        .filter(({ namespace, name }) => name === from && (place === undefined || namespace === place))
        .map(({ namespace }) => namespace),
    ),
  ]
  const [namespace] = found
  if (namespace !== undefined && found.length === 1) return { kind, namespace, from, to }
  const where = place === undefined ? from : namespacedName(place, from)
  if (namespace !== undefined)
    throw new KleymError('usage', {
      what: `more than one ${KIND_OF[kind].kind} has the name`,
      where: from,
      why: `it is in ${found.join(', ')}`,
      fix: `name one of them: ${WORDS[kind]}/${namespace}/${from}`,
    })
  const there = all.map((one) => namespacedName(one.namespace, one.name))
  throw noSuchObject(KIND_OF[kind].kind, where, {
    isLive,
    there,
    list:
      there.length === 0
        ? 'give the files, or the cluster, that have it'
        : `name one of ${summaryText(there)}`,
  })
}

/** The command that asks for this plan, as a step repeats it. */
function commandOf(
  { kind, namespace, from, to }: RenameQuestion,
  { sources: { names = [], configMaps = false }, output }: RenameOptions,
): string {
  const flags = [
    ...names.map((file) => ` --names ${shellWord(file)}`),
    ...(configMaps ? [' --configmaps'] : []),
  ]
  return `kubectl kleym rename ${WORDS[kind]}/${namespace}/${from} ${to}${flags.join('')}${output.echo ?? ''}`
}
