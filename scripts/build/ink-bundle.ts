// Keeps out of a bundle what ink and React have for their own developers: React's development build, which is three times
// the size, and a connection to its inspector, for which DEV=true in the user's environment would be enough.
import type { Plugin } from 'esbuild'

/** Constants of a shipped program, for esbuild's `define`. */
export const SHIPPED = {
  'process.env.NODE_ENV': '"production"',
  'process.env.DEV': '"false"',
} as const

/** An esbuild plugin for every program that imports ink. */
export const inkBundle: Plugin = {
  name: 'ink-bundle',
  setup(build) {
    // It is never reached, and what it imports is not installed.
    build.onResolve({ filter: /^\.\/devtools\.js$/ }, ({ importer }) =>
      /[/\\]ink[/\\]build[/\\]/.test(importer) ? { path: 'devtools', namespace: 'ink-bundle' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'ink-bundle' }, () => ({ contents: '', loader: 'js' }))
  },
}
