// `verify` as machines read it: how many entries agree, and each difference with its cause.
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { JudgedDifference } from '@kleym/shared/core/rules/verify-rules.ts'
import { partsOfKey } from '@kleym/shared/core/spire/verify/server-entry.ts'
import type { Frame } from '../../frame/frame.ts'
import type { ServerComparison } from './compare.ts'

/** The fields of a VerifyReport. */
export function verifyFields({ counts, judged }: ServerComparison): ReturnType<Frame['fields']> {
  return {
    entries: {
      read: counts.read,
      agreed: counts.agreed,
      missing: counts.missing.length,
      extra: counts.extra.length + counts.extraBeyond,
      different: counts.different.length,
      open: counts.open,
      perhapsMissing: counts.perhapsMissing,
      openOn: counts.openOn,
      pending: counts.pending,
    },
    differences: judged.map(differenceReport),
  }
}

function differenceReport({
  difference,
  code,
  holders,
}: JudgedDifference): Readonly<Record<string, unknown>> {
  const { kind, cause, why, owner } = difference
  const base = { kind, code, cause, why }
  if (kind === 'extra') {
    const { entry } = difference
    return {
      ...base,
      entry: entry.id,
      spiffe_id: entry.spiffeId,
      parent_id: entry.parentId,
      selectors: entry.selectors,
      source: null,
      pod: null,
      willBeDeleted: owner === undefined || owner.kind === 'unknown' ? null : owner.kind === 'scm',
      heldBy: [...holders.certain, ...holders.possible].map(({ pod, container }) => ({
        pod: podText(pod),
        container,
      })),
      fields: [],
    }
  }
  const { expected } = difference
  const [fields] = expected.fields
  const key = kind === 'missing' ? difference.key : difference.entry.key
  const parts = partsOfKey(key, fields?.shape ?? '')
  return {
    ...base,
    entry: kind === 'different' ? difference.entry.id : null,
    spiffe_id: parts.spiffeId,
    parent_id: parts.parentId,
    selectors: parts.selectors,
    source: sourceText(expected.source),
    pod: expected.pod === undefined ? null : podText(expected.pod),
    willBeDeleted: null,
    heldBy: [],
    fields: kind === 'different' ? difference.fields : [],
  }
}
