// The rule of docs/assumptions.md: completing any setting that was left out, with any value, never turns exit code 0 into
// 1, nor something that was said without a "depends" into its opposite. KLEYM_WORLDS says how many worlds are tried.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, stringAt } from '@kleym/shared/core/json.ts'
import { ask } from './ask.ts'
import { contradictions, type Answer } from './contradictions.ts'
import { SETTINGS, values, worlds, type Setting, type Values } from './worlds.ts'

const WORLDS = Number(env['KLEYM_WORLDS'] ?? 12)
/** More than the runs of one world take on a slow machine. */
const WORLD_MS = 10_000

const BETWEEN = ['diff', '--base', 'base.json'] as const
const COMMANDS = [
  ['explain', '-A'],
  ['conflicts'],
  ['who-selects', '-A'],
  ['who-selects', '-A', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat'],
  ['policies', '-A'],
  ['diff'],
  BETWEEN,
] as const

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-worlds-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Each set of settings that may be left out: all but the empty one. */
const LEFT_OUT: readonly (readonly Setting[])[] = Array.from({ length: 2 ** SETTINGS.length - 1 }, (_, at) =>
  SETTINGS.filter((_setting, bit) => (((at + 1) >> bit) & 1) === 1),
)

interface Given {
  readonly values: Values
  readonly without: readonly Setting[]
}

async function flagsOf({ values: given, without }: Given): Promise<readonly string[]> {
  await writeFile(join(folder, 'scm.json'), given.scm)
  await writeFile(join(folder, 'beside.json'), given['which scm'])
  const isOne = !without.includes('which scm')
  // Both stand among the files wherever one of them does, but for the answers that are given none.
  const both = ['-f', 'scm.json', '-f', 'beside.json']
  const flags: Readonly<Record<Setting, readonly string[]>> = {
    'trust domain': ['--trust-domain', given['trust domain']],
    class: ['--clusterspiffeid-class-name', given.class],
    'variant label key': ['--variant-label-key', given['variant label key']],
    scm: isOne ? [...both, '--scm-config', 'scm.json'] : both,
    'which scm': [],
  }
  return SETTINGS.flatMap((setting) => (without.includes(setting) ? [] : flags[setting]))
}

async function answerTo(command: readonly string[], given: Given): Promise<Answer> {
  const flags = await flagsOf(given)
  // What the files of one side tell of SCM, those of the other do.
  const ofBase = flags.flatMap((flag, at) => (flag === '-f' ? ['--base', flags[at + 1] ?? ''] : []))
  return ask(
    [...command, ...(command === BETWEEN ? ofBase : []), '--offline', '-f', 'world.json', ...flags],
    folder,
  )
}

/** The settings that were left out with other values; where it was which SCM is meant, it may be the other one. */
function completedWith(given: Values, others: Values, without: readonly Setting[]): Values {
  const completed: Values = { ...given }
  for (const setting of without) Object.assign(completed, { [setting]: others[setting] })
  if (!without.includes('which scm') || without.includes('scm')) return completed
  const both = [given.scm, given['which scm']]
  // A class that is given tells which of them is meant, where it is one of theirs.
  const className = without.includes('class') ? undefined : given.class
  const handling = both.filter((scm) => handles(scm, className))
  // Where the class is none of theirs: one that handles no ClusterSPIFFEID at all is not the one that is meant beside one that does.
  const acting = handling.length > 0 ? handling : both.filter(handlesSome)
  const isOther = acting.length === 1 ? acting[0] === given['which scm'] : others.class === ''
  return {
    ...completed,
    scm: isOther ? given['which scm'] : given.scm,
    'which scm': isOther ? given.scm : given['which scm'],
  }
}

/** Whether an SCM handles ClusterSPIFFEIDs: with `reconcile` it handles the kinds that are named there, here never this one. */
function handlesSome(scm: string): boolean {
  return dig(JSON.parse(scm), 'reconcile') === undefined
}

/** Whether an SCM handles objects of a class, as the table of docs/spire-facts.md §2 has it. */
function handles(scm: string, className: string | undefined): boolean {
  const config: unknown = JSON.parse(scm)
  if (!handlesSome(scm)) return false
  const own = stringAt(config, 'className')
  if (className === undefined || own === className) return true
  // A classless object has no label to be filtered by.
  return (
    className === '' && dig(config, 'watchClassless') === true && dig(config, 'filterByClassName') !== true
  )
}

let tried = 0

test(
  'completing any setting that was left out, with any value, never takes back what was said',
  { timeout: WORLDS * WORLD_MS },
  async ({ annotate }) => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        worlds,
        values,
        fc.constantFrom(...LEFT_OUT),
        fc.array(fc.record({ values, still: fc.subarray([...SETTINGS]) }), { minLength: 4, maxLength: 6 }),
        async (world, base, given, without, completions) => {
          await writeFile(join(folder, 'world.json'), world)
          await writeFile(join(folder, 'base.json'), base)
          for (const command of COMMANDS) {
            // Every line of a diff holds the trust domain: it asks for it.
            if (command[0] === 'diff' && without.includes('trust domain')) continue
            const before = await answerTo(command, { values: given, without })
            for (const { values: others, still } of completions) {
              const completed = completedWith(given, others, without)
              const left = without.filter((setting) => still.includes(setting))
              if (left.length === without.length) continue
              const after = await answerTo(command, { values: completed, without: left })
              tried += 1
              expect(
                contradictions(before, after),
                `${command.join(' ')} without ${without.join(', ')}, then with ${JSON.stringify(completed)} but ${left.join(', ')}\n${before.text}\nTHEN\n${after.text}`,
              ).toEqual([])
            }
          }
        },
      ),
      { numRuns: WORLDS },
    )
    await annotate(`${tried} completions of ${WORLDS} worlds`)
    // docs/assumptions.md names this number.
    expect(tried).toBeGreaterThan(WORLDS * 5)
  },
)
