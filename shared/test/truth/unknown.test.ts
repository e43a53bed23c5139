// The words of each cause.
import { expect, test } from 'vitest'
import {
  atRuntime,
  unknownFix,
  unknownJson,
  unknownText,
  type Unknown,
} from '../../src/core/model/truth/unknown.ts'

const UNREAD = { verb: 'list', what: 'Pod', namespace: 'team-a', cause: 'forbidden' } as const

const CASES: readonly (readonly [cause: Unknown, text: string, fix: string | undefined])[] = [
  [
    { kind: 'unread', of: { kind: 'Pod', namespace: 'team-a' }, why: UNREAD },
    'cannot list Pod in namespace team-a: forbidden',
    'grant the right to list Pod',
  ],
  [
    {
      kind: 'doubled',
      of: { kind: 'Namespace', name: 'team-a' },
      why: { verb: 'read', what: 'Namespace', cause: 'ambiguous' },
    },
    'Namespace team-a may be other than it was read: defined several times: Namespace',
    'leave one of the two definitions, and correct it',
  ],
  [
    {
      kind: 'refused',
      of: { kind: 'ClusterSPIFFEID.spire.spiffe.io', name: 'x' },
      why: 'SCM keeps its older content',
    },
    'ClusterSPIFFEID x: SCM keeps its older content',
    'correct the object',
  ],
  [
    { kind: 'undecided', of: { namespace: 'team-a' }, binding: 'team-a/chat', why: UNREAD },
    'binding team-a/chat is undetermined: cannot list Pod in namespace team-a: forbidden',
    'grant the right to list Pod',
  ],
  [
    {
      kind: 'made by',
      of: { kind: 'Pod', namespace: 'team-a' },
      maker: 'RayCluster team-a/llm',
      why: 'its pods are not here',
    },
    'its pods are not here',
    'give the objects that it has made',
  ],
  [
    {
      kind: 'webhook',
      of: { namespace: 'team-a' },
      injector: "Istio's injector",
      adds: 'container istio-proxy',
    },
    "whether container istio-proxy is there depends on the webhook of Istio's injector",
    'give the pods as they run, or the Namespace with its labels',
  ],
  [atRuntime('the pod has no node yet'), 'the pod has no node yet', undefined],
  [
    { kind: 'not followed', of: {}, construct: 'spec.x', why: 'kleym does not follow it' },
    'spec.x: kleym does not follow it',
    undefined,
  ],
  [
    {
      kind: 'tie',
      of: {},
      between: ['ClusterSPIFFEID/a', 'ClusterSPIFFEID/b'],
      why: 'neither has a creation time',
    },
    'ClusterSPIFFEID/a and ClusterSPIFFEID/b want the same entry: neither has a creation time',
    'let one of the two ask for another entry',
  ],
  [
    { kind: 'setting', of: {}, setting: '--trust-domain', assumed: '<trust-domain>', why: '' },
    '--trust-domain was not given (<trust-domain> is assumed)',
    'give --trust-domain',
  ],
  [
    { kind: 'out of scope', of: {}, namespaces: ['a', 'b'] },
    'other namespaces than a, b were not read',
    'ask about all namespaces (-A)',
  ],
  [{ kind: 'verdict', of: {}, why: 'the pod has no node yet' }, 'the pod has no node yet', undefined],
]

test.each(CASES)('%j', (cause, text, fix) => {
  expect(unknownText(cause)).toBe(text)
  expect(unknownFix(cause)).toBe(fix)
  expect(unknownJson(cause)).toEqual({
    cause: cause.kind,
    message: text,
    ...(fix !== undefined && { fix }),
    ...cause.of,
  })
})
