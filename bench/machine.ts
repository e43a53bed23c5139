// What every number of a bench is worth: the machine that it was measured on.
import { cpus, totalmem } from 'node:os'
import process from 'node:process'

/** `2 x Intel(R) Xeon(R) Processor, 24 GiB, Node v26.10.0`. */
export function machineLine(): string {
  const [processor] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} x ${processor?.model ?? 'unknown CPU'}, ${memory} GiB, Node ${process.version}`
}
