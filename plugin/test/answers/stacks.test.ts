// What is said of each serving stack, from its own objects alone: whole answers, in golden/stacks.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'

/** The folders of examples/stacks, with the label by which each tells roles apart. */
const STACKS = {
  'llm-d': 'llm-d.ai/role',
  kserve: 'llm-d.ai/role',
  disaggregatedset: 'disaggregatedset.x-k8s.io/role',
  aibrix: 'role-name',
  dynamo: 'nvidia.com/dynamo-component-type',
  kaito: 'llm-d.ai/role',
  nim: 'llm-d.ai/role',
  beside: 'llm-d.ai/role',
} as const

const COMMANDS = ['suggest -A', 'explain -A', 'who-selects -A'] as const

describe.each(Object.entries(STACKS))('%s', (stack, key) => {
  test.each(COMMANDS)('%s', async (command) => {
    const settings = `--trust-domain example.org --clusterspiffeid-class-name spire-mgmt-spire --scm-config examples/scm-config.yaml --variant-label-key ${key}`
    const line = `${command} --offline -f examples/stacks/${stack} ${settings}`
    const { code, stdout, stderr } = await inProcess(line.split(' '), PROJECT_ROOT)
    const text = `$ kubectl kleym ${command} --offline -f examples/stacks/${stack}\n\n${stdout}\n--- stderr\n${stderr}\n--- exit code ${code}\n`
    const [name] = command.split(' ')
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden/stacks', `${stack}-${name}.txt`))
  })
})
