// When a release is refused, what its notes are, and what the command line takes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { notesOf } from '../../scripts/release/changelog.ts'
import { krewManifest } from '../../scripts/release/krew-manifest.ts'
import { PLATFORMS } from '../../scripts/release/platforms.ts'
import { docsOf, downloadsOf, refusal, repositoryOf, type ReleaseState } from '../../scripts/release/terms.ts'
import { ROOT } from '../e2e/plugin.ts'
import { VERSION } from './released.ts'

const KLEYM_IMAGE = `ghcr.io/a/kleym-operator@sha256:${'0'.repeat(64)}`
const ON_TAG = { CI: 'true', GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.3', KLEYM_IMAGE }
const READY: ReleaseState = {
  version: '1.2.3',
  notes: { date: '2026-11-30', text: 'First.' },
  isDirty: false,
  env: ON_TAG,
}

describe('a release', () => {
  test('is made by CI, from the tag of a version that has notes with a date', () => {
    expect(refusal(READY)).toBeUndefined()
  })

  test.each<[string, Partial<ReleaseState>, string]>([
    ['outside of CI', { env: { ...ON_TAG, CI: undefined } }, 'made by CI from a tag'],
    ['from a branch', { env: { ...ON_TAG, GITHUB_REF_TYPE: 'branch' } }, 'made by CI from a tag'],
    ['from another tag', { env: { ...ON_TAG, GITHUB_REF_NAME: 'v1.2.4' } }, 'the tag is v1.2.4'],
    ['without notes', { notes: undefined }, 'has no section [1.2.3]'],
    ['without a date', { notes: { date: undefined, text: '' } }, 'gives 1.2.3 no date'],
    ['from a changed tree', { isDirty: true }, 'differs from its commit'],
    ['without an image', { env: { ...ON_TAG, KLEYM_IMAGE: undefined } }, 'KLEYM_IMAGE is not set'],
    [
      'with an image by its tag',
      { env: { ...ON_TAG, KLEYM_IMAGE: 'ghcr.io/a/kleym-operator:1.2.3' } },
      'KLEYM_IMAGE is not set to the image',
    ],
  ])('%s is refused', (_, state, why) => {
    expect(refusal({ ...READY, ...state })).toContain(why)
  })

  test.each<[readonly string[], number, string]>([
    [[], 1, 'error: this is not released\n  why:  a release is made by CI from a tag\n'],
    [['--force'], 2, 'error: there is only --dry-run\n'],
  ])('of the command line %j ends with code %i', (args, code, words) => {
    const { status, stdout, stderr } = runToEnd(
      process.execPath,
      [join(ROOT, 'scripts/release.ts'), ...args],
      { env: {} },
    )
    expect({ status, stdout }).toEqual({ status: code, stdout: '' })
    expect(stderr.startsWith(words)).toBe(true)
  })
})

describe('addresses', () => {
  test('are those of the repository that CI names', () => {
    const repository = repositoryOf({ GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'a/b' })
    expect(downloadsOf(repository, '1.2.3')).toBe('https://github.com/a/b/releases/download/v1.2.3')
  })

  test('of pages are in the folder of the tag', () => {
    const env = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'a/b' }
    expect(docsOf(env, '1.2.3')).toBe('https://github.com/a/b/blob/v1.2.3/docs')
  })

  test('in a dry run lead nowhere', () => {
    expect(repositoryOf({})).toBe('https://kleym.invalid')
    expect(docsOf({}, '1.2.3')).toBe('')
  })
})

describe('notes', () => {
  const CHANGELOG = [
    '# Changelog',
    '',
    '## [1.1.0] - unreleased',
    '',
    '- Next.',
    '',
    '## [1.0.0] - 2026-11-30',
    '',
    '### Added',
    '',
    '- First.',
    '',
    '[1.0.0]: https://example.org',
    '',
  ].join('\n')

  test.each([
    ['a version with a date', '1.0.0', { date: '2026-11-30', text: '### Added\n\n- First.' }],
    ['the one that is unreleased', '1.1.0', { date: undefined, text: '- Next.' }],
    ['one that is not there', '1.0', undefined],
  ])('of %s', (_, version, notes) => {
    expect(notesOf(CHANGELOG, version)).toEqual(notes)
  })

  test('of the version that package.json has are there', () => {
    expect(notesOf(readFileSync(join(ROOT, 'docs/CHANGELOG.md'), 'utf8'), VERSION)?.text).toMatch(
      /^### Added\n/,
    )
  })
})

test("krew's manifest is refused where the template asks for what a release does not have", () => {
  const values = { version: '1', homepage: '', releases: '', archives: new Map() }
  const template = readFileSync(join(ROOT, 'krew/kleym.yaml'), 'utf8')
  expect(() => krewManifest(template, values)).toThrow('asks for SHA256_LINUX_AMD64')
})

test('the template has every platform once', () => {
  const template = readFileSync(join(ROOT, 'krew/kleym.yaml'), 'utf8')
  for (const { os, arch } of PLATFORMS)
    expect(template.split(`matchLabels: { os: ${os}, arch: ${arch} }`)).toHaveLength(2)
})
