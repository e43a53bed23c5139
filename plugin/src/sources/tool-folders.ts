// Files that are not read because of their names: folders of tools (`TOOL_FOLDERS`), since packages and workflows are full of
// YAML that is no manifest; `Chart.yaml` and the like; and templates of other tools. But `kubectl apply -R` applies files in
// these folders, and a tool applies the rendered templates. So their objects are reported as not known, if they decide.
import { basename } from 'node:path'
import type { FoundFile, FoundFiles } from './files.ts'
import type { Door } from './door.ts'
import { listed, reachText, type InputProblem, type ProblemReach } from './problem.ts'

/** What a file would hold, were it read; empty: nothing that decides; undefined: anything. What deploys others may be known already. */
export type ReachOfFile = (
  path: string,
  areDeployersKnown: boolean,
) => Promise<readonly ProblemReach[] | undefined>

/** What is not read for its name. */
export type Aside = Pick<FoundFiles, 'toolFolders' | 'templates' | 'ownFiles'>

/** A line for the folders of tools without use, and a problem for each file that may be a manifest. */
export async function lookThrough(
  { toolFolders, templates, ownFiles }: Aside,
  reachOfFile: ReachOfFile,
  door: Door,
): Promise<void> {
  const manifestsAmong = async (
    files: readonly FoundFile[],
    more: Pick<InputProblem, 'alike' | 'fix'>,
    areDeployersKnown = false,
  ): Promise<readonly InputProblem[]> => {
    const found: InputProblem[] = []
    for (const { name, path } of files) {
      const reach = await reachOfFile(path, areDeployersKnown)
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
  door.hold(
    ...(await manifestsAmong(templates, {
      alike: 'templates of other tools were not read',
      fix: "add what they are filled in to, or leave them out: --exclude '*.j2'",
    })),
  )
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
  return { kind: 'left out', what: `did not read ${where} as objects`, where, why, ...more, reach }
}
