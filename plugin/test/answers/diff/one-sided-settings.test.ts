// A setting that the objects of one side of a diff alone give (docs/settings.md, "A pull request cannot wave itself through").
import { expect, test } from 'vitest'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM, operatorDeployment } from '../../support/chat-world.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const APP = `${CHAT_BINDING}---\n${CHAT_OBJECTS}`
const OPERATOR = operatorDeployment('acme.example', 'spire')
const DIFF = ['diff', '--base', 'base', '--offline', '-f', 'head', '--scm-config', 'scm.yaml']

function sides(base: string, head: string): Promise<string> {
  const files = { 'base/app.yaml': APP, 'head/app.yaml': APP, 'scm.yaml': CHAT_SCM }
  return workspace({ ...files, 'base/operator.yaml': base, 'head/operator.yaml': head })
}

test('stays as it was where the change says nothing of it', async () => {
  const { stdout } = await inProcess(DIFF, await sides(OPERATOR, ''))
  // That the operator itself is deleted is another matter.
  expect(stdout).toMatch(/^✗ the operator is down: its Deployment is not there any more/)
  expect(stdout).not.toContain('settings are unknown')
  const json = await inProcess([...DIFF, '-o', 'json'], await sides(OPERATOR, ''))
  expect(JSON.parse(json.stdout)).toMatchObject({
    settings: {
      trustDomain: 'acme.example',
      trustDomainSource: 'Deployment kleym-system/kleym, before the change',
    },
  })
})

test('is a change, and no dispute, where the change says otherwise', async () => {
  const { code, stdout } = await inProcess(
    DIFF,
    await sides(OPERATOR, OPERATOR.replace('acme.example', 'other.example')),
  )
  expect(stdout).toMatch(/1 container loses/)
  expect(stdout).not.toContain('settings are unknown')
  expect(code).toBe(1)
})

test('is not taken from the change for the side before it: a change does not choose by what it is judged', async () => {
  const { code, stdout } = await inProcess(DIFF, await sides('', OPERATOR))
  expect(stdout).toContain('some settings are unknown')
  expect(code).toBe(4)
})
