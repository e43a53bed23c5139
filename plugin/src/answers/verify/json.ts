// `verify` as machines read it: how many entries agree, and each difference with its cause.
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { JudgedDifference } from '@kleym/shared/core/rules/verify-rules.ts'
import type { SvidAnswer } from '@kleym/shared/core/spire/verify/container-svids.ts'
import { expectedParts } from '@kleym/shared/core/spire/verify/compare-entries.ts'
import type { Frame } from '../../frame/frame.ts'
import type { ServerComparison } from './compare.ts'

/** The fields of a VerifyReport. */
export function verifyFields(
  { counts, judged }: ServerComparison,
  svids: SvidAnswer | undefined,
): ReturnType<Frame['fields']> {
  return {
    entries: {
      read: counts.read,
      agreed: counts.agreed,
      missing: counts.missing.length,
      extra: counts.extra.length + counts.extraBeyond + counts.extraUnjudged,
      different: counts.different.length,
      open: counts.open,
      perhapsMissing: counts.perhapsMissing,
      openOn: counts.openOn,
      pending: counts.pending,
    },
    differences: judged.map(differenceReport),
    svids: svids === undefined ? null : svidsReport(svids),
  }
}

function svidsReport({
  asked: { pod, container, svids, attested },
  lacking,
  surplus,
}: SvidAnswer): Readonly<Record<string, unknown>> {
  return {
    pod: podText(pod),
    container: container.name,
    got: svids.map(({ spiffeId, hint }) => ({ spiffe_id: spiffeId, hint })),
    selectors: attested?.selectors ?? null,
    lacking: lacking.map(({ registration, entry, failing, untold, why }) => ({
      spiffe_id: registration.spiffeId ?? '',
      source: sourceText(registration.source),
      entry: entry?.id ?? null,
      why,
      failing: failing.map(({ selector, has, askedBy, decidedBy, isShownByPod }) => ({
        selector,
        has,
        askedBy: askedBy ?? null,
        decidedBy: decidedBy ?? null,
        isShownByPod,
      })),
      untold,
    })),
    surplus: surplus.map(({ spiffeId, entry }) => ({ spiffe_id: spiffeId, entry: entry?.id ?? null })),
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
  const parts = expectedParts(difference)
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
