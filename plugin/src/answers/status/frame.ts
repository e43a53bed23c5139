// The report of `status`: what is installed, what it is set to, and how the bindings stand by what the operator wrote.
import { installationFindings } from '@kleym/shared/core/rules/installation-rules.ts'
import { compareFindings } from '@kleym/shared/core/findings/finding.ts'
import { installFindings } from '@kleym/shared/core/rules/install-rules.ts'
import { countConditions, oldestStuck } from '@kleym/shared/core/install/conditions.ts'
import { readOperatorDeployment } from '@kleym/shared/core/install/operator-deployment.ts'
import { BINDING_GROUP, BINDING_KIND } from '@kleym/shared/core/names.ts'
import { gapOf } from '@kleym/shared/core/snapshot/snapshot.ts'
import { workloadText } from '@kleym/shared/core/install/scm-container.ts'
import { outputHandling } from '@kleym/shared/core/install/scm-instance.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { operatorsUnknown, type Installation, type Leader } from '../../cluster/installation.ts'
import type { InstalledWorld } from '../../gather/installed.ts'
import { viewStatus } from './view.ts'
import { namedSubject, type Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'
import type { StatusAnswer } from '../../frame/model.ts'

/** Makes the report; `now` tells whether a Lease still counts. */
export function statusFrame(world: InstalledWorld, installation: Installation, now: Date): Frame {
  const { after } = world
  const { kinds, side } = installation
  const operators = side.operatorDeployments?.map(readOperatorDeployment)
  const absentKinds = new Set(
    kinds.filter(({ served }) => served.state === 'absent').map(({ resource }) => resourceName(resource)),
  )
  const isClassKnown = world.operator.classNameSource !== undefined
  const isKnown = gapOf(after.snapshot, `${BINDING_KIND}.${BINDING_GROUP}`) === undefined
  const { bindings } = after.snapshot
  const answer: StatusAnswer = {
    kinds,
    operators,
    leader: leaderAt(installation.leader, now),
    scm: isClassKnown
      ? outputHandling(after.config.className, after.settings)
      : { state: 'unknown', why: "kleym's class is not known" },
    scms: world.scm.instances,
    scmContainers:
      side.scmWorkloads === undefined && world.scm.containers.length === 0 ? undefined : world.scm.containers,
    conditions: isKnown ? countConditions(bindings) : undefined,
    stuck: oldestStuck(bindings),
  }
  return {
    kind: 'StatusReport',
    fields: () => fieldsOf(answer),
    findings: [
      ...installationFindings(after, { absentKinds, operators, isClassKnown }),
      ...installFindings(after),
      ...world.inputFindings,
    ].toSorted(compareFindings),
    missing: [
      ...missingOf(world, []),
      ...operatorsUnknown(side),
      ...kinds.flatMap(({ served }) => (served.state === 'unknown' ? [served.why] : [])),
    ],
    names: (shown) => shown.map(namedSubject),
    view: (layout, shown) => viewStatus(answer, world, shown, layout),
  }
}

function leaderAt(leader: Leader | undefined, now: Date): StatusAnswer['leader'] {
  if (leader === undefined) return undefined
  const until = Date.parse(leader.renewed) + leader.durationSeconds * 1000
  return { ...leader, isCurrent: leader.holder !== '' && now.getTime() < until }
}

function fieldsOf(answer: StatusAnswer): ReturnType<Frame['fields']> {
  const { kinds, operators, leader, scm, scms, conditions, stuck } = answer
  return {
    kinds: kinds.map(({ resource, served }) => ({
      kind: resourceName(resource),
      version: resource.version,
      served: served.state,
    })),
    operators:
      operators?.map(({ subject, wanted, available, images }) => ({
        namespace: subject.namespace,
        name: subject.name,
        replicas: wanted,
        available,
        images,
      })) ?? null,
    leader:
      leader === undefined ? null : { lease: leader.lease, holder: leader.holder, current: leader.isCurrent },
    scmHandlesClass: scm.state,
    scms: scms.map(({ settings, runBy, handling }) => ({
      config: settings.source,
      workloads: runBy.map(({ workload }) => workloadText(workload)),
      className: settings.className ?? null,
      handlesClass: handling.state,
    })),
    conditions: conditions ?? null,
    oldestStuck:
      stuck === undefined ? null : { binding: stuck.binding.key, since: stuck.since, reason: stuck.reason },
  }
}
