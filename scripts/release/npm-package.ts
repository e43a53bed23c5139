// The plugin as an npm package: the same bundle, for those who have Node already. `npm pack` makes the archive, with the
// same times in it every day.
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { own } from '../../shared/src/core/base/json.ts'
import { MAN_PAGE } from './archive-check.ts'
import { npm, type Environment } from './npm.ts'

const BUNDLE = 'kubectl-kleym.mjs'
/** What the bundle is compiled for and the tests run on. */
const NODE = '>=26'

/** What goes in. */
export interface NpmPackage {
  readonly version: string
  /** The ES module. */
  readonly bundle: string
  readonly notices: string
  readonly repository: string
}

/** Packs it into `folder`, and returns the name of the archive. `scratch` is an empty folder that may be filled. */
export function packNpm(
  root: string,
  { version, bundle, notices, repository }: NpmPackage,
  { folder, scratch, env }: { folder: string; scratch: string; env: Environment },
): string {
  mkdirSync(scratch, { recursive: true })
  const manifest = {
    name: 'kubectl-kleym',
    version,
    description: 'Explains who gets which SPIFFE identity for inference on Kubernetes, and why',
    license: 'Apache-2.0',
    homepage: repository,
    repository: { type: 'git', url: `git+${repository}.git` },
    keywords: ['kubectl-plugin', 'spiffe', 'spire', 'gateway-api-inference-extension'],
    type: 'module',
    bin: { 'kubectl-kleym': BUNDLE },
    man: `./${basename(MAN_PAGE)}`,
    files: [BUNDLE, 'NOTICES', basename(MAN_PAGE)],
    engines: { node: NODE },
  }
  writeFileSync(join(scratch, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  // The bundle keeps the first line of its source, which may say the same or not be there.
  const program = readFileSync(bundle, 'utf8').replace(/^#!.*\n/, '')
  writeFileSync(join(scratch, BUNDLE), `#!/usr/bin/env node\n${program}`)
  chmodSync(join(scratch, BUNDLE), 0o755)
  writeFileSync(join(scratch, 'NOTICES'), notices)
  cpSync(join(root, 'LICENSE'), join(scratch, 'LICENSE'))
  cpSync(join(root, MAN_PAGE), join(scratch, basename(MAN_PAGE)))
  cpSync(join(import.meta.dirname, 'npm', 'README.md'), join(scratch, 'README.md'))
  return pack(scratch, folder, env)
}

function pack(scratch: string, folder: string, env: Environment): string {
  const what = 'npm cannot pack the plugin'
  const report: unknown = JSON.parse(
    npm(['pack', '--json', `--pack-destination=${folder}`], { folder: scratch, env, what }),
  )
  const name = own(Array.isArray(report) ? report[0] : undefined, 'filename')
  if (typeof name !== 'string') throw new TypeError(`${what}: it does not say what it made`)
  return name
}
