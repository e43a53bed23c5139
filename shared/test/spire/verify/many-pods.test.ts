// What a server should hold of pods is worked out once for those that are alike, and an entry of the server is found by the UID in its
// key. Neither may show: whatever is taken out of a dump is missing, whatever is edited differs, whatever is added is extra.
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { leastSeen, runs, seedOf } from '@kleym/testing/runs.ts'
import { podReader } from '../../../src/core/model/objects/pod.ts'
import { PodsAlike } from '../../../src/core/model/objects/pods-alike.ts'
import { predict } from '../../../src/core/predict/spire/predict.ts'
import { registrationEntries, expectedEntries } from '@kleym/testing/at-once.ts'
import { EntryComparison } from '../../../src/core/predict/verify/compare-entries.ts'
import { readServerEntry } from '../../../src/core/predict/verify/read-server-entry.ts'
import { asServerJson } from '../../../src/core/predict/verify/server-json.ts'
import { csid, ID, inputOf, pod, staticEntry, type Fields } from '../estate.ts'

/** More than are worked on one by one. */
const PODS = 210
/** UIDs of more lengths than are looked for in a key. */
const UIDS = fc.oneof(
  { arbitrary: fc.constant(''), weight: 6 },
  fc.constantFrom('-', '-0', '-00', '-000', '-0000'),
)

/** As long as the parents of the pods. */
const OTHER_AGENT = { trust_domain: 'td', path: '/spire/agent/k8s_psat/c1/node-uid-3' }

/** One of the usual values, and of the odd ones a few: one of these may make all pods unlike. */
function mostly<T>(usual: readonly T[], odd: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...usual), weight: 15 },
    { arbitrary: fc.constantFrom(...odd), weight: 1 },
  )
}

const registration = fc.record({
  spiffeIDTemplate: mostly([ID], ['spiffe://td/{{ .PodMeta.Name }}', 'spiffe://td/on/{{ .NodeMeta.Name }}']),
  workloadSelectorTemplates: mostly<readonly string[]>(
    [[], ['k8s:ns:{{ .PodMeta.Namespace }}'], ['k8s:sa:runner', 'k8s:ns:team-a']],
    [['unix:uid:1'], ['k8s:pod-uid:uid-of-3'], ['k8s:pod-owner-uid:Job:uid-of-3']],
  ),
  podSelector: fc.constantFrom({}, { matchLabels: { app: 'b' } }),
  hint: fc.constantFrom('', 'h'),
})

const estates = fc.record({
  registrations: fc.array(registration, { minLength: 1, maxLength: 12 }),
  staticSelectors: mostly<readonly string[]>(
    [['k8s:ns:team-a']],
    [['k8s:pod-uid:uid-of-5'], ['k8s:pod-uid:uid-of-5', 'k8s:ns:team-a']],
  ),
  staticId: mostly(['spiffe://td/static'], ['spiffe://td/ns/team-a/sa/runner/0']),
  uids: fc.array(UIDS, { minLength: 1, maxLength: 7 }),
  /** What becomes of the entries of the server, one after the other. */
  edits: fc.array(fc.constantFrom('kept', 'kept', 'taken', 'moved', 'edited', 'doubled'), {
    minLength: 1,
    maxLength: 9,
  }),
})

test('what differs is what was taken out, edited and added', () => {
  const [find, work] = [vi.spyOn(PodsAlike.prototype, 'find'), vi.spyOn(PodsAlike.prototype, 'work')]
  let folded = 0
  let found = 0
  fc.assert(
    fc.property(estates, ({ registrations, staticSelectors, staticId, uids, edits }) => {
      for (const spy of [find, work]) spy.mockClear()
      const read = podReader()
      const pods = Array.from({ length: PODS }, (_, at) =>
        // No two have the same labels.
        read({
          value: pod(`p${at}`, {
            meta: {
              uid: `uid-of-${at}${uids[at % uids.length] ?? ''}`,
              labels: { app: 'abc'[at % 3], index: String(at) },
            },
            spec: { nodeName: `n${(at % 2) + 1}` },
          }),
        }),
      )
      const ids = registrations.map(({ spiffeIDTemplate, ...spec }, at) =>
        csid(`r${at}`, { ...spec, spiffeIDTemplate: `${spiffeIDTemplate}/${at % 10}` }),
      )
      const statics = [staticEntry('s', { selectors: staticSelectors, spiffeID: staticId })]
      const input = { ...inputOf({ ids, statics, pods: [] }), pods }
      const prediction = predict(input)
      const comparison = new EntryComparison(expectedEntries(prediction, pods))
      if (work.mock.calls.length < find.mock.calls.length / 2) folded += 1

      const count = { kept: 0, taken: 0, moved: 0, edited: 0, doubled: 0 }
      const certain = registrationEntries(prediction, pods).filter(
        ({ depends, unknown }) => depends === undefined && unknown.length === 0,
      )
      for (const [at, one] of certain.entries()) {
        const edit = edits[at % edits.length] ?? 'kept'
        count[edit]++
        if (edit === 'taken') continue
        const server = {
          ...asServerJson(one),
          id: `e${at}`,
          ...(edit === 'edited' && { hint: 'edited' }),
          ...(edit === 'moved' && { parent_id: OTHER_AGENT }),
        }
        add(comparison, server)
        if (edit === 'doubled') add(comparison, { ...server, id: `d${at}` })
      }
      const { missing, different, extra, agreed } = comparison.finish()
      expect(different.map(({ fields }) => fields.map(({ field }) => field).join(','))).toEqual(
        Array.from({ length: count.edited }, () => 'hint'),
      )
      expect({ missing: missing.length, extra: extra.length, agreed }).toEqual({
        missing: count.taken + count.moved,
        extra: count.moved + count.doubled,
        agreed: count.kept + count.doubled,
      })
      found += missing.length + extra.length + different.length
    }),
    { numRuns: runs(60), ...seedOf(45) },
  )
  expect(folded).toBeGreaterThan(leastSeen(12))
  expect(found).toBeGreaterThan(leastSeen(500))
})

function add(comparison: EntryComparison, value: Fields): void {
  const reading = readServerEntry(value)
  if (!reading.ok) throw new Error(`${reading.field}: ${reading.why}`)
  comparison.add(reading.entry)
}
