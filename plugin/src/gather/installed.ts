// What `status` works with: bindings with their statuses, and settings. Pools and pods are not part of it, so nothing is
// judged anew.
import { analyse } from '@kleym/shared/core/analysis/index.ts'
import { marksOf } from '@kleym/shared/core/findings/index.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import type { CommonOptions } from '../flags/options.ts'
import { operatorsUnknown, type Installation } from '../cluster/installation.ts'
import type { AnswerInput } from './gather.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/index.ts'
import { snapshotSource } from './snapshot-source.ts'
import { unreadNotes } from './notes.ts'
import { assumptionNotes, operatorSettings, scmSettings, type ScmReading } from './settings.ts'

/** What was read of an installation. */
export interface InstalledInput extends AnswerInput {
  readonly scm: InstalledScm
}

/** The SCMs of an installation, as far as they were found. */
export interface InstalledScm extends Pick<ScmReading, 'instances' | 'containers'> {
  /** Where SCM is by what the command line says, or usually: only SPIRE's own people may make workloads there. */
  readonly ownNamespaces: readonly string[]
}

/** What was read, as every frame takes it. */
export async function installedInput(
  { side }: Installation,
  { settings, sources }: CommonOptions,
  { cwd, namespace }: { readonly cwd: string; readonly namespace: string | undefined },
): Promise<InstalledInput> {
  const { objects } = side
  const snapshot = readSnapshot(snapshotSource(objects, { gaps: side.gaps, side }))
  const [bindings, outputs] = [snapshot.bindings.read, snapshot.clusterSpiffeIds.read]
  const deployments = side.operatorDeployments ?? []
  const operator = operatorSettings(settings, { deployments, bindings, outputs })
  const scmObjects = [...objects, ...(side.scmWorkloads ?? [])]
  const scm = await scmSettings(settings, scmObjects, snapshot, operator, { cwd, classFollows: false })
  const after = analyse(snapshot, operator.config, scm.settings)
  return {
    after,
    before: after,
    operator,
    inputFindings: [...operator.disagreements, ...scm.rivals, ...scm.findings],
    problems: scm.problems,
    marks: marksOf(objects),
    notes: [
      ...scm.notes,
      ...unreadNotes(after, side, operatorsUnknown(side)),
      ...assumptionNotes(operator, scm.settings),
    ],
    remarks: settings.remarks ?? [],
    isLive: true,
    scm: { ...scm, ownNamespaces: sources.scmNamespaces },
    namespaceInForce: namespace,
    drive: driveAtOnce,
  }
}
