// Takes @oclif/core into a bundle in a way that its start costs little: each of its modules runs when it is first used, as
// Babel's `lazy` does it, and none looks at the streams of the process, which the program writes by itself.
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

const LIBRARY = /[/\\]@oclif[/\\]core[/\\]lib[/\\].*\.js$/

/** How TypeScript writes an import as CommonJS: `const errors_1 = require("./errors");`, and then `errors_1.error`. */
const IMPORT = /^(?:const|var) (\w+_\d+) = ((?:__importDefault\()?require\("[^"]+"\)\)?);$/gm

function lateImports(source: string): string {
  const names: string[] = []
  const late = source.replaceAll(IMPORT, (_, name: string, value: string) => {
    names.push(name)
    return `const ${name} = () => ${value};`
  })
  return names.length === 0 ? late : late.replaceAll(new RegExp(`\\b(${names.join('|')})\\.`, 'g'), '($1()).')
}

/** The process with streams that are not open yet: in Bun, opening them takes as long as all else of `--help`. */
const QUIET_PROCESS = [
  'const stream = (name) => ({ isTTY: false, on() { return this }, write: (...args) => process[name].write(...args) })',
  'module.exports = Object.create(process, { stdout: { value: stream("stdout") }, stderr: { value: stream("stderr") } })',
].join('\n')

/** An esbuild plugin for every program that imports @oclif/core. */
export const oclifBundle: Plugin = {
  name: 'oclif-bundle',
  setup(build) {
    build.onLoad({ filter: LIBRARY }, async ({ path }) => {
      const contents = `const process = require('quiet-process');${lateImports(await readFile(path, 'utf8'))}`
      return { contents, loader: 'js' }
    })
    build.onResolve({ filter: /^quiet-process$/ }, ({ path }) => ({ path, namespace: 'oclif-bundle' }))
    build.onLoad({ filter: /.*/, namespace: 'oclif-bundle' }, () => ({
      contents: QUIET_PROCESS,
      loader: 'js',
    }))
  },
}
