// What the operator and SCM are set to, for the table: the same sources in the same order as for every other command. What
// is not followed (the operator's Deployments, SCM's configuration) is learnt at the start, and again from time to time;
// statuses and outputs count as they change.
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { readOperators } from '../../../cluster/live-side.ts'
import { ClusterReader } from '../../../cluster/reader.ts'
import { findEveryScm, findOurScm } from '../../../cluster/scm.ts'
import { SCM_NAMESPACES } from '../../../flags/flags.ts'
import type { SettingsOptions } from '../../../flags/options.ts'
import {
  operatorSettings,
  readScmSources,
  scmReading,
  withSettingsOfScm,
  type ScmSources,
  type SettingsReading,
} from '../../../gather/settings.ts'

/** What tells the settings and is not followed. */
export interface LearntSettings {
  readonly options: SettingsOptions
  /** The operator's; undefined where they could not be looked for. */
  readonly deployments: readonly RawObject[] | undefined
  readonly scm: ScmSources
}

/** From where settings are learnt. */
export interface SettingsQuestion {
  readonly client: Client
  /** How errors call the cluster. */
  readonly name: string
  readonly options: SettingsOptions
  /** Undefined: all. Then the workloads of all namespaces are looked at for SCM, as other commands do. */
  readonly namespace: string | undefined
  readonly cwd: string
}

/** Reads what tells the settings. Throws a KleymError where the cluster cannot be reached, or for a bad --scm-config. */
export async function learnSettings({
  client,
  name,
  options,
  namespace,
  cwd,
}: SettingsQuestion): Promise<LearntSettings> {
  const reader = new ClusterReader(client, name)
  await reader.open()
  const operators = await readOperators(reader)
  const deployments = operators.state === 'read' ? operators.objects : undefined
  const question = {
    scmNamespaces: options.scmConfig === undefined ? SCM_NAMESPACES : [],
    output: options,
  }
  const { configMaps, workloads = [] } =
    namespace === undefined
      ? await findEveryScm(reader, question)
      : await findOurScm(reader, question, deployments ?? [])
  return { options, deployments, scm: await readScmSources(options, [...configMaps, ...workloads], cwd) }
}

/** The settings that count, as far as all of that says. */
export function settingsNow(
  { options, deployments = [], scm }: LearntSettings,
  bindings: Iterable<Binding>,
  outputs: Iterable<ClusterSpiffeId>,
): SettingsReading {
  const known = [...outputs]
  const operator = operatorSettings(options, { deployments, bindings: [...bindings], outputs: known })
  return withSettingsOfScm({ operator, scm: scmReading(scm, known, operator, { classFollows: true }) })
}
