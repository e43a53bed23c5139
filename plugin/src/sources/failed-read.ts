// Files that show by themselves that something is missing: a refusal of an API server, one page of a longer list, objects with
// only their names, and errors that kubectl or helm print. A dump with one of these is not complete: docs/offline.md,
// "Sources". The kinds: https://kubernetes.io/docs/reference/using-api/api-concepts/ (Status, `continue`, Table,
// PartialObjectMetadata).
import { isRecord, listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { isTyped, kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import type { InputProblem, ProblemReach } from './problem.ts'
import type { WantedKind } from './wanted-kind.ts'

/** What a document says that it does not hold; `hasItems`: it is a list that has items all the same. */
type FailedRead = Pick<InputProblem, 'what' | 'why' | 'fix' | 'reach'> & { readonly hasItems?: true }

const NAMES_ALONE: ReadonlySet<string> = new Set([
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
])

/** Whether an object of this type may be one, if it is no list. */
export function mayBeFailedRead(type: unknown): boolean {
  return isStatus(kindOf(type)) || hasNamesAlone(kindOf(type))
}

function isStatus({ kind, group }: ReturnType<typeof kindOf>): boolean {
  return kind === 'Status' && group === ''
}

function hasNamesAlone({ kind, group }: ReturnType<typeof kindOf>): boolean {
  return NAMES_ALONE.has(kind) && group === 'meta.k8s.io'
}

/** Why a document is no complete answer of a server; undefined if it is none of these, or is about kinds that are not read. */
export function failedRead(value: unknown, wanted: readonly WantedKind[]): FailedRead | undefined {
  if (typeof value === 'string') return isErrorText(value) ? errorText(value) : undefined
  if (!isTyped(value)) return errorField(value)
  const { kind, group } = kindOf(value)
  if (isStatus({ kind, group })) return refusal(value, wanted)
  if (hasNamesAlone({ kind, group }))
    return {
      what: `${kind} has no objects`,
      why: 'it has names alone: what they are the names of is not there',
      fix: 'give the objects themselves: kubectl get -o yaml',
    }
  if (!kind.endsWith('List')) return undefined
  return (stringAt(value, 'metadata', 'continue') ?? '') !== ''
    ? cutList(value, { kind: kind.slice(0, -'List'.length), group }, wanted)
    : errorAmong(value)
}

function refusal(value: unknown, wanted: readonly WantedKind[]): FailedRead | undefined {
  if (stringAt(value, 'status') !== 'Failure') return undefined
  const [resource, group] = (['kind', 'group'] as const).map((field) => stringAt(value, 'details', field))
  const kinds =
    resource === undefined || resource === ''
      ? undefined
      : wanted.filter((one) => one.group === (group ?? '') && singular(one.kind) === singular(resource))
  if (kinds?.length === 0) return undefined
  return {
    what: 'the API server refused to list objects',
    why: stringAt(value, 'message') ?? stringAt(value, 'reason') ?? 'it does not say why',
    fix: 'make the dump with an account that may list them, or leave the file out: --exclude FILE',
    reach: kinds?.map(reachOfKind),
  }
}

/** `clusterstaticentries` and `ClusterStaticEntry` alike. */
function singular(name: string): string {
  return name.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '')
}

function reachOfKind(kind: WantedKind): ProblemReach {
  return { kind: qualifiedKind(kind), namespace: undefined, name: undefined }
}

/** `listed` is what the list is called after; what its items are may be others. */
function cutList(
  value: unknown,
  listed: ReturnType<typeof kindOf>,
  wanted: readonly WantedKind[],
): FailedRead | undefined {
  const there = new Set([listed, ...listAt(value, 'items').map(kindOf)].map(qualifiedKind))
  const kinds = listed.kind === '' ? undefined : wanted.filter((one) => there.has(qualifiedKind(one)))
  if (kinds?.length === 0) return undefined
  return {
    what: 'a list of objects is cut off',
    why: 'metadata.continue says that the API server has more of them',
    fix: 'read all pages, as kubectl get -o yaml does',
    hasItems: true,
    reach: kinds?.map(reachOfKind),
  }
}

/** Errors that kubectl and helm print. They are in a file if stderr was redirected into it. */
const ERROR_WORDS = String.raw`error|Error(?: from server(?: \([A-Za-z]+\))?)?|Unable to connect to the server`
const ERROR_KEY = new RegExp(`^(?:${ERROR_WORDS})$`)
/** No manifest looks like these, behind other text either. */
const OF_KUBECTL = String.raw`Error from server(?: \([A-Za-z]+\))?: |Unable to connect to the server: |The connection to the server `
const ERROR_LINE = new RegExp(`^\\s*(?:${ERROR_WORDS}): |^(?:${OF_KUBECTL})`)
const ERROR_BEHIND = new RegExp(`^(?:${OF_KUBECTL})`, 'm')

/** Whether a text that is no object begins with an error, or has one of kubectl's in it. */
export function isErrorText(text: string): boolean {
  return ERROR_LINE.test(text) || ERROR_BEHIND.test(text)
}

function errorText(text: string): FailedRead {
  const at = ERROR_BEHIND.exec(text)?.index ?? 0
  return {
    what: 'an error message stands in place of objects',
    why: text.slice(at).trimStart().split('\n', 1)[0] ?? '',
    fix: 'make the file again, and keep stderr out of it',
  }
}

/** `error: ...` reads as a mapping; nothing else is in it then. */
function errorField(value: unknown): FailedRead | undefined {
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value)
  const [first] = entries
  if (first === undefined || !entries.every(([key, text]) => ERROR_KEY.test(key) && typeof text === 'string'))
    return undefined
  return errorText(`${first[0]}: ${String(first[1])}`)
}

/** An error behind the last item of a list reads as a field of it. */
function errorAmong(value: unknown): FailedRead | undefined {
  const text = own(value, 'error')
  return typeof text === 'string' ? { ...errorText(`error: ${text}`), hasItems: true } : undefined
}
