// Before the first suite on a control plane: its programs are there, or the run ends with the reason, once.
import { ensureBinaries } from './binaries.ts'

export default async function setup(): Promise<void> {
  const binaries = await ensureBinaries()
  if (!binaries.available)
    throw new Error(
      `these tests need a control plane, and this machine has none: ${binaries.why}\n  fix:  ${binaries.fix}`,
    )
}
