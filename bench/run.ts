// `npm run bench`: what the core costs and how that grows, as a table. `-- --quick` runs the smallest sizes only, and
// `-- --only TEXT` the scenarios whose names hold TEXT. It asserts nothing about time: docs/performance.md holds the aims.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { machineLine } from './machine.ts'
import type { ScenarioMeasurement } from './measure.ts'
import { SCENARIOS, type BenchScenario } from './scenarios.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
})

const COLUMNS = ['scenario', 'size', 'read s', 'answer s', '(growth)', 'cold s', 'peak MiB', 'answer']

/** One process for one scenario of one size. */
function measureApart({ name }: BenchScenario, size: number): ScenarioMeasurement {
  const script = new URL('measure.ts', import.meta.url).pathname
  const output = execFileSync(process.execPath, [script, name, String(size)], { encoding: 'utf8' })
  const measured: unknown = JSON.parse(output)
  if (!isMeasured(measured)) throw new Error(`${name} measured nothing: ${output}`)
  return measured
}

function isMeasured(value: unknown): value is ScenarioMeasurement {
  return typeof value === 'object' && value !== null && 'answer' in value && 'result' in value
}

/** `3.1 (x3.0)`: how the time of the answer grows, and the size. */
function growth(
  now: ScenarioMeasurement,
  before: ScenarioMeasurement | undefined,
  sizes: readonly [number, number],
): string {
  if (before === undefined) return ''
  return `x${(now.answer / before.answer).toFixed(1)} of x${(sizes[1] / sizes[0]).toFixed(1)}`
}

function row(cells: readonly string[]): string {
  const [name = '', size = '', ...rest] = cells
  const numbers = rest.slice(0, -1).map((cell) => cell.padStart(13))
  return `${name.padEnd(42)}${size.padStart(8)}${numbers.join('')}  ${rest.at(-1) ?? ''}`
}

function seconds(value: number): string {
  return value.toFixed(3)
}

function report(scenario: BenchScenario): void {
  process.stdout.write(`\n${scenario.name} (size: ${scenario.unit})\n`)
  let before: { readonly size: number; readonly measured: ScenarioMeasurement } | undefined
  for (const size of options.quick ? scenario.sizes.slice(0, 1) : scenario.sizes) {
    const measured = measureApart(scenario, size)
    const cells = [
      '',
      String(size),
      seconds(measured.read),
      seconds(measured.answer),
      growth(measured, before?.measured, [before?.size ?? size, size]),
      seconds(measured.cold),
      (measured.peak / 2 ** 20).toFixed(0),
      measured.result,
    ]
    process.stdout.write(`${row(cells)}\n`)
    before = { size, measured }
  }
}

process.stdout.write(`${machineLine()}\n\n`)
process.stdout.write(`${row(COLUMNS)}\n`)
for (const scenario of SCENARIOS) if (scenario.name.includes(options.only)) report(scenario)
