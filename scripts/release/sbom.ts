// What is inside an artefact, for those who must know: a CycloneDX 1.6 document, from package-lock.json and from what else
// went in. The same input gives the same bytes. https://cyclonedx.org/docs/1.6/json/
import { createHash } from 'node:crypto'
import type { LockedPackage } from './lock.ts'

/** Something that is no package of npm's lock: a runtime, a library of the system. */
export interface Ingredient {
  readonly type: 'platform' | 'library'
  readonly name: string
  readonly version: string
  /** https://github.com/package-url/purl-spec */
  readonly purl: string
  /** An SPDX expression; absent where the package's own file says more than an expression can. */
  readonly licence?: string
}

/** What an SBOM says. */
export interface BillOfMaterials {
  /** The artefact, e.g. `kubectl-kleym`. */
  readonly name: string
  /** The program's own package first, as `runtimePackages` gives them. */
  readonly packages: readonly LockedPackage[]
  readonly ingredients: readonly Ingredient[]
  /** Seconds since 1970. */
  readonly made: number
}

/** Writes the document, with its last line break. */
export function cycloneDx({ name, packages, ingredients, made }: BillOfMaterials): string {
  const [program, ...libraries] = packages
  if (program === undefined) throw new RangeError(`${name} has no package`)
  const body = {
    metadata: {
      timestamp: new Date(made * 1000).toISOString().replace('.000Z', 'Z'),
      component: { ...component(program), type: 'application', name },
    },
    components: [...libraries.map(component), ...ingredients.map(ingredientComponent)],
    dependencies: [
      ...packages.map((one) => ({ ref: one.path, dependsOn: one.dependencies })),
      ...ingredients.map(({ purl }) => ({ ref: purl, dependsOn: [] })),
    ],
  }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`
  const document = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...body }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

/** A component of npm's; its path in the project is its reference, because one package may be there in two versions. */
function component({ name, version, path, licence, integrity }: LockedPackage): object {
  return {
    type: 'library',
    'bom-ref': path,
    name,
    version,
    ...(licence === '' ? {} : { licenses: [{ expression: licence }] }),
    // A workspace has no integrity: it is on no registry.
    ...(integrity === ''
      ? {}
      : { purl: npmPurl(name, version), hashes: [{ alg: 'SHA-512', content: sha512Hex(integrity) }] }),
  }
}

function ingredientComponent({ type, name, version, purl, licence }: Ingredient): object {
  const licenses = licence === undefined ? {} : { licenses: [{ expression: licence }] }
  return { type, 'bom-ref': purl, name, version, ...licenses, purl }
}

/** The package URL of an npm package. */
export function npmPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function sha512Hex(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
}

/** A UUID (version 8, RFC 9562) that follows from a text. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
