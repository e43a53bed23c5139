// Builds what the suites need and this machine has not built yet: etcd, the API server, SPIRE, Helm and others, each once. The
// gate starts it first, so that it builds while the tests run that need none of it.
import { setPriority } from 'node:os'
import process from 'node:process'
import { ensureBinaries } from '../../test/control-plane/binaries.ts'
import { ensureClient } from '../../test/control-plane/client-binaries.ts'
import { ensureSpire } from '../../test/control-plane/spire-binaries.ts'
import { CLIENT_SOURCES } from '../../test/control-plane/tools.ts'
import { keysOf } from '../../shared/src/core/base/json.ts'

/** What runs beside it comes first. */
const NICE = 10

setPriority(process.pid, NICE)
const controlPlane = await ensureBinaries()
if (controlPlane.available) {
  await ensureSpire()
  for (const name of keysOf(CLIENT_SOURCES)) await ensureClient(name)
}
