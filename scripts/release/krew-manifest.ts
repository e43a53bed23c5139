// krew's manifest from the template krew/kleym.yaml.
import { createHash } from 'node:crypto'
import { platformName, type Platform } from './platforms.ts'

/** What a release puts into the template. */
export interface ManifestValues {
  /** Without `v`. */
  readonly version: string
  /** The project's page. */
  readonly homepage: string
  /** The address of the folder that the archives of this version are downloaded from, without its last slash. */
  readonly releases: string
  readonly archives: ReadonlyMap<Platform, Buffer>
}

/** Fills the template in; throws where a word of it stays. */
export function krewManifest(
  template: string,
  { version, homepage, releases, archives }: ManifestValues,
): string {
  const values = new Map([
    ['VERSION', version],
    ['HOMEPAGE', homepage],
    ['RELEASES', releases],
    ...[...archives].map(([platform, archive]): [string, string] => [
      checksumWord(platform),
      sha256(archive),
    ]),
  ])
  // The first comment speaks to who edits the template.
  const body = template.replace(/^(?:#.*\n)+/, '')
  return body.replaceAll(/\b(?:SHA256_\w+|HOMEPAGE|RELEASES)\b|VERSION\b/g, (word) => {
    const value = values.get(word)
    if (value === undefined)
      throw new RangeError(`krew/kleym.yaml asks for ${word}, which the release does not have`)
    return value
  })
}

/** Lower-case hexadecimal. */
export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function checksumWord(platform: Platform): string {
  return `SHA256_${platformName(platform).replace('-', '_').toUpperCase()}`
}
