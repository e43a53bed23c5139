// The answer of `kubectl kleym migrate`.
import { CLUSTER_SPIFFE_ID, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { migrating, noPlansBefore, plansAfter, type Migration } from '@kleym/shared/core/answers/index.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { LiveOutput } from '@kleym/shared/core/decide/index.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { noSuchObject, notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { gather, type GatheredInput } from '../../gather/gather.ts'
import { WHOM_ALL_NAME, type Question } from '../../gather/question.ts'
import { wrongUsage, type KleymError } from '../../io/errors.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { migrateFrame } from './frame.ts'
import { testsNaming, type NamedInTest } from './tests.ts'

/** What `migrate` is asked. */
export interface MigrateOptions extends CommonOptions {
  /** The names of ClusterSPIFFEIDs; undefined: all that are not kleym's. */
  readonly registrations: readonly string[] | undefined
  /** The files and folders of identity tests. */
  readonly tests: readonly string[]
}

/** What is read: a ClusterSPIFFEID may select pods of any namespace, and who names its ID may be in any. */
export const MIGRATE_QUESTION: Question = {
  allNamespaces: true,
  named: [undefined],
  ...WHOM_ALL_NAME,
}

/** The worlds of fewer registrations take no more than one large answer does. */
const MANY = 10

/** Tells how registrations become bindings. */
export async function run(options: MigrateOptions, context: CommandContext): Promise<CommandResult> {
  const input = await gather({ ...options, allNamespaces: true }, MIGRATE_QUESTION, context)
  const chosen = notFoundOnlyIfRead(input, [qualifiedKind(CLUSTER_SPIFFE_ID)], () => choose(input, options))
  const naming = await testsNaming(options.tests, input, context)
  let before = noPlansBefore(input.after)
  const migrations: Migration[] = []
  const tests: (readonly NamedInTest[])[] = []
  // Each leaves several worlds behind, each as large as the estate.
  const collects = chosen.length < MANY ? undefined : context.collectGarbage
  collects?.('all')
  for (const object of chosen) {
    const migration = input.drive(migrating(before, object, input))
    tests.push(naming.of(migration))
    before = plansAfter(before, migration)
    // The worlds are not kept.
    const { after: _, staysFor: __, ...others } = migration
    const { world: ___, ...suggestions } = others.suggestions
    migrations.push({ ...others, suggestions })
    collects?.('as needed')
  }
  const withProblems = {
    ...input,
    after: before.analysis,
    problems: [...input.problems, ...naming.problems],
  }
  return finish(migrateFrame(withProblems, migrations, tests), withProblems, options.output, context)
}

function choose(
  { after, isLive }: GatheredInput,
  { registrations, output }: MigrateOptions,
): readonly ClusterSpiffeId[] {
  const foreign = after.settled.outputs.filter(({ ownership }) => ownership.kind === 'foreign')
  if (registrations === undefined) return foreign.map(({ object }) => object)
  // A name that is given twice is asked about once.
  return [...new Set(registrations)].map((name) => {
    const found = foreign.find(({ object }) => object.meta.name === name)
    if (found !== undefined) return found.object
    const own = after.settled.outputs.find(({ object }) => object.meta.name === name)
    if (own !== undefined) throw ownOutput(name, own)
    throw noSuchObject('ClusterSPIFFEID', name, {
      isLive,
      there: foreign.map(({ object }) => object.meta.name),
      list: `see what there is: kubectl kleym migrate -A${output.echo ?? ''}`,
    })
  })
}

function ownOutput(name: string, { ownership }: LiveOutput): KleymError {
  const whose =
    ownership.kind === 'ours' ? `binding ${ownership.binding}` : 'a binding that is not known or gone'
  return wrongUsage('migrate', {
    what: "the ClusterSPIFFEID is kleym's own",
    where: name,
    why: `it is the output of ${whose}`,
    fix: 'name one that a person wrote, or write -A',
  })
}
