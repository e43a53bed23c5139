// The operator's Deployments: how many replicas are asked for, and how many work.
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readOperatorDeployment } from '../../src/core/analysis/settings/operator-deployment.ts'

const metadata = { namespace: 'kleym', name: 'op' }

test.each<[string, JsonRecord, readonly [wanted: number, available: number, images: readonly string[]]]>([
  ['as it runs', { spec: { replicas: 3 }, status: { availableReplicas: 2 } }, [3, 2, []]],
  ['scaled to nothing', { spec: { replicas: 0 }, status: {} }, [0, 0, []]],
  ['with the default of the API server', { spec: {}, status: { availableReplicas: 1 } }, [1, 1, []]],
  ['just made', {}, [1, 0, []]],
  ['of strange values', { spec: { replicas: 'x' }, status: { availableReplicas: null } }, [1, 0, []]],
  [
    'with its images',
    { spec: { template: { spec: { containers: [{ image: 'kleym:1' }, {}, { image: 5 }] } } } },
    [1, 0, ['kleym:1', '', '']],
  ],
])('%s', (_says, object, [wanted, available, images]) => {
  expect(readOperatorDeployment({ value: { metadata, ...object } })).toEqual({
    subject: { kind: 'Deployment', ...metadata },
    wanted,
    available,
    isSeen: false,
    images,
  })
})
