// What could not be read, as boxes: a part of the map that may hold anything is drawn, and not left out.
import type { Snapshot } from '@kleym/shared/core/snapshot/index.ts'
import { unknownReasonText, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { BARE, type GapNode } from './graph.ts'
import { namespaceId } from './ids.ts'

interface Gap {
  readonly namespace: string
  readonly why: string
  readonly state: GapNode['state']
}

function unknown(why: UnknownReason, namespace = why.namespace ?? ''): Gap {
  return { namespace, why: unknownReasonText(why), state: 'unknown' }
}

/** Each gap once; `more` are those that the answer itself tells of. */
export function gapNodes(
  { rest, absentKinds }: Snapshot,
  more: readonly UnknownReason[],
  isInScope: (namespace: string) => boolean,
): readonly GapNode[] {
  const all: readonly Gap[] = [
    ...[...rest.gaps.values()].map((why) => unknown(why)),
    ...rest.parts.map(({ why, namespace }) => unknown(why, namespace)),
    ...more.map((why) => unknown(why)),
    ...[...absentKinds].map((kind): Gap => ({
      namespace: '',
      why: `the API server does not serve ${kind}`,
      state: 'not served',
    })),
  ]
  const distinct = new Map(
    all
      .filter(({ namespace }) => namespace === '' || isInScope(namespace))
      .map((gap) => [`${gap.namespace}/${gap.why}`, gap]),
  )
  // What is reported of a namespace need not be reported of the cluster too.
  const inNamespaces = new Set([...distinct.values()].flatMap((one) => (one.namespace === '' ? [] : one.why)))
  return [...distinct.values()]
    .filter(({ namespace, why }) => namespace !== '' || !inNamespaces.has(why))
    .toSorted(
      (left, right) => compareBytes(left.namespace, right.namespace) || compareBytes(left.why, right.why),
    )
    .map(({ namespace, why, state }) => ({
      kind: 'gap',
      id: `gap/${namespace}/${why}`,
      label: state === 'unknown' ? 'not known' : 'not served',
      ...BARE,
      namespace,
      parent: namespace === '' ? null : namespaceId(namespace),
      state,
      why,
    }))
}
