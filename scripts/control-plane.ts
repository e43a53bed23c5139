// `npm run control-plane`: a real API server with every kind that kleym is about and the estate of examples/ on it, for
// trying things by hand. It runs until Ctrl-C and leaves nothing behind.
import process from 'node:process'
import { ensureBinaries } from '../test/control-plane/binaries.ts'
import { startControlPlane } from '../test/control-plane/control-plane.ts'
import { applyEstate } from '../test/control-plane/examples.ts'

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function main(): Promise<number> {
  const binaries = await ensureBinaries()
  if (!binaries.available) {
    process.stderr.write(`error: there is no control plane: ${binaries.why}\n  fix:  ${binaries.fix}\n`)
    return 1
  }
  const controlPlane = await startControlPlane()
  const interrupted = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  // A pending promise alone keeps no process alive.
  const alive = setInterval(() => undefined, 60_000)
  try {
    const { count, notApplied } = await applyEstate(controlPlane)
    say(`${count} objects of examples/estate are applied; there is no kubelet, so nothing runs.`)
    for (const { file, kind, name, reason } of notApplied)
      say(`not applied: ${kind} ${name} (${file}): ${reason}`)
    say(`\nexport KUBECONFIG=${controlPlane.kubeconfig()}`)
    say(`alias kubectl=${binaries.programs.kubectl}\n\nIt runs until Ctrl-C.`)
    await interrupted
  } finally {
    clearInterval(alive)
    await controlPlane.stop()
  }
  return 0
}

process.exitCode = await main()
