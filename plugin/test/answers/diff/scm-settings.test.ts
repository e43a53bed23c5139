// Settings of SCM that only differ between the two sides of a diff: no binding changes, and what containers get may.
import { expect, test } from 'vitest'
import {
  CHAT_BINDING,
  CHAT_OBJECTS,
  CHAT_SCM,
  CHAT_THEFT,
  operatorDeployment,
} from '../../support/chat-world.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const OBJECTS = [CHAT_BINDING, CHAT_OBJECTS, operatorDeployment('acme.example', 'spire')].join('---\n')

async function diff(before: string, after: string): Promise<Ran> {
  const files = { 'base/all.yaml': `${OBJECTS}---\n${before}`, 'head/all.yaml': `${OBJECTS}---\n${after}` }
  return inProcess(['diff', '--offline', '-A', '--base', 'base', '-f', 'head'], await workspace(files))
}

test.each<[what: string, before: string, after: string, said: string]>([
  ['its cluster', CHAT_SCM, CHAT_SCM.replace('prod', 'dev'), "SCM's clusterName prod → dev"],
  [
    'its template of parents',
    CHAT_SCM,
    `${CHAT_SCM}parentIDTemplate: 'spiffe://{{ .TrustDomain }}/node/{{ .NodeMeta.Name }}'\n`,
    "SCM's parentIDTemplate (not given) →",
  ],
])(
  'entries with another parent by %s are not known to reach a container',
  async (_what, before, after, said) => {
    const { code, stdout } = await diff(before, after)
    expect(stdout).toMatch(/^! 1 container undetermined/)
    expect(stdout).toContain(`the two sides have different settings: ${said}`)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain("SCM's settings give its entries another parent")
    expect(code).toBe(4)
  },
)

test.each<[what: string, before: string, after: string, said: string, exit: number]>([
  ['a prefix', 'entryIDPrefix: old\n', 'entryIDPrefix: new\n', "SCM's entryIDPrefix old → new", 0],
  [
    'a field selector that goes',
    "cacheNamespaces: {demo: {fieldSelectors: {'metadata.name': llama-0}}}\n",
    'cacheNamespaces: {demo: {}}\n',
    "SCM's cacheFieldSelected demo → (not given)",
    // What it selected is not followed.
    4,
  ],
  [
    'a list of namespaces',
    'cacheNamespaces: {demo: {}, other: {}}\n',
    'cacheNamespaces: {demo: {}}\n',
    "SCM's cacheNamespaces demo other → demo",
    0,
  ],
])('%s that differs is said', async (_what, before, after, said, exit) => {
  const { code, stdout } = await diff(CHAT_SCM + before, CHAT_SCM + after)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`the two sides have different settings: ${said}`)
  expect(code).toBe(exit)
})

test('a cluster that a template of parents does not name is no other parent', async () => {
  const scm = `${CHAT_SCM}parentIDTemplate: 'spiffe://{{ .TrustDomain }}/node/{{ .NodeMeta.Name }}'\n`
  const { code, stdout } = await diff(scm, scm.replace('prod', 'dev'))
  expect(stdout).toMatch(/^✓/)
  expect(code).toBe(0)
})

test.each<[what: string, before: string, after: string, code: number]>([
  ['stays if SCM no longer sees its entry', 'entryIDPrefix: old\n', 'entryIDPrefix: new\n', 4],
  ['stays if entries had no prefix before', '', 'entryIDPrefix: new\n', 4],
  ['is lost if the prefix is the same', 'entryIDPrefix: old\n', 'entryIDPrefix: old.\n', 1],
  ['is lost if SCM has no prefix any more', 'entryIDPrefix: old\n', '', 1],
  ['is lost if SCM cleans up', 'entryIDPrefix: old\n', 'entryIDPrefix: new\nentryIDPrefixCleanup: old\n', 1],
])('an identity whose registration goes %s', async (_what, before, after, exit) => {
  const base = CHAT_THEFT.replace('serviceAccountName: x', 'nodeName: n1, serviceAccountName: x')
  const theft = base.replace(/^[\s\S]*?---\n/, '')
  const { code, stdout } = await diff(
    [CHAT_SCM + before, base].join('---\n'),
    [CHAT_SCM + after, theft].join('---\n'),
  )
  const isKnown = exit === 1
  expect(stdout.includes('1 container loses')).toBe(isKnown)
  expect(stdout.replaceAll(/\s+/g, ' ').includes('SCM does not see the entries that it made before')).toBe(
    !isKnown,
  )
  expect(code).toBe(exit)
})
