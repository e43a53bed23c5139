// Loads the platform's own modules where the code that asks for them first runs. A bundle has its imports of them at its
// top, and Bun evaluates each at once: for `node:http`, `node:tls`, `node:crypto` and what they stand on, that was a third
// of the time of `--help`, which uses none of them.
import { builtinModules } from 'node:module'
import type { Plugin } from 'esbuild'

/** What every start uses. */
const AT_ONCE: ReadonlySet<string> = new Set(['node:fs', 'node:path', 'node:process'])
const BUILTIN = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`)

/** An esbuild plugin for a bundle in which most modules are loaded by `import()`; it needs no `require`. */
export const lateBuiltins: Plugin = {
  name: 'late-builtins',
  setup(build) {
    build.onResolve({ filter: BUILTIN }, ({ path, kind }) => {
      const full = path.startsWith('node:') ? path : `node:${path}`
      return kind === 'import-statement' && AT_ONCE.has(full)
        ? { path: full, external: true }
        : { path: full, namespace: 'late-builtins' }
    })
    // A CommonJS module runs when it is first asked for; as an import, that is when its importer does.
    build.onLoad({ filter: /.*/, namespace: 'late-builtins' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
      loader: 'js',
    }))
  },
}
