// The SPIRE Controller Managers of a cluster, and which of them acts on what kleym writes: an answer is about that one. A
// cluster may have several, told by their classes (docs/spire-facts.md §2).
import { isClassLabel, type OutputSettings } from '../../decide/index.ts'
import type { JsonRecord } from '../../base/json.ts'
import { LABEL_MANAGED_BY, MANAGED_BY, SCM_CLASS_LABEL } from '../../model/names.ts'
import { readScmSettings, type ScmEvidence } from '../../model/objects/scm-config.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import { type ObjectHandling, classHandling, unseenHandling } from '../../predict/index.ts'
import type { ConfigMapKey, ScmContainer } from './scm-container.ts'

/** A configuration of SCM as it was found. */
export interface ScmConfigText {
  readonly config: JsonRecord
  readonly source: string
  /** Undefined: it does not stand in a ConfigMap. */
  readonly at?: ConfigMapKey | undefined
}

/** A configuration of SCM, what runs with it, and what that does with kleym's output. */
export interface ScmInstance {
  readonly settings: ScmSettings
  readonly problems: readonly string[]
  /** Where its configuration stands; undefined: in no ConfigMap. */
  readonly at: ConfigMapKey | undefined
  /** The containers that are known to run with it; incomplete where workloads could not be looked for. */
  readonly runBy: readonly ScmContainer[]
  readonly handling: ObjectHandling
}

/**
 * The instances behind some configurations, those first that act on kleym's output; a class of its that is not known is that
 * of any. One that only another cluster's SCM runs with is left out. So is one that no container runs with, where some are known to be
 * run with, or where each container is known to mount another.
 */
export function scmInstances(
  configs: readonly ScmConfigText[],
  containers: readonly ScmContainer[],
  { className, ...labels }: Omit<OutputSettings, 'className'> & { readonly className: string | undefined },
  evidence: ScmEvidence,
): readonly ScmInstance[] {
  const here = containers.filter(({ isForOtherCluster }) => !isForOtherCluster)
  const all = configs.map(({ config: text, source, at }) => {
    const { settings, problems } = readScmSettings(text, source, evidence)
    const isMeant = (one: ScmContainer): boolean => isSame(one.config, at)
    return {
      settings,
      problems,
      at,
      runBy: here.filter(isMeant),
      isElsewhere: containers.some((one) => one.isForOtherCluster && isMeant(one)) && !here.some(isMeant),
      // What is not known of kleym's class and labels is assumed to be what SCM asks for.
      handling: outputHandling(
        { ...labels, className: className ?? settings.className ?? '' },
        labels.outputLabels === undefined ? withoutLabels(settings) : settings,
      ),
    }
  })
  const ours = all.filter(({ isElsewhere }) => !isElsewhere)
  const running = ours.filter(({ runBy }) => runBy.length > 0)
  const isEachKnown = here.length > 0 && here.every(({ config }) => config !== undefined)
  // What each mounts was not found: no other ConfigMap says what it is set to.
  const mayRun = isEachKnown ? ours.filter(({ at }) => at === undefined) : ours
  const found = running.length > 0 ? running : mayRun
  // Where none acts on it, one that handles no ClusterSPIFFEID at all is the last that is meant.
  const rank = (one: (typeof found)[number]): number =>
    acts(one) ? 0 : one.settings.reconcileClusterSPIFFEIDs ? 1 : 2
  return found
    .toSorted((left, right) => rank(left) - rank(right))
    .map(({ settings, problems, at, runBy, handling }) => ({ settings, problems, at, runBy, handling }))
}

/** Output labels that nothing tells may be those that an SCM asks for. */
function withoutLabels(settings: ScmSettings): ScmSettings {
  return { ...settings, clusterSPIFFEIDLabelSelector: new Map() }
}

/** Whether an instance acts on what kleym writes. */
export function acts({ handling }: Pick<ScmInstance, 'handling'>): boolean {
  return handling.state === 'handled'
}

/** What SCM with these settings does with an output of kleym's, by its class and by the labels that all outputs have. */
export function outputHandling(config: OutputSettings, settings: ScmSettings): ObjectHandling {
  const source = { kind: 'ClusterSPIFFEID', name: "kleym's output" } as const
  const labels = new Map([
    ...(config.outputLabels ?? []),
    [LABEL_MANAGED_BY, MANAGED_BY] as const,
    ...(isClassLabel(config.className) ? [[SCM_CLASS_LABEL, config.className] as const] : []),
  ])
  const byClass = classHandling(config.className, settings, source)
  return byClass.state === 'ignored' ? byClass : (unseenHandling(labels, settings, source) ?? byClass)
}

/** Whether a configuration is the one that a container mounts. */
export function isSame(mounted: ConfigMapKey | undefined, at: ConfigMapKey | undefined): boolean {
  if (mounted === undefined || at === undefined) return false
  const isMap = mounted.namespace === at.namespace && mounted.name === at.name
  return isMap && (mounted.key === undefined || mounted.key === at.key)
}
