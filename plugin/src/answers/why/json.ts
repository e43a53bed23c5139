// `why` as machines read it: the hops of each container.
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import { unknownJson } from '@kleym/shared/core/truth/unknown.ts'
import type { Chain } from '@kleym/shared/core/why/chain.ts'
import type { Hop } from '@kleym/shared/core/why/hop.ts'
import type { Frame } from '../../frame/frame.ts'

/** The fields of a WhyReport. */
export function whyFields(chains: readonly Chain[]): ReturnType<Frame['fields']> {
  return {
    chains: chains.map(({ subject, registrations, hops, broken, open }) => ({
      pod: podText(subject.pod),
      container: subject.container.name,
      node: subject.pod.nodeName ?? null,
      registrations: registrations.map(({ source, binding, spiffeId }) => ({
        source,
        binding: binding ?? null,
        spiffe_id: spiffeId ?? null,
      })),
      broken: broken?.name ?? null,
      notKnown: open?.name ?? null,
      hops: hops.map(hopReport),
    })),
  }
}

/** A hop of a report. */
export function hopReport({ name, truth, text, fix, notes = [] }: Hop): Readonly<Record<string, unknown>> {
  return {
    hop: name,
    state: stateOf(truth.value),
    text,
    fix: fix ?? null,
    notes,
    causes: [...truth.causes].map(unknownJson),
  }
}

function stateOf(value: Hop['truth']['value']): 'good' | 'broken' | 'not known' {
  if (value === 'yes') return 'good'
  return value === 'no' ? 'broken' : 'not known'
}
