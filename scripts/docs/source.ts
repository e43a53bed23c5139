// What the site is built of: the pages as they are, each at its place on the site; the files that they link, as files; and a
// list for each folder that they link.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { linksOf } from '../../test/house/markdown.ts'
import { linkTarget, pagePaths, repositoryIn, siteAddress, siteFile, siteFolder, sitePath } from './pages.ts'

/** The text of the first heading of a page. */
export function titleOf(text: string): string {
  const title = /^# +(.+)$/m.exec(text)?.[1]
  if (title === undefined) throw new Error('the page has no heading')
  return title.replaceAll('`', '')
}

/** Fills a folder, after it has been emptied. Throws where a link leads nowhere. */
export function writeSource(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  const repository = repositoryIn(root)
  const pages = pagePaths(root)
  const known = new Set(pages)
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    write(folder, sitePath(page), text)
    for (const { target } of linksOf(text).links) {
      const leads = linkTarget(repository, known, page, target)
      if (leads.kind === 'broken') throw new Error(`${page}: ${target}: there is no ${leads.path}`)
      if (leads.kind === 'file') copyFile(root, folder, leads.path)
      if (leads.kind === 'folder') writeList(root, folder, leads.path, known)
    }
  }
}

function write(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** What stands in `public` is served as it is. */
function copyFile(root: string, folder: string, path: string): void {
  cpSync(join(root, path), join(folder, 'public', siteFile(path)))
}

/** A page that lists what a folder holds. Its links are addresses of the site. */
function writeList(root: string, folder: string, path: string, pages: ReadonlySet<string>): void {
  const names = readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, path).length + 1))
    .map((name) => name.replaceAll('\\', '/'))
    .toSorted()
  const items = names.map((name) => {
    const file = `${path}/${name}`
    if (pages.has(file)) {
      const title = titleOf(readFileSync(join(root, file), 'utf8'))
      return `- [${title}](${siteAddress({ kind: 'page', path: file, anchor: '' })})`
    }
    copyFile(root, folder, file)
    return `- [\`${name}\`](${siteAddress({ kind: 'file', path: file, anchor: '' })})`
  })
  write(folder, siteFolder(path), `# \`${path}\`\n\n${items.join('\n')}\n`)
}
