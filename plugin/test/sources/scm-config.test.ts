import { describe, expect, test } from 'vitest'
import { readScmConfigFile, scmConfigsIn } from '../../src/sources/scm-config.ts'
import { load } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const raw = 'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\n'
const KEY = 'controller-manager-config.yaml'
const configMap = (name: string, key = KEY, text = raw): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: spire}\ndata:\n  other: "a: ["\n  ${key}: |\n    ${text.replaceAll('\n', '\n    ')}\n`
const config = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  trustDomain: 'example.org',
}

describe('--scm-config', () => {
  test.each([
    ['raw', raw, 'scm.yaml'],
    ['in a ConfigMap', configMap('scm'), 'ConfigMap spire/scm (scm.yaml:1)', KEY],
    ['under any key', configMap('scm', 'x'), 'ConfigMap spire/scm (scm.yaml:1)', 'x'],
    [
      'in one of several documents',
      `a: 1\n---\n${configMap('scm')}`,
      'ConfigMap spire/scm (scm.yaml:3)',
      KEY,
    ],
    ['as JSON', JSON.stringify(config), 'scm.yaml'],
  ])('%s', async (_, text, source, key?: string) => {
    const cwd = await workspace({ 'scm.yaml': text })
    const at = key === undefined ? undefined : { namespace: 'spire', name: 'scm', key }
    expect(await readScmConfigFile('scm.yaml', cwd)).toEqual({ config, source, at })
  })

  test.each([
    ['a missing file', 'gone.yaml', 'there is no such file or folder'],
    ['another kind', 'other.yaml', 'it holds no ControllerManagerConfig'],
    ['two of them', 'two.yaml', 'it holds 2 of them'],
    ['a malformed file', 'bad.yaml', '(line 3)'],
    ['a ConfigMap whose text is malformed', 'inner.yaml', 'it holds no ControllerManagerConfig'],
  ])('%s is wrong usage', async (_, file, why) => {
    const cwd = await workspace({
      'other.yaml': 'apiVersion: v1\nkind: Pod\n',
      'two.yaml': `${raw}---\n${configMap('scm')}`,
      'bad.yaml': 'a: 1\nb: [\n',
      'inner.yaml': configMap('scm', 'x', '# ControllerManagerConfig\na: ['),
    })
    await expect(readScmConfigFile(file, cwd)).rejects.toMatchObject({
      code: 'usage',
      where: `--scm-config ${file}`,
      why: expect.stringContaining(why),
    })
  })
})

test('all configurations among the objects are found, with their places', async () => {
  const text = [configMap('a'), configMap('b'), configMap('c', 'x', 'a: 1')].join('---\n')
  const { objects } = await load(await workspace({ 'f.yaml': text }))
  expect(await scmConfigsIn(objects)).toEqual([
    { config, source: 'ConfigMap spire/a (f.yaml:1)', at: { namespace: 'spire', name: 'a', key: KEY } },
    {
      config,
      source: expect.stringMatching(/^ConfigMap spire\/b \(f\.yaml:\d+\)$/),
      at: { namespace: 'spire', name: 'b', key: KEY },
    },
  ])
})
