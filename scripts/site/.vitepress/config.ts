// The documentation site, built from the pages of the repository by `npm run docs`: scripts/docs.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { defineConfig } from 'vitepress'
import { anchorOf } from '../../docs/anchors.ts'
import { useBraces, useDiagrams, useShortCode, useSiteLinks } from './markdown.ts'
import { sidebars } from './sidebar.ts'

/** The root of the repository: scripts/docs.ts starts VitePress there. */
const ROOT = process.cwd()

const REPOSITORY = process.env['KLEYM_REPOSITORY_URL']

/** The version that the sources are of. */
function version(): string {
  const { version: text }: { readonly version: string } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  return text
}

/** Nothing of a page may come from another origin. VitePress sets its colours and its scheme by inline styles and scripts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export default defineConfig({
  title: 'kleym',
  description: 'Tenant-safe SPIFFE identities for inference on Kubernetes, and a tool that says why',
  lang: 'en',
  srcDir: 'dist/source',
  outDir: 'dist/html',
  cacheDir: 'dist/cache',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }],
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { name: 'theme-color', content: '#2f3fae' }],
    ['style', {}, readFileSync(join(ROOT, 'scripts/site/.vitepress/style.css'), 'utf8')],
  ],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      useSiteLinks(md, ROOT)
      useDiagrams(md)
      useBraces(md)
      useShortCode(md)
    },
  },
  themeConfig: {
    logo: { src: '/logo.svg', alt: '' },
    nav: [
      { text: 'Quick start', link: '/quick-start.md' },
      { text: 'Commands', link: '/reference/commands.md' },
      { text: 'Findings', link: '/findings/index.md' },
      { text: `v${version()}`, link: '/CHANGELOG.md' },
    ],
    // The build is given the address of the sources, as that of the plugin is given the address of the site.
    socialLinks:
      REPOSITORY === undefined ? [] : [{ icon: 'github', link: REPOSITORY, ariaLabel: 'Repository' }],
    search: { provider: 'local' },
    sidebar: sidebars(ROOT),
    outline: [2, 3],
    externalLinkIcon: true,
  },
  vite: { publicDir: join(ROOT, 'scripts/site/dist/source/public'), build: { chunkSizeWarningLimit: 4000 } },
})
