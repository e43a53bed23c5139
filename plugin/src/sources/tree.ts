// What a folder holds that is no object as it stands: charts, kustomizations with what belongs to them, and things that are
// no files. Each is told in one line with how to have it in; with `--render` it is had in (docs/offline.md, "Whole trees").
import { join, relative } from 'node:path'
import { qualifiedKind } from '@kleym/shared/core/kinds.ts'
import { isRecord, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { Origin } from '@kleym/shared/core/objects/raw.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/objects/workload.ts'
import { isDns1123Subdomain } from '@kleym/shared/core/text/kubernetes.ts'
import type { SourceIo } from '../io/context.ts'
import type { Budget } from './budget.ts'
import type { Kustomization } from './kustomization.ts'
import { readChart, type ChartFacts } from './chart.ts'
import { textOfFile } from './chart-files.ts'
import type { FileProgress } from './file-progress.ts'
import type { FoundFile, FoundFiles, FoundFolder } from './files.ts'
import type { ReadingRules } from './objects.ts'
import type { WantedKind } from './wanted-kind.ts'
import { changedBy, readOverlays, type OverlayReading, type OverlayTree } from './overlay-tree.ts'
import { placeText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOf } from './reach.ts'
import type { RenderResult } from './render.ts'
import { firstValueIn } from './yaml-file.ts'

/** What was rendered, with the name by which objects of it are called. */
export interface RenderedSource {
  readonly name: string
  readonly bytes: Uint8Array
}

/** What is left out of a tree, and what it leaves open. */
export interface LeftOut {
  readonly notes: readonly string[]
  readonly problems: readonly InputProblem[]
  /** Pods that were not looked at. No identity of any other pod depends on them. */
  readonly subjects: readonly { readonly where: string; readonly reach: ProblemReach }[]
}

/** What a tree is read with. */
export interface TreeRules extends ReadingRules {
  readonly render: boolean
}

/** The kinds that pods come from, qualified. */
const SUBJECTS: ReadonlySet<string> = new Set(['Pod', ...WORKLOAD_KINDS.map(qualifiedKind)])
/** Kinds that decide nothing by themselves: a namespace that is not given has unknown labels, a node is taken to exist. */
const DETAILS: ReadonlySet<string> = new Set(['Namespace', 'Node', 'Endpoints'])

/** Looks at the charts and the kustomizations of what was found, and renders them where that is asked for. */
export async function readTree(
  found: FoundFiles,
  rules: TreeRules,
  io: SourceIo,
  { budget, progress }: { readonly budget: Budget; readonly progress: FileProgress },
): Promise<Tree> {
  const texts = new Map<string, string | undefined>()
  const textOf = (path: string): string | undefined => {
    if (!texts.has(path)) texts.set(path, smallText(path, budget))
    return texts.get(path)
  }
  const kustomizations: { value: JsonRecord; origin: Origin }[] = []
  const overlays = await readOverlays(
    found.overlays,
    async ({ name, path, file }) => {
      const value = await firstValueIn(textOf(`${path}/${file}`), budget)
      if (isRecord(value))
        kustomizations.push({ value: asKustomization(value), origin: originOf(name, file) })
      return value
    },
    textOf,
  )
  const tree = new Tree(found, overlays, rules)
  tree.naming.push(...kustomizations)
  for (const folder of found.charts) {
    progress.at(() => `looking at the chart in ${folder.name}`)
    await tree.addChart(folder, io, budget)
  }
  for (const root of rules.render ? overlays.roots : []) {
    progress.at(() => `rendering ${root.kustomization.overlay.name}`)
    await tree.renderOverlay(root, io)
  }
  return tree
}

function originOf(folder: string, file: string): Origin {
  return { file: join(folder, file), document: 1, line: 1 }
}

/** The type may be left out of a kustomization. */
function asKustomization(value: JsonRecord): JsonRecord {
  return { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...value }
}

/** The longest kustomization or patch that is read, in bytes. */
const TEXT_MAX = 4 * 1024 * 1024

/** Undefined where it cannot be read, or is more than is taken in. */
function smallText(path: string, budget: Budget): string | undefined {
  const text = textOfFile(path, TEXT_MAX)
  return text !== undefined && budget.tryCharge('bytes', text.length) === undefined ? text : undefined
}

/** A chart, and what became of it. */
interface ChartReading {
  readonly folder: FoundFolder
  readonly facts: ChartFacts
  /** Why it was asked for and could not be rendered; undefined: it was not asked for. */
  readonly failure: string | undefined
}

/** A tree as it is read. */
export class Tree {
  readonly #found: FoundFiles
  readonly #overlays: OverlayTree
  readonly #rules: TreeRules
  readonly #charts: ChartReading[] = []
  readonly #failures = new Map<OverlayReading, string>()
  readonly #rendered = new Set<OverlayReading>()
  readonly #notes: string[] = []
  readonly rendered: RenderedSource[] = []
  /** What names charts that are not on this disk: what SPIRE's own install is told by its name. */
  readonly naming: { readonly value: JsonRecord; readonly origin: Origin }[] = []

  constructor(found: FoundFiles, overlays: OverlayTree, rules: TreeRules) {
    this.#found = found
    this.#overlays = overlays
    this.#rules = rules
  }

  /** The files to be read as they stand. */
  files(): readonly FoundFile[] {
    return this.#found.files.filter(
      (file) => !this.#overlays.patches.has(file.real) && !this.#isRendered(file),
    )
  }

  /** Whether what was rendered holds all that a file is for. */
  #isRendered(file: FoundFile): boolean {
    if (!this.#overlays.taken.has(file.real)) return false
    const by = this.#overlays.changersOf(file)
    const roots = this.#overlays.roots.filter((root) => by.includes(root))
    return roots.length > 0 && roots.every((root) => this.#rendered.has(root))
  }

  /** Whether what a kustomization makes stands in what was rendered: of itself, or of all that take it in. */
  #isShown(reading: OverlayReading): boolean {
    const roots = [...(this.#overlays.rootsOf.get(reading) ?? [])]
    return this.#rendered.has(reading) || (roots.length > 0 && roots.every((one) => this.#rendered.has(one)))
  }

  /** Takes note of an object that a kustomization changes, and says that it is not to be read; false: it stands as it is. */
  takesAway(file: FoundFile, value: JsonRecord, kind: WantedKind): boolean {
    const changers = this.#overlays.changersOf(file)
    if (changers.length === 0) return false
    const given = stringAt(value, 'metadata', 'namespace') ?? ''
    const object = {
      namespace: given === '' ? this.#rules.namespace : given,
      name: stringAt(value, 'metadata', 'name'),
    }
    const places = changedBy(changers, object, kind)
    const text = JSON.stringify(value)
    for (const { by, namespace, name } of places) by.changed.push(...reachOf(kind, { namespace, name }, text))
    return places.length > 0
  }

  async addChart(folder: FoundFolder, io: SourceIo, budget: Budget): Promise<void> {
    const facts = await readChart(folder.path, this.#rules.wanted, budget)
    if (facts.missing.length > 0) {
      // As Chart.yaml has it, without those that are looked through.
      const value = { version: '', dependencies: facts.missing.map((name) => ({ name })) }
      this.naming.push({ value, origin: originOf(folder.name, 'Chart.yaml') })
    }
    if (facts.isLibrary) return
    const failure = this.#rules.render ? await this.#renderChart(folder, facts, io) : undefined
    if (!this.#rules.render || failure !== undefined) this.#charts.push({ folder, facts, failure })
  }

  /** Why it could not be rendered; undefined where it was. */
  async #renderChart(folder: FoundFolder, facts: ChartFacts, io: SourceIo): Promise<string | undefined> {
    const [missing] = facts.missing
    if (missing !== undefined) return `its dependency ${missing} is not in its charts folder`
    if (facts.fetches) return 'the schema of its values names another one by URL'
    const { name = '' } = facts
    const { namespace } = this.#rules
    const release = name.length <= RELEASE_MAX && isDns1123Subdomain(name) ? name : 'release'
    const { helmTemplate } = await import('./render.ts')
    const result = await helmTemplate({ name: release, path: folder.path, namespace }, io)
    return this.#take(
      result,
      `${folder.name} (helm)`,
      `rendered the chart in ${folder.name} with its default values, as release ${release} in namespace ${namespace}`,
    )
  }

  async renderOverlay(root: OverlayReading, io: SourceIo): Promise<void> {
    const { overlay, refusal } = root.kustomization
    const failure = refusal ?? refusalBelow(root, this.#overlays.overlays)
    const { kubectlKustomize } = await import('./render.ts')
    const why =
      failure ??
      this.#take(
        await kubectlKustomize(overlay.path, io),
        `${overlay.name} (kustomize)`,
        `rendered the kustomization in ${overlay.name}`,
      )
    if (why === undefined) this.#rendered.add(root)
    else this.#failures.set(root, why)
  }

  #take(result: RenderResult, name: string, note: string): string | undefined {
    if (result.state === 'failed') return result.why
    this.rendered.push({ name, bytes: result.bytes })
    this.#notes.push(note)
    return undefined
  }

  /** What there is to say once all files have been read. */
  leftOut(): LeftOut {
    const notes: string[] = [...this.#notes]
    const problems: InputProblem[] = []
    const subjects: { where: string; reach: ProblemReach }[] = []
    for (const leaving of [...this.#leftCharts(), ...this.#leftOverlays()]) {
      const { where, reach, failure, what, how } = leaving
      const used = reach?.filter(({ kind }) => !DETAILS.has(kind))
      // A kustomization that cannot be read through may take in what nothing here shows.
      const isHarmless = leaving.isLookedThrough && used?.length === 0
      const deciding = used?.filter(({ kind }) => !SUBJECTS.has(kind))
      const pods = used?.filter(({ kind }) => SUBJECTS.has(kind)) ?? []
      subjects.push(...pods.map((one) => ({ where, reach: one })))
      if (deciding === undefined || deciding.length > 0 || (failure !== undefined && !isHarmless))
        problems.push(notRendered(leaving, used))
      else if (pods.length > 0)
        notes.push(
          `left out ${what} in ${where}: it may hold ${kindsText(pods)}, whose pods were not looked at; to have it in: ${how}`,
        )
      else
        notes.push(
          `left out ${what} in ${where}: nothing in it is of a kind that is used${failure === undefined ? '' : `; ${failure}`}`,
        )
    }
    for (const { kustomization } of this.#overlays.overlays)
      if (kustomization.elsewhere.length > 0)
        notes.push(
          `${kustomization.overlay.name} names what is not on this disk, and was not looked at: ${kustomization.elsewhere.join(', ')}`,
        )
    if (this.#overlays.isTangled) problems.push(TANGLED)
    const given = new Set([
      ...this.#found.files.map(({ real }) => real),
      ...this.#found.overlays.map(({ path }) => path),
    ])
    for (const reading of this.#overlays.overlays) {
      const { kustomization } = reading
      const outside = this.#rendered.has(reading) ? [] : outsideOf(kustomization, given)
      if (outside.length > 0)
        notes.push(
          `${kustomization.overlay.name} takes in what is not among the files that were given, and was not looked at: ${outside.join(', ')}`,
        )
    }
    for (const { folder, facts } of this.#charts)
      if (facts.missing.length > 0)
        notes.push(
          `${folder.name} needs charts that are not in its charts folder, and were not looked at: ${facts.missing.join(', ')}`,
        )
    for (const name of this.#found.odd) notes.push(`left out ${name}: it is neither a file nor a folder`)
    return { notes, problems, subjects }
  }

  #leftCharts(): readonly Leaving[] {
    return this.#charts.map(({ folder, facts, failure }) => ({
      where: folder.name,
      what: 'a chart',
      reach: facts.reach,
      isLookedThrough: true,
      failure,
      how: `--render, or helm template ${folder.name} | kubectl kleym ... -f -`,
    }))
  }

  #leftOverlays(): readonly Leaving[] {
    return this.#overlays.overlays.flatMap((reading) => {
      const { kustomization } = reading
      // What is changed on the way is changed by those above too, which tell of it.
      const isPassedOn = this.#rules.render && (this.#overlays.rootsOf.get(reading)?.size ?? 0) > 0
      const changed = isPassedOn ? [] : reading.changed
      const { overlay, makesScmConfig, makesAnything, changes } = kustomization
      const isMade = makesScmConfig && !this.#isShown(reading)
      const made = isMade ? [{ kind: 'ConfigMap', namespace: changes.namespace, name: undefined }] : []
      const isOpen = makesAnything && !this.#isShown(reading)
      const failure = this.#failures.get(reading)
      if (changed.length === 0 && made.length === 0 && !isOpen && failure === undefined) return []
      return [
        {
          where: overlay.name,
          what: 'what a kustomization changes',
          reach: isOpen ? undefined : distinct([...changed, ...made]),
          isLookedThrough: false,
          failure,
          how: `--render, or -k ${overlay.name}`,
        },
      ]
    })
  }
}

/** What a kustomization takes in from beside the files that were given. */
function outsideOf({ overlay, resources }: Kustomization, given: ReadonlySet<string>): readonly string[] {
  return resources.filter((path) => !given.has(path)).map((path) => relative(overlay.path, path))
}

const TANGLED: InputProblem = {
  kind: 'failed',
  what: 'cannot follow what the kustomizations take in',
  where: '-f',
  why: 'they take in each other in more than a million ways',
  fix: 'name one of them: -k DIR',
}

/** Release names that helm takes. */
const RELEASE_MAX = 53

/** Something that is left out. */
interface Leaving {
  readonly where: string
  readonly what: string
  /** What it may hold; undefined: anything. */
  readonly reach: readonly ProblemReach[] | undefined
  /** Whether all of its text was looked through, so that what it holds no word of is not in it. */
  readonly isLookedThrough: boolean
  /** Why it could not be rendered although that was asked for. */
  readonly failure: string | undefined
  readonly how: string
}

function notRendered(
  { where, what, failure, how }: Leaving,
  reach: readonly ProblemReach[] | undefined,
): InputProblem {
  const holds =
    reach === undefined ? 'anything' : reach.length === 0 ? 'nothing that is used' : kindsText(reach)
  return {
    kind: failure === undefined ? 'not rendered' : 'failed',
    what: failure === undefined ? `left out ${what}` : `cannot render ${what}`,
    where: placeText({ file: where }),
    why:
      failure === undefined
        ? `what it may hold shows once it is rendered: ${holds}`
        : `${failure}; it may hold ${holds}`,
    fix:
      failure === undefined
        ? `have it in: ${how}`
        : `render it yourself: ${how.replace('--render, or ', '')}`,
    ...(reach === undefined ? {} : { reach }),
  }
}

function kindsText(reach: readonly ProblemReach[]): string {
  const namespaces = new Map<string, Set<string>>()
  for (const { kind, namespace } of reach) {
    const known = namespaces.get(kind) ?? new Set()
    namespaces.set(kind, known.add(namespace ?? ''))
  }
  return [...namespaces]
    .map(([kind, inside]) => {
      const named = [...inside].filter((one) => one !== '')
      return inside.has('') || named.length === 0 ? kind : `${kind} (in ${named.toSorted().join(', ')})`
    })
    .toSorted()
    .join(', ')
}

function distinct(reach: readonly ProblemReach[]): readonly ProblemReach[] {
  return [...new Map(reach.map((one) => [JSON.stringify(one), one])).values()]
}

/** Why something that a kustomization takes in cannot be built without the network. */
function refusalBelow(root: OverlayReading, overlays: readonly OverlayReading[]): string | undefined {
  const byFolder = new Map(overlays.map((one) => [one.kustomization.overlay.path, one]))
  const seen = new Set<string>()
  const open = [...root.kustomization.resources]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const below = byFolder.get(path)
    if (below === undefined || seen.has(path)) continue
    seen.add(path)
    const { refusal, overlay, resources } = below.kustomization
    if (refusal !== undefined) return `${overlay.name}: ${refusal}`
    open.push(...resources)
  }
  return undefined
}
