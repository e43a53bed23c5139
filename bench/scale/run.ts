// `npm run bench:scale`: how big it gets, as tables. By default one operator on a played API server (`played.ts`); `-- --real` takes the
// real kube-apiserver and etcd (`real.ts`), and `-- --delay` holds the model of how long an identity takes against a real SPIRE
// (`delay.ts`; it needs root, for cgroups). `-- --settled` leaves the cold start out. `-- --sizes 1000,10000` names the sizes. It asserts nothing about time; it fails only where
// it cannot measure.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { EXECUTABLE } from '../../test/control-plane/operator.ts'
import { machineLine } from '../machine.ts'
import { delayTable } from './delay.ts'
import { playedTables } from './played.ts'
import { realTable } from './real.ts'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string' },
    executable: { type: 'string', default: EXECUTABLE },
    real: { type: 'boolean', default: false },
    settled: { type: 'boolean', default: false },
    delay: { type: 'boolean', default: false },
    trials: { type: 'string', default: '8' },
  },
})

/** Bindings on a played and on a real API server, and entries on a SPIRE server. */
const SIZES = { played: [1_000, 10_000, 100_000], real: [20_000], delay: [100, 2_000, 10_000] } as const

function sizesOf(mode: keyof typeof SIZES): readonly number[] {
  return options.sizes?.split(',').map(Number) ?? SIZES[mode]
}

process.stdout.write(`${machineLine()}\n`)
if (options.delay)
  await delayTable(sizesOf('delay'), { executable: options.executable, trials: Number(options.trials) })
else if (options.real) await realTable(sizesOf('real'), options.executable)
else await playedTables(sizesOf('played'), options)
