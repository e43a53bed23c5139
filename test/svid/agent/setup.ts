// Before the suite with an agent: there is an agent, and a place for its containers, or the run ends with the reason.
import { ensureClient } from '../../control-plane/client-binaries.ts'
import { cgroupPlace } from './cgroup.ts'

export default async function setup(): Promise<void> {
  const place = cgroupPlace()
  if (!place.available)
    throw new Error(`these tests need a real spire-agent: ${place.why}\n  fix:  ${place.fix}`)
  await ensureClient('spire-agent')
}
