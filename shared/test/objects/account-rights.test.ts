// What an account may do by roles that select others (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles).
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { rightsAmong } from '../../src/core/model/objects/account-rights.ts'

const MANY = 20_000
const BINDING: JsonRecord = {
  kind: 'ClusterRoleBinding',
  metadata: { name: 'server' },
  roleRef: { kind: 'ClusterRole', name: 'role-0' },
  subjects: [{ kind: 'ServiceAccount', name: 'server', namespace: 'spire' }],
}
const READS_PODS = { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }

function role(at: number, label: string, rest: JsonRecord): JsonRecord {
  return { kind: 'ClusterRole', metadata: { name: `role-${at}`, labels: { [label]: 'yes' } }, ...rest }
}

function selecting(label: string): JsonRecord {
  return { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'yes' } }] } }
}

function givenBy(roles: readonly JsonRecord[]): readonly string[] {
  const rights = rightsAmong([BINDING, ...roles].map((value) => ({ value })))('spire', 'server')
  return rights.map(({ verb, resource }) => `${verb} ${resource}`)
}

test('a role gives the rights of the last of very many that select each other in a row', () => {
  const row = Array.from({ length: MANY }, (_, at) =>
    role(at, `of-${at}`, at === MANY - 1 ? READS_PODS : selecting(`of-${at + 1}`)),
  )
  expect(givenBy(row)).toEqual(['get pods'])
})

test('a role gives what one gives of very many that all select each other', () => {
  const all = Array.from({ length: MANY }, (_, at) =>
    role(at, 'all', at === MANY - 1 ? READS_PODS : selecting('all')),
  )
  expect(givenBy(all)).toEqual(['get pods'])
})

test.each<[string, JsonRecord]>([
  ['nobody', selecting('nobody')],
  ['itself alone', selecting('of-0')],
])('the rights of a role that selects %s are those that a controller may have left', (_, rest) => {
  expect(givenBy([role(0, 'of-0', { ...rest, ...READS_PODS })])).toEqual(['use ClusterRole role-0'])
})
