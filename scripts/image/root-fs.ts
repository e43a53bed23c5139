// All that the operator's image holds: the executable, the shared libraries that it starts with, the user that it runs as,
// and what the licences ask for. No shell, no package manager, no certificates: the only server that the operator speaks
// to is the API server, whose CA comes with the service account.
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { BuildError } from '../build/build-error.ts'
import { runtimePackages } from '../release/lock.ts'
import { notices } from '../release/notices.ts'
import { cycloneDx, npmPurl, type Ingredient } from '../release/sbom.ts'
import type { TarFile } from '../release/tar.ts'
import { librariesOf, systemPackagesOf, type SystemPackage } from './libraries.ts'

/** The user and group of the image, numeric so that `runAsNonRoot` can be checked; distroless images use the same. */
export const USER = 65_532
/** Where the executable is. */
export const OPERATOR = 'kleym-operator'
const DOC = 'usr/share/doc'

const ETC: Readonly<Record<string, string>> = {
  'etc/passwd': [
    'root:x:0:0:root:/root:/sbin/nologin',
    `nonroot:x:${USER}:${USER}:nonroot:/nonexistent:/sbin/nologin`,
    '',
  ].join('\n'),
  'etc/group': `root:x:0:\nnonroot:x:${USER}:\n`,
  // Names are looked up in /etc/hosts first, which the kubelet writes.
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/** The parts of the image. */
export interface RootFs {
  /** By path, in order. */
  readonly files: readonly TarFile[]
  /** The bill of materials, which is among the files too. */
  readonly sbom: string
}

/**
 * Puts the root file system together, in memory: for this platform's Linux, from `dist/kleym-operator`. Throws a BuildError
 * on other systems. `made` is the time of the bill of materials, in seconds since 1970.
 */
export function rootFs(root: string, made: number): RootFs {
  if (process.platform !== 'linux')
    throw new BuildError('the image cannot be assembled here', {
      why: `it is for Linux, and this is ${process.platform}`,
      fix: 'build it by scripts/image/Dockerfile',
    })
  const executable = join(root, 'dist', OPERATOR)
  const libraries = librariesOf(executable)
  const system = systemPackagesOf(libraries)
  const packages = runtimePackages(
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')),
    'operator',
  )
  const sbom = cycloneDx({ name: OPERATOR, packages, made, ingredients: [NODE, ...system.map(asIngredient)] })
  const files: readonly TarFile[] = [
    { name: OPERATOR, bytes: readFileSync(executable), executable: true },
    ...Object.entries(ETC).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    ...libraries.map((path) => ({ name: path.slice(1), bytes: readFileSync(path), executable: true })),
    ...system.map(({ name, copyright }) => ({
      name: `${DOC}/${name}/copyright`,
      bytes: readFileSync(copyright),
    })),
    { name: `${DOC}/node/LICENSE`, bytes: readFileSync(join(dirname(process.execPath), '../LICENSE')) },
    { name: `${DOC}/${OPERATOR}/LICENSE`, bytes: readFileSync(join(root, 'LICENSE')) },
    { name: `${DOC}/${OPERATOR}/NOTICES`, bytes: Buffer.from(notices(root, packages)) },
    { name: `${DOC}/${OPERATOR}/sbom.cdx.json`, bytes: Buffer.from(sbom) },
  ]
  return { files: files.toSorted((a, b) => (a.name < b.name ? -1 : 1)), sbom }
}

/** Writes the files into a folder, each with the same time. */
export function writeRootFs(files: readonly TarFile[], folder: string, seconds: number): void {
  for (const { name, bytes, executable = false } of files) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes, { mode: executable ? 0o755 : 0o644 })
    utimesSync(path, seconds, seconds)
  }
}

const NODE: Ingredient = {
  type: 'platform',
  name: 'node',
  version: process.version.slice(1),
  purl: npmPurl('node', process.version.slice(1)),
  licence: 'MIT',
}

function asIngredient({ name, version, purl }: SystemPackage): Ingredient {
  return { type: 'library', name, version, purl }
}
