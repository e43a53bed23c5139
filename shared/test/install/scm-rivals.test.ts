// SCMs beside one server: which one deletes whose entries.
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { ScmContainer } from '../../src/core/analysis/settings/scm-container.ts'
import { rivalScms } from '../../src/core/analysis/settings/scm-rivals.ts'

interface Given {
  readonly workload?: string
  readonly isForOtherCluster?: boolean
  readonly config: JsonRecord
}

function summaries(...given: readonly Given[]): readonly string[] {
  const places = given.map((_, at) => ({ namespace: 'spire', name: `scm-${at}`, key: 'c.yaml' }))
  const configs = given.map(({ config }, at) => ({
    config: { trustDomain: 'example.org', clusterName: 'prod', className: `class-${at}`, ...config },
    source: `ConfigMap ${at}`,
    at: places[at],
  }))
  const containers = given.map(
    ({ workload = 'spire-server', isForOtherCluster = false }, at): ScmContainer => ({
      workload: { kind: 'StatefulSet', namespace: 'spire', name: workload },
      container: `scm-${at}`,
      config: places[at],
      isForOtherCluster,
    }),
  )
  return rivalScms(configs, containers).map(({ summary }) => summary)
}

const OF_SERVER = 'of the SCMs of StatefulSet spire/spire-server,'
const SAME: JsonRecord = { className: 'one' }

test.each<[what: string, given: readonly Given[], says: readonly string[]]>([
  [
    'none has a prefix',
    [{ config: {} }, { config: {} }],
    [`${OF_SERVER} scm-0 and scm-1 delete each other's entries`],
  ],
  [
    'both have the same, one with its dot',
    [{ config: { entryIDPrefix: 'a' } }, { config: { entryIDPrefix: 'a.' } }],
    [`${OF_SERVER} scm-0 and scm-1 delete each other's entries`],
  ],
  [
    'one has none',
    [{ config: { entryIDPrefix: 'a' } }, { config: {} }],
    [`${OF_SERVER} scm-1 deletes the entries of scm-0`],
  ],
  [
    "one's begins with that of the other",
    [{ config: { entryIDPrefix: 'a' } }, { config: { entryIDPrefix: 'a.b' } }],
    [`${OF_SERVER} scm-0 deletes the entries of scm-1`],
  ],
  [
    'one cleans up what has none',
    [{ config: { entryIDPrefix: 'a', entryIDPrefixCleanup: '' } }, { config: {} }],
    [`${OF_SERVER} scm-0 and scm-1 delete each other's entries`],
  ],
  ['each has its own', [{ config: { entryIDPrefix: 'a' } }, { config: { entryIDPrefix: 'b' } }], []],
  ['a variable fills one in', [{ config: { entryIDPrefix: '${PREFIX}' } }, { config: {} }], []],
  ['they are beside two servers', [{ config: {} }, { config: {}, workload: 'other' }], []],
  ['each has its own socket', [{ config: {} }, { config: { spireServerSocketPath: '/other.sock' } }], []],
  [
    'one makes no entries',
    [{ config: {} }, { config: { reconcile: { clusterFederatedTrustDomains: true } } }],
    [],
  ],
  ['they do the same', [{ config: SAME }, { config: SAME }], []],
  [
    'they do the same in two clusters',
    [{ config: SAME }, { config: SAME, isForOtherCluster: true }],
    [`${OF_SERVER} scm-0 and scm-1 delete each other's entries`],
  ],
])('%s', (_, given, says) => {
  expect(summaries(...given)).toEqual(says)
})
