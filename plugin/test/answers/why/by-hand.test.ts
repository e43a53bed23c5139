// Entries that no object asks for and that select without the UID of a pod, as SPIRE's own quick start makes them: a container gets them
// beside its registration, or they are all that it has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { healthySlot, IN_OBJECTS, WHY_INSTALL, WHY_NODES, type WhySlot } from '@kleym/testing/why-world.ts'
import { logOf, WhyFiles, type WhySaid, type WhyWorld } from '../../support/why-files.ts'

const cluster = new WhyFiles()
const registered = healthySlot('registered')
const bare = healthySlot('bare')
let all: WhyWorld
beforeAll(async () => {
  IN_OBJECTS['pod label']?.(bare)
  all = await cluster.world('by-hand', [registered, bare], { scm: { entryIDPrefix: 'prod' } })
})
afterAll(() => cluster.end())

const ALIAS = '/ns/spire/sa/spire-agent'

/** An entry that an administrator has made for all pods of a service account. */
function byHand(parent: string, values: readonly string[], fields: JsonRecord = {}): JsonRecord {
  return {
    id: 'by-hand',
    spiffe_id: { trust_domain: WHY_INSTALL.trustDomain, path: '/by/hand' },
    parent_id: { trust_domain: WHY_INSTALL.trustDomain, path: parent },
    selectors: values.map((value) => ({ type: 'k8s', value })),
    created_at: '1767225600',
    ...fields,
  }
}

/** The entry that gives agents an alias. */
function alias(...values: readonly string[]): JsonRecord {
  return {
    id: 'nodes',
    spiffe_id: { trust_domain: WHY_INSTALL.trustDomain, path: ALIAS },
    parent_id: { trust_domain: WHY_INSTALL.trustDomain, path: '/spire/server' },
    selectors: values.map((value) => ({ type: 'k8s_psat', value })),
    created_at: '1767225600',
  }
}

function nodeUid(name: string, { objects } = all): string {
  return objects.find(({ kind, metadata }) => kind === 'Node' && metadata.name === name)?.metadata.uid ?? ''
}

const agentOf = (node: string, world = all): string =>
  `/spire/agent/k8s_psat/${WHY_INSTALL.cluster}/${nodeUid(node, world)}`

function ask(
  slot: WhySlot,
  more: readonly JsonRecord[],
  flags: readonly string[] = [],
  log = logOf(slot, slot.container, all.objects),
): Promise<WhySaid> {
  const entries = cluster.entriesWith(all, slot, (one) => one, more)
  return cluster.asked(all, slot, { entries, flags, log })
}

const selectorsOf = ({ space }: WhySlot): readonly string[] => [`ns:${space}`, 'sa:runner']

describe('beside a registration', () => {
  test('it is one SVID more, and which one comes first is not defined', async () => {
    const said = await ask(registered, [byHand(agentOf(WHY_NODES.healthy), selectorsOf(registered))])
    expect(said.broken).toBe('used')
    expect(said.line).toContain('which of 2 SVIDs comes first is not defined')
    expect(said.line).toContain('entry by-hand')
    expect(said.text).toContain('spiffe://example.org/by/hand too: entry by-hand of the server')
  })

  test.each([
    ['another node', () => byHand(agentOf(WHY_NODES.notReady), selectorsOf(registered))],
    [
      'another service account',
      () => byHand(agentOf(WHY_NODES.healthy), [`ns:${registered.space}`, 'sa:other']),
    ],
    ['another container', () => byHand(agentOf(WHY_NODES.healthy), ['sa:runner', 'container-name:proxy'])],
    [
      'an SVID store',
      () => byHand(agentOf(WHY_NODES.healthy), selectorsOf(registered), { store_svid: true }),
    ],
    [
      'another cluster',
      () => byHand(`/spire/agent/k8s_psat/demo/${nodeUid(WHY_NODES.healthy)}`, selectorsOf(registered)),
    ],
  ] as const)('one for %s is none of its own', async (_, entry) => {
    expect(await ask(registered, [entry()])).toMatchObject({ code: 0 })
  })

  test.each([
    [
      'has each selector',
      ['cluster:prod', `agent_node_name:${WHY_NODES.healthy}`, 'agent_sa:spire-agent'],
      'used',
    ],
    ['is of another cluster', ['cluster:demo'], undefined],
    ['is another node', ['cluster:prod', `agent_node_name:${WHY_NODES.notReady}`], undefined],
  ] as const)('an alias that the agent has: it %s', async (_, values, broken) => {
    const said = await ask(registered, [byHand(ALIAS, selectorsOf(registered)), alias(...values)])
    expect([said.broken, said.notKnown]).toEqual([broken, undefined])
  })

  test.each([
    ['a selector of the agent that is not read', [alias('cluster:prod', 'agent_node_ip:10.0.0.1')]],
    ['a parent that no entry gives', []],
  ] as const)('not known: %s', async (_, more) => {
    const said = await ask(registered, [byHand(ALIAS, selectorsOf(registered)), ...more])
    expect([said.broken, said.notKnown]).toEqual([undefined, 'used'])
    expect(said.line).toContain('whether it also gets spiffe://example.org/by/hand is not known')
  })

  test.each([
    ['a hint each: a client can choose', 'one', undefined],
    ['one hint: it gets one of the two', 'two', 'used'],
  ] as const)('two of them with %s', async (_, hint, broken) => {
    const more = [
      byHand(agentOf(WHY_NODES.healthy), selectorsOf(bare), { hint }),
      byHand(agentOf(WHY_NODES.healthy), selectorsOf(bare), {
        hint: 'two',
        id: 'second',
        spiffe_id: { trust_domain: WHY_INSTALL.trustDomain, path: '/second' },
      }),
    ]
    const said = await ask(bare, more, ['--spiffe-id', 'spiffe://example.org/second'])
    expect(said.broken).toBe(broken)
  })
})

/** In seconds: the entries are of 2026-01-03. */
const [BEFORE_DUMP, AFTER_DUMP] = ['1767312000', '1798761600']

describe('an entry that expires', () => {
  test.each([
    ['expired before the dump: it is none', BEFORE_DUMP, undefined],
    ['expires later', AFTER_DUMP, 'used'],
  ] as const)('beside a registration, it has %s', async (_, expires_at, broken) => {
    const entry = byHand(agentOf(WHY_NODES.healthy), selectorsOf(registered), { expires_at })
    expect((await ask(registered, [entry])).broken).toBe(broken)
  })

  test.each([
    ['has expired', BEFORE_DUMP, false, ['on the server', undefined, 1]],
    ['expires later', AFTER_DUMP, false, [undefined, undefined, 0]],
    ['expires, at a time that may have passed', BEFORE_DUMP, true, [undefined, 'on the server', 4]],
  ] as const)(
    'one that SCM made and another client edited: it %s',
    async (_, expires_at, isTimeless, expected) => {
      const entries = cluster.entriesWith(all, registered, (one) => ({ ...one, expires_at }))
      const { broken, notKnown, code } = await cluster.asked(all, registered, { entries, isTimeless })
      expect([broken, notKnown, code]).toEqual(expected)
    },
  )
})

describe('without any registration', () => {
  test('the container has what was made by hand: all hops are good', async () => {
    const said = await ask(bare, [byHand(agentOf(WHY_NODES.healthy), selectorsOf(bare))])
    expect(said).toMatchObject({ code: 0 })
    expect(said.line).toContain('holds spiffe://example.org/by/hand')
    expect(listAt(said.chain, 'registrations').map((one) => stringAt(one, 'source'))).toEqual([
      'entry by-hand',
    ])
  })

  test('SCM takes it for its own and deletes it: whether the container keeps it is not known', async () => {
    const taken = await cluster.world('by-hand-taken', [bare])
    const more = [byHand(agentOf(WHY_NODES.healthy, taken), selectorsOf(bare))]
    const entries = cluster.entriesWith(taken, bare, (one) => one, more)
    const log = logOf(bare, bare.container, taken.objects)
    const said = await cluster.asked(taken, bare, { entries, flags: [], log })
    expect([said.broken, said.notKnown, said.code]).toEqual([undefined, 'on the server', 4])
    expect(said.text).toContain('SCM deletes it in its next pass')
  })

  test('whether it has it is not known, and so is the first hop', async () => {
    const said = await ask(bare, [byHand(ALIAS, selectorsOf(bare))])
    expect([said.broken, said.notKnown, said.code]).toEqual([undefined, 'wanted', 4])
  })

  test('an entry for another identity than is asked about gives nothing', async () => {
    const entry = byHand(agentOf(WHY_NODES.healthy), selectorsOf(bare))
    const said = await ask(bare, [entry], ['--spiffe-id', 'spiffe://example.org/else'])
    expect(said.broken).toBe('wanted')
  })

  test('the process has another selector than the entry', async () => {
    const said = await ask(
      bare,
      [byHand(agentOf(WHY_NODES.healthy), [...selectorsOf(bare), 'container-name:app'])],
      [],
      logOf(bare, 'proxy', all.objects),
    )
    expect(said.broken).toBe('attested')
  })
})
