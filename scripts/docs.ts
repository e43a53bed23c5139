// `npm run docs`: builds the documentation site into scripts/site/dist/html, from the pages of the repository. What builds it has a
// package.json of its own in scripts/site/, which npm has installed before.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import process from 'node:process'
import { writeSource } from './docs/source.ts'

const ROOT = join(import.meta.dirname, '..')
const SITE = join(ROOT, 'scripts/site')
const SOURCE = join(SITE, 'dist/source')
const PUBLIC = join(SOURCE, 'public')

/** Where the built site stands. */
export const SITE_HTML = join(SITE, 'dist/html')

function build(args: readonly string[]): number {
  writeSource(ROOT, SOURCE)
  mkdirSync(PUBLIC, { recursive: true })
  cpSync(join(SITE, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'), join(PUBLIC, 'mermaid.js'))
  cpSync(join(ROOT, 'docs/images/logo.svg'), join(PUBLIC, 'logo.svg'))
  const vitepress = join(SITE, 'node_modules/vitepress/bin/vitepress.js')
  const { status, error } = spawnSync(process.execPath, [vitepress, 'build', 'scripts/site', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (error !== undefined) throw error
  if (status === 0) process.stdout.write(`the site stands in ${relative(ROOT, SITE_HTML)}\n`)
  return status ?? 1
}

if (import.meta.main) process.exitCode = build(process.argv.slice(2))
