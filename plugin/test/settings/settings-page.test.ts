// docs/settings.md as a new user follows it: two clusters with an SCM each, from a folder without settings to a job in CI.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedBy } from '@kleym/testing/child-process.ts'
import { commandsRunBy } from '../../../scripts/docs/commands.ts'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_THEFT, operatorDeployment } from '../support/chat-world.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const APP = `${CHAT_BINDING}---\n${CHAT_OBJECTS}`

function platform(cluster: string, className: string): string {
  return `${operatorDeployment(`${cluster}.example`, className)}---
apiVersion: v1
kind: ConfigMap
metadata: {name: spire-controller-manager, namespace: spire-server}
data:
  controller-manager-config.yaml: |
    apiVersion: spire.spiffe.io/v1alpha1
    kind: ControllerManagerConfig
    trustDomain: ${cluster}.example
    className: ${className}
    clusterName: ${cluster}
`
}

const THEFT = CHAT_THEFT.replace('acme.example', 'prod.example')

const COMMANDS = commandsRunBy(PROJECT_ROOT, 'settings').map(({ command }) =>
  command.replace('kubectl kleym ', '').split(' '),
)

function isDiff([name]: readonly string[]): boolean {
  return name === 'diff'
}

test('every command of the page answers, and ends with 0', async () => {
  const root = await workspace({
    'platform/prod/platform.yaml': platform('prod', 'spire'),
    'platform/staging/platform.yaml': platform('staging', 'spire-next'),
    'apps/prod/app.yaml': APP,
    'apps/staging/app.yaml': APP,
  })
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
    printedBy('git', [...identity, ...args], { cwd: root })
  }
  git('init', '-q', '-b', 'main')
  const prodWithout = await inProcess(['conflicts', '-A', '--offline', '-R', '-f', 'apps/prod'], root)
  expect(prodWithout.stdout).toMatch(/^·[^]*assuming/)

  const ran: (readonly [string, Ran])[] = []
  for (const command of COMMANDS.filter((one) => !isDiff(one)))
    ran.push([command.join(' '), await inProcess(command, root)])
  git('add', '.')
  git('commit', '-q', '-m', 'before')
  git('worktree', 'add', '-q', '--detach', 'base', 'main')
  for (const command of COMMANDS.filter(isDiff)) ran.push([command.join(' '), await inProcess(command, root)])
  expect(ran.length).toBeGreaterThan(6)
  expect(ran.filter(([, { code }]) => code !== 0).map(([command, one]) => [command, one.stdout])).toEqual([])
  expect(ran.filter(([, { stdout }]) => !stdout.startsWith('✓')).map(([command]) => command)).toEqual([])
  const written = await readFile(join(root, '.kleym.yaml'), 'utf8')
  expect(written).toMatch(
    /prod:\n {4}trustDomain: prod.example[^]*staging:\n {4}trustDomain: staging.example/,
  )

  // A pull request that edits the settings to hide its theft is judged by those from before.
  await writeFile(join(root, 'apps/prod/thief.yaml'), THEFT)
  await writeFile(join(root, '.kleym.yaml'), written.replaceAll('className: spire\n', 'className: none\n'))
  const prod = COMMANDS.find(isDiff) ?? []
  const { code, stdout } = await inProcess(prod, root)
  expect(stdout).toContain('KLM308')
  expect(stdout).toContain('KLM520')
  expect(code).toBe(1)
  // And a section that is there is never written over.
  const [write = []] = COMMANDS
  const again = await inProcess(write, root)
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('has a section for the context prod'),
  ])
})
