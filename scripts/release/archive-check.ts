// What an archive of the plugin must be for krew to install it and for us to be allowed to publish it. krew refuses links
// and every path with `..` in it, even inside a name: https://github.com/kubernetes-sigs/krew internal/download.
import type { TarMember } from './tar.ts'

/** The licence, by one of the names that krew's check accepts. */
export const LICENCE_FILE = 'LICENSE'

/** The manual page, from the root of the project. */
export const MAN_PAGE = 'docs/reference/kubectl-kleym.1'

const EXECUTABLE_BITS = 0o111

/** One sentence for each thing that is wrong with an archive whose program is `bin`; none when it may be published. */
export function archiveProblems(members: readonly TarMember[], bin: string): readonly string[] {
  const problems = members.flatMap(memberProblems)
  const program = members.find(({ name }) => name === bin)
  if (program === undefined) problems.push(`there is no ${bin}`)
  else if ((program.mode & EXECUTABLE_BITS) !== EXECUTABLE_BITS) problems.push(`${bin} is not executable`)
  const licence = members.find(({ name }) => name === LICENCE_FILE)
  if (licence === undefined || licence.bytes.length === 0) problems.push('there is no licence')
  const names = members.map(({ name }) => name)
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    problems.push(`${name} is there twice`)
  return problems
}

function memberProblems({ name, type }: TarMember): readonly string[] {
  const problems: string[] = []
  if (type !== 'file')
    problems.push(`${name} is ${type === 'other' ? 'neither file nor folder' : `a ${type}`}`)
  if (name.includes('..')) problems.push(`${name} has \`..\` in its path`)
  if (name.startsWith('/') || /^[A-Za-z]:|\\/.test(name)) problems.push(`${name} is no relative path`)
  return problems
}
