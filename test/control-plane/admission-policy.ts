// A ValidatingAdmissionPolicy that stands in kleym's way.
import type { ControlPlane } from './control-plane.ts'
import { until } from '@kleym/testing/wait.ts'

export const POLICY = 'no-hints-of-denied'

/** Denies the ClusterSPIFFEIDs of a namespace's bindings, by their hint, and waits until that is in force: the API server learns of policies by and by. */
export async function denyHintsOf(cp: ControlPlane, space: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name: POLICY }
  await cp.apply([
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['spire.spiffe.io'],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['clusterspiffeids'],
            },
          ],
        },
        validations: [
          {
            expression: `!has(object.spec.hint) || !object.spec.hint.startsWith('${space}/')`,
            message: 'not on this cluster',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: POLICY, validationActions: ['Deny'] },
    },
  ])
  await until(() => isDenied(cp, space), 'the policy to be in force')
}

/** Takes the policy away again. */
export async function allowAllHints(cp: ControlPlane): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  await cp.admin.delete({ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', name: POLICY })
  await cp.admin.delete({ apiVersion, kind: 'ValidatingAdmissionPolicy', name: POLICY })
}

async function isDenied(cp: ControlPlane, space: string): Promise<boolean> {
  const probe = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'probe' },
    spec: { spiffeIDTemplate: 'spiffe://a/b', hint: `${space}/probe` },
  }
  const path = '/apis/spire.spiffe.io/v1alpha1/clusterspiffeids?dryRun=All'
  return (await cp.admin.request({ method: 'POST', path, body: probe })).status >= 400
}
