// `npm run campaign [FACTOR]`: the tests with random cases, with FACTOR times as many as the gate tries (50 if it is left out), those
// that ask kubectl's reader in Go among them, and against the real SPIRE with `--svid`. Before a release, and after a change of what decides.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { runSuites, sayEnd, Tally } from './gate/run.ts'

const DEFAULT_FACTOR = '50'

const { values, positionals } = parseArgs({ options: { svid: { type: 'boolean' } }, allowPositionals: true })
const [factor = DEFAULT_FACTOR] = positionals
if (!(Number(factor) > 0)) {
  process.stderr.write(
    `error: ${factor} is no number of times\n  fix:  give a number above 0, such as ${DEFAULT_FACTOR}\n`,
  )
  process.exitCode = 2
} else {
  const tally = new Tally()
  const variables = { KLEYM_RUNS: factor }
  runSuites(`${factor} times the random cases of the gate`, { projects: ['anywhere'] }, tally, variables)
  const door = ['test/control-plane/door-oracle.test.ts']
  runSuites('what kubectl reads, asked of Go', { projects: ['control-plane'], files: door }, tally, {
    ...variables,
    KLEYM_SEED: String(Date.now() % 1_000_000),
  })
  if (values.svid === true) runSuites('against the real SPIRE', { projects: ['svid'] }, tally, variables)
  sayEnd(tally)
  process.exitCode = tally.failed === 0 ? 0 : 1
}
