// The controller and everything that it is made of. Each part takes its collaborators in one options object and keeps that;
// this is the one place that makes them and hands them on.
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Config } from '@kleym/shared/core/decide/index.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { Caches } from './caches/caches.ts'
import { LiveLists } from './caches/live-lists.ts'
import { OutputSchema } from './caches/output-schema.ts'
import { talliedOutputs } from './caches/tallied-outputs.ts'
import { ClaimRegister } from './claims/claim-register.ts'
import { Compiler } from './claims/compiler.ts'
import { seenReferences } from './claims/held-references.ts'
import { Indexes } from './claims/indexes.ts'
import { Installs } from './claims/installs.ts'
import { Ledger } from './claims/ledger.ts'
import { WorkQueue } from './queue/queue.ts'
import { ApplyFailures } from './reconcile/apply-failures.ts'
import { Controller } from './reconcile/controller.ts'
import { Convergence } from './reconcile/convergence.ts'
import { BindingDeletion } from './reconcile/deletion.ts'
import { InForceTracker } from './reconcile/in-force-tracker.ts'
import { Orphans } from './reconcile/orphans.ts'
import { Reconciler } from './reconcile/reconciler.ts'
import { Repairs } from './reconcile/repairs.ts'
import { NamespaceRoom } from './reconcile/namespace-room.ts'
import { Reports } from './reconcile/reports.ts'
import type { EventRecorder } from './telemetry/events.ts'
import type { Log } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { WriteBudget } from './write/write-budget.ts'
import { Writer } from './write/writer.ts'

/** What a controller needs of the outside. */
export interface ControllerParts {
  readonly api: Api
  readonly caches: Caches
  readonly config: Config
  readonly clock: Clock
  /** From 0 up to but without 1. */
  readonly random: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly events: EventRecorder
  /** The installs whose outputs count as ours (`--take-over`). */
  readonly takeOver: ReadonlySet<string>
  /** Whether no SCM takes an output without a class (`--classless-ignored`). */
  readonly classlessIgnored: boolean
  /** Asks the API server again whether it serves the kind of a cache; resolves when the cache's state says so. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
  /** The most writes in a second, and bindings with an output in a namespace; undefined: no limit. */
  readonly writesPerSecond: number | undefined
  readonly bindingsPerNamespace: number | undefined
  /** How many bindings are worked on at the same time. */
  readonly workers: number
  /** After how many milliseconds every binding is looked at again, should a change have been missed; undefined: never. */
  readonly resyncMs: number | undefined
  /** Lets timers and I/O have their turn. */
  readonly pause: () => Promise<unknown>
}

/** A controller that follows the caches from now on, and does nothing until it leads. */
export function composeController(parts: ControllerParts): Controller {
  const { clock, random, metrics, workers, caches } = parts
  const wake = (key: string): void => controller.wake(key)
  const queue = new WorkQueue({
    clock,
    random,
    groupOf: namespaceWritten,
    isLarge: (key) => caches.bindings.store.get(key)?.isLarge === true,
    workers,
    observer: metrics.queue,
  })
  metrics.watchQueue(queue)
  metrics.watchOutputs(talliedOutputs(caches))
  const register = new ClaimRegister({ wake, onTouched: (namespace) => indexes.wakePeers(namespace) })
  const seen = seenReferences(caches)
  const compiler = new Compiler({ ...parts, seen })
  const { install } = parts.config
  const installs = new Installs({ ...parts, install, onFree: () => controller.lookAtAll() })
  const indexes = new Indexes({ ...parts, seen, compiler, register, installs, wake })
  const ledger = new Ledger({ ...parts, compiler, indexes, register })
  const writer = new Writer({ ...parts, ledger })
  const inForce = new InForceTracker(parts)
  const budget = new WriteBudget({
    clock,
    perSecond: parts.writesPerSecond,
    groupOf: namespaceWritten,
    wake,
  })
  const room = new NamespaceRoom({ ...parts, wake })
  const reports = new Reports({ ...parts, writer, inForce, budget })
  const repairs = new Repairs(parts)
  const applyFailures = new ApplyFailures(parts)
  const lists = new LiveLists(parts)
  const outputSchema = new OutputSchema({ ...parts, onChange: () => controller.lookAtAll() })
  const shared = {
    ...parts,
    indexes,
    ledger,
    writer,
    reports,
    repairs,
    applyFailures,
    inForce,
    lists,
    outputSchema,
    budget,
    room,
    wake,
  }
  const reconciler = new Reconciler({
    ...shared,
    orphans: new Orphans(shared),
    convergence: new Convergence({
      ...shared,
      onRepair: () => metrics.outputRepaired(),
      clearWakes: (key) => queue.clearDirty(key),
    }),
    deletion: new BindingDeletion(shared),
  })
  const controller = new Controller({ ...shared, installs, queue, reconciler })
  return controller
}
