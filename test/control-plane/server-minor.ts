// Which Kubernetes a control plane is, for tests that hold what differs from minor to minor.
import { stringAt } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'

/** 36, of Kubernetes 1.36. Rejects where the server does not say. */
export async function serverMinor({ admin }: Pick<ControlPlane, 'admin'>): Promise<number> {
  const { body } = await admin.request({ method: 'GET', path: '/version' })
  const minor = Number(stringAt(body, 'minor'))
  if (!Number.isInteger(minor))
    throw new Error(`the API server does not say which version it is: ${JSON.stringify(body)}`)
  return minor
}
