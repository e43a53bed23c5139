// Files to objects: `-f`, `-R`, `-k` and stdin (docs/offline.md, "Sources"). What cannot be understood becomes a
// problem, and the rest is read all the same.
import { dig, isRecord } from '@kleym/shared/core/base/json.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { NamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Origin, RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import {
  groupOfApiVersion,
  isTyped,
  kindKey,
  POLICY_KINDS,
  qualifiedKind,
} from '@kleym/shared/core/model/kinds.ts'
import { mayHoldIds } from '@kleym/shared/core/model/ids-in-text.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { SourceIo } from '../io/context.ts'
import { anyProgressLine, type ProgressLine } from '../io/progress-line.ts'
import { Budget, BudgetSpent, INPUT_LIMITS } from './budget.ts'
import type { KindScope } from './crd-scopes.ts'
import { decodeUtf8, isEncryptedVariables, sealOf, templateOf } from './decode.ts'
import { lineAndColumn, type DocumentFault, type ParsedFile } from './document.ts'
import { withoutDuplicates } from './duplicates.ts'
import { KEYS_OF_REGISTRATIONS, namesChart } from './fetching.ts'
import { collect, findFiles, missingFolder, readBounded } from './files.ts'
import { looksLikeJson, parseJson } from './json.ts'
import { Collection, templateProblem, withScopes, type ReadingRules } from './objects.ts'
import type { MisspelledObject } from './near-miss.ts'
import { isErrorText } from './failed-read.ts'
import { isSealedText, plainKindOf, plainTypeOf } from './kinds-in-text.ts'
import { placeholderIn } from './placeholders.ts'
import { listed, placeText, spentProblem, type InputProblem, type ProblemReach } from './problem.ts'
import { isOfAgent } from '@kleym/shared/core/model/objects/agent-config.ts'
import { AGENT, reachOf, reachOfText } from './reach.ts'
import { STDIN_ARGUMENT } from './stdin.ts'
import { ownTree } from './own-tree.ts'
import { isPlacedBy, namespacesIn, placingBy } from './placing.ts'
import { lookThrough, type ReachOfFile } from './tool-folders.ts'
import { readTree, type DeployedFolder, type FileRoute, type Source, type Tree } from './tree.ts'
import type { YamlLines } from './yaml-line.ts'
import { notShown } from './embedded-objects.ts'
import {
  deployersOf,
  DETAILS,
  eachOf,
  everythingIn,
  openly,
  type Deploying,
  type OwnTree,
} from './deployers.ts'
import { PLACES_SHOWN, type Opaque } from './door.ts'
import { unreadTypes } from './unread.ts'
import { parseYaml, type YamlReading } from './yaml.ts'

/** Which files are to be read. */
export interface FileArguments {
  /** Files, folders, `-` for stdin. */
  readonly files: readonly string[]
  /** The flag that names them; absent: -f. */
  readonly flag?: '--base' | '--compare' | '--live'
  readonly recursive: boolean
  /** Folders for `kubectl kustomize`. */
  readonly kustomize: readonly string[]
  /** What is left out of folders: globs. */
  readonly exclude?: readonly string[]
  /** Whether charts and kustomizations that folders hold are rendered. */
  readonly render?: boolean
}

/** All objects of a cluster, as files have them. */
export interface DesiredState {
  readonly objects: readonly RawObject[]
  /** Where ServiceAccounts stand, if they are noted. */
  readonly accounts: ReadonlyMap<NamespacedName, Origin>
  /** Objects that say how SPIRE and kleym run, if they are noted. */
  readonly beside: readonly RawObject[]
  /** What CRDs say of the kinds that they define. */
  readonly definedKinds: readonly KindScope[]
  /** How files come into the cluster, by their paths in the tree, if that is noted. */
  readonly routes: ReadonlyMap<string, FileRoute>
}

/** What the files hold. */
export interface LoadedFiles extends DesiredState {
  /** In the order of file name, document and place; without the second of two that are the same. */
  readonly objects: readonly RawObject[]
  /** What is not known of them, and what is wrong with the paths. */
  readonly problems: readonly Opaque[]
  /** What a person should know about them, and no answer depends on. */
  readonly notes: readonly string[]
  /** How many documents hold something. */
  readonly documents: number
  /** What is no kind that the answer uses, and how often: `ConfigMap`, `Kustomization.kustomize.config.k8s.io`. */
  readonly skipped: ReadonlyMap<string, number>
  /** The file of each document that is no Kubernetes object. */
  readonly noObjects: readonly string[]
  /** What is nearly of a kind that the answer uses, and is not. */
  readonly nearMisses: readonly MisspelledObject[]
}

/** How problems and origins call stdin. */
export const STDIN = 'stdin'

/** What was piped in may be missing: a shell does not stop where the first command of a pipe fails. */
const EMPTY_STDIN: InputProblem = {
  kind: 'empty',
  what: 'stdin holds no document',
  where: STDIN,
  why: 'the command before the pipe may have failed',
  fix: 'look at what it prints; pass --allow-empty if there may be none',
}

/**
 * Reads all objects that the arguments mean; never throws for anything that a file holds. `onOpened` is told how many bytes
 * there are before any of them is parsed.
 */
export async function loadFiles(
  args: FileArguments,
  rules: ReadingRules,
  io: SourceIo,
  onOpened?: (bytes: number) => void,
): Promise<LoadedFiles> {
  const progress = anyProgressLine(io)
  let reading = 'reading'
  const budget = new Budget((count) =>
    progress.at(() => `${reading}, document ${count.toLocaleString('en')}`),
  )
  const collected = new Collection(rules, budget)
  const { door } = collected
  const { sources, tree } = await readSources(args, io, collected, progress)
  onOpened?.(sources.reduce((sum, { bytes }) => sum + bytes.length, 0))
  const lines: YamlLines = new Map()
  const unreadType = unreadTypes(rules)
  let documents = 0
  let isStdinEmpty = false
  const placing = await placingOf(sources, rules, tree)
  const take = async (source: Source, isLate: boolean): Promise<void> => {
    const { name, bytes, file } = source
    if (isLate) budget.charge('bytes', bytes.length)
    collected.namespaces = source.namespaces ?? namespacesIn(placing, tree.foldersOf(source))
    const { namespace } = collected
    collected.asMade = file && ((value) => tree.asMade(file, value))
    collected.takesAway = file && ((value, kind) => tree.takesAway(file, value, kind, namespace))
    if (isEncryptedVariables(name, bytes)) {
      door.dismiss({ because: 'no object', file: name })
      return
    }
    const parsed = await parse(name, bytes, { budget, lines, unreadType })
    documents += parsed.count
    if (name === STDIN && parsed.count + parsed.faults.length === 0) isStdinEmpty = true
    takeParsed(name, parsed, collected)
  }
  const takeAll = async (all: readonly Source[], isLate = false): Promise<void> => {
    for (const [number, source] of all.entries()) {
      reading = `reading file ${number + 1} of ${all.length}`
      progress.at(() => reading)
      if (source.bytes.length > LARGE_TEXT)
        progress.now(`reading ${source.name}: ${Math.round(source.bytes.length / 1024 / 1024)} MiB`)
      const spent = await untilSpent(take(source, isLate))
      if (spent !== undefined) {
        door.hold(spentProblem(spent, source.name))
        break
      }
      if (source.bytes.length > LARGE) io.collectGarbage?.('all')
    }
  }
  await takeAll(sources)
  const ofTree = ownTree(tree.places, collected.sources)
  // What deploys a chart of the tree says with which values: that is known once the files have been read.
  const late = await tree.renderCharts(collected.deploying, ofTree, io)
  const early = collected.deploying.length
  await takeAll(late, true)
  const here = { ...ofTree, isOwn: ofTree.mayBeOwn }
  const deployers = collected.deploying.map((one, at) => {
    const each = one.deployed.flatMap((deployed) => eachOf(deployed, here))
    // What of the tree others deploy has been read and rendered without them.
    if (at >= early) return each.length === 0 ? one : openly(one, 'as a chart makes it that was rendered')
    const ofObjects = each.filter(({ folder }) => !tree.isChart(folder))
    return isPlacedBy(placing, ofObjects)
      ? one
      : openly(one, 'in a namespace that is written in an unusual way')
  })
  progress.end()
  // Where nothing holds a document, that is said of all.
  if (isStdinEmpty && documents > 0) door.hold(EMPTY_STDIN)
  const inOrder = door.objects.toSorted((a, b) => compareBytes(a.origin?.file ?? '', b.origin?.file ?? ''))
  const scoped = withScopes([...inOrder, ...notThere(collected.made, door.objects)], collected.scopes)
  const { objects, problems: duplicates } = withoutDuplicates(scoped.objects)
  door.hold(...duplicates)
  const reachOfFile = readingAside(rules, budget)
  await tree.takePatches(reachOfFile)
  tree.leaveOut(door)
  await lookThrough(tree.aside, reachOfFile, door)
  door.hold(...notShown(collected.embedded, objects))
  door.hold(...deployersOf(tree.withForeignValues(deployers, ofTree), ofTree, rules.wanted))
  return {
    objects,
    problems: door.opaque(),
    notes: [
      ...door.dismissed(),
      ...placedNotes(collected.placed - scoped.withoutNamespace, `assumed to be in ${rules.namespace} (-n)`),
      ...placedNotes(
        [...collected.given.values()].reduce((sum, count) => sum + count, 0),
        `in ${listed([...collected.given.keys()])} (from their deployers)`,
      ),
      ...anywhereNotes(objects),
      ...door.noted(),
    ],
    documents,
    skipped: door.skipped(),
    noObjects: door.noObjects,
    nearMisses: collected.nearMisses,
    accounts: collected.accounts,
    beside: collected.beside,
    definedKinds: collected.scopes,
    routes: rules.isCompared === true ? tree.routes(deployedFolders(collected.deploying, here)) : new Map(),
  }
}

/** What deploys folders of the tree, how, and in which file it stands: that may be deployed as well. */
function deployedFolders(all: readonly Deploying[], here: OwnTree): readonly DeployedFolder[] {
  return all.flatMap(({ origin: { file }, deployed, way = '', isSuspended = false }) =>
    deployed.flatMap((one) => eachOf(one, here)).map(({ folder }) => ({ folder, file, way, isSuspended })),
  )
}

/** Names that mostly give a namespace to objects that name none: what says it in another way is known too late. */
const PLACING = ['destination', 'targetNamespace', 'defaultNamespace']

/** What the files say that deploys folders of them: that is known before any of their objects. */
async function placingOf(
  sources: readonly Source[],
  rules: ReadingRules,
  tree: Tree,
): Promise<ReturnType<typeof placingBy>> {
  const aside = new Collection(rules)
  const take = async ({ name, bytes, file }: Source): Promise<void> => {
    const parsed = await parse(name, bytes)
    aside.asMade = file && ((value) => tree.asMade(file, value))
    for (const document of parsed.documents) aside.take(document, name)
  }
  for (const source of sources) {
    const text = Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length)
    const maySay = source.bytes.length <= LARGE_TEXT && PLACING.some((word) => text.includes(word))
    if (maySay) await untilSpent(take(source))
  }
  return placingBy(aside.deploying, ownTree(tree.places, aside.sources))
}

/** Takes what a text holds, and what of it cannot be read. */
function takeParsed(name: string, parsed: ParsedFile, collected: Collection): void {
  const { door } = collected
  for (const type of parsed.unread ?? []) {
    collected.skip(type)
    if (type.scope !== undefined) collected.scopes.push(type.scope)
  }
  for (const fault of parsed.faults) {
    const { text = '' } = fault
    const problem = faultProblem(name, fault, collected)
    if (problem.reach?.length === 0 && text.length <= HARMLESS_MAX) {
      door.dismiss({ because: 'text', what: problem })
      // That it turns nothing on decides beside agents that do.
      if (isOfAgent(text)) door.hold({ ...problem, reach: [AGENT], isNoted: true })
    } else door.hold(problem)
  }
  if (parsed.faults.length > INPUT_LIMITS.problems) door.hold(tooManyFaults(name))
  for (const document of parsed.documents) collected.take(document, name)
}

/** What cannot be read may mention SPIFFE IDs, as an object that names identities does; for an answer that asks for them. */
function reachOfMentions(text: string, { mentions, wanted }: ReadingRules): readonly ProblemReach[] {
  const naming = wanted.find((one) => POLICY_KINDS.includes(qualifiedKind(one)))
  return mentions !== true || naming === undefined || !mayHoldIds(text) ? [] : reachOf(naming, {}, text)
}

/** The field that every object has, an escape or a tag that may spell it, or a byte of another encoding than UTF-8. */
const OF_OBJECT = /apiVersion|binary|%TAG|\\[xuU\r\n]|\0/

/** Tells of a file that is not read what the door would make of it. What is no object by its type, `kubectl apply` refuses. */
function readingAside(rules: ReadingRules, budget: Budget): ReachOfFile {
  return async (path, areDeployersKnown) => {
    const bytes = await readBounded({ name: path, path })
    if (!(bytes instanceof Uint8Array) || budget.tryCharge('bytes', bytes.length) !== undefined)
      return undefined
    if (!OF_OBJECT.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')))
      return []
    const aside = new Collection(rules, budget)
    const { door } = aside
    const take = async (): Promise<void> => {
      const parsed = await parse(path, bytes, { budget })
      const documents = parsed.documents.filter(({ value }) => !isRecord(value) || isTyped(value))
      takeParsed(path, { ...parsed, documents }, aside)
    }
    const spent = await untilSpent(take())
    const opaque = door.opaque().filter(({ isNoted }) => isNoted !== true)
    const held = [...opaque, ...aside.embedded].map(({ reach }) => reach)
    if (spent !== undefined || held.includes(undefined)) return undefined
    if (!areDeployersKnown && aside.deploying.length > 0) return everythingIn(rules.wanted, undefined)
    const read = [...door.objects, ...aside.made].flatMap(({ value }) => {
      const one = rules.wanted.find((wanted) => qualifiedKind(wanted) === kindKey(value))
      return one === undefined ? [] : reachOf(one, readMeta(value), JSON.stringify(value))
    })
    return [...read, ...held.flatMap((reach) => reach ?? [])].filter(({ kind }) => !DETAILS.has(kind))
  }
}

/** What controllers make, without what stands in the files by itself, and each once. */
function notThere(made: readonly RawObject[], objects: readonly RawObject[]): readonly RawObject[] {
  if (made.length === 0) return made
  const there = new Set(objects.map(typeAndName))
  const once = new Map(made.map((one) => [typeAndName(one), one]))
  return [...once.values()].filter((one) => !there.has(typeAndName(one)))
}

function typeAndName({ value }: RawObject): string {
  return `${kindKey(value)} ${readMeta(value).name}`
}

/** A file of more bytes may take seconds in a single step. */
const LARGE_TEXT = 8 * 1024 * 1024

/** A file of more bytes leaves enough behind for it to be worth giving back. */
const LARGE = 1024 * 1024

/** Why no more is read; undefined where all of it was. */
async function untilSpent(taking: Promise<void>): Promise<BudgetSpent | undefined> {
  try {
    await taking
    return undefined
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) return thrown
    throw thrown
  }
}

async function readSources(
  args: FileArguments,
  io: SourceIo,
  collected: Collection,
  progress: ProgressLine,
): Promise<{ readonly sources: readonly Source[]; readonly tree: Tree }> {
  const { door, budget } = collected
  const sources: Source[] = []
  let isFull = false
  const add = (
    name: string,
    read: Uint8Array | InputProblem,
    place: Omit<Source, 'name' | 'bytes'> = {},
  ): void => {
    if (!(read instanceof Uint8Array)) door.hold(read)
    else if (!isFull) {
      const spent = budget.tryCharge('bytes', read.length)
      if (spent === undefined) sources.push({ name, bytes: read, ...place })
      else {
        isFull = true
        door.hold(spentProblem(spent, name))
      }
    }
  }
  const { cwd } = io
  const named = args.files.filter((path) => path !== STDIN_ARGUMENT)
  const found = findFiles(named, { ...args, cwd })
  door.hold(...found.problems)
  const tree = await readTree(found, args.render === true, io, collected, progress)
  const files = tree.files()
  for (const [number, file] of files.entries()) {
    if (isFull) break
    progress.at(() => `opening: ${number} of ${files.length} files`)
    add(file.name, await readBounded(file), { file })
  }
  for (const { name, bytes, ...place } of tree.rendered) add(name, bytes, place)
  if (named.length < args.files.length) add(STDIN, await collect(io.stdin, STDIN))
  for (const folder of args.kustomize) {
    const absent = missingFolder(folder, cwd)
    const { kustomize } = await import('./render.ts')
    if (absent === undefined) add(`${folder} (kustomize)`, await kustomize(folder, io))
    else door.hold(absent)
  }
  return { sources: sources.toSorted((a, b) => compareBytes(a.name, b.name)), tree }
}

/**
 * Parses a text as JSON where it is JSON, else as YAML: flow style begins with the same brackets. `lines` may be shared
 * between texts. Rejects with a BudgetSpent.
 */
export async function parse(
  name: string,
  bytes: Uint8Array,
  { budget = new Budget(), lines = new Map(), unreadType }: Partial<Omit<YamlReading, 'badLines'>> = {},
): Promise<ParsedFile> {
  const seal = sealOf(bytes)
  if (seal !== undefined) return unreadable(seal)
  const { text, badLines } = decodeUtf8(bytes)
  const template = templateOf(text)
  if (template !== undefined) return unreadable(template)
  const reading = { badLines, lines, budget, ...(unreadType && { unreadType }) }
  if (badLines.length === 0 && looksLikeJson(text)) {
    const parsed = await parseJson(text, budget)
    if (parsed.faults.length === 0 || name.endsWith('.json')) return parsed
    // As kubectl does: what comes behind the values of JSON is read as YAML.
    const rest = parsed.faults[0]?.text ?? text
    const before = parsed.documents.length
    const { line } = lineAndColumn(text, text.length - rest.length)
    const asYaml = await parseYaml(rest, reading, { document: before + 1, line })
    // A broken JSON text is broken YAML too: then the first reading says better where.
    const isYaml = asYaml.faults.length === 0 || asYaml.faults.some(({ isLimit }) => isLimit === true)
    if (!isYaml) return parsed
    return { ...asYaml, documents: [...parsed.documents, ...asYaml.documents], count: before + asYaml.count }
  }
  return parseYaml(text, reading)
}

/** A file that is not read at all. */
function unreadable(fault: Pick<DocumentFault, 'why' | 'fix'>): ParsedFile {
  return { documents: [], faults: [{ document: 1, ...fault }], count: 1 }
}

/** A longer document is reported by itself, whatever it holds: it is no mere snippet. In UTF-16 units. */
const HARMLESS_MAX = 1024 * 1024

/** The longest document whose lines are gone through one by one to tell what it may hold, in UTF-16 units. */
const TEXT_READ_MAX = 8 * 1024 * 1024

/** Whether a text of no kind may be anything all the same: it shows nothing, or deploys something. */
function mayStandForMore(text: string): boolean {
  return (
    isSealedText(text) ||
    (plainKindOf(text) === undefined && (namesChart(text) || KEYS_OF_REGISTRATIONS.test(text)))
  )
}

/** What is wrong with a document, and how far that reaches. */
function faultProblem(name: string, fault: DocumentFault, { rules, namespace }: Collection): InputProblem {
  const { document, line, column, text, why, fix } = fault
  const place = { file: name, document, line, column }
  const isAny = text === undefined || text.length > TEXT_READ_MAX || isErrorText(text)
  const found = isAny ? undefined : reachOfText(text, { wanted: rules.wanted, namespace })
  const isOpen = found?.length === 0 && mayStandForMore(text ?? '')
  const reach = isOpen || found === undefined ? undefined : [...found, ...reachOfMentions(text ?? '', rules)]
  const placeholder = text === undefined ? undefined : placeholderIn(text)
  const what = `document ${document} of ${name}`
  if (placeholder !== undefined) return templateProblem(what, place, placeholder, reach)
  const excerpt = excerptOf(fault, rules)
  return { kind: 'malformed', what: `cannot read ${what}`, where: placeText(place), excerpt, why, fix, reach }
}

/**
 * The line of a fault with a mark under its column, of a document that certainly is of a kind that is read and is none of Kubernetes' own:
 * Secrets, ConfigMaps and the environment of containers stand in those.
 */
function excerptOf(
  { line, column = 1, lineText, text = '' }: DocumentFault,
  { wanted }: Pick<ReadingRules, 'wanted'>,
): readonly string[] | undefined {
  const type = plainTypeOf(text)
  if (lineText === undefined || type === undefined) return undefined
  const group = groupOfApiVersion(type.apiVersion)
  const isShown = group.includes('.') && wanted.some((one) => one.kind === type.kind && one.group === group)
  if (!isShown || lineText.includes('\t') || lineText.length > EXCERPT_MAX) return undefined
  const number = String(line ?? '')
  return [`${number} | ${lineText}`, `${' '.repeat(number.length)} | ${' '.repeat(column - 1)}^`]
}

/** A longer line would not show where its mark belongs. */
const EXCERPT_MAX = 100

/** The reader has stopped: what comes after so many faults may be anything. */
function tooManyFaults(name: string): InputProblem {
  return {
    kind: 'failed',
    what: `cannot read more documents or objects of ${name}`,
    where: name,
    why: `more than ${INPUT_LIMITS.problems} of its documents cannot be read`,
    fix: 'leave it out (--exclude FILE), or correct it',
  }
}

function placedNotes(count: number, where: string): readonly string[] {
  if (count === 0) return []
  const [objects, name] = count === 1 ? ['1 object', 'names'] : [`${count} objects`, 'name']
  return [`${objects} that ${name} no namespace: ${where}`]
}

/** Pods may be in any namespace where a kind has none, or may have none; one line for all such objects. */
function anywhereNotes(objects: readonly RawObject[]): readonly string[] {
  const anywhere = objects.filter(({ mayBeAnywhere }) => mayBeAnywhere === true)
  const byScope = Map.groupBy(anywhere, ({ value }) =>
    readMeta(value).namespace === ''
      ? 'its kind has none'
      : 'it names none, and its kind may have none; write metadata.namespace, or add the CRD of the kind',
  )
  return [...byScope].map(([why, ones]) => {
    const names = ones.slice(0, PLACES_SHOWN).map(({ value }) => `${kindKey(value)} ${readMeta(value).name}`)
    const more = ones.length > PLACES_SHOWN ? `, and ${ones.length - PLACES_SHOWN} more` : ''
    return `what ${names.join(', ')}${more} makes may be in any namespace: ${why}`
  })
}

/** The texts under `data` of a ConfigMap, by key. */
export function configMapTexts(object: RawObject): readonly (readonly [key: string, text: string])[] {
  const data = dig(object.value, 'data')
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}
