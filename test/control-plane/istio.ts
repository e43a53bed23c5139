// Istio's own Go package, asked which SPIFFE IDs it takes for identities (go/istio/main.go).
import { tmpdir } from 'node:os'
import { ensureClient } from './client-binaries.ts'
import { runKubectl } from './kubectl.ts'

/** What Istio makes of IDs, in their order; null: no identity. The program is built if it is not there. */
export async function istioOf(ids: readonly string[]): Promise<readonly unknown[]> {
  const program = await ensureClient('istio')
  const { status, stdout, stderr } = await runKubectl(program, [], JSON.stringify(ids), tmpdir())
  if (status !== 0) throw new Error(stderr)
  const said: unknown = JSON.parse(stdout)
  if (!Array.isArray(said)) throw new TypeError(stdout)
  return said
}
