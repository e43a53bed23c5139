// Labels and annotations that a policy among the files may set, and that a template of a ClusterSPIFFEID reads: what it renders is not known.
import { expect, test } from 'vitest'
import { SCM_CONFIG } from '../support/chat-world.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

function policy(sets: string): string {
  return `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: { name: sets }
spec:
  rules:
    - name: sets
      match: { any: [{ resources: { kinds: [Pod] } }] }
      mutate: { patchStrategicMerge: { metadata: { ${sets} } } }
`
}

async function whoSelects(id: string, sets: string): Promise<Ran> {
  const objects = [
    SCM_CONFIG,
    policy(sets),
    'apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a }\n',
    `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: team-a }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web }, annotations: { team: own, other: own } }
    spec: { serviceAccountName: web, containers: [{ name: web, image: web }] }
`,
    `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: web }
spec: { spiffeIDTemplate: 'spiffe://example.org/${id}' }
`,
  ]
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const cwd = await workspace({ 'all.yaml': objects.join('---\n') })
  return inProcess(['who-selects', '-A', '--offline', '-f', 'all.yaml', ...settings], cwd)
}

const ANNOTATION = '{{ .PodMeta.Annotations.team }}'

test.each<[what: string, id: string, sets: string]>([
  ['an annotation', ANNOTATION, 'annotations: { team: set }'],
  ['an annotation that is removed', ANNOTATION, 'annotations: { team: null }'],
  ['the number of all annotations', '{{ len .PodMeta.Annotations }}', 'annotations: { more: set }'],
  ['the number of all labels', '{{ len .PodMeta.Labels }}', 'labels: { more: set }'],
])('%s that a policy may set leaves open what a template makes of it', async (_what, id, sets) => {
  expect((await whoSelects(id, sets)).stdout).toMatch(/^! .*undetermined/)
})

test.each<[what: string, sets: string]>([
  ['another annotation', 'annotations: { more: set }'],
  ['the value that it has', 'annotations: { team: own }'],
  ['an annotation only where it is absent', 'annotations: { +(team): set }'],
])('a policy that sets %s leaves nothing open', async (_what, sets) => {
  expect((await whoSelects(ANNOTATION, sets)).stdout).toMatch(/^✓ .*holds\s+spiffe:\/\/example\.org\/own/)
})
