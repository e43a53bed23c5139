// What changes while SCM runs: edits, deletions, another node of the same name, and what stops SCM for every object. One case
// after the other, each on an empty server.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { causeOf } from './causes.ts'
import { csid, HELD, staticEntry } from './clusterspiffeid.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { CLUSTER_SPIFFE_ID, startSpire, type HeldEntry, type Spire } from './spire.ts'
import { build, clear, namespace, node, pod } from './build-cluster.ts'

const SPACE = 'history'
const SAME = { spiffeIDTemplate: 'spiffe://example.org/same' }
/** A DNS name that the server refuses. */
const REFUSED = { dnsNameTemplates: ['a..b'] }

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
})
afterAll(() => cp?.stop())
beforeEach(async () => {
  await clear(cp, spire)
  await put(node('n1'), node('n2'), namespace(SPACE), pod(SPACE, 'p'))
})

async function put(...objects: readonly JsonRecord[]): Promise<void> {
  await build(cp, [objects.map((object) => ({ object }))])
}

/** The first is the oldest. */
async function putInOrder(...objects: readonly JsonRecord[]): Promise<void> {
  await build(
    cp,
    objects.map((object) => [{ object }]),
  )
}

function idOf(name: string): Parameters<ControlPlane['admin']['get']>[0] {
  return { ...CLUSTER_SPIFFE_ID, name }
}

async function agreed(blocked = false): Promise<Comparison> {
  const comparison = await compare(cp, spire, blocked)
  expect(comparison.differences.map(differenceText)).toEqual([])
  return comparison
}

function paths(held: readonly HeldEntry[]): readonly string[] {
  return held
    .map(({ spiffeId, hint }) => `${spiffeId.replace('spiffe://example.org', '')} ${hint}`.trim())
    .toSorted()
}

test('a broken edit deletes the entries of its object and brings the fallback back', async () => {
  await put(csid('a', { ...SAME, hint: 'a' }), csid('default', { fallback: true, hint: 'default' }))
  expect(paths((await agreed()).held)).toEqual(['/same a'])
  await put(csid('a', { spiffeIDTemplate: '{{', hint: 'a' }))
  expect(paths((await agreed()).held)).toEqual(['/ns/history/sa/runner default'])
})

test('an edit that the server refuses leaves the entry as it was', async () => {
  await put(csid('a', { ...SAME, hint: 'a' }))
  await agreed()
  await put(csid('a', { ...SAME, ...REFUSED, hint: 'a' }))
  const { held, kept } = await agreed()
  expect(paths(held)).toEqual(['/same a'])
  expect(kept).toEqual(held)
})

test('a winner that the server refuses leaves the entry of the object that it displaced', async () => {
  await putInOrder(
    csid('old', { ...REFUSED, spiffeIDTemplate: 'spiffe://example.org/other' }),
    csid('new', { ...SAME, hint: 'new' }),
  )
  await agreed()
  await put(csid('old', { ...SAME, ...REFUSED, hint: 'old' }))
  const { held, kept } = await agreed()
  expect(paths(held)).toEqual(['/same new'])
  expect(kept).toEqual(held)
})

test('when the masking entry is deleted, the entry whose selectors read alike takes its place', async () => {
  await putInOrder(
    csid('old', { ...SAME, workloadSelectorTemplates: ['x:yz'] }),
    csid('new', { ...SAME, workloadSelectorTemplates: ['xy:z'] }),
  )
  await agreed()
  await cp.admin.delete(idOf('old'))
  const { held, differences } = await compare(cp, spire)
  // Nothing else differs between the two, so SCM sees no reason to write: no snapshot shows that.
  expect(held.flatMap(({ selectors }) => selectors.filter((one) => one.startsWith('x')))).toEqual(['x:yz'])
  expect(differences.map(({ kind }) => kind).toSorted()).toEqual(['only on the server', 'only predicted'])
})

test('of two that are being deleted the one that was deleted later has its way', async () => {
  const both = [csid('a', { ...SAME, hint: 'a' }, HELD), csid('b', { ...SAME, hint: 'b' }, HELD)]
  // The second wave begins with a second, so the two are of one age.
  await build(cp, [[], both.map((object) => ({ object }))])
  await cp.admin.delete(idOf('a'))
  await putInOrder(pod(SPACE, 'q'), pod(SPACE, 'r'))
  await cp.admin.delete(idOf('b'))
  const { held } = await agreed()
  expect(new Set(held.map(({ hint }) => hint))).toEqual(new Set(['b']))
})

test('a node that is made anew gives every entry on it another parent', async () => {
  await put(csid('a', SAME))
  const [before] = (await agreed()).held
  await cp.admin.delete({ apiVersion: 'v1', kind: 'Node', name: 'n1' })
  expect((await agreed()).held).toEqual([])
  await put(node('n1'))
  const [after] = (await agreed()).held
  expect(after?.parentId).toMatch(/^spiffe:\/\/example\.org\/spire\/agent\/k8s_psat\/prod\//)
  expect(after?.parentId).not.toBe(before?.parentId)
})

test('one template result that is not UTF-8 stops new entries for every pod', async () => {
  await putInOrder(
    csid('broken', { ...SAME, workloadSelectorTemplates: ['x:{{ slice "é" 0 1 }}'] }),
    csid('a'),
  )
  const { held, uncertain, analysis } = await agreed(true)
  expect(held).toEqual([])
  expect(analysis.now.prediction().scmFaults()).toMatchObject([
    { kind: 'not UTF-8', source: { name: 'broken' } },
  ])
  expect(uncertain.map(causeOf)).toContain('an entry that stops SCM for every object')
})

test('a static entry of the class is there without any pod, and one of another class is not', async () => {
  const spec = {
    spiffeID: 'spiffe://example.org/static',
    parentID: 'spiffe://example.org/spire/agent/x509pop/vm',
    selectors: ['unix:uid:1'],
    x509SVIDTTL: '1h',
  }
  await put(
    staticEntry('own', spec),
    staticEntry('other', { ...spec, spiffeID: 'spiffe://example.org/o', className: 'other' }),
  )
  const { held } = await agreed()
  expect(held.map(({ spiffeId, x509SvidTtl }) => [spiffeId, x509SvidTtl])).toEqual([
    ['spiffe://example.org/static', 3600],
  ])
  expect(stringAt(held[0], 'parentId')).toBe(spec.parentID)
})

test('one object that cannot be decoded keeps SCM from seeing anything new, and the prediction names it', async () => {
  // SCM asks for its objects more and more rarely until the broken one is gone: a new one does not wait for that.
  onTestFinished(async () => {
    await cp.admin.delete(idOf('broken'))
    await spire.restart()
  })
  await put(csid('a', SAME))
  await agreed()
  await put(csid('broken', { ttl: '1d' }))
  await put(csid('later', { spiffeIDTemplate: 'spiffe://example.org/later' }))
  const { held, analysis } = await compare(cp, spire)
  expect(paths(held)).toEqual(['/same'])
  expect(analysis.now.prediction().scmFaults()).toMatchObject([
    { kind: 'undecodable', source: { name: 'broken' } },
  ])
})
