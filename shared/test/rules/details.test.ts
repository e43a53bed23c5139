// Nodes and Namespaces that could not be read are no gap of an answer (`DETAILS`): whatever rests on one of them says so itself.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { analysisOf, tenants, withoutLostPods } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '../../src/core/rules/all.ts'
import { isAtLeast, namedIn, type Finding } from '../../src/core/findings/finding.ts'
import { subjectText } from '../../src/core/objects/subject.ts'
import { findingEntry, type Severity } from '../../src/core/registry/findings.ts'
import { containerVerdicts } from '../../src/core/spire/registration.ts'
import type { Analysis } from '../../src/core/analysis/analysis.ts'

/**
 * What a finding names; that of several identities names more once more is known. Of a lost default the fallback alone: that it gives way
 * is certain, and to what is told of one that is no binding first.
 */
function namesOf(one: Finding): ReadonlySet<string> {
  const named = ['KLM402', 'KLM418'].includes(one.code) ? one.related : namedIn(one)
  return new Set(named.map(({ kind, namespace, name }) => subjectText({ kind, namespace, name })))
}

function isCertain({ dependsOn }: Finding): boolean {
  return dependsOn === undefined
}

/** How bad a finding is if it is so. */
function severityOf({ code }: Finding): Severity {
  return findingEntry(code).severity
}

/** The findings that nothing of `others` says: of the same code, about what they name and perhaps more. */
function unsaid(findings: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  return findings.filter((one) => {
    const alike = others.filter(({ code }) => code === one.code).map(namesOf)
    const [first] = namesOf(one)
    const about = alike.filter((names) => first !== undefined && names.has(first))
    return !namesOf(one).isSubsetOf(about.reduce((all, names) => all.union(names), new Set<string>()))
  })
}

/** What each registration comes to on each container. */
function verdictsOf({ podsInQuestion, settled }: Analysis): ReadonlyMap<string, string> {
  return new Map(
    podsInQuestion.flatMap((pod) =>
      pod.containers.flatMap((container) =>
        containerVerdicts(settled.prediction(), pod, container).map(
          ({ source, verdict }) => [`${pod.ref.name} ${container.name} ${source.name}`, verdict] as const,
        ),
      ),
    ),
  )
}

test('without Nodes or Namespaces nothing is said that is not so, and no finding is hidden', () => {
  const seen = { whole: 0, open: 0 }
  const unread = fc.constantFrom(['Node'], ['Namespace'], ['Node', 'Namespace'])
  fc.assert(
    fc.property(tenants.map(withoutLostPods), unread, (objects, forbidden) => {
      const partly = analysisOf(objects, { forbidden })
      const whole = analysisOf(objects)
      const [some, all] = [findingsOf(partly), findingsOf(whole)]
      seen.whole += all.length
      seen.open += some.filter(({ dependsOn }) => dependsOn !== undefined).length
      expect(unsaid(some.filter(isCertain), all)).toEqual([])
      // What hides a finding is open itself, and as bad: the exit code says so at every threshold at which the finding counts.
      const open = some.filter((one) => !isCertain(one))
      const hidden = unsaid(all, some).filter(
        ({ code }) => !open.some((one) => isAtLeast(severityOf(one), findingEntry(code).severity)),
      )
      expect(hidden).toEqual([])
      const now = verdictsOf(whole)
      // What is issued stays so, and what cannot match is never issued.
      const taken = [...verdictsOf(partly)].filter(
        ([key, was]) =>
          (was === 'issued' && now.get(key) !== 'issued') || (was === 'dead' && now.get(key) === 'issued'),
      )
      expect(taken).toEqual([])
    }),
    { numRuns: runs(400) },
  )
  expect(seen.whole).toBeGreaterThan(leastSeen(400))
  expect(seen.open).toBeGreaterThan(leastSeen(40))
})
