// What SCM's own configuration decides: classes, filters, ignored namespaces. The same objects each time; SCM starts anew.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { until } from '@kleym/testing/wait.ts'
import { csid } from './clusterspiffeid.ts'
import { compare, differenceText } from './compare.ts'
import { startSpire, type HeldEntry, type Spire } from './spire.ts'
import { build, namespace, node, pod } from './build-cluster.ts'

const SPACE = 'history'
/** What the filters of SCM look for. */
const LABELS = { team: 'a', 'spire.spiffe.io/class-name': 'kleym-test' }

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
  const objects = [
    node('n1'),
    namespace(SPACE),
    pod(SPACE, 'p'),
    csid('own', { spiffeIDTemplate: 'spiffe://example.org/own' }),
    csid('other', { spiffeIDTemplate: 'spiffe://example.org/other', className: 'other' }),
    csid('none', { spiffeIDTemplate: 'spiffe://example.org/none', className: '' }),
    csid('labelled', { spiffeIDTemplate: 'spiffe://example.org/labelled' }, { labels: LABELS }),
  ]
  await build(
    cp,
    [objects.slice(0, 2), objects.slice(2)].map((wave) => wave.map((object) => ({ object }))),
  )
})
afterAll(() => cp?.stop())

// No row ends as the one before it: entries of the last SCM cannot pass for those of the next.
test.each<[what: string, config: JsonRecord, holds: readonly string[]]>([
  ['a class sees its own objects only', {}, ['/labelled', '/own']],
  ['a class that watches the classless sees both', { watchClassless: true }, ['/labelled', '/none', '/own']],
  ['no class sees the classless only', { className: '' }, ['/none']],
  ['the filter by class name wants a label too', { filterByClassName: true }, ['/labelled']],
  [
    'no class that watches the classless sees the classless only',
    { className: '', watchClassless: true },
    ['/none'],
  ],
  [
    'the label selector of SCM hides what has no such label',
    { clusterSPIFFEIDLabelSelector: { team: 'a' } },
    ['/labelled'],
  ],
  [
    'an ignored namespace beats every selector, and its expression is not anchored',
    { ignoreNamespaces: ['ist'] },
    [],
  ],
  ['an anchored one ignores only what it says', { ignoreNamespaces: ['^ist$'] }, ['/labelled', '/own']],
  ['ClusterSPIFFEIDs can be switched off', { reconcile: { clusterStaticEntries: true } }, []],
  [
    'another parent template gives another parent',
    { parentIDTemplate: 'spiffe://{{ .TrustDomain }}/node/{{ .NodeMeta.Name }}' },
    ['/labelled', '/own'],
  ],
  ['no object has this class, so the server is empty', { className: 'unused' }, []],
  ['a prefix of entry IDs changes nothing else', { entryIDPrefix: 'prod' }, ['/labelled', '/own']],
])('%s', async (_, config, holds) => {
  await spire.restart(config)
  const wanted = holds.join(' ')
  await until(async () => pathsOf(await spire.entries()).join(' ') === wanted, `entries ${wanted}`, 20_000)
  const { held, differences } = await compare(cp, spire)
  expect(differences.map(differenceText)).toEqual([])
  expect(pathsOf(held)).toEqual(holds)
})

function pathsOf(held: readonly HeldEntry[]): readonly string[] {
  return held.map(({ spiffeId }) => spiffeId.replace('spiffe://example.org', '')).toSorted()
}
