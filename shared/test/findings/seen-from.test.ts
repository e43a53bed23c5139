// What an answer about one namespace tells of a finding that pods of several namespaces show.
import { expect, test } from 'vitest'
import { finding, seenFrom, type Finding, type ShownWithin } from '../../src/core/findings/finding/finding.ts'

function shownOf(wanted: ReadonlySet<string>): ShownWithin {
  const evidence = [...wanted].map((name) => `in pod ${name}/p`)
  return { summary: 'for 1 pod', evidence, insteadOf: 2 }
}

/** A finding about an object in some namespace that pods of `a` and `b` show. */
function shownIn(namespace: string): Finding {
  const one = finding('KLM405', {
    subject: { kind: 'ClusterSPIFFEID', namespace, name: 'one' },
    summary: 'for 2 pods',
    evidence: ['in pod a/p', 'in pod b/p'],
    namespaces: new Set(['a', 'b']),
  })
  return { ...one, evidence: [...one.evidence, 'depends: on this'], within: { of: shownOf } }
}

test('the pods of the namespace alone are reported, and what the finding depends on stays', () => {
  const { summary, evidence } = seenFrom('b', shownIn(''))
  expect([summary, ...evidence]).toEqual(['for 1 pod', 'in pod b/p', 'depends: on this'])
})

test('all pods are reported for all namespaces, and where the finding is about an object of the namespace', () => {
  const all = ['for 2 pods', 'in pod a/p', 'in pod b/p', 'depends: on this']
  for (const [namespace, own] of [
    [undefined, ''],
    ['b', 'b'],
  ] as const) {
    const { summary, evidence } = seenFrom(namespace, shownIn(own))
    expect([summary, ...evidence]).toEqual(all)
  }
})
