// Why SCM refuses a configuration at its start, beside what its settings decide: fields of a wrong type, durations, versions, and
// its own checks. Source: SCM, cmd/main.go and api/v1alpha1/controllermanagerconfig_loader.go; k8s.io/component-base,
// config/v1alpha1. A field that it does not have is ignored, and null is absent.
import { parseGoDuration } from '../../base/go/duration.ts'
import { isRecord, own, stringAt, typeName, type JsonRecord } from '../../base/json.ts'
import { SPIRE_GROUP } from '../names.ts'
import { dotted } from './scm-settings.ts'

/** What a field holds: `duration` is a text that Go parses, `nanoseconds` a whole number. */
type FieldType = 'text' | 'flag' | 'mapping' | 'whole number' | 'duration' | 'nanoseconds'

const FIELDS: Readonly<Record<string, FieldType>> = {
  gcInterval: 'nanoseconds',
  spireServerSocketPath: 'text',
  staticManifestPath: 'text',
  logLevel: 'text',
  validatingWebhookConfigurationName: 'text',
  syncPeriod: 'duration',
  gracefulShutDown: 'duration',
  leaderElection: 'mapping',
  'leaderElection.leaderElect': 'flag',
  'leaderElection.leaseDuration': 'duration',
  'leaderElection.renewDeadline': 'duration',
  'leaderElection.retryPeriod': 'duration',
  'leaderElection.resourceLock': 'text',
  'leaderElection.resourceName': 'text',
  'leaderElection.resourceNamespace': 'text',
  controller: 'mapping',
  'controller.cacheSyncTimeout': 'nanoseconds',
  'controller.recoverPanic': 'flag',
  'controller.groupKindConcurrency': 'mapping',
  metrics: 'mapping',
  'metrics.bindAddress': 'text',
  health: 'mapping',
  'health.healthProbeBindAddress': 'text',
  'health.readinessEndpointName': 'text',
  'health.livenessEndpointName': 'text',
  webhook: 'mapping',
  'webhook.port': 'whole number',
  'webhook.host': 'text',
  'webhook.certDir': 'text',
  'reconcile.clusterSPIFFEIDs': 'flag',
  'reconcile.clusterStaticEntries': 'flag',
  'reconcile.clusterFederatedTrustDomains': 'flag',
}

/** Whether SCM's `-expand-env` would replace a part of a text: its value is then not known. */
export function hasVariable(text: string): boolean {
  return /\$(?:\{|[A-Za-z_])/.test(text)
}

/** Each reason, as a plain sentence. */
export function startProblems(config: JsonRecord): readonly string[] {
  const problems = Object.entries(FIELDS).flatMap(([path, type]) => {
    let value: unknown = config
    for (const key of path.split('.')) value = isRecord(value) ? own(value, key) : undefined
    return value === undefined || value === null ? [] : (problemOf(path, value, type) ?? [])
  })
  const apiVersion = own(config, 'apiVersion')
  if (typeof apiVersion === 'string' && !hasVariable(apiVersion) && apiVersion !== `${SPIRE_GROUP}/v1alpha1`)
    problems.push(`.apiVersion is ${apiVersion}, and SCM knows only ${SPIRE_GROUP}/v1alpha1`)
  if (own(config, 'validatingWebhookConfigurationName') === '')
    problems.push('.validatingWebhookConfigurationName is empty')
  if (isText(config, 'cacheNamespace') && isSet(own(config, 'cacheNamespaces')))
    problems.push('.cacheNamespace and .cacheNamespaces are both set')
  const [prefix, cleanup] = [
    stringAt(config, 'entryIDPrefix') ?? '',
    stringAt(config, 'entryIDPrefixCleanup'),
  ]
  if (prefix !== '' && cleanup !== undefined && dotted(prefix) === dotted(cleanup))
    problems.push('.entryIDPrefixCleanup is the same as .entryIDPrefix')
  if (isText(config, 'staticManifestPath') && own(own(config, 'reconcile'), 'clusterSPIFFEIDs') === true)
    problems.push('.staticManifestPath is set, and .reconcile.clusterSPIFFEIDs is true')
  return problems
}

function isText(config: JsonRecord, field: string): boolean {
  const value = own(config, field)
  return typeof value === 'string' && value !== ''
}

function isSet(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0
}

function problemOf(path: string, value: unknown, type: FieldType): string | undefined {
  const isWrong = (what: string): string => `.${path} is ${typeName(value)}, not ${what}`
  // What stands there in place of the variable may be a number.
  if (typeof value === 'string' && hasVariable(value)) return undefined
  switch (type) {
    case 'text':
      return typeof value === 'string' ? undefined : isWrong('a string')
    case 'flag':
      return typeof value === 'boolean' ? undefined : isWrong('true or false')
    case 'mapping':
      return isRecord(value) ? undefined : isWrong('a mapping')
    case 'whole number':
      return Number.isInteger(value) ? undefined : isWrong('a whole number')
    case 'nanoseconds':
      return Number.isInteger(value) ? undefined : isWrong('a whole number of nanoseconds')
    case 'duration':
      if (typeof value !== 'string') return isWrong('a string')
      return !parseGoDuration(value).ok ? `.${path} is no duration of Go: ${value}` : undefined
  }
}
