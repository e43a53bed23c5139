// The kustomize base is what the real Helm renders of the chart, and an overlay of it is taken by a real API server.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { BASE_VALUES, KUSTOMIZE_BASE, kustomizeBase } from '../../scripts/chart/kustomize.ts'
import { ROOT } from '../house/files.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import {
  CHART,
  demand,
  helmOn,
  ofKind,
  RELEASE,
  RELEASE_NAMESPACE,
  restrictedNamespace,
  type Helm,
} from './helm.ts'

const OVERLAY = join(ROOT, 'examples/kustomize/install')

let cp: ControlPlane
let helm: Helm
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  helm = await helmOn(cp)
  await cp.apply([restrictedNamespace(RELEASE_NAMESPACE)])
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

async function built(): Promise<readonly JsonRecord[]> {
  const { status, stdout, stderr } = await cp.kubectl(['kustomize', OVERLAY])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return parseAllDocuments(stdout).flatMap((document) => {
    const object: unknown = document.toJS()
    return isRecord(object) ? [object] : []
  })
}

test('the base is what Helm renders of the chart', async () => {
  const rendered = await demand(
    helm('template', RELEASE, CHART, '--namespace', RELEASE_NAMESPACE, ...BASE_VALUES),
  )
  await expect(kustomizeBase(rendered)).toMatchFileSnapshot(join(ROOT, KUSTOMIZE_BASE))
})

test('the overlay of the page gives image, trust domain and class, and nothing of Helm is left', async () => {
  const objects = await built()
  expect(JSON.stringify(objects)).not.toContain('helm.sh')
  const [deployment] = ofKind(objects, 'Deployment')
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers')
  expect(stringAt(container, 'image')).toMatch(/^registry\.example\.org\/platform\/kleym-operator:/)
  expect(listAt(container, 'env')).toEqual(
    expect.arrayContaining([
      { name: 'KLEYM_TRUST_DOMAIN', value: 'example.org' },
      { name: 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME', value: 'spire-mgmt-spire' },
    ]),
  )
  expect(listAt(container, 'args').filter((one) => String(one).includes('trust-domain'))).toEqual([])
})

test('the policy that keeps the CRD while an identity is in force is part of it', async () => {
  const [policy, ...others] = ofKind(await built(), 'ValidatingAdmissionPolicy')
  expect(others).toEqual([])
  expect(JSON.stringify(listAt(policy, 'spec', 'matchConstraints', 'resourceRules'))).toContain(
    'customresourcedefinitions',
  )
})

test('the API server takes all of it, in its namespace', async () => {
  const args = [
    'apply',
    '--server-side',
    '--dry-run=server',
    '--validate=strict',
    '--force-conflicts',
    '-k',
    OVERLAY,
  ]
  const { status, stderr } = await cp.kubectl(args)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
