// Annotations of tools by which an object is not made, or not kept, as its manifest says: a manifest that is there proves nothing then.
import { expect, test } from 'vitest'
import { diffBetween } from '../support/diff-between.ts'
import type { Ran } from '../support/in-process.ts'
import { CHAT_BINDING, CHAT_OBJECTS, SCM_CONFIG } from '../support/chat-world.ts'

const THIEF = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: other}
spec: {spiffeIDTemplate: 'spiffe://example.org/other', podSelector: {matchLabels: {app: llama}}}
`
const WORLD = [CHAT_BINDING, CHAT_OBJECTS, SCM_CONFIG].join('---\n')

const annotated = (annotation: string): string =>
  THIEF.replace('name: other}', `name: other, annotations: {${annotation}}}`)

function between(base: string, head: string): Promise<Ran> {
  return diffBetween(`${WORLD}---\n${base}`, `${WORLD}---\n${head}`)
}

test.each([
  'helm.sh/hook: pre-delete',
  'argocd.argoproj.io/hook: Skip',
  'kustomize.toolkit.fluxcd.io/ssa: Ignore',
  'kustomize.toolkit.fluxcd.io/ssa: IfNotPresent',
  'kustomize.toolkit.fluxcd.io/reconcile: disabled',
])('a registration that gets %s is not known to be there', async (annotation) => {
  const { code, stdout, stderr } = await between(THIEF, annotated(annotation))
  expect(stdout).not.toContain('✓')
  expect(stderr).toContain('ClusterSPIFFEID other may not be there as its manifest says')
  expect(stderr).toContain(`it has ${annotation}`)
  expect(code).toBe(4)
})

test.each([
  'helm.sh/resource-policy: keep',
  'kustomize.toolkit.fluxcd.io/prune: disabled',
  'argocd.argoproj.io/sync-options: "Replace=true,Prune=false"',
])('a registration that has %s is not known to be gone', async (annotation) => {
  const { code, stdout, stderr } = await between(annotated(annotation), '# nothing\n')
  expect(stdout).toContain('1 container undetermined')
  expect(stdout).not.toContain('loses')
  expect(stderr).toContain('the change takes away ClusterSPIFFEID other, which')
  expect(code).toBe(4)
})

test.each([
  'helm.sh/hook-weight: "1"',
  'kustomize.toolkit.fluxcd.io/ssa: Merge',
  'argocd.argoproj.io/sync-wave: "1"',
])('a registration that gets %s is as its manifest says', async (annotation) => {
  const { code, stderr } = await between(THIEF, annotated(annotation))
  expect(stderr).not.toContain('may not be there')
  expect(code).toBe(0)
})
