// When a release may be made, and where its files will be. Nothing here or in scripts/release uploads anything: the workflow
// .github/workflows/release.yml does, after a person has approved it.
import type { VersionNotes } from './changelog.ts'
import { parseImage, type ReleasedImage } from './chart.ts'
import type { Environment } from './npm.ts'

/** For a dry run outside of GitHub: a name that can never exist (RFC 2606), so that no made-up address looks real. */
const NOWHERE = 'https://kleym.invalid'

/** What a release is made from. */
export interface ReleaseState {
  /** Of package.json, without `v`. */
  readonly version: string
  readonly notes: VersionNotes | undefined
  /** Whether the tree differs from its commit. */
  readonly isDirty: boolean
  readonly env: Environment
}

/** Why this must not be released, the first reason that applies; undefined when it may. */
export function refusal({ version, notes, isDirty, env }: ReleaseState): string | undefined {
  const tag = `v${version}`
  if (env['CI'] !== 'true' || env['GITHUB_REF_TYPE'] !== 'tag') return 'a release is made by CI from a tag'
  if (env['GITHUB_REF_NAME'] !== tag)
    return `the tag is ${env['GITHUB_REF_NAME'] ?? 'missing'} and package.json says ${version}`
  if (notes === undefined) return `docs/CHANGELOG.md has no section [${version}]`
  if (notes.date === undefined) return `docs/CHANGELOG.md gives ${version} no date`
  if (isDirty) return 'the tree differs from its commit'
  if (imageOf(env) === undefined)
    return `${IMAGE_VARIABLE} is not set to the image of this release, as REGISTRY/kleym-operator@sha256:...`
  return undefined
}

/** Names the image that the chart of a release installs. */
const IMAGE_VARIABLE = 'KLEYM_IMAGE'

/** The image that CI names; undefined where it names none. */
export function imageOf(env: Environment): ReleasedImage | undefined {
  return parseImage(env[IMAGE_VARIABLE] ?? '')
}

/** The project's page, without its last slash. */
export function repositoryOf(env: Environment): string {
  const [server, name] = [env['GITHUB_SERVER_URL'], env['GITHUB_REPOSITORY']]
  return server === undefined || name === undefined ? NOWHERE : `${server}/${name}`
}

/** Where the pages of a release stand, as its programs cite them: the folder of its tag; empty outside of GitHub. */
export function docsOf(env: Environment, version: string): string {
  const repository = repositoryOf(env)
  return repository === NOWHERE ? '' : `${repository}/blob/v${version}/docs`
}

/** Where GitHub serves the files of a release. */
export function downloadsOf(repository: string, version: string): string {
  return `${repository}/releases/download/v${version}`
}
