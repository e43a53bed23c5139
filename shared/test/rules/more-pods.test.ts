// Which pods of kinds that are not read make the answer about a namespace incomplete.
import { expect, test } from 'vitest'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { morePods } from '../../src/core/findings/rules/pod-driver.ts'
import { foreign, world } from '@kleym/testing/finding-cases.ts'
import { binding, CONFIG, objective, pool } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'

/** A kind that is not read, with pods that no pool selects. */
const UNREAD: JsonRecord = {
  apiVersion: 'ray.io/v1',
  kind: 'RayCluster',
  metadata: { name: 'ray', namespace: 'team-b' },
  spec: {
    headGroupSpec: {
      template: {
        metadata: { labels: { app: 'x' } },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'head', image: 'ray' }] },
      },
    },
  },
}

function thief(namespace: string): JsonRecord {
  return foreign('thief', {
    spiffeIDTemplate: `spiffe://example.org/ns/${namespace}/objective/chat`,
    podSelector: { matchLabels: { app: 'x' } },
  })
}

/** What is made of objects that are not applied yet. */
function analysisOfFiles(objects: readonly JsonRecord[]): Analysis {
  const files = objects.map((value) => ({
    value,
    isManifest: true as const,
    ...(value === UNREAD && { isUnread: true as const }),
  }))
  return analyse(readSnapshot({ objects: files, gaps: new Map() }), CONFIG, HANDLES_EVERYTHING)
}

test.each([
  ['pods elsewhere that may hold an identity of it matter', 'team-a', 'team-a', 1],
  ['its own pods matter, whose identity they may hold', 'team-a', 'team-b', 1],
  ['pods elsewhere that may hold an identity of others do not matter', 'team-a', 'team-c', 0],
  ['pods elsewhere whose ID is known in part matter', '{{ .NodeMeta.Name }}', 'team-a', 1],
])('to the answer about a namespace, %s', (_, victim, namespace, count) => {
  const other = [
    pool({ namespace: 'team-c' }),
    objective({ namespace: 'team-c' }),
    binding({ namespace: 'team-c' }),
  ]
  const analysis = analysisOfFiles(world(binding(), ...other, UNREAD, thief(victim)))
  expect(morePods(analysis, { namespace })).toHaveLength(count)
})

test('an ID that is known in part makes the answer about all namespaces incomplete', () => {
  const analysis = analysisOfFiles(world(binding(), UNREAD, thief('{{ .NodeMeta.Name }}')))
  expect(morePods(analysis, {})).toHaveLength(1)
})
