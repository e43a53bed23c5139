// One case of the property: an estate in which something is hidden, and what may be hidden there. Each command is asked about the
// input with the shells, and about completions of it.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { dig, isRecord, keysOf, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { inProcess } from '../support/in-process.ts'
import { ABSENT_CODE, ask } from './ask.ts'
import { compare, countFacts, isPremised, OPEN_CODE, type Answer } from './claims.ts'
import {
  ADVERSARIES,
  ALL_GIVEN,
  CALM,
  CALM_ALONE,
  DEPLOYMENTS,
  estates,
  estatesOfDetails,
  SETTINGS,
  values,
  type Estate,
  type Setting,
  type Values,
} from './estates.ts'
import { areOutputsHandled, isPremiseTrue, completedWith, flagsOf, settingsFiles } from './settings.ts'
import {
  identityOf,
  SHELL_NAMES,
  SHELLS,
  variationOf,
  type Files,
  type Shell,
  type ShellName,
} from './shells.ts'
import { IDENTITY_TESTS } from './manifests.ts'

/** What stands in a shell. */
export interface Hidden {
  readonly shell: ShellName
  readonly objects: Estate
}

/** What is there in truth of what a shell hides; undefined: it stays hidden. */
export type Completion = readonly (Estate | undefined)[]

/** A case. */
export interface Case {
  readonly estate: Estate
  /** The other side of a diff. */
  readonly base: Estate
  /** Whether the other side holds the shells too, which hide the same there. */
  readonly isInBase: boolean
  readonly hidden: readonly Hidden[]
  readonly values: Values
  readonly without: readonly Setting[]
  /** Whether nothing may be taken for granted (`--strict`). */
  readonly isStrict: boolean
  readonly failOn: string
  readonly commands: readonly Command[]
  readonly completions: readonly {
    readonly objects: Completion
    readonly values: Values
    /** The settings that are still left out. */
    readonly left: readonly Setting[]
  }[]
}

const ESTATE = ['-R', '-f', 'estate']
const BASE = ['-R', '-f', 'base']
const ID = 'spiffe://example.org/ns/team-a/objective/chat'
/** Every command that answers about an estate. */
export const COMMANDS = {
  explain: ['explain', '-A', ...ESTATE],
  conflicts: ['conflicts', ...ESTATE],
  'who-selects': ['who-selects', '-A', ...ESTATE],
  'who-selects --spiffe-id': ['who-selects', '-A', '--spiffe-id', ID, ...ESTATE],
  policies: ['policies', '-A', ...ESTATE],
  test: ['test', 'tests.json', ...ESTATE],
  'test --generate': ['test', 'generated.yaml', ...ESTATE],
  suggest: ['suggest', '-A', ...ESTATE],
  migrate: ['migrate', '-A', ...ESTATE],
  rename: ['rename', 'objective/team-a/chat', 'assistant', ...ESTATE],
  map: ['map', '-A', ...ESTATE],
  verify: ['verify', '--entries', 'entries.json', '--as-of', '2030-01-01T00:00:00Z', ...ESTATE],
  'diff --base': ['diff', '--base', 'base', ...ESTATE],
  'diff --base, the other way': ['diff', '--base', 'estate', ...BASE],
} as const satisfies Readonly<Record<string, readonly string[]>>
/** The name of one. */
export type Command = keyof typeof COMMANDS
/** Their names. */
export const COMMAND_NAMES: readonly Command[] = keysOf(COMMANDS)

/** A comparison that takes back something, or is less sure. */
export interface Met {
  readonly command: Command
  readonly what: string
  readonly case: Case
  readonly texts: string
}

/** What a case has shown. */
export interface Shown {
  readonly contradictions: readonly Met[]
  readonly lessSure: readonly Met[]
  /** Per command: whether the answer about what is hidden ends with exit code 4. */
  readonly open: ReadonlyMap<Command, boolean>
  /** How many of these answers end with 0 and take something for granted. */
  readonly premised: number
  /** What these answers say by name. */
  readonly facts: { readonly certain: number; readonly open: number }
  /** How many comparisons were made. */
  readonly compared: number
}

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
}

const listOf = (items: Estate): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })

/** A side: what is plain, and each shell or what is there in its place. */
function filesOf(plain: Estate, hidden: readonly Hidden[], completion: Completion): Files {
  const there = completion.flatMap((objects) => objects ?? [])
  return {
    'all.json': listOf([...plain, ...there]),
    ...Object.fromEntries(
      hidden.flatMap(({ shell, objects }, at) =>
        completion[at] === undefined
          ? Object.entries(SHELLS[shell].wrap(objects)).map(
              ([name, text]) => [`shell-${at}/${name}`, text] as const,
            )
          : [],
      ),
    ),
  }
}

/** Asks all that a case asks. */
export async function show(one: Case, folder: string): Promise<Shown> {
  const hiddenNames = new Set(one.hidden.flatMap(({ objects }) => objects.map(identityOf)))
  const plain = one.estate.filter((object) => !hiddenNames.has(identityOf(object)))
  const write = async (completion: Completion): Promise<void> => {
    for (const side of ['estate', 'base']) await rm(join(folder, side), { recursive: true, force: true })
    const names = new Set([...plain, ...completion.flatMap((objects) => objects ?? [])].map(identityOf))
    const base = one.base.filter(
      (object) => !hiddenNames.has(identityOf(object)) && !(one.isInBase && isOnlyIn(names, object, plain)),
    )
    await writeFiles(join(folder, 'estate'), filesOf(plain, one.hidden, completion))
    await writeFiles(
      join(folder, 'base'),
      one.isInBase ? filesOf(base, one.hidden, completion) : { 'all.json': listOf(one.base) },
    )
  }
  const argsOf = (command: Command, given: Values, without: readonly Setting[]): readonly string[] => {
    const flags = flagsOf(given, without)
    // What the files of one side tell of SCM, those of the other do.
    const ofBase = flags.flatMap((flag, at) => (flag === '-f' ? ['--base', flags[at + 1] ?? ''] : []))
    return [
      ...COMMANDS[command],
      ...(command.startsWith('diff') ? ofBase : []),
      '--offline',
      '--fail-on',
      one.failOn,
      ...(one.isStrict ? ['--strict'] : []),
      ...flags,
    ]
  }
  const hiding: Completion = one.hidden.map(() => undefined)
  await writeFiles(folder, { ...settingsFiles(one.values), 'tests.json': JSON.stringify(IDENTITY_TESTS) })
  await write(one.hidden.map(({ objects }) => objects))
  await writeEntries(folder, argsOf('who-selects', one.values, []))
  await write(hiding)
  const commands = one.commands.filter(
    // Every line of a diff holds the trust domain: it asks for it.
    (command) => !(command.startsWith('diff') && one.without.includes('trust domain')),
  )
  const contradictions: Met[] = []
  const lessSure: Met[] = []
  const answers = new Map<Command, Answer>()
  for (const command of commands) {
    if (command === 'test --generate' && !(await generate(folder, argsOf(command, one.values, one.without))))
      continue
    const answer = await ask(argsOf(command, one.values, one.without), folder)
    answers.set(command, answer)
    if (one.isStrict && isPremised(answer))
      contradictions.push({ command, what: 'takes something for granted', case: one, texts: answer.text })
    // What a run pins, the next run of the same input finds to be so.
    if (command === 'test --generate' && /"state":"(?:failed|unknown)"/.test(JSON.stringify(answer.report)))
      contradictions.push({
        command,
        what: 'pins what its own run does not find',
        case: one,
        texts: answer.text,
      })
  }
  const fallbacks = new Set(
    one.estate
      .filter((object) => dig(object, 'spec', 'fallback') === true)
      .map((object) => `ClusterSPIFFEID/${stringAt(dig(object, 'metadata'), 'name')}`),
  )
  let compared = 0
  for (const completion of one.completions) {
    const completed = completedWith(one.values, completion.values, one.without)
    await writeFiles(folder, settingsFiles(completed))
    await write(completion.objects)
    for (const [command, before] of answers) {
      const after = await ask(argsOf(command, completed, completion.left), folder)
      compared += 1
      const isSettings = one.hidden.length === 0
      const texts = `${JSON.stringify(completion.objects)}\n${before.text}\nTHEN\n${after.text}`
      const met = (what: string): Met => ({ command, what, case: one, texts })
      if ([before.code, after.code].includes(ABSENT_CODE)) {
        if (before.code !== OPEN_CODE && before.code !== after.code)
          contradictions.push(met('is about what may not be there, or be there'))
        continue
      }
      const result = compare(before, after, {
        isSettings,
        areOutputsHandled: areOutputsHandled(completed),
        isPremiseTrue: isPremiseTrue(completed),
        fallbacks,
      })
      const isMeant = (what: string): boolean => !isMentionIn(one, what)
      contradictions.push(...result.contradictions.filter(isMeant).map(met))
      if (saysAlone(before) && completion.objects.some((objects) => objects?.some(isRegistration) === true))
        contradictions.push(met('says that no ClusterSPIFFEID of others is there'))
      lessSure.push(...result.lessSure.map(met))
    }
  }
  return {
    contradictions,
    lessSure,
    facts: sumOf([...answers.values()].map(countFacts)),
    premised: [...answers.values()].filter((answer) => answer.code === 0 && isPremised(answer)).length,
    open: new Map([...answers].map(([command, { code }]) => [command, code === OPEN_CODE])),
    compared,
  }
}

function namedAs(kind: unknown, meta: unknown): string {
  return JSON.stringify([stringAt(kind, 'kind'), stringAt(meta, 'namespace'), stringAt(meta, 'name')])
}

/** A mention in an object that was hidden: mentions are looked for in objects that are read (docs/names.md). */
function isMentionIn({ hidden }: Case, what: string): boolean {
  const [, subject] = /^(?:new|fixed) KLM612 (\{.*?\}): /.exec(what) ?? []
  if (subject === undefined) return false
  const found: unknown = JSON.parse(subject)
  return hidden.some(({ objects }) =>
    objects.some((one) => namedAs(one, dig(one, 'metadata')) === namedAs(found, found)),
  )
}

function saysAlone({ text }: Answer): boolean {
  return /no\s+ClusterSPIFFEID\s+of\s+others\s+is\s+among/.test(text)
}

function isRegistration(object: JsonRecord): boolean {
  return stringAt(object, 'kind') === 'ClusterSPIFFEID'
}

function sumOf(counts: readonly Shown['facts'][]): Shown['facts'] {
  return {
    certain: counts.reduce((sum, { certain }) => sum + certain, 0),
    open: counts.reduce((sum, { open }) => sum + open, 0),
  }
}

/** An object of the other side that a completion defines as well: it stands there once. */
function isOnlyIn(names: ReadonlySet<string>, object: JsonRecord, plain: Estate): boolean {
  return names.has(identityOf(object)) && !plain.some((other) => identityOf(other) === identityOf(object))
}

/** Writes the tests that pin what is certain; false: nothing is. */
async function generate(folder: string, args: readonly string[]): Promise<boolean> {
  const flags = args.slice(2).filter((flag, at, all) => flag !== '--fail-on' && all[at - 1] !== '--fail-on')
  const { stdout } = await inProcess(['test', '--generate', ...flags], folder)
  await writeFile(join(folder, 'generated.yaml'), stdout)
  return stdout.includes('kind: IdentityTest')
}

/** The entries that the estate asks for, as its server would print them: without those that hold placeholders. */
async function writeEntries(folder: string, args: readonly string[]): Promise<void> {
  const flags = args.filter((flag, at, all) => flag !== '--fail-on' && all[at - 1] !== '--fail-on')
  const { stdout } = await inProcess([...flags, '--entries', '-o', 'spire'], folder)
  const printed: unknown = JSON.parse(stdout)
  const made = listAt(printed, 'entries')
    .filter(isRecord)
    .filter((entry) => !JSON.stringify(entry).includes('<'))
    .map((entry, at) => ({ ...entry, id: `prod.${at}`, created_at: '1800000000' }))
  await writeFile(join(folder, 'entries.json'), JSON.stringify({ entries: made, next_page_token: '' }))
}

/** What may stand in a shell: the truth, nothing, the truth with other content, and objects that do harm. */
function contents({ shell, objects }: Hidden): fc.Arbitrary<Estate> {
  const { allows, reads }: Shell = SHELLS[shell]
  // Two makers of one name make pods of one name: each is there once.
  const truth = [
    ...new Map(
      (reads === undefined ? objects : objects.flatMap(reads)).map((one) => [identityOf(one), one]),
    ).values(),
  ]
  if (reads !== undefined) return fc.subarray(truth, { minLength: 1 })
  const varied = objects.map(variationOf)
  const adversaries = [...varied, ...ADVERSARIES].filter((one) => allows(one, objects))
  if (shell === 'defined twice') return fc.constantFrom(objects, varied)
  return fc
    .record({
      kept: fc.oneof(
        { arbitrary: fc.constant(truth), weight: 2 },
        { arbitrary: fc.subarray(truth), weight: 1 },
      ),
      more: fc.subarray(adversaries, { maxLength: Math.min(3, adversaries.length) }),
    })
    .map(({ kept, more }) => {
      const replaced = new Set(more.map(identityOf))
      return [...kept.filter((one) => !replaced.has(identityOf(one))), ...more]
    })
}

/** Each set of settings that may be left out: none of them mostly. */
const settingsLeftOut = fc.oneof(
  { arbitrary: fc.constant<Setting[]>([]), weight: 3 },
  { arbitrary: fc.subarray([...SETTINGS], { minLength: 1 }), weight: 1 },
)

function hiddenIn(estate: Estate): fc.Arbitrary<readonly Hidden[]> {
  return fc
    .array(
      fc.record({
        shell: fc.constantFrom(...SHELL_NAMES),
        picks: fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 2 },
    )
    .map((wanted) => {
      const taken = new Set<JsonRecord>()
      return wanted.flatMap(({ shell, picks }) => {
        const fitting = estate.filter((one) => SHELLS[shell].takes(one) && !taken.has(one))
        const objects = [
          ...new Set(picks.flatMap((pick): Estate => fitting.slice(pick % fitting.length).slice(0, 1))),
        ]
        for (const one of objects) taken.add(one)
        return objects.length === 0 ? [] : [{ shell, objects }]
      })
    })
}

/** What a case is made of before its completions. */
type Hiding = Omit<Case, 'completions'>

/** Completions of a case: each shell is opened, or stays, and so does each setting that was left out. */
function withCompletions(hiding: Hiding, count: number): fc.Arbitrary<Case> {
  const opened = hiding.hidden.map((one) =>
    fc.oneof({ arbitrary: contents(one), weight: 4 }, fc.constant(undefined)),
  )
  return fc
    .array(fc.record({ objects: fc.tuple(...opened), values, left: fc.subarray([...hiding.without]) }), {
      minLength: count,
      maxLength: count,
    })
    .map((completions) => ({ ...hiding, completions }))
}

const someCommands = fc.subarray([...COMMAND_NAMES], { minLength: 5, maxLength: 5 })
const thresholds = fc.constantFrom('error', 'warning', 'info')

/** Cases in which something of a random estate is hidden, or some settings are. */
export const cases: fc.Arbitrary<Case> = fc
  .record({ estate: estates, other: estates, isOther: fc.boolean() })
  .chain(({ estate, other, isOther }) =>
    fc
      .record({
        estate: fc.constant(estate),
        base: isOther ? fc.constant(other) : fc.subarray([...estate], { minLength: estate.length - 2 }),
        isInBase: fc.boolean(),
        hidden: hiddenIn(estate),
        values,
        without: settingsLeftOut,
        isStrict: fc.boolean(),
        failOn: thresholds,
        commands: someCommands,
      })
      .filter(({ hidden, without }) => hidden.length + without.length > 0)
      .chain((hiding) => withCompletions(hiding, 4)),
  )

/** One Deployment, hidden in any shell, in an estate in which nothing else is open and nothing is wrong. */
export const deployments: fc.Arbitrary<Case> = fc
  .record({
    shell: fc.constantFrom(...SHELL_NAMES.filter((name) => SHELLS[name].takes(DEPLOYMENTS[0]))),
    deployment: fc.constantFrom(...DEPLOYMENTS),
    isInBase: fc.boolean(),
    isStrict: fc.boolean(),
    failOn: thresholds,
    commands: someCommands,
  })
  .chain(({ shell, deployment, ...asked }) =>
    withCompletions(
      {
        ...asked,
        estate: [...CALM, deployment],
        base: CALM,
        hidden: [{ shell, objects: [deployment] }],
        values: ALL_GIVEN,
        without: [],
      },
      3,
    ),
  )

/** What no manifest need show: Namespaces and the node that are left out, and the key of variants, in an estate in which they decide. */
export const details: fc.Arbitrary<Case> = estatesOfDetails.chain((estate) =>
  fc
    .record({
      hidden: fc
        .subarray(estate.filter(SHELLS['left out'].takes), { minLength: 1 })
        .map((objects): readonly Hidden[] => [{ shell: 'left out', objects }]),
      without: fc.constantFrom<Setting[]>([], ['variant label key']),
      isInBase: fc.boolean(),
      isStrict: fc.boolean(),
      failOn: thresholds,
      commands: someCommands,
    })
    .chain((asked) => withCompletions({ ...asked, estate, base: estate.slice(0, -2), values: ALL_GIVEN }, 3)),
)

/** The commands that may take something for granted, and some that may not. */
const premisedCommands = fc
  .subarray([...COMMAND_NAMES], { minLength: 2, maxLength: 2 })
  .map((some) => [...new Set<Command>(['explain', 'conflicts', 'who-selects', 'suggest', 'map', ...some])])

/** An estate in which nothing is wrong, with a few things beside it. */
const calmEstates = fc
  .subarray([...DEPLOYMENTS, ...ADVERSARIES], { maxLength: 2 })
  .map((more): Estate => [...CALM_ALONE, ...more])

/** Settings left out, and nothing else, mostly where little is wrong: what premises are for. */
export const withoutSettings: fc.Arbitrary<Case> = fc
  .record({
    estate: fc.oneof({ arbitrary: calmEstates, weight: 3 }, { arbitrary: estates, weight: 1 }),
    values,
    without: fc.oneof(
      fc.constant(SETTINGS.filter((one) => one !== 'which scm')),
      fc.subarray([...SETTINGS], { minLength: 1 }),
    ),
    isStrict: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.constant(true)),
    failOn: thresholds,
    commands: premisedCommands,
  })
  .chain((asked) => withCompletions({ ...asked, base: asked.estate, isInBase: false, hidden: [] }, 3))
