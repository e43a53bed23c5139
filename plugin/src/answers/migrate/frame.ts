// The report of `migrate`: for each registration the bindings, the remainder, what names the old ID, and the steps.
import { onceBy } from '@kleym/shared/core/base/groups.ts'
import { compareFindings, findingKey, notCertain, type Finding } from '@kleym/shared/core/findings/index.ts'
import type { Migration, SuggestedBinding } from '@kleym/shared/core/answers/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { type Cause, causesOf } from '../../frame/causes.ts'
import { openCutOffs } from '../parts/cut-offs.ts'
import { documentsOf, toDocuments } from '../suggest/documents.ts'
import { namesOf } from '../suggest/frame.ts'
import { changeLines } from '../suggest/words.ts'
import type { NamedInTest } from './tests.ts'
import { migrateAnswer, openTexts, viewMigrations } from './view.ts'

/** Makes the report; `tests` has a list for each migration, or is empty. */
export function migrateFrame(
  input: AnswerInput,
  migrations: readonly Migration[],
  tests: readonly (readonly NamedInTest[])[],
): Frame {
  const added = migrations.flatMap(addedBy)
  // One may be certain of one namespace and perhaps so of another.
  const distinct = onceBy(added, (one) => `${one.dependsOn === undefined} ${findingKey(one)}`)
  const findings = distinct.toSorted(compareFindings)
  const bindings = distinctBindings(migrations)
  return {
    kind: 'MigrateReport',
    ...reported(
      async () => (await import('./schema.ts')).migrateReportSchema,
      () => ({
        registrations: migrations.map((migration, at) => ({ migration, tests: tests[at] ?? [] })),
      }),
    ),
    findings,
    judged: { count: migrations.length, what: 'ClusterSPIFFEID' },
    causes: causesOf(input, {
      bindings: new Set<string>(),
      unread: migrations.flatMap(({ suggestions }) => suggestions.missing),
      further: [
        ...migrations.flatMap(openTexts).map((text): Cause => ({ leaves: 'a statement', text })),
        ...migrations.flatMap(({ cutOffs }) => openCutOffs(cutOffs)),
      ],
    }),
    names: () => namesOf(bindings),
    answer: (layout) => migrateAnswer(migrations, layout),
    view: (layout, shown) => viewMigrations(migrations, tests, shown, layout),
    documents: () =>
      toDocuments(
        migrations.map(
          ({ object, uncovered }) =>
            `from ClusterSPIFFEID/${object.meta.name}${uncovered.length === 0 ? '' : ', which must stay for containers that no binding covers'}: read kubectl kleym migrate clusterspiffeid/${object.meta.name} first`,
        ),
        bindings.flatMap((one) =>
          documentsOf(one, [`${one.key}: ${one.spiffeId}`, ...one.why, ...changeLines(one)]),
        ),
      ),
  }
}

/** Registrations on the same pods lead to the same bindings. */
function distinctBindings(migrations: readonly Migration[]): readonly SuggestedBinding[] {
  const all = migrations.flatMap(({ suggestions }) => suggestions.pools.flatMap(({ suggested }) => suggested))
  const byKey = new Map<string, SuggestedBinding>()
  for (const one of all) if (!byKey.has(one.key)) byKey.set(one.key, one)
  return [...byKey.values()]
}

/** The findings that the steps add. Where it is open whether the registration can go, so is what comes of taking it away. */
function addedBy({ object, effects: { apply, advised }, open }: Migration): readonly Finding[] {
  const { added } = advised.findings
  if (advised === apply || open.length === 0) return added
  const certain = new Set(apply.findings.added.map(findingKey))
  const goes = `whether ClusterSPIFFEID/${object.meta.name} can go`
  return added.map((one) =>
    certain.has(findingKey(one)) ? one : notCertain(one, [goes], `depends: ${goes} is not certain`),
  )
}
