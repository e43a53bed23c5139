// What the forge does with Markdown and VitePress does otherwise: links to files of the repository, and mermaid blocks.
import type { MarkdownRenderer } from 'vitepress'
import { linkTarget, pagePaths, repositoryIn, siteAddress, sitePath } from '../../docs/pages.ts'

/** The attribute that leads somewhere, by the type of a token. */
const LEADING: Readonly<Record<string, string>> = { link_open: 'href', image: 'src' }

/** Leads the links and images of our pages to their places on the site. */
export function useSiteLinks(md: MarkdownRenderer, root: string): void {
  const repository = repositoryIn(root)
  const pages = pagePaths(root)
  const known = new Set(pages)
  const byPlace = new Map(pages.map((page) => [sitePath(page), page]))
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const page = byPlace.get(placeIn(env))
    // The list of a folder, whose links are addresses of the site.
    if (page === undefined) return
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = LEADING[token.type] ?? ''
      const target = token.attrGet(name)
      if (target === null) continue
      const leads = linkTarget(repository, known, page, target)
      if (leads.kind === 'broken') throw new Error(`${page}: ${target}: there is no ${leads.path}`)
      if (leads.kind !== 'elsewhere') token.attrSet(name, siteAddress(leads))
    }
  })
}

/** As many characters of code fit into a line of a phone, in a sentence and in a cell of a table. */
const SHORT = 24

/** Code of a few words stays in one line: a browser would break `--help` behind its dashes. */
export function useShortCode(md: MarkdownRenderer): void {
  md.core.ruler.push('short-code', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      if (token.type === 'code_inline' && token.content.length <= SHORT) token.attrJoin('class', 'short')
  })
}

/** Which page VitePress renders, as a path in its source. */
function placeIn(env: unknown): string {
  if (typeof env !== 'object' || env === null || !('relativePath' in env)) return ''
  return typeof env.relativePath === 'string' ? env.relativePath : ''
}

/** Mermaid blocks become elements that `diagrams.ts` of the theme draws; where no script runs they show their text. */
export function useDiagrams(md: MarkdownRenderer): void {
  const { rules } = md.renderer
  const { fence } = rules
  rules.fence = (tokens, at, ...rest) => {
    const token = tokens[at]
    if (token?.info.trim() === 'mermaid')
      return `<div class="diagram" role="group" aria-label="Diagram" tabindex="0" v-pre><pre>${md.utils.escapeHtml(token.content)}</pre></div>\n`
    return fence?.(tokens, at, ...rest) ?? ''
  }
}

/** Braces of Go templates stay text: Vue, which VitePress compiles a page with, would take them for expressions of its own. */
export function useBraces(md: MarkdownRenderer): void {
  const { rules } = md.renderer
  for (const name of ['text', 'code_inline'] as const) {
    const rule = rules[name]
    rules[name] = (...all) => (rule?.(...all) ?? '').replaceAll('{{', '&#123;&#123;')
  }
}
