// Bundles what the page is made of into three texts, with the licences of the libraries that the script takes in. It runs at
// build time; nothing of it is in an executable.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

/** What the page is made of. */
export interface PageAssets {
  readonly script: string
  readonly style: string
  /** What stands in the body before the script runs. */
  readonly body: string
}

const PAGE = join(import.meta.dirname, '..', 'page')
const ROOT = join(import.meta.dirname, '../../../../..')
const LICENCE_FILE = /^licen[cs]e(?:\.\w+)?$/i

/** Bundles the page; the same sources give the same texts. */
export async function bundlePage(): Promise<PageAssets> {
  const result = await build({
    entryPoints: [join(PAGE, 'main.ts')],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'silent',
  })
  const [file] = result.outputFiles
  if (file === undefined) throw new Error('esbuild made no script of the page')
  const styles = await build({
    entryPoints: [join(PAGE, 'style.css')],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    minify: true,
    charset: 'ascii',
    logLevel: 'silent',
  })
  const licences = await licencesOf(Object.keys(result.metafile.inputs))
  return {
    script: `${licences}\n${written(file.text.trim())}`,
    style: styles.outputFiles[0]?.text.trim() ?? '',
    body: await readFile(join(PAGE, 'body.html'), 'utf8'),
  }
}

/** A page is looked at in terminals too: what stands in strings as a control character is written out. */
function written(script: string): string {
  return script.replaceAll(
    /[\u0000-\u0009\u000b-\u001f\u007f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

/** One comment with the licences of the packages that some files belong to: the page is a copy of them. */
async function licencesOf(files: readonly string[]): Promise<string> {
  const packages = new Set(
    files.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  )
  const texts: string[] = []
  for (const name of [...packages].toSorted()) {
    const folder = join(ROOT, 'node_modules', name)
    const licence = (await readdir(folder)).find((one) => LICENCE_FILE.test(one))
    if (licence === undefined) throw new Error(`${name} ships no licence, and the page must hold it`)
    texts.push(`${name}\n\n${(await readFile(join(folder, licence), 'utf8')).trim()}`)
  }
  const text = texts
    .join('\n\n---\n\n')
    .replaceAll('*/', '* /')
    .replaceAll('</', '<\\/')
    .replaceAll('\t', ' ')
  return `/*! This page contains, each under its own licence:\n\n${text}\n*/`
}
