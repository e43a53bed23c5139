// The licences of what a program takes in: MIT, BSD, ISC and Apache-2.0 all want their text to travel along.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from './lock.ts'

const LICENCE_FILES = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
const RULE = '-'.repeat(80)

/** One text with every licence file of the installed packages; a package without one is named with what it declares. */
export function notices(root: string, packages: readonly LockedPackage[]): string {
  const parts = packages
    // Workspaces are ours, under the LICENSE beside this text.
    .filter(({ integrity }) => integrity !== '')
    .map((one) => {
      const title = `${one.name} ${one.version} (${one.licence === '' ? 'no licence declared' : one.licence})`
      const texts = licenceTexts(join(root, one.path))
      return [RULE, title, RULE, '', ...(texts.length > 0 ? texts : ['It ships no licence file.']), ''].join(
        '\n',
      )
    })
  return `This program contains the following packages, each under its own licence.\n\n${parts.join('\n')}`
}

function licenceTexts(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILES.test(entry.name))
    .map(({ name }) => name)
    .toSorted()
    .map((name) => `${readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trimEnd()}\n`)
}
