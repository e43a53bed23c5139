// The sidebars of the site: the parts of scripts/docs/pages.ts, each page by its first heading.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import {
  CONTRIBUTORS_PLACES,
  isForContributors,
  PAGE_PARTS,
  SHORT_TITLES,
  siteFolder,
  sitePath,
  type PageGroup,
  type PagePart,
} from '../../docs/pages.ts'
import { titleOf } from '../../docs/source.ts'

/**
 * The sidebars, for the pages of the repository in a folder. Users see of the pages for contributors the first one alone. No group is
 * folded: the button that VitePress folds with has a button in it, which a screen reader cannot tell apart.
 */
export function sidebars(root: string): DefaultTheme.SidebarMulti {
  const contributing = PAGE_PARTS.filter(isForContributors).map((part) => partItem(root, part))
  const using = PAGE_PARTS.map((part) => partItem(root, isForContributors(part) ? firstPageOf(part) : part))
  return Object.fromEntries([
    ...CONTRIBUTORS_PLACES.map((place) => [place, [{ text: 'kleym', link: '/' }, ...contributing]]),
    ['/', using],
  ])
}

function firstPageOf({ title, groups }: PagePart): PagePart {
  return { title, groups: groups.slice(0, 1).map(({ pages }) => ({ title, pages: pages.slice(0, 1) })) }
}

function partItem(root: string, { title, groups: [first, ...others] }: PagePart): DefaultTheme.SidebarItem {
  return {
    text: title,
    items: [
      ...(first === undefined ? [] : itemsOf(root, first)),
      ...others.map((group) => ({ text: group.title, items: itemsOf(root, group) })),
    ],
  }
}

/** The pages of a group. A folder of pages stands there as one: its page, or its list. */
function itemsOf(root: string, { title, pages, folders = [] }: PageGroup): DefaultTheme.SidebarItem[] {
  return [
    ...pages.map((page) => ({
      text: SHORT_TITLES.get(page) ?? titleOf(readFileSync(join(root, page), 'utf8')),
      link: `/${sitePath(page)}`,
    })),
    ...folders
      .filter((folder) => !pages.includes(`${folder}/README.md`))
      .map((folder) => ({ text: `All ${title.toLowerCase()}`, link: `/${siteFolder(folder)}` })),
  ]
}
