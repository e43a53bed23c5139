// Libraries that the executable loads when it first needs them (scripts/build/late-libraries.ts): each answers there as it
// does where nothing is bundled.
import { beforeAll, describe, expect, test } from 'vitest'
import { outputName } from '../../shared/src/core/decide/compile/output.ts'
import { displayWidth } from '../../plugin/src/text/width.ts'
import { built, kleym } from './plugin.ts'
import { SCM_CONFIG, SETTINGS, SMALL, workspace } from './workspace.ts'

beforeAll(built)

/** What `explain` prints where SCM ignores the namespaces of one expression. */
async function explainIgnoring(expression: string): Promise<string> {
  const scm = SCM_CONFIG.replace('ignoreNamespaces: []', () => `ignoreNamespaces: ['${expression}']`)
  const cwd = workspace({ 'all.yaml': SMALL, 'scm.yaml': scm })
  const args = ['explain', 'team-a/chat', '--offline', '-f', 'all.yaml', ...SETTINGS]
  return (await kleym(args, { cwd })).stdout
}

describe("Go's regular expressions", () => {
  test.each([
    ['one that matches the namespace', '^team-[a-c]$', 'SCM ignores namespace team-a'],
    ['one that does not', '^team-[b-c]$', 'reaches    llama-0: vllm'],
    ['one that Go refuses', '(team', '(team: error parsing regexp: missing'],
    ['one that is not followed', '[t[:]', 'llama-0: kleym does not follow "[:]" in a class'],
  ])('%s', async (_, expression, text) => {
    expect(await explainIgnoring(expression)).toContain(text)
  })
})

test('the hash in the name of an output', async () => {
  const cwd = workspace({ 'all.yaml': SMALL, 'scm.yaml': SCM_CONFIG })
  const args = ['explain', 'team-a/chat', '--offline', '-f', 'all.yaml', ...SETTINGS]
  const { stdout } = await kleym(args, { cwd })
  const id = /spiffe:\/\/\S+objective\/chat/.exec(stdout)?.[0] ?? ''
  expect(stdout).toContain(outputName('team-a', 'chat', 'objective', id))
})

test('the width of wide characters', async () => {
  const lines = (await explainIgnoring(`^team-[a-c]$|${'模型 '.repeat(40)}`)).split('\n')
  const wide = lines.filter((line) => line.includes('模型'))
  expect(wide.length).toBeGreaterThan(2)
  for (const line of wide) expect(displayWidth(line)).toBeLessThanOrEqual(80)
})
