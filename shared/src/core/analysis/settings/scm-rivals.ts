// SCMs that delete each other's entries. An SCM deletes what it did not declare among the entries that it takes for its own
// (docs/spire-facts.md §3), and the SCMs of one pod reach the same server, over its socket.
import { own } from '../../base/json.ts'
import { readScmSettings } from '../../model/objects/scm-config.ts'
import { hasVariable } from '../../model/objects/scm-schema.ts'
import { doTheSame, type ScmSettings } from '../../model/objects/scm-settings.ts'
import { whyTakesEntriesOf } from '../../predict/index.ts'
import { workloadText, type ScmContainer } from './scm-container.ts'
import { isSame, type ScmConfigText } from './scm-instance.ts'

/** Two SCMs of one server. */
export interface ScmRivals {
  /** A sentence: which one deletes whose entries. */
  readonly summary: string
  readonly evidence: readonly string[]
}

/** An SCM that runs. */
interface RunningScm {
  readonly container: ScmContainer
  readonly settings: ScmSettings
  /** Where its server is; undefined: where SCM looks by itself. */
  readonly socket: unknown
}

/** The pairs of SCMs that share a server, if one deletes the entries of the other. */
export function rivalScms(
  configs: readonly ScmConfigText[],
  containers: readonly ScmContainer[],
): readonly ScmRivals[] {
  const running = containers.flatMap((container) => runningWith(container, configs))
  return running.flatMap((one, at) => running.slice(at + 1).flatMap((other) => rivals(one, other) ?? []))
}

/** None if its configuration was not found, or several may be it. */
function runningWith(container: ScmContainer, configs: readonly ScmConfigText[]): readonly RunningScm[] {
  const [found, another] = configs.filter(({ at }) => isSame(container.config, at))
  if (found === undefined || another !== undefined) return []
  const evidence = { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] }
  const { settings } = readScmSettings(found.config, found.source, evidence)
  const makesEntries = settings.reconcileClusterSPIFFEIDs || settings.reconcileClusterStaticEntries
  // What a variable is filled in with is not known.
  const isKnown = makesEntries && !hasVariable(settings.entryIDPrefix)
  return isKnown ? [{ container, settings, socket: own(found.config, 'spireServerSocketPath') }] : []
}

function rivals(one: RunningScm, other: RunningScm): ScmRivals | undefined {
  const place = workloadText(one.container.workload)
  if (place !== workloadText(other.container.workload) || one.socket !== other.socket) return undefined
  const areAlike =
    doTheSame(one.settings, other.settings) &&
    !one.container.isForOtherCluster &&
    !other.container.isForOtherCluster
  if (areAlike) return undefined
  const [name, otherName] = [one, other].map(({ container }) => container.container)
  const taken = whyTakesEntriesOf(other.settings, one.settings)
  const lost = whyTakesEntriesOf(one.settings, other.settings)
  const why = taken ?? lost
  if (why === undefined) return undefined
  const [first, second] = taken === undefined ? [otherName, name] : [name, otherName]
  const what =
    taken !== undefined && lost !== undefined
      ? `${first} and ${second} delete each other's entries`
      : `${first} deletes the entries of ${second}`
  return {
    summary: `of the SCMs of ${place}, ${what}`,
    evidence: [
      why,
      ...[one, other].map(({ container, settings }) => `${container.container} runs with ${settings.source}`),
    ],
  }
}
