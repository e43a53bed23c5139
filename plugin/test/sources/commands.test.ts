// Commands that apply what is not in the tree: in files of other tools, in scripts, in what containers run.
import { describe, expect, test } from 'vitest'
import { deploying } from '../../src/sources/deployers.ts'
import { appliedBy } from '../../src/sources/commands.ts'

const AT = 'https://example.org/all.yaml'

function job(container: object): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'x', annotations: { note: `kubectl apply -f ${AT}` } },
    spec: { template: { spec: { containers: [{ name: 'k', ...container }] } } },
  }
}

const APPLIED: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['an image of kubectl with arguments', job({ image: 'kubectl', args: ['apply', '-f', AT] }), [AT]],
  [
    'an image of helm, by its tag',
    job({ image: 'alpine/helm:3', args: ['install', 'x', 'oci://ghcr.io/x/y'] }),
    ['oci://ghcr.io/x/y'],
  ],
  [
    'a SPIFFE ID is no address',
    job({
      command: ['kubectl', 'exec', 'a', '--', 'spire-server', 'entry', 'create', '-spiffeID', 'spiffe://a/b'],
    }),
    [],
  ],
  ['a shell', job({ image: 'x', command: ['sh', '-c', `set -e\nkubectl apply -f ${AT}`] }), [AT]],
  ['what is piped in', job({ image: 'x', args: ['sh', '-c', `curl -s ${AT} | kubectl apply -f -`] }), [AT]],
  [
    'a chart of a named repository',
    { script: ['helm upgrade --install x \\\n  bitnami/nginx -n a'] },
    ['bitnami/nginx'],
  ],
  [
    'a folder of a repository',
    { run: 'kubectl apply -k github.com/a/b//config?ref=v1' },
    ['github.com/a/b//config?ref=v1'],
  ],
  [
    'a variable of the container',
    job({ image: 'x', env: [{ name: 'U', value: AT }], command: ['sh', '-c', 'kubectl apply -f "${U}"'] }),
    [AT],
  ],
  [
    'a program by a variable, however often',
    job({
      image: 'x',
      env: [{ name: 'K', value: 'kubectl' }],
      command: ['sh', '-c', `${'$K get pods\n'.repeat(99)}$K apply -f ${AT}`],
    }),
    [AT],
  ],
  [
    'variables that would make a text of 60 GB',
    job({
      image: 'x',
      env: [{ name: 'X', value: `${AT} `.repeat(10_000) }],
      command: ['sh', '-c', `kubectl apply -f ${'$X'.repeat(200_000)}`],
    }),
    [AT],
  ],
  ['a list of words of a tool', { cmds: [['oc', 'create', '-f', AT]] }, [AT]],
  [
    'a script in a ConfigMap',
    { apiVersion: 'v1', kind: 'ConfigMap', data: { hook: `#!/bin/sh\nkubectl apply -f ${AT}` } },
    [AT],
  ],
  [
    'a script of Tekton',
    {
      apiVersion: 'tekton.dev/v1',
      kind: 'Task',
      spec: { steps: [{ image: 'x', script: `kubectl create -f ${AT}` }] },
    },
    [AT],
  ],
  ['a file of the image', job({ image: 'kubectl', args: ['apply', '-f', '/all.yaml'] }), []],
  ['a chart of the tree', { run: 'helm install x ./charts/x -f values/prod.yaml' }, []],
  ['what only reads', job({ image: 'kubectl', args: ['wait', '--for=condition=Ready', 'pod/x'] }), []],
  ['what asks an address in another command', { run: `kubectl apply -f a.yaml && curl ${AT}` }, []],
  [
    'a text that people read',
    { apiVersion: 'v1', kind: 'ConfigMap', data: { README: `kubectl apply -f ${AT}` } },
    [],
  ],
]

describe('what commands apply', () => {
  test.each(APPLIED)('%s', (_, value, applied) => {
    expect(appliedBy(value)).toEqual(applied)
    expect(deploying(value, { file: 'a.yaml', document: 1, line: 1 })?.deployed ?? []).toEqual(
      applied.map((chart) => ({ chart })),
    )
  })
})

test.each(['kubectl ', '/kubectl:', ' helm x'])('a long text of %j is looked through once', (word) => {
  expect(appliedBy({ run: word.repeat(60_000) })).toEqual([])
})
