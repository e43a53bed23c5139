// How much memory this process may take, to be compared with what it takes (`process_resident_memory_bytes`,
// `nodejs_heap_size_used_bytes`): an alert has to come before the kernel, or V8, ends the process.
import { totalmem } from 'node:os'
import process from 'node:process'
import { getHeapStatistics } from 'node:v8'
import { Gauge, type Registry } from 'prom-client'

/** Adds `kleym_memory_limit_bytes` to `registry`. */
export function memoryMetrics(registry: Registry): void {
  const limit = new Gauge({
    name: 'kleym_memory_limit_bytes',
    help: 'The most memory that the process may have: in all, by its container or machine, and on the heap of V8.',
    labelNames: ['of'],
    registers: [registry],
  })
  // Without a limit of the container it is 0, or more than there is.
  const constrained = process.constrainedMemory() || Infinity
  limit.set({ of: 'process' }, Math.min(constrained, totalmem()))
  limit.set({ of: 'heap' }, getHeapStatistics().heap_size_limit)
}
