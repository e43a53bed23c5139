// The report of `who-selects --entries`: the registration entries that SPIRE would hold, with the names that
// `spire-server entry show -output json` gives their fields.
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { installFindings } from '@kleym/shared/core/findings/install-rules.ts'
import { compareFindings } from '@kleym/shared/core/findings/finding.ts'
import { podNotes } from '@kleym/shared/core/findings/pod-rules.ts'
import { registrationEntries, type RegistrationEntry } from '@kleym/shared/core/spire/entries.ts'
import type { World } from '../gather/gather.ts'
import { viewEntries } from '../view/entries.ts'
import type { Frame } from './frame.ts'
import { missingOf } from './missing.ts'

/** Makes the report for the chosen pods; `spiffeId` keeps the entries of one identity. */
export function entriesFrame(world: World, pods: readonly Pod[], spiffeId: string | undefined): Frame {
  const entries = registrationEntries(world.after.prediction(), pods).filter(
    (entry) => spiffeId === undefined || entry.spiffe_id === spiffeId,
  )
  return {
    kind: 'EntriesReport',
    fields: { entries: entries.map(entryReport) },
    findings: [...podNotes(world.after, pods), ...installFindings(world.after)].toSorted(compareFindings),
    missing: missingOf(world, []),
    names: pods.map(({ ref }) => ({ kind: ref.kind, group: '', namespace: ref.namespace, name: ref.name })),
    view: (layout) => viewEntries(entries, layout),
  }
}

function entryReport(entry: RegistrationEntry): Readonly<Record<string, unknown>> {
  return { ...entry, pod: entry.pod ?? null, depends: entry.depends ?? null }
}
