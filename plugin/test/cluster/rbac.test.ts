// What a user would need to be allowed, as rules that can be pasted.
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { missingRbacRules } from '../../src/cluster/rbac.ts'

const no = (what: string, namespace?: string, more: Partial<UnknownReason> = {}): UnknownReason => ({
  verb: 'list',
  what,
  cause: 'forbidden',
  ...(namespace !== undefined && { namespace }),
  ...more,
})

test.each<[says: string, unread: readonly UnknownReason[], rules: readonly string[]]>([
  ['nothing was forbidden', [no('Pod', undefined, { cause: 'failed' })], []],
  [
    'a cluster-wide list',
    [no('Pod')],
    ['a ClusterRole would need these rules:', '  - {apiGroups: [""], verbs: [list], resources: [pods]}'],
  ],
  [
    'a list of a namespace',
    [no('Pod', 'team-a')],
    [
      'a Role in namespace team-a would need these rules:',
      '  - {apiGroups: [""], verbs: [list], resources: [pods]}',
    ],
  ],
  [
    'several kinds of a group in one rule, each once',
    [no('Pod'), no('Node'), no('Pod')],
    [
      'a ClusterRole would need these rules:',
      '  - {apiGroups: [""], verbs: [list], resources: [pods, nodes]}',
    ],
  ],
  [
    'a rule for each group and verb',
    [no('Pod'), no('Deployment.apps'), no('Pod', undefined, { verb: 'watch' })],
    [
      'a ClusterRole would need these rules:',
      '  - {apiGroups: [""], verbs: [list], resources: [pods]}',
      '  - {apiGroups: ["apps"], verbs: [list], resources: [deployments]}',
      '  - {apiGroups: [""], verbs: [watch], resources: [pods]}',
    ],
  ],
  [
    'a place for each namespace, but one for those that need the same',
    [no('Pod', 'a'), no('Pod', 'b'), no('Pod', 'c'), no('Deployment.apps', 'c')],
    [
      'a Role in each of the namespaces a, b would need these rules:',
      '  - {apiGroups: [""], verbs: [list], resources: [pods]}',
      'a Role in namespace c would need these rules:',
      '  - {apiGroups: [""], verbs: [list], resources: [pods]}',
      '  - {apiGroups: ["apps"], verbs: [list], resources: [deployments]}',
    ],
  ],
  [
    'a Lease by name',
    [no('Lease.coordination.k8s.io', 'kleym', { verb: 'get' })],
    [
      'a Role in namespace kleym would need these rules:',
      '  - {apiGroups: ["coordination.k8s.io"], verbs: [get], resources: [leases]}',
    ],
  ],
  [
    'a Namespace, which no Role allows',
    [no('Namespace', 'team-a', { verb: 'get' })],
    ['a ClusterRole would need these rules:', '  - {apiGroups: [""], verbs: [get], resources: [namespaces]}'],
  ],
  [
    'a ReplicaSet, which is read where it is asked for',
    [no('ReplicaSet.apps')],
    [
      'a ClusterRole would need these rules:',
      '  - {apiGroups: ["apps"], verbs: [list], resources: [replicasets]}',
    ],
  ],
  ['what no rule can allow, in no empty list', [no('Unheard.of')], []],
])('%s', (_says, unread, rules) => {
  const found = missingRbacRules(unread)
  expect(found).toEqual(rules)
  const pasted: unknown = parse(found.filter((line) => line.startsWith('  - ')).join('\n'))
  for (const rule of Array.isArray(pasted) ? pasted : [])
    expect(rule).toEqual({
      apiGroups: [expect.any(String)],
      verbs: [expect.any(String)],
      resources: expect.any(Array),
    })
})
