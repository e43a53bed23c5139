// `npm test`: for a person, within minutes. It needs Node and the project's packages alone: no Go, no browser, no executables.
// The line that counts comes last; the line before it names what was not run, and the command that runs it.
import process from 'node:process'
import { CHECKS, PARTS, RUNS_OF_TEST } from './gate/parts.ts'
import { runSteps, runSuites, say, sayEnd, Tally } from './gate/run.ts'
import { handOn } from './gate/test-command.ts'

const tally = new Tally()
say(`Node ${process.version}`)
runSteps(CHECKS, tally)
runSuites('tests that need Node alone', { projects: ['anywhere'] }, tally, {
  KLEYM_RUNS: process.env['KLEYM_RUNS'] ?? RUNS_OF_TEST,
})
handOn(tally)
say(`\nnot run: ${PARTS.map(({ title }) => title).join('; ')}. All of it: npm run gate`)
sayEnd(tally)
process.exitCode = tally.failed === 0 ? 0 : 1
