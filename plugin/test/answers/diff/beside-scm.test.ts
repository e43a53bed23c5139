// Two SCMs in one cluster. What the one gives that does not act on kleym's class is not certain, since nothing shows which server a node
// belongs to; that a change does something to it is.
import { expect, test } from 'vitest'
import { diffBetween } from '../../support/diff-between.ts'
import type { Ran } from '../../support/in-process.ts'

const SCM = `apiVersion: v1
kind: ConfigMap
metadata: {name: scm, namespace: spire}
data:
  scm.yaml: |
    apiVersion: spire.spiffe.io/v1alpha1
    kind: ControllerManagerConfig
    trustDomain: example.org
    clusterName: prod
    className: kleym
`
const OTHER = SCM.replace('namespace: spire', 'namespace: other')
  .replace('example.org', 'other.example')
  .replace('className: kleym', 'className: other\n    spireServerSocketPath: /a')
const registration = (name: string): string => `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: ${name}}
spec: {className: ${name}, spiffeIDTemplate: 'spiffe://{{ .TrustDomain }}/web', podSelector: {matchLabels: {app: web}}}
`
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {name: web}}
  template:
    metadata: {labels: {name: web, app: web}}
    spec: {serviceAccountName: web, containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`
const WORLD = [SCM, OTHER, registration('other'), WEB].join('---\n')

function between(from: string, to: string, base = WORLD): Promise<Ran> {
  const head = base.replace(from, to)
  if (head === base) throw new Error(`nothing has ${from}`)
  return diffBetween(base, head, { className: 'kleym' })
}

test.each([
  ['its class', 'className: other\n    spire', 'className: third\n    spire'],
  ['its trust domain', 'trustDomain: other.example', 'trustDomain: third.example'],
  ['a setting that kleym does not follow', 'Path: /a', 'Path: /b'],
  ['the labels of a pod', 'app: web}}\n    spec', 'app: api}}\n    spec'],
])('%s: what only the other SCM gives is undetermined', async (_, from, to) => {
  const { code, stdout } = await between(from, to)
  expect(stdout).toContain('1 container undetermined')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('the SCM of ConfigMap other/scm may serve its node')
  expect(code).toBe(4)
})

test('a registration that goes over to the other SCM leaves nobody without an identity for certain', async () => {
  const { code, stdout } = await between(
    'className: kleym, spiffe',
    'className: other, spiffe',
    [SCM, OTHER, registration('kleym'), WEB].join('---\n'),
  )
  expect(stdout).toContain('loses spiffe://example.org/web')
  expect(stdout).toContain('1 container undetermined')
  expect(stdout).not.toContain('without an identity')
  expect(code).toBe(1)
})

test('what a change does under one SCM alone is certain', async () => {
  const world = [SCM, OTHER, registration('kleym'), registration('other'), WEB].join('---\n')
  const { code, stdout } = await between('className: kleym, spiffe', 'className: none, spiffe', world)
  expect(stdout).toContain('loses spiffe://example.org/web')
  expect(stdout).not.toContain('undetermined')
  expect(code).toBe(1)
})
