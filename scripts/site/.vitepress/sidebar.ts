// The sidebar of the site: the groups of scripts/docs/pages.ts, each page by its first heading.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { PAGE_GROUPS, SHORT_TITLES, siteFolder, sitePath } from '../../docs/pages.ts'
import { titleOf } from '../../docs/source.ts'

/** The sidebar, for the pages of the repository in a folder. A folder of pages stands there as one: its page, or its list. */
export function sidebar(root: string): DefaultTheme.SidebarItem[] {
  return PAGE_GROUPS.map(({ title, pages, folders = [] }) => ({
    text: title,
    items: [
      ...pages.map((page) => ({
        text: SHORT_TITLES.get(page) ?? titleOf(readFileSync(join(root, page), 'utf8')),
        link: `/${sitePath(page)}`,
      })),
      ...folders
        .filter((folder) => !pages.includes(`${folder}/README.md`))
        .map((folder) => ({ text: `All ${title.toLowerCase()}`, link: `/${siteFolder(folder)}` })),
    ],
  }))
}
