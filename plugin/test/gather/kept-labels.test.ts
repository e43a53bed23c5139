// A manifest over a live Namespace: an apply takes away what an apply has given before, and leaves what others have set.
import { expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** A live Namespace with this metadata, and a ClusterSPIFFEID that selects by its label `spiffe`. */
function world(metadata: object, labels: object = { spiffe: 'on' }): string {
  const stamped = { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', ...stamped, labels, ...metadata } },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'x', ...stamped },
      spec: {
        className: 'spire',
        spiffeIDTemplate: 'spiffe://acme.example/x',
        namespaceSelector: { matchLabels: { spiffe: 'on' } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'team-a', ...stamped },
      spec: { serviceAccountName: 'p', nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', ...stamped } },
  ]
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
}

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
className: spire
clusterName: c
trustDomain: acme.example
`

function lastApplied(labels: object): object {
  return { annotations: { [LAST_APPLIED]: JSON.stringify({ metadata: { name: 'team-a', labels } }) } }
}

function applied(operation: string, manager: string): object {
  return {
    managedFields: [
      { operation, manager, fieldsV1: { 'f:metadata': { 'f:labels': { 'f:spiffe': {} } } } },
      { operation: 'Apply', manager: 'argocd', fieldsV1: { 'f:metadata': { 'f:labels': { '.': {} } } } },
    ],
  }
}

async function diff(live: string, file: string): Promise<readonly [number, string]> {
  const cwd = await workspace({
    'live.json': live,
    'scm.yaml': SCM,
    'ns.yaml': `apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a, ${file} }\n`,
  })
  const ran = await inProcess(
    ['diff', '--offline', '--live', 'live.json', '-f', 'ns.yaml', '--scm-config', 'scm.yaml'],
    cwd,
  )
  return [ran.code, ran.stdout.split('\n')[0] ?? '']
}

const NOTHING = [0, '· no container gains or loses an identity, as long as 1 object of --live stays'] as const
const LOST = [1, '! 1 container of team-a loses spiffe://acme.example/x'] as const

test.each([
  ['kubectl applied another one', lastApplied({ owner: 'a' }), NOTHING],
  ['an apply on the server gave another one', applied('Update', 'kubectl-label'), NOTHING],
  ['kubectl applied it', lastApplied({ spiffe: 'on' }), LOST],
  ['an apply on the server gave it', applied('Apply', 'flux'), LOST],
  ['no apply is on record', {}, [4, '! 1 container undetermined']],
  [
    'the record is not by kubectl',
    { annotations: { [LAST_APPLIED]: '{' } },
    [4, '! 1 container undetermined'],
  ],
])('a label that the manifest does not give, where %s', async (_, metadata, expected) => {
  expect(await diff(world(metadata), 'labels: { team: a }')).toEqual(expected)
})

test('what the manifest gives is certain', async () => {
  expect(await diff(world({}), 'labels: { spiffe: "off" }')).toEqual(LOST)
  expect(await diff(world({}), 'labels: { spiffe: "on" }')).toEqual(NOTHING)
})

test('labels that nothing asks for leave nothing open, nor does the name', async () => {
  const labels = { spiffe: 'on', field: 'x', 'kubernetes.io/metadata.name': 'team-a' }
  const live = world({}, labels).replace('"spiffe":"on"}}', '"kubernetes.io/metadata.name":"team-a"}}')
  expect(live).not.toContain('"spiffe":"on"}}')
  expect(await diff(live, 'labels: { spiffe: "on" }')).toEqual(NOTHING)
})
