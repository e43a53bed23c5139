// What the operator is set to, for the table: the command line, then what it has written into a status. (Its Deployment is
// not read: it may be in any namespace, and whoever watches may not be allowed to look.)
import {
  settleSettings,
  statusClaims,
  type OperatorSettings,
  type SettingsClaim,
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
  /** SCM's configuration from a file; undefined: not given. */
  readonly scm: ScmConfigText | undefined
}

/** What is in force, as far as the command line and the statuses say. */
export function operatorSettings(given: GivenSettings, bindings: Iterable<Binding>): OperatorSettings {
  return settleSettings([flagClaim(given), ...firstClaim(bindings)])
}

/** One status is enough: the operator writes the same into all. */
function firstClaim(bindings: Iterable<Binding>): readonly SettingsClaim[] {
  for (const binding of bindings) {
    const claims = statusClaims([binding])
    if (claims.length > 0) return claims
  }
  return []
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
