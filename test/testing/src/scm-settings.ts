// Settings of the SPIRE Controller Manager (SCM) for tests.
import { readScmSettings } from '@kleym/shared/core/model/objects/scm-config.ts'
import { TRUST_DOMAIN } from './manifests.ts'

/** Settings under which SCM handles every ClusterSPIFFEID in every namespace: it wants no class and ignores nothing. */
export const HANDLES_EVERYTHING = readScmSettings(
  { trustDomain: TRUST_DOMAIN, clusterName: 'prod', watchClassless: true, ignoreNamespaces: [] },
  'a test',
  { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] },
).settings
