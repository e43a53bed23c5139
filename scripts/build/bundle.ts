// A program and all that it imports as one ES module, by esbuild.
import { build } from 'esbuild'
import { inkBundle, SHIPPED } from './ink-bundle.ts'
import { kubeBundle } from './kube-bundle.ts'
import { lateBuiltins } from './late-builtins.ts'
import { oclifBundle } from './oclif-bundle.ts'

/** Bundles a program; rejects with what esbuild found, which it has printed by then. */
export async function bundle(
  root: string,
  { entry, outfile }: { readonly entry: string; readonly outfile: string },
): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    absWorkingDir: root,
    bundle: true,
    // Names stay as they are: they show in the stack of a bug report.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    // @oclif/core is CommonJS: it needs these in an ES module.
    banner: { js: 'const __filename = import.meta.filename, __dirname = import.meta.dirname;' },
    // The ES module build of yaml: Node's own condition gives CommonJS, which cannot be shaken.
    alias: { yaml: `${root}/node_modules/yaml/browser/index.js` },
    define: SHIPPED,
    plugins: [kubeBundle, inkBundle, oclifBundle, lateBuiltins],
    logLevel: 'warning',
  })
}
