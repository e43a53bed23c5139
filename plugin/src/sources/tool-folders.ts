// What is not read for its name: folders of tools (`TOOL_FOLDERS`), since packages and workflows are full of YAML that is no manifest, and
// `Chart.yaml` and its like. But `kubectl apply -R` applies whatever they hold. So they are looked through as text, and what may hold a kind
// that is used is not known.
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { isRecord, own, stringAt } from '@kleym/shared/core/json.ts'
import { groupOfApiVersion } from '@kleym/shared/core/kinds.ts'
import { decodeUtf8, sealOf } from './decode.ts'
import { DETAILS, mayDeploy } from './deployers.ts'
import type { ParsedFile } from './document.ts'
import type { FoundFile, FoundFiles } from './files.ts'
import type { Door } from './door.ts'
import { lackOf } from './partial-objects.ts'
import { listed, reachText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOfText, type ReachRules } from './reach.ts'

/** The largest file that is looked through, in bytes. */
const FILE_MAX = 32 * 1024 * 1024

type Parse = (name: string, bytes: Uint8Array) => Promise<ParsedFile>

/** A line for the folders of tools without use, and a problem for each file that may be a manifest. */
export async function lookThrough(
  { toolFolders, ownFiles }: Pick<FoundFiles, 'toolFolders' | 'ownFiles'>,
  rules: ReachRules,
  parse: Parse,
  door: Door,
): Promise<void> {
  const manifestsAmong = async (
    files: readonly FoundFile[],
    more: Pick<InputProblem, 'alike' | 'fix'>,
    areDeployersKnown = false,
  ): Promise<readonly InputProblem[]> => {
    const found: InputProblem[] = []
    for (const { name, path } of files) {
      const reach = await reachOfFile(path, { ...rules, areDeployersKnown }, parse)
      if (reach?.length !== 0) found.push(leftOut(name, `it may hold ${reachText(reach)}`, more, reach))
    }
    return found
  }
  const idle: string[] = []
  for (const { name, files, unread } of toolFolders) {
    const fix = `name it (-f ${name}), or leave it out: --exclude '${basename(name)}/'`
    const more = { alike: 'files in folders of tools were not read', fix }
    const found = await manifestsAmong(files, more)
    door.hold(...found)
    if (unread !== undefined) door.hold(leftOut(name, `${unread}; it may hold anything`, more, undefined))
    else if (files.length > 0 && found.length === 0) idle.push(name)
  }
  const alike = 'files of charts and kustomizations were not read as objects'
  const fix = 'put objects into files of their own'
  door.hold(...(await manifestsAmong(ownFiles, { alike, fix }, true)))
  if (idle.length === 0) return
  const note = `did not read ${listed(idle)}, which tools own: nothing in ${idle.length === 1 ? 'it' : 'them'} is of a kind that is used`
  door.dismiss({ because: 'told', note })
}

function leftOut(
  where: string,
  why: string,
  more: Pick<InputProblem, 'alike' | 'fix'>,
  reach: readonly ProblemReach[] | undefined,
): InputProblem {
  return {
    kind: 'left out',
    what: `did not read ${where} as objects`,
    where,
    why,
    ...more,
    ...(reach && { reach }),
  }
}

/** `areDeployersKnown`: what deploys others is taken account of elsewhere. */
type OwnRules = ReachRules & { readonly areDeployersKnown: boolean }

/** The field that every object has, or an escape that may spell it. */
const OF_OBJECT = /apiVersion|\\[xuU\r\n]/

/** What a file may hold; empty: nothing that decides; undefined: anything. */
export async function reachOfFile(
  path: string,
  rules: OwnRules,
  parse: Parse,
): Promise<readonly ProblemReach[] | undefined> {
  try {
    const facts = statSync(path)
    if (!facts.isFile()) return []
    if (facts.size > FILE_MAX) return undefined
    const bytes = readFileSync(path)
    if (sealOf(bytes) !== undefined) return undefined
    const { text } = decodeUtf8(bytes)
    const reach = OF_OBJECT.test(text) ? reachOfText(text, rules) : []
    const isNothing = reach?.length === 0 || !mayHoldObjects(await parse(path, bytes), rules)
    return isNothing ? [] : reach?.filter(({ kind }) => !DETAILS.has(kind))
  } catch {
    return undefined
  }
}

/** A workflow may quote an object, and a kustomization patch one: neither is one. */
function mayHoldObjects({ documents, faults }: ParsedFile, { wanted, areDeployersKnown }: OwnRules): boolean {
  const kinds = new Set(wanted.map(({ kind }) => kind))
  const isOfUse = (value: unknown): boolean => {
    const kind = own(value, 'kind')
    if (typeof kind !== 'string') return kind !== undefined
    // A patch of a workload, which the API server refuses as it is.
    if (isRecord(value) && lackOf(value) !== undefined) return false
    const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
    const deploys = !areDeployersKnown && mayDeploy({ group, kind }, () => JSON.stringify(value))
    return deploys || kinds.has(kind) || kind.endsWith('List')
  }
  return faults.length > 0 || documents.some(({ value }) => isOfUse(value))
}
