// What a folder holds that is no object as it stands: charts, kustomizations with what belongs to them, and things that are
// no files. Each is told in one line with how to have it in; with `--render` it is had in (docs/reading-files.md, "Whole trees").
import { basename, dirname, join, relative, resolve } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Origin } from '@kleym/shared/core/model/objects/raw.ts'
import { kindOf } from '@kleym/shared/core/model/kinds.ts'
import { LOCAL_CONFIG_ANNOTATION } from '@kleym/shared/core/model/names.ts'
import { KINDS_WITH_PODS } from '@kleym/shared/core/model/objects/workload.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { isDns1123Subdomain } from '@kleym/shared/core/base/text/kubernetes.ts'
import type { SourceIo } from '../io/context.ts'
import type { Budget } from './budget.ts'
import { generatedConfigs, type Kustomization } from './kustomization.ts'
import { readChart, type ChartFacts } from './chart.ts'
import { chartFiles, textOfFile } from './chart-files.ts'
import { appliedIn } from './commands.ts'
import {
  DETAILS,
  deploying,
  eachOf,
  everythingIn,
  type Deploying,
  type MadeDeployer,
  type OwnTree,
} from './deployers.ts'
import type { Door } from './door.ts'
import type { ProgressLine } from '../io/progress-line.ts'
import type { Deployed } from './fetching.ts'
import { embeddedProblem } from './embedded-objects.ts'
import { isRemote, realFile, type FoundFile, type FoundFiles, type FoundFolder } from './files.ts'
import type { Collection, ReadingRules } from './objects.ts'
import type { WantedKind } from './wanted-kind.ts'
import { noteChanges, readOverlays, type OverlayReading, type OverlayTree } from './overlay-tree.ts'
import { listed, reachText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOf } from './reach.ts'
import type { Nearest } from './placing.ts'
import type { Aside, ReachOfFile } from './tool-folders.ts'
import type { ProgramOutput } from './program-output.ts'
import { firstValueIn } from './yaml-file.ts'

/** A text with the name by which it is called: a file, stdin, what was rendered. */
export interface Source {
  readonly name: string
  readonly bytes: Uint8Array
  /** Absent for what is no file. */
  readonly file?: FoundFile
  /** The namespaces of objects that name none, of a chart that was rendered; empty: they are filled in later. */
  readonly namespaces?: readonly string[]
  /** The folder of a kustomization that was rendered. */
  readonly folder?: string
}

/** A folder that something deploys. */
export interface DeployedFolder {
  readonly folder: string
  /** The file in which that stands, as it is called. */
  readonly file: string
  /** How it deploys. */
  readonly way: string
  /** Whether it deploys nothing until it is resumed. */
  readonly isSuspended: boolean
}

/** How a file of a tree comes into a cluster. */
export interface FileRoute {
  /** Where its objects stand: in itself, or in what is rendered of what takes it in. */
  readonly names: readonly string[]
  /** The folders of the kustomizations that take it in, themselves or through others; from the top of the tree. */
  readonly takenInBy: ReadonlySet<string>
  /** In which ways something among the files deploys it; empty: nothing does. */
  readonly ways: ReadonlySet<string>
  /** Whether all that deploys it is suspended. */
  readonly isSuspended: boolean
}

/** Reads the charts and the kustomizations among the files, and renders them if `--render` is given. */
export async function readTree(
  found: FoundFiles,
  isRendered: boolean,
  io: SourceIo,
  collected: Collection,
  progress: ProgressLine,
): Promise<Tree> {
  const { rules, budget } = collected
  const texts = new Map<string, string | undefined>()
  const textOf = (path: string): string | undefined => {
    if (!texts.has(path)) texts.set(path, smallText(path, budget))
    return texts.get(path)
  }
  const overlays = await readOverlays(
    found.overlays,
    async ({ name, path, file }) => {
      const value = await firstValueIn(textOf(`${path}/${file}`), budget)
      const origin = originOf(name, file)
      if (isRecord(value))
        collected.deploying.push(...[deploying({ ...KUSTOMIZATION_TYPE, ...value }, origin) ?? []].flat())
      const generated = ['configMapGenerator', 'secretGenerator'].map((field) => own(value, field))
      if (!isRendered && isRecord(value))
        for (const made of generatedConfigs(value, path, textOf))
          collected.made.push({ value: made, origin, isManifest: true })
      const held = isRendered ? undefined : embeddedProblem(generated, origin, rules.wanted)
      if (held !== undefined) collected.embedded.push(held)
      return value
    },
    textOf,
  )
  const tree = new Tree(found, overlays, { ...rules, isRendered }, textOf)
  for (const folder of found.charts) {
    progress.at(() => `looking at the chart in ${folder.name}`)
    collected.deploying.push(...(await tree.addChart(folder, budget)))
  }
  progress.at(() => 'rendering kustomizations')
  if (isRendered) await inParallel(overlays.roots, (root) => tree.renderOverlay(root, io))
  return tree
}

/** How origins call what was rendered of a kustomization. */
function renderedName({ name }: Pick<FoundFolder, 'name'>): string {
  return `${name} (kustomize)`
}

function originOf(folder: string, file: string): Origin {
  return { file: join(folder, file), document: 1, line: 1 }
}

/** A kustomization may leave it out. */
const KUSTOMIZATION_TYPE = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' }

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

type TreeRules = ReadingRules & { readonly isRendered: boolean }

/** A tree as it is read. */
export class Tree {
  readonly #found: FoundFiles
  readonly #overlays: OverlayTree
  readonly #rules: TreeRules
  readonly #textOf: (path: string) => string | undefined
  readonly #charts: ChartReading[] = []
  /**
   * The charts that were rendered with their default values; `isGiven`: a deployer here uses other values, which are elsewhere.
   */
  readonly #byDefault: (ChartReading & { readonly isGiven: boolean })[] = []
  /** The charts whose templates make whole objects of what they are given. */
  readonly #takingObjects: FoundFolder[] = []
  readonly #failures = new Map<OverlayReading, string>()
  readonly #rendered = new Set<OverlayReading>()
  readonly #notes: string[] = []
  /** What of charts that make nothing could be applied as it is. */
  readonly #ownFiles: FoundFile[] = []
  readonly #chartFolders = lazy(() => new Set(this.#found.charts.map(({ path }) => path)))
  /** Where the kustomizations are, and which of them no other one takes in. */
  readonly #kustomized = lazy(() => ({
    paths: new Set(this.#overlays.overlays.map(({ kustomization }) => kustomization.overlay.path)),
    roots: new Set(this.#overlays.roots),
  }))
  readonly rendered: Source[] = []

  constructor(
    found: FoundFiles,
    overlays: OverlayTree,
    rules: TreeRules,
    textOf: (path: string) => string | undefined,
  ) {
    this.#textOf = textOf
    this.#found = found
    this.#overlays = overlays
    this.#rules = rules
  }

  /** The folders that were gone through, and the manifests and templates in them, without links. */
  get places(): { readonly folders: ReadonlySet<string>; readonly files: readonly string[] } {
    const { folders, files, templates } = this.#found
    return { folders, files: [...files, ...templates].map(({ real }) => real) }
  }

  /** What is not read for its name. */
  get aside(): Aside {
    const { toolFolders, templates, ownFiles } = this.#found
    return { toolFolders, templates, ownFiles: [...ownFiles, ...this.#ownFiles] }
  }

  /** A patch, content or configuration that a kustomization names is a part of it: so is what such a file may hold by itself. */
  async takePatches(reachOfFile: ReachOfFile): Promise<void> {
    if (this.#rules.isRendered) return
    for (const { kustomization, changed } of this.#overlays.overlays)
      for (const path of kustomization.others)
        if (this.#overlays.patches.has(path))
          changed.push(...((await reachOfFile(path, true)) ?? everythingIn(this.#rules.wanted, undefined)))
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
    const roots = this.#overlays.rootsOf(reading)
    return this.#rendered.has(reading) || (roots.length > 0 && roots.every((one) => this.#rendered.has(one)))
  }

  /** Takes note of an object that a kustomization changes, and says that it is not to be read; false: it stands as it is. */
  takesAway(file: FoundFile, value: JsonRecord, kind: WantedKind, namespace: string | undefined): boolean {
    const changers = this.#overlays.changersOf(file)
    if (changers.length === 0) return false
    const object = {
      namespace: stringAt(value, 'metadata', 'namespace') || namespace,
      name: stringAt(value, 'metadata', 'name'),
    }
    if (isLocal(value)) return true
    return noteChanges(changers, object, kind, JSON.stringify(value))
  }

  /** A deployer as the kustomizations that take in its file make it: in each of their namespaces, and whether they change what it says. */
  asMade(file: FoundFile, value: JsonRecord): MadeDeployer {
    const changes = this.#overlays.changersOf(file).map(({ kustomization }) => kustomization.changes)
    const namespaces = new Set(changes.flatMap(({ namespace }) => namespace ?? []))
    const metadata = own(value, 'metadata')
    const { kind } = kindOf(value)
    return {
      values:
        namespaces.size === 0 || !isRecord(metadata)
          ? [value]
          : [...namespaces].map((namespace) => ({ ...value, metadata: { ...metadata, namespace } })),
      isChanged: changes.some(({ specs }) => specs === 'all' || specs.has(kind)),
    }
  }

  /** Who takes in and deploys each file, by its path in the tree; `deployed`: the folders that something deploys. */
  routes(deployed: readonly DeployedFolder[]): ReadonlyMap<string, FileRoute> {
    const [top = ''] = [...this.#found.folders].toSorted((one, other) => one.length - other.length)
    const { roots, paths } = this.#kustomized()
    // Of a folder with a kustomization nothing is deployed that this does not take in.
    const byFolder = Map.groupBy(deployed, ({ folder }) => folder)
    const deployersOf = (place: string): readonly DeployedFolder[] =>
      this.#upFrom([place]).flatMap((near) =>
        near.flatMap((one) => (one === place || !paths.has(one) ? (byFolder.get(one) ?? []) : [])),
      )
    const takingIn = (file: FoundFile): readonly string[] =>
      this.#overlays.changersOf(file).map((one) => one.kustomization.overlay.path)
    const named = new Map(this.#found.files.map((file) => [file.name, file]))
    // Files that stand beside each other, and are taken in by the same, are deployed alike.
    const direct = new Map<string, readonly DeployedFolder[]>()
    const directOf = (file: FoundFile): readonly DeployedFolder[] => {
      const by = takingIn(file)
      const place = byFolder.has(file.real) ? file.real : dirname(file.real)
      return getOrCreate(direct, [place, ...by].join('\n'), () => [file.real, ...by].flatMap(deployersOf))
    }
    // What deploys a file may be deployed itself: without that, or in another way, it may say something else.
    const ways = new Map<readonly DeployedFolder[], ReadonlySet<string>>()
    const waysOf = (file: FoundFile): ReadonlySet<string> =>
      getOrCreate(ways, directOf(file), () => {
        const found = new Set(directOf(file))
        const seen = new Set<readonly DeployedFolder[]>()
        for (const { file: name } of found) {
          const above = named.get(name)
          const by = above === undefined ? [] : directOf(above)
          if (seen.has(by)) continue
          seen.add(by)
          for (const one of by) found.add(one)
        }
        return new Set([...found].map(({ way }) => way))
      })
    return new Map(
      this.#found.files.map((file) => {
        const by = this.#overlays.changersOf(file)
        const rendered = by.flatMap((one) => (roots.has(one) ? renderedName(one.kustomization.overlay) : []))
        return [
          relative(top, file.real),
          {
            names: [file.name, ...rendered],
            takenInBy: new Set(takingIn(file).map((path) => relative(top, path) || '.')),
            ways: waysOf(file),
            isSuspended: directOf(file).length > 0 && directOf(file).every((one) => one.isSuspended),
          },
        ]
      }),
    )
  }

  /** Whether a folder is that of a chart: no object that stands in it is deployed. */
  isChart(folder: string): boolean {
    return this.#chartFolders().has(folder)
  }

  /**
   * The folders from which a file or something that was rendered may be deployed, the nearest first: those of the kustomizations that take
   * it in, and those that it is in; of each link to it by itself.
   */
  foldersOf({ file, folder }: Source): readonly Nearest[] {
    if (file === undefined) return folder === undefined ? [] : [this.#upFrom([folder])]
    const places = file.places ?? [file.real]
    const overlays = this.#overlays.changersOf(file)
    if (overlays.length === 0) return places.map((place) => this.#upFrom([place]))
    // What another one takes in is deployed with that, or by its own path. Of a folder above with a kustomization nothing else is deployed.
    const { roots, paths } = this.#kustomized()
    return overlays.map((one) => {
      const { path } = one.kustomization.overlay
      return roots.has(one) ? [[path], ...this.#upFrom([...places, path], paths)] : [[path]]
    })
  }

  #upFrom(places: readonly string[], without: ReadonlySet<string> = new Set()): Nearest {
    const near: (readonly string[])[] = []
    for (let at = places; at.length > 0;) {
      near.push(at)
      const above = new Set(at.map((one) => dirname(one)))
      at = [...above].filter((one) => this.#found.folders.has(one) && !this.isChart(one) && !without.has(one))
    }
    return near
  }

  /** Looks a chart through; what it names that is not on this disk. */
  async addChart(folder: FoundFolder, budget: Budget): Promise<readonly Deploying[]> {
    const facts = await readChart(folder.path, this.#rules.wanted, budget)
    if (facts.isLibrary) {
      this.#ownFiles.push(...plainTemplates(folder, budget))
      return []
    }
    this.#charts.push({ folder, facts, failure: undefined })
    if (facts.takesObjects) this.#takingObjects.push(folder)
    if (facts.elsewhere.length === 0) return []
    const deployed = facts.elsewhere.map((chart) => ({ chart }))
    return [{ origin: originOf(folder.name, 'Chart.yaml'), name: 'Chart.yaml', deployed }]
  }

  /** Adds values from elsewhere that make whole objects in a chart of the tree: these may be anything. */
  withForeignValues(all: readonly Deploying[], ofTree: OwnTree): readonly Deploying[] {
    if (this.#takingObjects.length === 0) return all
    const isGiven = (one: Deployed): boolean =>
      eachOf(one, ofTree).some((each) => {
        const chart = this.#takingObjects.find(({ path }) => path === each.folder)
        return chart !== undefined && this.#valueFiles(each, chart, ofTree) === undefined
      })
    return all.map((one) => ({
      ...one,
      deployed: one.deployed.map((each) =>
        isGiven(each)
          ? { ...each, changes: `${each.path ?? each.chart ?? ''} with values that are elsewhere` }
          : each,
      ),
    }))
  }

  /** Renders the charts where that is asked for: with the values of what deploys them, else with their own. */
  async renderCharts(all: readonly Deploying[], ofTree: OwnTree, io: SourceIo): Promise<readonly Source[]> {
    if (!this.#rules.isRendered) return []
    const before = this.rendered.length
    const { helmTemplate } = await import('./render.ts')
    const charts = this.#charts.splice(0)
    const releases = Map.groupBy(
      all.flatMap(({ name, deployed }) =>
        deployed.flatMap((one) => eachOf(one, ofTree)).map((one) => ({ by: name, ...one })),
      ),
      (one) => one.folder,
    )
    await inParallel(charts, async ({ folder, facts }) => {
      const given = (releases.get(folder.path) ?? []).map((one) => ({
        ...one,
        files: this.#valueFiles(one, folder, ofTree),
      }))
      const isKnown =
        given.length > 0 && given.every(({ files, changes }) => files !== undefined && changes === undefined)
      const ways = given.length > 0 ? given : [undefined]
      let failure = refusalOfChart(facts)
      for (const one of failure === undefined ? ways : []) {
        const name = releaseName(one?.release ?? facts.name ?? '')
        const namespace = one?.namespace ?? this.#rules.namespace
        const namespaces = (one?.openNamespace ?? false) === false ? [namespace] : []
        const { inline = [], set = [] } = (isKnown && one?.values) || {}
        const values = { files: (isKnown && one?.files) || [], inline, set }
        const how = isKnown ? `with the values of ${one?.by ?? ''}` : 'with its default values'
        const result = await helmTemplate({ name, path: folder.path, namespace, values }, io)
        failure ??= this.#take(
          result,
          `${folder.name} (helm${ways.length > 1 ? `, ${namespace}/${name}` : ''})`,
          `rendered the chart in ${folder.name} ${how}, as release ${name} in namespace ${namespace}`,
          { namespaces },
        )
      }
      if (failure !== undefined) this.#charts.push({ folder, facts, failure })
      else if (!isKnown) this.#byDefault.push({ folder, facts, failure, isGiven: given.length > 0 })
    })
    this.#charts.sort(byName)
    this.#byDefault.sort(byName)
    this.#notes.sort()
    return this.rendered.slice(before).toSorted((a, b) => compareBytes(a.name, b.name))
  }

  /** The files of values of a release; undefined where they are not known, or are not all among the folders that are read. */
  #valueFiles(
    { values }: Deployed,
    { path }: FoundFolder,
    { folderAt }: OwnTree,
  ): readonly string[] | undefined {
    if (values === undefined) return undefined
    const files = values.files.map((file) => {
      const at = values.ofChart
        ? join(path, file)
        : join(folderAt(dirname(`./${file}`)) ?? path, basename(file))
      const real = realFile(at)
      return real !== undefined && this.#found.folders.has(dirname(real)) && !real.endsWith('.gotmpl')
        ? real
        : undefined
    })
    return files.every((file) => file !== undefined) ? files : undefined
  }

  async renderOverlay(root: OverlayReading, io: SourceIo): Promise<void> {
    const { overlay, refusal } = root.kustomization
    const failure = refusal ?? refusalBelow(this.#overlays, root)
    const { kubectlKustomize } = await import('./render.ts')
    const why =
      failure ??
      this.#take(
        await kubectlKustomize(overlay.path, io),
        renderedName(overlay),
        `rendered the kustomization in ${overlay.name}`,
        { folder: overlay.path },
      )
    if (why === undefined) this.#rendered.add(root)
    else this.#failures.set(root, why)
  }

  #take(
    result: ProgramOutput,
    name: string,
    note: string,
    place: Pick<Source, 'namespaces' | 'folder'>,
  ): string | undefined {
    if (result.state === 'failed') return result.why
    this.rendered.push({ name, bytes: result.bytes, ...place })
    this.#notes.push(note)
    return undefined
  }

  /** What becomes of all that is no file to be read, once all files have been read. */
  leaveOut(door: Door): void {
    for (const note of this.#notes) door.dismiss({ because: 'told', note })
    door.hold(...this.#leftToValues())
    const places = new Map<string, string[]>()
    for (const leaving of [...this.#leftCharts(), ...this.#leftOverlays()]) {
      const { where, reach, failure, what } = leaving
      const used = reach?.filter(({ kind }) => !DETAILS.has(kind))
      if (used?.length !== 0 || leaving.isHidden === true) door.hold(notRendered(leaving, used))
      else {
        const why = `nothing in it is of a kind that is used${failure === undefined ? '' : `; ${failure}`}`
        getOrCreate(places, `${what}\n${why}`, () => []).push(where)
      }
    }
    for (const [sort, where] of places) {
      const [what, why] = sort.split('\n')
      door.dismiss({ because: 'told', note: `left out ${what} in ${listed(where)}: ${why}` })
    }
    if (this.#overlays.isTangled) door.hold(TANGLED)
    for (const { name, path, real } of this.#found.tools) {
      const text = this.#textOf(path)
      const isInTree = (module: string): boolean => this.#found.folders.has(resolve(dirname(real), module))
      const reach = modulesIn(text).every(isInTree)
        ? reachOfTool(text, this.#rules.wanted)
        : everythingIn(this.#rules.wanted, undefined)
      if (reach.length > 0)
        door.hold({
          kind: 'not rendered',
          what: `${name} deploys what is not among the files`,
          where: name,
          why: `what it makes may be ${reachText(reach)}`,
          fix: 'add what it makes as manifests',
          reach,
        })
    }
    for (const name of this.#found.odd)
      door.dismiss({ because: 'told', note: `left out ${name}: it is neither a file nor a folder` })
  }

  #leftCharts(): readonly Leaving[] {
    return this.#charts.map(({ folder, facts, failure }) => ({
      where: folder.name,
      what: 'a chart',
      reach: facts.reach,
      failure,
      alike: 'charts are not rendered',
      how: commandFor(folder.name, facts),
    }))
  }

  /** What the values of a chart that was rendered decide about. */
  #leftToValues(): readonly InputProblem[] {
    return this.#byDefault.flatMap(({ folder: { name }, facts, isGiven }) => {
      // That somebody may give labels to a pod some day opens nothing; that something here does, does.
      const deciding = facts.reachOfValues?.filter(
        ({ kind }) => !DETAILS.has(kind) && (isGiven || !KINDS_WITH_PODS.has(kind)),
      )
      if (deciding?.length === 0) return []
      return {
        kind: 'not rendered',
        what: `the chart in ${name} was rendered with its default values`,
        alike: 'charts were rendered with their default values',
        where: name,
        why: `what it makes with the values that are in use is not known: ${reachText(deciding)}`,
        fix: 'render it yourself, and leave it out: helm template NAME DIR -f VALUES | kubectl kleym ... -f - --exclude DIR',
        reach: deciding,
      }
    })
  }

  #leftOverlays(): readonly Leaving[] {
    const given = new Set([
      ...this.#found.files.map(({ real }) => real),
      ...this.#found.overlays.map(({ path }) => path),
    ])
    return this.#overlays.overlays.flatMap((reading) => {
      const { kustomization } = reading
      // What is changed on the way is changed by those above too, which tell of it.
      const isPassedOn = this.#rules.isRendered && this.#overlays.rootsOf(reading).length > 0
      // What one that was rendered makes stands there, though others keep the files that it takes in from being dismissed.
      const changed = isPassedOn || this.#isShown(reading) ? [] : reading.changed
      const { overlay, makesScmConfig, makesAnything, isUnreadable, changes } = kustomization
      const isMade = makesScmConfig && !this.#isShown(reading)
      const made = isMade ? [{ kind: 'ConfigMap', namespace: changes.namespace, name: undefined }] : []
      const isOpen = (makesAnything || isUnreadable) && !this.#isShown(reading)
      const failure = this.#failures.get(reading)
      const lacked = isPassedOn ? [] : this.#lackedBy(reading)
      const outside = this.#rendered.has(reading) ? [] : outsideOf(kustomization, given)
      const unseen = [...lacked, ...outside]
      if (changed.length + made.length + unseen.length === 0 && !isOpen && failure === undefined) return []
      const anything = unseen.length === 0 ? [] : everythingIn(this.#rules.wanted, changes.namespace)
      return {
        where: overlay.name,
        what: isUnreadable
          ? 'a kustomization that cannot be read'
          : lacked.length > 0
            ? `what a kustomization names and this disk lacks (${lacked.join(', ')})`
            : outside.length > 0
              ? `what a kustomization takes in from beside the files that were given (${outside.join(', ')})`
              : 'what a kustomization changes',
        reach: isOpen ? undefined : distinct([...changed, ...made, ...anything]),
        // It may take in what nothing here shows.
        isHidden: failure !== undefined,
        failure,
        alike: isUnreadable
          ? 'kustomizations cannot be read'
          : unseen.length === 0
            ? 'kustomizations change what they take in, and are not built'
            : undefined,
        how: isUnreadable
          ? `correct it, then -k ${overlay.name}`
          : unseen.length === 0
            ? '--render'
            : `${lacked.every(isRemote) ? '' : 'put it there, then '}-k ${overlay.name}`,
      }
    })
  }

  /** What is not on this disk: of one that is rendered for others too, with all that it takes in. */
  #lackedBy(reading: OverlayReading): readonly string[] {
    const below = this.#rules.isRendered ? this.#overlays.below(reading) : []
    return [reading, ...below].flatMap(({ kustomization }) => kustomization.elsewhere)
  }
}

/**
 * Whether kustomize leaves out an object that it takes in, whatever else the annotation says:
 * https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/#configkubernetesiolocal-config
 */
function isLocal(value: JsonRecord): boolean {
  const local = stringAt(value, 'metadata', 'annotations', LOCAL_CONFIG_ANNOTATION)
  return local !== undefined && local !== 'false'
}

/** What a kustomization takes in from beside the files that were given. */
function outsideOf({ overlay, resources }: Kustomization, given: ReadonlySet<string>): readonly string[] {
  return resources.filter((path) => !given.has(path)).map((path) => relative(overlay.path, path))
}

/** Names of what brings objects into a cluster. */
const BRINGS = 'helm|manifest|kubectl|kustomiz|argo|flux|fleet|gitops|chart'
/** What a helmfile lists, and the resources and modules of Terraform that are told by their type, name or address to deploy more than themselves. */
const DEPLOYS = new RegExp(
  [
    String.raw`^[ \t]*(?:releases|helmfiles|bases):`,
    // What changes the manifests beside it: https://kpt.dev/reference/schema/kptfile/
    String.raw`^[ \t]*mutators:`,
    String.raw`^[ \t]*(?:resource|module)[ \t]+"[^"\n]*(?:${BRINGS})`,
    String.raw`"(?:helm_release|[a-z0-9_]*_manifest)"[ \t]*:`,
    // What a module of the tree makes stands in the tree.
    String.raw`^[ \t]*(?:module[ \t]+"[^"\n]*"|terraform)[ \t]*\{[^{}]{0,2000}?\bsource[ \t]*=[ \t]*"(?!\.)[^"\n]*(?:${BRINGS}|k8s|kubernetes(?!-engine)|addon)`,
    // At an address that does not name the provider that it is for: https://developer.hashicorp.com/terraform/registry/modules/publish
    String.raw`^[ \t]*(?:module[ \t]+"[^"\n]*"|terraform)[ \t]*\{[^{}]{0,2000}?\bsource[ \t]*=[ \t]*"(?![^"\n]*\bterraform-[a-z0-9]+-)(?:[^"\n]*(?:::|:\/\/)|git@|(?:github\.com|bitbucket\.org)\/)`,
  ].join('|'),
  'm',
)

/** The folders from which a file of Terraform takes modules. */
function modulesIn(text = ''): readonly string[] {
  return [...text.matchAll(/^[ \t]*source[ \t]*=[ \t]*"(\.[^"\n]*)"/gm)].map(([, folder = '']) => folder)
}

/** What a file of another tool may make; empty: nothing that is used. Terraform calls a Deployment `kubernetes_deployment_v1`. */
function reachOfTool(text: string | undefined, wanted: readonly WantedKind[]): readonly ProblemReach[] {
  if (text === undefined || DEPLOYS.test(text) || appliedIn(text).length > 0)
    return everythingIn(wanted, undefined)
  const types = new Set(
    text.matchAll(/"kubernetes_([a-z_]{1,64}?)(?:_v\d[a-z0-9]{0,8})?"/g).map(([, type]) => type),
  )
  return wanted.flatMap((one) =>
    types.has(inTerraform(one.kind)) && !DETAILS.has(one.kind) ? reachOf(one, {}, text) : [],
  )
}

/** `StatefulSet` as `stateful_set`. */
function inTerraform(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
}

const TANGLED: InputProblem = {
  kind: 'failed',
  what: 'cannot follow what the kustomizations take in',
  where: '-f',
  why: 'they take in each other in more than a million ways',
  fix: 'name one of them: -k DIR',
}

/** The templates of a chart in which Helm has nothing to fill in. */
function plainTemplates({ name, path }: FoundFolder, budget: Budget): readonly FoundFile[] {
  const plain: FoundFile[] = []
  for (const one of chartFiles(path, budget)) {
    const real = realFile(join(path, one.path))
    const isPlain = /^templates\/.*\.(?:ya?ml|json)$/.test(one.path) && one.text?.includes('{{') === false
    if (isPlain && real !== undefined) plain.push({ name: join(name, one.path), path: real, real })
  }
  return plain
}

/** Release names that helm takes. */
const RELEASE_MAX = 53

function releaseName(name: string): string {
  return name.length <= RELEASE_MAX && isDns1123Subdomain(name) ? name : 'release'
}

/** Why a chart cannot be rendered without the network. */
function refusalOfChart({ missing: [missing], fetches }: ChartFacts): string | undefined {
  if (missing !== undefined) return `its dependency ${missing} is not in its charts folder`
  return fetches ? 'the schema of its values names another one by URL' : undefined
}

function byName(a: ChartReading, b: ChartReading): number {
  return compareBytes(a.folder.name, b.folder.name)
}

/** So many programs run at a time. */
const PROGRAMS_AT_A_TIME = 4

async function inParallel<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = all.values()
  const work = async (): Promise<void> => {
    for (const one of left) await run(one)
  }
  await Promise.all(Array.from({ length: PROGRAMS_AT_A_TIME }, work))
}

/** Something that is left out; `reach`: what it may hold. */
interface Leaving extends Pick<InputProblem, 'where' | 'what' | 'reach' | 'alike'> {
  /** Whether it may hold what its text does not show. */
  readonly isHidden?: boolean
  /** Why it could not be rendered although that was asked for. */
  readonly failure: string | undefined
  /** The command, or the flag, that has it in. */
  readonly how: string
}

/** The one command that has a chart in. */
function commandFor(folder: string, { missing }: ChartFacts): string {
  return missing.length === 0 ? '--render' : `helm dependency build ${folder}, then --render`
}

function notRendered(
  { where, what, failure, alike, how }: Leaving,
  reach: readonly ProblemReach[] | undefined,
): InputProblem {
  const holds = `may hold ${reachText(reach)}`
  const told =
    failure === undefined
      ? {
          what: `left out ${what}`,
          alike,
          why: `it is not rendered, and ${holds}`,
          fix: `to include it: ${how}`,
        }
      : {
          what: `cannot render ${what}`,
          why: `${failure}; it ${holds}`,
          fix: `render it yourself: ${how === '--render' ? `-k ${where}` : how}`,
        }
  return { kind: 'not rendered', where, ...told, reach }
}

function distinct(reach: readonly ProblemReach[]): readonly ProblemReach[] {
  return [...new Map(reach.map((one) => [JSON.stringify(one), one])).values()]
}

/** Why something that a kustomization takes in cannot be built without the network. */
function refusalBelow({ below, isTangled }: OverlayTree, root: OverlayReading): string | undefined {
  if (isTangled) return TANGLED.why
  const refused = below(root).find(({ kustomization }) => kustomization.refusal !== undefined)?.kustomization
  return refused && `${refused.overlay.name}: ${refused.refusal ?? ''}`
}
