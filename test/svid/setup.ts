// Before the first suite with SPIRE: its programs are built, or the run ends with the reason, once.
import { ensureSpire } from '../control-plane/spire-binaries.ts'

export default async function setup(): Promise<void> {
  const binaries = await ensureSpire()
  if (!binaries.available)
    throw new Error(
      `these tests need SPIRE, and this machine has none: ${binaries.why}\n  fix:  ${binaries.fix}`,
    )
}
