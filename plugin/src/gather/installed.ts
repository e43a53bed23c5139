// The world of `status`: bindings with their statuses, and settings. Pools and pods are not part of it, so nothing is
// judged anew.
import { analyse } from '@kleym/shared/core/analysis/analysis.ts'
import { marksOf } from '@kleym/shared/core/findings/suppress-annotation.ts'
import type { CommonOptions } from '../flags/options.ts'
import { operatorsUnknown, type Installation } from '../cluster/installation.ts'
import type { AnswerInput } from './gather.ts'
import { liveSnapshot } from './live-snapshot.ts'
import { unreadNotes } from './notes.ts'
import { assumptionNotes, operatorSettings, scmSettings, type ScmReading } from './settings.ts'

/** What was read of an installation. */
export interface InstalledWorld extends AnswerInput {
  readonly scm: Pick<ScmReading, 'instances' | 'containers'>
}

/** What was read, as every frame takes it. */
export async function installedWorld(
  { side }: Installation,
  { settings }: CommonOptions,
  { cwd, namespace }: { readonly cwd: string; readonly namespace: string | undefined },
): Promise<InstalledWorld> {
  const { objects } = side
  const snapshot = liveSnapshot(objects, { gaps: side.gaps, side })
  const operator = operatorSettings(settings, side.operatorDeployments ?? [], snapshot.bindings)
  const scmObjects = [...objects, ...(side.scmWorkloads ?? [])]
  const scm = await scmSettings(settings, scmObjects, snapshot, operator, cwd)
  const after = analyse(snapshot, operator.config, scm.settings)
  return {
    after,
    before: after,
    operator,
    inputFindings: [...operator.disagreements, ...scm.findings],
    problems: scm.problems,
    marks: marksOf(objects),
    notes: [
      ...scm.notes,
      ...unreadNotes(after, side, operatorsUnknown(side)),
      ...assumptionNotes(operator, scm.settings),
    ],
    isLive: true,
    scm,
    namespaceInForce: namespace,
  }
}
