// `status` as machines read it.
import { workloadText } from '@kleym/shared/core/install/scm-container.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Frame } from '../../frame/frame.ts'
import { hopReport } from '../why/json.ts'
import type { StatusAnswer } from './model.ts'

/** The fields of a StatusReport. */
export function statusFields(answer: StatusAnswer): ReturnType<Frame['fields']> {
  const { kinds, operators, leader, scm, scms, conditions, stuck, inForce, hops } = answer
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
    inForce,
    spire: hops.map(hopReport),
    oldestStuck:
      stuck === undefined ? null : { binding: stuck.binding.key, since: stuck.since, reason: stuck.reason },
  }
}
