// Folders of tools (`TOOL_FOLDERS`): nothing in them is read as a manifest, since packages and workflows are full of YAML that is none.
// But `kubectl apply -R` goes into them. So their files are looked through as text, and one that may hold a kind that is used is not known.
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { own } from '@kleym/shared/core/json.ts'
import { decodeUtf8, sealOf } from './decode.ts'
import { DETAILS } from './deployers.ts'
import type { ParsedFile } from './document.ts'
import type { ToolFolder } from './files.ts'
import { listed, reachText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOfText, type ReachRules } from './reach.ts'
import type { LeftOut } from './tree.ts'

/** The largest file that is looked through, in bytes. */
const FILE_MAX = 32 * 1024 * 1024

type Parse = (name: string, bytes: Uint8Array) => Promise<ParsedFile>

/** What folders of tools hold: a line for those without use, and a problem for each file that may be a manifest. */
export async function lookThrough(
  folders: readonly ToolFolder[],
  rules: ReachRules,
  parse: Parse,
): Promise<LeftOut> {
  const idle: string[] = []
  const problems: InputProblem[] = []
  for (const { name, files, unread } of folders) {
    const open = (where: string, why: string, reach: readonly ProblemReach[] | undefined): InputProblem => ({
      kind: 'left out',
      what: `did not read ${where}, which is in a folder of tools`,
      alike: 'files in folders of tools were not read',
      where,
      why: `${why}it may hold ${reachText(reach)}`,
      fix: `name it (-f ${name}), or leave it out: --exclude '${basename(name)}/'`,
      ...(reach && { reach }),
    })
    const found: InputProblem[] = []
    for (const file of files) {
      const reach = await reachOfFile(file.path, rules, parse)
      const used = reach?.filter(({ kind }) => !DETAILS.has(kind))
      if (used?.length !== 0) found.push(open(file.name, '', used))
    }
    if (unread !== undefined) found.push(open(name, `${unread}; `, undefined))
    problems.push(...found)
    if (files.length > 0 && found.length === 0) idle.push(name)
  }
  const note = `did not read ${listed(idle)}, which tools own: nothing in ${idle.length === 1 ? 'it' : 'them'} is of a kind that is used`
  return { notes: idle.length === 0 ? [] : [note], problems }
}

/** The field that every object has, or an escape that may spell it. */
const OF_OBJECT = /apiVersion|\\[xuU\r\n]/

/** What a file may hold; empty: nothing that is used; undefined: anything. */
async function reachOfFile(
  path: string,
  rules: ReachRules,
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
    return reach?.length === 0 || !mayHoldObjects(await parse(path, bytes)) ? [] : reach
  } catch {
    return undefined
  }
}

/** A workflow may quote an object, and is none. */
function mayHoldObjects({ documents, faults }: ParsedFile): boolean {
  return faults.length > 0 || documents.some(({ value }) => own(value, 'kind') !== undefined)
}
