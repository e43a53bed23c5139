// The GitHub Action and the GitLab component (.ci), as their runners run them: with the archive of the release, in a real Git repository with a
// base and a head, from outside of this project's folder, and against a server that answers as GitHub's API of comments does.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ended, printedBy, type Ended } from '@kleym/testing/child-process.ts'
import { digPath, isRecord, listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { sha256 } from '../../scripts/release/krew-manifest.ts'
import { ROOT } from '../e2e/plugin.ts'
import { archivePath, RELEASE_MAX_MS, released, thisPlatform } from './released.ts'

const ACTION = join(ROOT, '.ci/action')
const EXAMPLES = join(ROOT, 'examples/pull-request')
const MANIFESTS = 'deploy'

let download: Readonly<Record<string, string>>
beforeAll(async () => {
  await released()
  const path = archivePath(thisPlatform())
  download = { ARCHIVE: pathToFileURL(path).href, SHA256: sha256(readFileSync(path)) }
}, RELEASE_MAX_MS)

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kleym-ci-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function git(repository: string, ...args: readonly string[]): string {
  const own = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false']
  return printedBy('git', [...own, ...args], { cwd: repository, ms: 60_000 }).trim()
}

/** A repository whose branch `main` has gone on since the branch of the change began. */
function newRepository(): string {
  const path = folder()
  git(path, 'init', '--quiet', '--initial-branch=main')
  cpSync(join(EXAMPLES, 'base'), join(path, MANIFESTS), { recursive: true })
  git(path, 'add', '.')
  git(path, 'commit', '--quiet', '-m', 'base')
  git(path, 'checkout', '--quiet', '-b', 'change')
  cpSync(join(EXAMPLES, 'head'), join(path, MANIFESTS), { recursive: true })
  git(path, 'commit', '--quiet', '-am', 'head')
  git(path, 'checkout', '--quiet', 'main')
  git(path, 'rm', '--quiet', '-r', MANIFESTS)
  git(path, 'commit', '--quiet', '-m', 'main goes on')
  git(path, 'checkout', '--quiet', 'change')
  return path
}

function bash(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  const { PATH = '', HOME = '' } = process.env
  const own = { PATH, HOME, ...env }
  return ended(
    spawn('bash', ['--norc', '--noprofile', '-euo', 'pipefail', '-c', script], {
      cwd,
      env: own,
      stdio: 'pipe',
    }),
  )
}

/** Checks the change of a repository as the action does; the folder with what it wrote. */
async function checked(
  path: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended & { out: string }> {
  const out = folder()
  const script = `"${ACTION}/install.sh" "${out}/bin"; PATH="${out}/bin:$PATH" "${ACTION}/check.sh" "${out}"`
  const run = await bash(script, path, { ...download, MANIFESTS, BASE: 'main', ...env })
  return { ...run, out }
}

/** A repository whose change breaks its copy of SCM's configuration. */
function withScmBroken(): string {
  const path = newRepository()
  const commit = (config: string): void => {
    writeFileSync(join(path, 'scm.yaml'), config)
    git(path, 'add', '.')
    git(path, 'commit', '--quiet', '-m', 'scm')
  }
  commit('apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\n')
  git(path, 'branch', '--force', 'main')
  commit('{')
  return path
}

/** A text about the same files in another folder. */
function withoutFolder(text: string): string {
  return text.replaceAll(/\b(?:deploy|head)\//g, '')
}

describe('the action', () => {
  test('compares the head with the merge base, and leaves nothing in the repository', async () => {
    const path = newRepository()
    const { stderr, out } = await checked(path)
    expect(stderr).toBe('')
    const diff = readFileSync(join(out, 'diff.md'), 'utf8')
    // Against the tip of main, which has no manifests any more, every binding would be new.
    const expected = await bash(
      `"${out}/bin/kubectl-kleym" diff --offline --base base -R -f head -o markdown`,
      EXAMPLES,
      {},
    )
    expect(withoutFolder(diff)).toBe(withoutFolder(expected.stdout))
    expect(stringAt(JSON.parse(readFileSync(join(out, 'kleym.sarif'), 'utf8')), 'version')).toBe('2.1.0')
    expect(git(path, 'status', '--porcelain')).toBe('')
    expect(git(path, 'worktree', 'list').split('\n')).toHaveLength(1)
  })

  test('fails for a binding that is refused, and passes where all are ready', async () => {
    const path = newRepository()
    expect((await checked(path)).status).toBe(0)
    git(path, 'rm', '--quiet', join(MANIFESTS, 'models.yaml'))
    git(path, 'commit', '--quiet', '-m', 'no pools')
    const { status, stdout } = await checked(path)
    expect(status).toBe(1)
    expect(stdout).toContain('::error')
  })

  test.each(['--scm-config=scm.yaml', '--trust-domain example.org --scm-config scm.yaml'])(
    'takes the file of the merge base for %s',
    async (FLAGS) => {
      const { stderr, out } = await checked(withScmBroken(), { FLAGS })
      expect(stderr).not.toContain('SCM configuration')
      expect(readFileSync(join(out, 'diff.md'), 'utf8')).toContain('<!-- kleym diff -->')
    },
  )

  test('says what to do where the history is cut off', async () => {
    const { status, stderr } = await checked(newRepository(), { BASE: 'gone' })
    expect(status).toBe(4)
    expect(stderr).toContain('fetch-depth: 0')
  })

  test('unpacks nothing of another digest', async () => {
    const out = folder()
    const run = await bash(`"${ACTION}/install.sh" "${out}"`, out, { ...download, SHA256: '0'.repeat(64) })
    expect(run.status).not.toBe(0)
    expect((await bash('ls', out, {})).stdout).not.toContain('kubectl-kleym')
  })

  test('makes one comment, and changes it in place from then on, whoever else has written how much', async () => {
    const comments: { id: number; user: { login: string }; body: string }[] = [
      ...Array.from({ length: 130 }, (_, id) => ({ id, user: { login: 'someone' }, body: 'hello' })),
      // Another user can write the same first line.
      { id: 200, user: { login: 'someone' }, body: '<!-- kleym diff -->' },
    ]
    const asked: string[] = []
    const answer = async (request: IncomingMessage): Promise<string> => {
      const body = await bodyOf(request)
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://github')
      asked.push(`${request.method ?? ''} ${pathname} ${request.headers.authorization ?? ''}`)
      const text = stringAt(body, 'body') ?? ''
      if (request.method === 'POST')
        comments.push({ id: 300, user: { login: 'github-actions[bot]' }, body: text })
      if (request.method === 'PATCH')
        for (const one of comments) if (pathname.endsWith(`/${one.id}`)) one.body = text
      const from = (Number(searchParams.get('page') ?? 1) - 1) * 100
      return JSON.stringify(comments.slice(from, from + 100))
    }
    const server = createServer((request, response) => {
      void (async () => response.end(await answer(request)))()
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = address === null || typeof address === 'string' ? 0 : address.port
    const { out } = await checked(newRepository())
    const env = {
      GITHUB_API_URL: `http://127.0.0.1:${port}`,
      GITHUB_REPOSITORY: 'a/b',
      GITHUB_TOKEN: 'secret',
      NUMBER: '7',
    }
    for (const text of ['first', 'second "quoted"']) {
      const script = `printf '<!-- kleym diff -->\\n%s' '${text}' > diff.md; "${ACTION}/comment.sh" diff.md`
      expect(await bash(script, out, env)).toMatchObject({ status: 0, stderr: '' })
    }
    expect(comments.filter(({ body }) => body.startsWith('<!-- kleym diff -->'))).toEqual([
      { id: 200, user: { login: 'someone' }, body: '<!-- kleym diff -->' },
      { id: 300, user: { login: 'github-actions[bot]' }, body: '<!-- kleym diff -->\nsecond "quoted"' },
    ])
    const changes = asked.filter((one) => !one.startsWith('GET'))
    expect(changes).toEqual([
      'POST /repos/a/b/issues/7/comments Bearer secret',
      'PATCH /repos/a/b/issues/comments/300 Bearer secret',
    ])
  })

  test('every script that it starts is there, and every input has its use', () => {
    const text = readFileSync(join(ACTION, 'action.yml'), 'utf8')
    const action: unknown = parse(text)
    expect(stringAt(action, 'runs', 'using')).toBe('composite')
    const inputs = digPath(action, ['inputs'])
    const names = isRecord(inputs) ? Object.keys(inputs) : []
    expect(names.filter((name) => !text.includes(`inputs.${name} `))).toEqual([])
    for (const [, script = ''] of text.matchAll(/GITHUB_ACTION_PATH\/([\w.-]+)/g))
      expect(readFileSync(join(ACTION, script), 'utf8')).toMatch(/^#!\/usr\/bin\/env bash\n/)
  })
})

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString()
  return text === '' ? undefined : JSON.parse(text)
}

describe('the GitLab component', () => {
  const [spec, jobs] = parseAllDocuments(readFileSync(join(ROOT, '.ci/gitlab.yml'), 'utf8')).map(
    (document): unknown => document.toJS(),
  )

  // The base and the program lie in the repository.
  test.each([MANIFESTS, '.'])(
    'its script runs in a merge request, and writes its reports: %s',
    async (manifests) => {
      const path = newRepository()
      const job = digPath(jobs, ['kleym'])
      const inputs: Readonly<Record<string, string | undefined>> = {
        archive: download['ARCHIVE'],
        sha256: download['SHA256'],
        manifests,
      }
      const declared = digPath(spec, ['spec', 'inputs'])
      for (const name of Object.keys(inputs)) expect(declared).toHaveProperty(name)
      const env = Object.fromEntries(
        Object.entries(Object(digPath(job, ['variables']))).map(([name, value]) => [
          name,
          String(value).replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, input: string) => inputs[input] ?? ''),
        ]),
      )
      const script = [...listAt(job, 'before_script'), ...listAt(job, 'script')].map(String).join('\n')
      const base = git(path, 'merge-base', 'main', 'HEAD')
      const run = await bash(script, path, { ...env, CI_MERGE_REQUEST_DIFF_BASE_SHA: base })
      expect(run).toMatchObject({ status: 0, stderr: '' })
      expect(readFileSync(join(path, 'kleym-diff.md'), 'utf8')).toContain('<!-- kleym diff -->')
      expect(readFileSync(join(path, 'kleym.xml'), 'utf8')).toContain('<testsuites')
    },
  )
})
