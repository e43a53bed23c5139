// Whose an entry on the server is to the SCM of some settings: that decides whether SCM removes it once it does not want it
// (docs/spire-facts.md §3, §11.19).
import { dotted, type ScmSettings } from '../../model/objects/scm-settings.ts'
import type { ServerEntry } from './server-entry.ts'

/** Whose an entry is to SCM. */
export type EntryOwner =
  /** SCM takes it for its own, and deletes it where it does not declare it. */
  | { readonly kind: 'scm'; readonly why: string }
  /** SCM does not see it, or leaves it. */
  | { readonly kind: 'another'; readonly why: string }
  /** SCM's configuration was not given. */
  | { readonly kind: 'unknown'; readonly why: string }

const JOIN_TOKEN = '/spire/agent/join_token/'

/** Tells whose an entry is. */
export function ownerOf(entry: ServerEntry, settings: ScmSettings): EntryOwner {
  if (isJoinToken(entry))
    return { kind: 'another', why: 'it belongs to a join token of an agent, which SCM leaves as it is' }
  return ownerOfId(entry.id, settings)
}

function ownerOfId(id: string, settings: ScmSettings): EntryOwner {
  if (settings.assumed.includes('className'))
    return {
      kind: 'unknown',
      why: "SCM's configuration was not given (--scm-config), and its entryIDPrefix decides",
    }
  const { entryIDPrefix: written, entryIDPrefixCleanup: cleanup } = settings
  const prefix = dotted(written)
  if (prefix === '')
    return { kind: 'scm', why: 'SCM has no entryIDPrefix, and takes every entry for its own' }
  if (id.startsWith(prefix)) return { kind: 'scm', why: `its ID begins with SCM's entryIDPrefix, ${prefix}` }
  if (cleanup !== undefined && isCleanedUp(id, cleanup))
    return { kind: 'scm', why: "SCM's entryIDPrefixCleanup names it" }
  const dot = id.indexOf('.')
  const why =
    dot < 0
      ? `its ID has no prefix, and SCM's entries begin with ${prefix}`
      : `its ID begins with ${id.slice(0, dot + 1)}, and SCM's entries with ${prefix}`
  return { kind: 'another', why }
}

/** Why an SCM takes the entries that another makes for its own; undefined: it leaves them, or its configuration was not given. */
export function whyTakesEntriesOf(other: ScmSettings, settings: ScmSettings): string | undefined {
  const owner = ownerOfId(`${dotted(other.entryIDPrefix)}<UUID>`, settings)
  return owner.kind === 'scm' ? owner.why : undefined
}

/**
 * Why entries that SCM made under earlier settings stay on the server, whatever the objects ask for. Undefined: SCM sees them, or its
 * configuration was not given.
 */
export function whyEntriesStay(before: ScmSettings, after: ScmSettings): string | undefined {
  if (before.assumed.includes('className')) return undefined
  const [from, to] = [before, after].map(({ entryIDPrefix }) => dotted(entryIDPrefix))
  if (ownerOfId(`${from}<UUID>`, after).kind !== 'another') return undefined
  return `SCM does not see the entries that it made before (${from === '' ? 'without a prefix' : `prefix ${from}`}, now ${to}): it deletes none of them`
}

/**
 * What the IDs of SCM's own entries look like, if SCM does not see this one. While it is there, the server refuses an equal one of SCM's
 * (docs/spire-facts.md trap 22). Undefined: SCM sees it, or its configuration was not given.
 */
export function idsSeenInstead(entry: ServerEntry, settings: ScmSettings): string | undefined {
  if (ownerOfId(entry.id, settings).kind !== 'another' || isJoinToken(entry)) return undefined
  return `${dotted(settings.entryIDPrefix)}<UUID>`
}

/** The empty text stands for all IDs without a prefix. */
function isCleanedUp(id: string, cleanup: string): boolean {
  return cleanup === '' ? !id.includes('.') : id.startsWith(dotted(cleanup))
}

function isJoinToken({ parentId, selectors }: ServerEntry): boolean {
  return pathOf(parentId).startsWith(JOIN_TOKEN) && selectors.some((one) => one.startsWith('spiffe_id:'))
}

/** Whether an entry is of a node or an agent rather than of a workload: its parent is the server itself. */
export function isNodeEntry({ parentId }: Pick<ServerEntry, 'parentId'>): boolean {
  return pathOf(parentId) === '/spire/server'
}

/** SCM itself makes and deletes such an entry now and then, to ask the server what it can do. */
const PROBE_PATH = '/spire-controller-manager/unsupported-fields-test'

/** Whether an entry is the one by which SCM asks what the server can do. */
export function isProbe({ spiffeId }: Pick<ServerEntry, 'spiffeId'>): boolean {
  return pathOf(spiffeId) === PROBE_PATH
}

/** The cluster whose agent is the parent, by the ID that SPIRE's k8s_psat attestor gives agents; undefined: no such ID. */
export function clusterOfParent({ parentId }: Pick<ServerEntry, 'parentId'>): string | undefined {
  return /^\/spire\/agent\/k8s_psat\/([^/]+)\//.exec(pathOf(parentId))?.[1]
}

function pathOf(id: string): string {
  const slash = id.indexOf('/', 'spiffe://'.length)
  return slash < 0 ? '' : id.slice(slash)
}
