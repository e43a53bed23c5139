// Objects of other kinds that say by their fields that a controller fetches what they deploy: a chart of a repository, a folder of a Git
// repository, a package of a catalog. No kind is named: an App of kapp, a PackageInstall, a Subscription of OLM or of Open Cluster Management,
// a Release of Crossplane, a ClusterProfile of Sveltos and a Terraform all do.
import { isRecord, own, type JsonRecord } from '@kleym/shared/core/json.ts'

/** What an object fetches; undefined where it does not say. */
export interface Fetched {
  readonly chart?: string | undefined
  readonly path?: string | undefined
  readonly repository?: string | undefined
}

/** How deep fields are looked through; those of real kinds stand within six levels. */
const DEPTH_MAX = 12

/** A key, as a field of an object has it and as it stands in YAML or JSON. */
interface Key {
  readonly field: RegExp
  readonly inText: RegExp
}

function key(name: string): Key {
  return {
    field: new RegExp(`^${name}$`, 'i'),
    inText: new RegExp(`(?<![\\w.-])["']?${name}["']?\\s*:`, 'i'),
  }
}

const CHART = key('(?:helm)?chart(?:name|ref)?')
const REPOSITORY = key(
  '(?:(?:helm)?repo(?:sitory)?(?:url|ref)?|url|git(?:repo(?:sitory)?)?|source(?:ref)?|oci)',
)
const PLACE = key('(?:path|subpath|directory|ref|branch|tag|revision|targetrevision)')
const PACKAGE = key('package(?:name|ref)')
const FOLDER = key('(?:.*path|directory)')
const OTHERS = key('(?:sourceNamespace|channel|fetch)')

/** What hides a key from a look at the text: an escape, or a key with a mark before it. */
const HIDDEN_KEY = /\\[xuU]|^[ \t]*(?:- +)*\? /m

/** `bitnami/redis`: a chart of a repository whose name stands elsewhere, as in a ClusterConfig of k0s. */
const OF_ALIAS = String.raw`[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9._-]*`
const IS_OF_ALIAS = new RegExp(`^${OF_ALIAS}$`)
const CHART_OF_ALIAS = new RegExp(`:\\s*["']?${OF_ALIAS}`)

/** Whether the text of an object may have the keys by which it says that it fetches something. */
export function mayFetch(text: string): boolean {
  const has = ({ inText }: Key): boolean => inText.test(text)
  return (
    HIDDEN_KEY.test(text) ||
    has(PACKAGE) ||
    has(OTHERS) ||
    (has(CHART) && CHART_OF_ALIAS.test(text)) ||
    (has(REPOSITORY) && (has(CHART) || has(PLACE)))
  )
}

/** Everything that the fields of an object name to be fetched. */
export function fetchedBy(spec: unknown): readonly Fetched[] {
  const found: Fetched[] = []
  const visit = (here: unknown, depth: number): void => {
    if (depth > DEPTH_MAX) return
    if (Array.isArray(here)) for (const one of here as readonly unknown[]) visit(one, depth + 1)
    if (!isRecord(here)) return
    const one = fetchedIn(here)
    if (one !== undefined) found.push(one)
    else for (const value of Object.values(here)) visit(value, depth + 1)
  }
  visit(spec, 0)
  return found
}

function fetchedIn(fields: JsonRecord): Fetched | undefined {
  const valueOf = ({ field }: Pick<Key, 'field'>): unknown =>
    Object.entries(fields).find(([name]) => field.test(name))?.[1]
  const repository = valueOf(REPOSITORY)
  const chart = valueOf(CHART)
  // The repository stands beside the chart, or in it.
  if (isNamed(chart) && (isNamed(repository) || (isRecord(chart) && fetchedFrom(chart))))
    return { chart: nameOf(chart), repository: textOf(repository) }
  if (typeof chart === 'string' && IS_OF_ALIAS.test(chart)) return { chart }
  if (isNamed(repository) && isLocation(repository) && isNamed(valueOf(PLACE)))
    return { path: textOf(valueOf(FOLDER)), repository: textOf(repository) }
  const named = valueOf(PACKAGE)
  if (isNamed(named)) return { chart: nameOf(named) }
  // A catalog of OLM, a channel of Open Cluster Management, what an App of kapp is made of.
  if (isNamed(own(fields, 'source')) && isNamed(own(fields, 'sourceNamespace')))
    return { chart: textOf(own(fields, 'name')) }
  const channel = textOf(own(fields, 'channel'))
  if (channel?.includes('/') === true) return { chart: channel }
  return Array.isArray(own(fields, 'fetch')) ? {} : undefined
}

function fetchedFrom(chart: JsonRecord): boolean {
  return Object.entries(chart).some(([name, value]) => REPOSITORY.field.test(name) && isNamed(value))
}

/** A name, or a reference to an object by its name. */
function isNamed(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : isRecord(value)
}

/** The address of a repository, or an object that has it. */
function isLocation(value: unknown): boolean {
  return typeof value === 'string'
    ? /^(?:[a-z]+(?:\+[a-z]+)?:\/\/|[\w.-]+@[\w.-]+:)/.test(value)
    : typeof own(value, 'kind') === 'string' && typeof own(value, 'name') === 'string'
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function nameOf(value: unknown): string | undefined {
  const [name] = [value, own(value, 'name'), own(value, 'refName')].flatMap((one) => textOf(one) ?? [])
  return name
}
