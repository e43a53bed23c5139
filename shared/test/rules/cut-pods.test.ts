// Pods of a dump from which fields were taken: what such a pod does not show may be there in the cluster.
import { expect, test } from 'vitest'
import { foreign, pod, world } from '@kleym/testing/finding-cases.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

/** What every pod has that an API server holds. */
const FILLED_IN = {
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
}

/** The codes that are found about a template that reads a pod with this in its spec. */
function codesOf(template: string, spec: JsonRecord): readonly string[] {
  const reading = foreign('reading', { spiffeIDTemplate: `spiffe://example.org/${template}` })
  return findingsOf(analysisOf(world(pod({ spec }), reading))).map(({ code }) => code)
}

const [OF_OBJECT, TEXT] = ['u{{ .PodSpec.SecurityContext.RunAsUser }}', '{{ .PodSpec.PriorityClassName }}']

test.each([OF_OBJECT, TEXT])(
  'that %s fails to render is certain of a whole pod, and not of a cut one',
  (template) => {
    expect(codesOf(template, FILLED_IN)).toContain('KLM408')
    expect(codesOf(template, { ...FILLED_IN, securityContext: undefined })).not.toContain('KLM408')
  },
)

test('that what an object of a cut pod holds is not known is said', () => {
  expect(codesOf(OF_OBJECT, {})).toContain('KLM413')
})

test('a field that is there is read of a cut pod', () => {
  expect(codesOf(TEXT, { priorityClassName: 'high' })).toEqual([])
})
