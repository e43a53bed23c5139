// The pages of the documentation site: which files of the repository they are, where they stand on the site, and in which
// order a reader meets them. A page is the file as the forge renders it; nothing is written for the site alone.
import { readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

/** A group of the sidebar: its heading, and its pages as paths from the root of the repository. */
export interface PageGroup {
  readonly title: string
  readonly pages: readonly string[]
  /** Folders whose pages follow, in the order of their names. */
  readonly folders?: readonly string[]
}

/** A part of the sidebar, for one kind of reader. */
export interface PagePart {
  readonly title: string
  readonly groups: readonly PageGroup[]
}

const CONTRIBUTING = 'Contributing'

/** The sidebar, in the order in which a reader needs the pages. The first group of a part stands there without a heading. */
export const PAGE_PARTS: readonly PagePart[] = [
  {
    title: 'Start',
    groups: [
      {
        title: 'Start',
        pages: [
          'README.md',
          'docs/quick-start.md',
          'docs/try-it.md',
          'docs/concepts.md',
          'docs/how-it-works.md',
          'docs/glossary.md',
          'docs/faq.md',
        ],
      },
    ],
  },
  {
    title: 'Guides',
    groups: [
      {
        title: 'Questions',
        pages: [
          'docs/no-svid.md',
          'docs/suggest.md',
          'docs/migrate.md',
          'docs/rename.md',
          'docs/policies.md',
          'docs/names.md',
          'docs/map.md',
          'docs/verify.md',
          'docs/variants.md',
          'docs/consumers.md',
        ],
      },
      {
        title: 'Install',
        pages: [
          'docs/install-plugin.md',
          'docs/completion.md',
          'docs/install.md',
          'docs/upgrade.md',
          'docs/uninstall.md',
          'charts/kleym/README.md',
        ],
      },
      {
        title: 'Files and pipelines',
        pages: [
          'docs/offline.md',
          'docs/reading-files.md',
          'docs/settings.md',
          'docs/identity-tests.md',
          'docs/ci.md',
          'docs/gitops.md',
          'docs/kustomize.md',
          'docs/editors.md',
          'docs/assistants.md',
          'examples/README.md',
        ],
      },
      {
        title: 'On a cluster',
        pages: ['docs/cluster.md', 'docs/operator.md', 'docs/monitoring.md', 'docs/scale.md'],
      },
      {
        title: 'Security',
        pages: ['.github/SECURITY.md', 'docs/threat-model.md', 'docs/assumptions.md', 'docs/prediction.md'],
      },
    ],
  },
  {
    title: 'Reference',
    groups: [
      {
        title: 'Reference',
        pages: [
          'docs/reference/inferenceidentitybinding.md',
          'docs/reference/commands.md',
          'docs/reference/output.md',
          'docs/reference/views.md',
          'docs/reference/identity-test.md',
          'docs/reference/reasons.md',
          'docs/reference/chart-values.md',
          'docs/contract.md',
          'docs/compatibility.md',
          'docs/upstream.md',
          'docs/CHANGELOG.md',
        ],
      },
      { title: 'Findings', pages: ['docs/findings/README.md'], folders: ['docs/findings'] },
      { title: 'Runbooks', pages: ['docs/runbooks/README.md'], folders: ['docs/runbooks'] },
    ],
  },
  {
    title: CONTRIBUTING,
    groups: [
      {
        title: CONTRIBUTING,
        pages: [
          '.github/CONTRIBUTING.md',
          'docs/architecture.md',
          'docs/contributing/tests.md',
          'docs/contributing/words.md',
          'docs/contributing/evidence.md',
        ],
      },
      {
        title: 'Evidence',
        pages: [
          'docs/contributing/spire.md',
          'docs/reliability.md',
          'docs/performance.md',
          'docs/spire-facts.md',
          'docs/gaie-facts.md',
        ],
      },
      { title: 'Decisions', pages: [], folders: ['docs/decisions'] },
    ],
  },
]

/** Whether a part is for those who work on kleym: its pages have a sidebar of their own. */
export function isForContributors({ title }: PagePart): boolean {
  return title === CONTRIBUTING
}

/** Where the pages of contributors stand on the site; those of a folder stay in it. */
export const CONTRIBUTORS_PLACES: readonly string[] = ['/contributing/', '/decisions/']

/** The groups of all parts. */
export const PAGE_GROUPS: readonly PageGroup[] = PAGE_PARTS.flatMap(({ groups }) => groups)

/** What the sidebar calls pages whose headings say what the whole is called. */
export const SHORT_TITLES: ReadonlyMap<string, string> = new Map([
  ['README.md', 'What kleym is'],
  ['charts/kleym/README.md', 'The chart'],
  ['docs/install.md', 'Install the operator'],
])

/** Pages of the site whose place there is not their place in `docs`. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ...PAGE_PARTS.filter(isForContributors)
    .flatMap(({ groups }) => groups.flatMap(({ pages }) => pages))
    .map((page) => [page, `contributing/${posix.basename(page)}`] as const),
  ['README.md', 'index.md'],
  ['.github/SECURITY.md', 'security.md'],
  ['.github/CONTRIBUTING.md', 'contributing/index.md'],
  ['charts/kleym/README.md', 'chart.md'],
  ['examples/README.md', 'examples.md'],
])

/** Where files that are no pages stand on the site. */
const FILES = 'files'

/** The files and folders of a repository, as far as links lead to them. */
export interface Repository {
  /** A path from the root, with forward slashes. */
  isFile(path: string): boolean
  isFolder(path: string): boolean
}

/** The repository in a folder. */
export function repositoryIn(root: string): Repository {
  const stat = (path: string): ReturnType<typeof statSync> | undefined =>
    statSync(join(root, path), { throwIfNoEntry: false })
  return {
    isFile: (path) => stat(path)?.isFile() === true,
    isFolder: (path) => stat(path)?.isDirectory() === true,
  }
}

/** The groups with all their pages: those of folders are listed. */
export function pageGroups(root: string): readonly PageGroup[] {
  return PAGE_GROUPS.map(({ title, pages, folders = [] }) => ({
    title,
    pages: [
      ...new Set([
        ...pages,
        ...folders.flatMap((folder) =>
          readdirSync(join(root, folder))
            .filter((name) => name.endsWith('.md'))
            .toSorted()
            .map((name) => `${folder}/${name}`),
        ),
      ]),
    ],
  }))
}

/** All pages, as paths from the root of the repository. */
export function pagePaths(root: string): readonly string[] {
  return pageGroups(root).flatMap(({ pages }) => pages)
}

/** Where a page stands on the site, e.g. `findings/index.md`. */
export function sitePath(page: string): string {
  return MOVED.get(page) ?? page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Where a file that is no page stands on the site, e.g. `files/examples/gitops/argocd-cm.yaml`. */
export function siteFile(path: string): string {
  return `${FILES}/${path}`
}

/** Where the list of a folder stands on the site. */
export function siteFolder(path: string): string {
  return `${path.startsWith('docs/') ? path.slice('docs/'.length) : siteFile(path)}/index.md`
}

/** What a link of a page leads to. */
export type LinkTarget =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'page' | 'file' | 'folder'; readonly path: string; readonly anchor: string }
  | { readonly kind: 'broken'; readonly path: string }

/** Where a link leads, by the page that it stands on and all pages of the site. `anchor` begins with `#`, or is empty. */
export function linkTarget(
  repository: Repository,
  pages: ReadonlySet<string>,
  page: string,
  target: string,
): LinkTarget {
  if (/^[a-z][a-z+.-]*:/i.test(target) || target.startsWith('#')) return { kind: 'elsewhere' }
  const [file = '', name] = target.split('#')
  const path = posix.join(posix.dirname(page), decodeURIComponent(file)).replace(/\/$/, '')
  const anchor = name === undefined ? '' : `#${name}`
  if (pages.has(path)) return { kind: 'page', path, anchor }
  if (repository.isFile(path)) return { kind: 'file', path, anchor }
  if (!repository.isFolder(path)) return { kind: 'broken', path }
  const index = `${path}/README.md`
  return pages.has(index) ? { kind: 'page', path: index, anchor } : { kind: 'folder', path, anchor }
}

/** The address of a target within the site, from its root; `.md` stands for what is made of a page. */
export function siteAddress(target: Exclude<LinkTarget, { readonly kind: 'elsewhere' | 'broken' }>): string {
  const { kind, path, anchor } = target
  const at = kind === 'page' ? sitePath(path) : kind === 'file' ? siteFile(path) : siteFolder(path)
  return `/${at}${anchor}`
}
