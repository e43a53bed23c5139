// Entries that were right once: SCM made them of an object that it ignores by now, or for a process that has ended.
import { expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Hop, HopName } from '../../src/core/answers/why/hop.ts'
import { NO, YES } from '../../src/core/model/truth/truth.ts'
import { readAgentFacts } from '../../src/core/predict/verify/agent-facts.ts'
import { readServerEntry } from '../../src/core/predict/verify/read-server-entry.ts'
import { foreign } from '@kleym/testing/finding-cases.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { hopOf } from './hops-of.ts'

const SETTINGS = { ...HANDLES_EVERYTHING, className: 'spire', watchClassless: false, entryIDPrefix: 'prod' }
const CONTAINER: JsonRecord = { name: 'vllm' }

function hop(
  wanted: HopName,
  id: string,
  { className = 'spire', state }: { className?: string; state?: JsonRecord },
): Hop {
  const reading = readServerEntry({
    id,
    spiffe_id: { trust_domain: 'example.org', path: '/a' },
    parent_id: { trust_domain: 'example.org', path: '/spire/agent/k8s_psat/prod/uid-of-n1' },
    selectors: [{ type: 'k8s', value: 'pod-uid:uid-of-llama-0' }],
  })
  if (!reading.ok) throw new Error(reading.why)
  const { entry } = reading
  return hopOf(wanted, {
    objects: [foreign('a', { spiffeIDTemplate: 'spiffe://example.org/a', className })],
    settings: SETTINGS,
    status: { phase: 'Running', containerStatuses: state === undefined ? [] : [{ ...CONTAINER, state }] },
    server: {
      entries: [entry],
      ofNodes: [],
      perParent: new Map(),
      differences: [],
      asOf: undefined,
    },
    agent: readAgentFacts(LOG, { podUid: 'uid-of-llama-0', container: 'vllm' }),
  })
}

test('an entry that SCM takes for its own, of an object that it ignores, is deleted in its next pass', () => {
  expect(hop('installed', 'prod.1', {})).toMatchObject({ truth: YES })
  const ignored = hop('installed', 'prod.1', { className: 'another' })
  expect(ignored.truth).toBe(NO)
  expect(ignored.text).toMatch(/^SCM ignores it: .*; it deletes entry prod\.1 in its next pass$/)
  expect(ignored.fix).toBe('set .spec.className of ClusterSPIFFEID/a to spire')
})

test('an entry of another SCM shows that this one has acted', () => {
  expect(hop('installed', 'other.1', { className: 'another' })).toMatchObject({ truth: YES })
})

test('a container that has ended asks no more, whatever its process was given', () => {
  expect(hop('attested', 'prod.1', {})).toMatchObject({ truth: YES })
  expect(hop('attested', 'prod.1', { state: { running: {} } })).toMatchObject({ truth: YES })
  const ended = hop('attested', 'prod.1', { state: { terminated: { reason: 'Completed' } } })
  expect(ended.truth.value).toBe('open')
  expect(ended.text).toBe('container vllm has ended (Completed), and no process of it asks')
})

const LOG = [
  'level=debug msg="PID attested to have selectors" pid=7 selectors="[type:\\"k8s\\" value:\\"pod-uid:uid-of-llama-0\\"]"',
  'level=debug msg="Fetched X.509 SVID" pid=7 spiffe_id="spiffe://example.org/a"',
].join('\n')
