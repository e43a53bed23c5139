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
import { readScmSettings } from '@kleym/shared/core/objects/scm-config.ts'
import type { ScmSettings } from '@kleym/shared/core/objects/scm-settings.ts'

/** The settings that the command line gives; undefined: not given. */
export interface GivenSettings {
  readonly trustDomain: string | undefined
  readonly className: string | undefined
  /** SCM's configuration from a file, and what it is called; undefined: not given. */
  readonly scm: { readonly config: unknown; readonly source: string } | undefined
}

/** What is in force, as far as the command line and the statuses say. */
export function operatorSettings(
  { trustDomain, className }: Pick<GivenSettings, 'trustDomain' | 'className'>,
  bindings: Iterable<Binding>,
): OperatorSettings {
  const flags: SettingsClaim = { source: 'the command line', subject: undefined, trustDomain, className }
  return settleSettings([flags, ...firstClaim(bindings)])
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
  { config, classNameSource }: OperatorSettings,
  outputs: Iterable<ClusterSpiffeId>,
): ScmSettings {
  const evidence = {
    trustDomain: config.trustDomain.kind === 'set' ? config.trustDomain.value : undefined,
    className: classNameSource === undefined ? undefined : config.className,
    clusterSpiffeIdClasses: [...outputs].map(({ spec }) => spec.className),
  }
  return readScmSettings(scm?.config, scm?.source ?? 'the SPIRE chart', evidence).settings
}
