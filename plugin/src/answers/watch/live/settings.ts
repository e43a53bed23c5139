// What the operator is set to, for the table: the command line, then what it has written into a status. (Its Deployment is
// not read: it may be in any namespace, and the user may not be allowed to list Deployments there.)
import {
  mergeSettings,
  outputSettings,
  statusSettings,
  type OperatorSettings,
  type SettingsSource,
} from '@kleym/shared/core/install/operator-settings.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import type { ScmConfigText } from '@kleym/shared/core/install/scm-instance.ts'
import { readScmSettings } from '@kleym/shared/core/objects/scm-config.ts'
import type { ScmSettings } from '@kleym/shared/core/objects/scm-settings.ts'
import { flagClaim, scmEvidence } from '../../../gather/settings.ts'

/** The settings that the command line gives; undefined: not given. */
export interface GivenSettings {
  readonly trustDomain: string | undefined
  readonly className: string | undefined
  readonly outputLabels: ReadonlyMap<string, string> | undefined
  readonly variantLabelKey?: string | undefined
  /** SCM's configuration from a file; undefined: not given. */
  readonly scm: ScmConfigText | undefined
}

/** What is in force, as far as the command line and the statuses say. */
export function operatorSettings(
  given: GivenSettings,
  bindings: Iterable<Binding>,
  outputs: Iterable<ClusterSpiffeId>,
): OperatorSettings {
  return mergeSettings([flagClaim(given), ...firstClaim(bindings), ...outputSettings(outputs)])
}

/** One status is enough, and one of a variant: the operator writes the same into all. */
function firstClaim(bindings: Iterable<Binding>): readonly SettingsSource[] {
  let first: SettingsSource | undefined
  for (const binding of bindings) {
    const [claim] = statusSettings([binding])
    if (claim?.variantLabelKey !== undefined) return first === undefined ? [claim] : [first, claim]
    first ??= claim
  }
  return first === undefined ? [] : [first]
}

/** SCM's settings from the file that was given, else as its charts set them. */
export function scmSettings(
  { scm }: GivenSettings,
  operator: OperatorSettings,
  outputs: Iterable<ClusterSpiffeId>,
): ScmSettings {
  const source = scm?.source ?? 'the SPIRE chart'
  return readScmSettings(scm?.config, source, scmEvidence(operator, outputs)).settings
}
