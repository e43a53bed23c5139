// A program and all that it imports as ES modules, by esbuild.
import { basename, dirname } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { doors } from './doors.ts'
import { inkBundle, SHIPPED } from './ink-bundle.ts'
import { kubeBundle } from './kube-bundle.ts'
import { lateLibraries } from './late-libraries.ts'
import { mapPage } from './map-page.ts'
import { oclifBundle } from './oclif-bundle.ts'

/** What becomes of a program. */
export interface Bundling {
  /** Its composition root. */
  readonly entry: string
  /** The module that begins it, `NAME.mjs`. */
  readonly outfile: string
  /** Whether what is not needed at once are modules of their own, beside it. */
  readonly split?: boolean
}

/** Bundles a program, and returns what stands where; rejects with what esbuild found, which it has printed by then. */
export async function bundle(root: string, { entry, outfile, split = false }: Bundling): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: [entry],
    ...(split
      ? {
          splitting: true,
          outdir: dirname(outfile),
          entryNames: basename(outfile, '.mjs'),
          outExtension: { '.js': '.mjs' },
        }
      : { outfile }),
    absWorkingDir: root,
    bundle: true,
    // Names stay as they are: they show in the stack of a bug report.
    minifySyntax: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    // CommonJS modules, such as @oclif/core, need these in an ES module; what they still require are modules of the platform.
    banner: {
      js: 'const __filename = import.meta.filename, __dirname = import.meta.dirname, require = process.getBuiltinModule;',
    },
    // The ES module builds: Node's own condition gives CommonJS of yaml, which cannot be shaken, and of jsonc-parser, whose
    // parts esbuild does not find.
    alias: {
      yaml: `${root}/node_modules/yaml/browser/index.js`,
      'jsonc-parser': `${root}/node_modules/jsonc-parser/lib/esm/main.js`,
    },
    // Where the docs of this build are published; empty for none.
    define: { ...SHIPPED, KLEYM_DOCS_URL: JSON.stringify(process.env['KLEYM_DOCS_URL'] ?? '') },
    plugins: [doors, kubeBundle, inkBundle, oclifBundle, lateLibraries, mapPage],
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}
