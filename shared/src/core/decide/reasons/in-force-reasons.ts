// Every reason of the condition `InForce` (docs/contract.md §7), once: what it says, what it means and how to fix it. The
// operator's messages, the docs table and the plugin's hints are made from this.
import type { InForceReason } from '../in-force/in-force.ts'
import { keysOf } from '../../base/json.ts'

/** What a reason of `InForce` comes to. */
export interface InForceEntry {
  readonly status: 'True' | 'False' | 'Unknown'
  /** The message of the condition: one sentence, without counts, so that scaling rewrites no status. */
  readonly message: string
  /** One imperative sentence; empty where nothing is wrong. */
  readonly fix: string
}

export const IN_FORCE_REASONS: Readonly<Record<InForceReason, InForceEntry>> = {
  Registered: {
    status: 'True',
    message: 'SPIRE holds registration entries for the ClusterSPIFFEID.',
    fix: '',
  },
  NoOutput: {
    status: 'False',
    message: 'There is no ClusterSPIFFEID for this binding.',
    fix: 'Look at the condition Ready: it says why.',
  },
  NamespaceIgnored: {
    status: 'False',
    message: 'The SPIRE controller manager ignores the namespace of this binding.',
    fix: 'Take the namespace out of ignoreNamespaces of the SPIRE controller manager, or serve from another one.',
  },
  NoPods: {
    status: 'False',
    message: 'No pod has the labels that the pool selects.',
    fix: 'Start the pods of the pool, or correct the labels of its selector; kubectl kleym explain names the nearest pods.',
  },
  EntriesRefused: {
    status: 'False',
    message: 'The SPIRE server refuses the registration entries.',
    fix: 'Read the log of the SPIRE controller manager: it names the entry and the reason of the server.',
  },
  Masked: {
    status: 'False',
    message: 'Other objects hold the same registration entries.',
    fix: 'Find the object that comes first with kubectl kleym who-selects, and change or delete it.',
  },
  RenderFailed: {
    status: 'False',
    message:
      'The SPIRE controller manager can make no entry for the pods: it serves another trust domain, or they have no node.',
    fix: 'Compare --trust-domain with trustDomain of the SPIRE controller manager; wait for the pods to be scheduled; else read the log of the SPIRE controller manager.',
  },
  Pending: {
    status: 'Unknown',
    message: 'The ClusterSPIFFEID was written; the SPIRE controller manager has a minute to act on it.',
    fix: '',
  },
  NotHandled: {
    status: 'Unknown',
    message:
      'The SPIRE controller manager has written no status on the ClusterSPIFFEID: it is probably not running, of another class, or sees only objects with another label.',
    fix: 'Compare its className, filterByClassName and clusterSPIFFEIDLabelSelector with kubectl kleym status.',
  },
  Undetermined: {
    status: 'Unknown',
    message: 'The ClusterSPIFFEID could not be read, or its counters do not say.',
    fix: 'Look at the condition Ready and at the log of the operator.',
  },
}

/** All reasons of `InForce`, in the order of the registry. */
export const IN_FORCE_REASON_NAMES: readonly InForceReason[] = keysOf(IN_FORCE_REASONS)

/** Whether a reason comes from counters that SCM has written: some SCM acts on the output then. */
export function showsScm(reason: string): boolean {
  return SHOWING_SCM.has(reason)
}

const SHOWING_SCM: ReadonlySet<string> = new Set<InForceReason>([
  'Registered',
  'NamespaceIgnored',
  'NoPods',
  'EntriesRefused',
  'Masked',
  'RenderFailed',
])

/** Whether a text is a reason of `InForce`. */
export function isInForceReason(text: string): text is InForceReason {
  return Object.hasOwn(IN_FORCE_REASONS, text)
}
