// Runs a library when it is first used. What a module imports runs before it, and these build tables that most runs never
// look at: together they would take a tenth of the time of a short `explain`.
import type { Plugin } from 'esbuild'

/** What stands in the place of a library: CommonJS, where `require` runs what it names when it is called. */
const STAND_INS: Readonly<Record<string, string>> = {
  re2js: [
    'module.exports = {',
    '  get RE2JS() { return require("re2js").RE2JS },',
    '  get RE2JSSyntaxException() { return require("re2js").RE2JSSyntaxException },',
    '}',
  ].join('\n'),
  'string-width': 'module.exports = (...args) => require("string-width").default(...args)',
  // Bun has its own, which needs no warming up: every name of an output has a hash.
  '@noble/hashes/sha2.js': [
    'module.exports.sha256 = (bytes) => globalThis.Bun === undefined',
    '  ? require("@noble/hashes/sha2.js").sha256(bytes)',
    '  : new Bun.CryptoHasher("sha256").update(bytes).digest()',
  ].join('\n'),
}

const NAMES = new Set(Object.keys(STAND_INS))

/** An esbuild plugin. It knows the names that our modules import; test/e2e/libraries.test.ts uses each of them. */
export const lateLibraries: Plugin = {
  name: 'late-libraries',
  setup(build) {
    build.onResolve({ filter: /^[^.]/ }, ({ path, kind, importer, resolveDir }) =>
      NAMES.has(path) && kind === 'import-statement' && !importer.includes('node_modules')
        ? { path, namespace: 'late-libraries', pluginData: resolveDir }
        : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'late-libraries' }, ({ path, pluginData }) => ({
      contents: STAND_INS[path] ?? '',
      loader: 'js',
      resolveDir: String(pluginData),
    }))
  },
}
