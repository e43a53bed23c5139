// `rename` as machines read it.
import type { RenameStep } from '@kleym/shared/core/rename/plan.ts'
import type { Rename } from '@kleym/shared/core/rename/rename.ts'
import type { Frame } from '../../frame/frame.ts'
import { holdersReport } from '../diff/json.ts'

/** Whether a container is cut off in between. */
export type RenameVerdict = 'nobody' | 'not known' | 'somebody'

/** The verdict of a plan. */
export function verdictOf({ cutOffs }: Rename): RenameVerdict {
  return cutOffs.some(({ isOpen }) => !isOpen) ? 'somebody' : cutOffs.length > 0 ? 'not known' : 'nobody'
}

/** The fields of a RenameReport. */
export function renameFields(rename: Rename, steps: readonly RenameStep[]): ReturnType<Frame['fields']> {
  const { question, renamed, changes, holders, consumers, effects, cutOffs } = rename
  return {
    rename: { ...question },
    cutOff: verdictOf(rename),
    cutOffs: cutOffs.map(({ text, isOpen }) => ({ text, isCertain: !isOpen })),
    bindings: renamed.map(({ binding, next, oldId, newId, why, how, bridge, manifest }) => ({
      binding: binding.key,
      next,
      oldID: oldId ?? null,
      newID: newId ?? null,
      why: why ?? null,
      how,
      bridge:
        bridge === undefined
          ? null
          : {
              name: bridge.name,
              isThere: bridge.isThere,
              because: bridge.because,
              manifest: bridge.manifest,
            },
      manifest: manifest ?? null,
    })),
    changes: changes.map(({ oldId, newId }) => ({
      oldID: oldId,
      newID: newId,
      containers: holders.get(oldId) ?? [],
    })),
    consumers: consumers.edits.map(({ kind, consumer, where, written, add, way, oldId, newId, whyOpen }) => ({
      kind,
      consumer,
      where,
      written,
      add,
      way,
      oldID: oldId,
      newID: newId,
      isCertain: whyOpen === undefined,
    })),
    steps,
    both: holdersReport(effects.both),
    switched: holdersReport(effects.switched),
    done: holdersReport(effects.done),
  }
}
